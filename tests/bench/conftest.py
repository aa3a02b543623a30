"""A small suite, run once: 6 cells on 400 points of random-rbf."""

import shutil

import pytest

from in_process import here
from rue.bench.run import run_suite
from rue.bench.store import Store
from rue.bench.suite import parse_suite

SMALL = """
name = "small"
datasets = ["random-rbf"]
methods = ["dropout", "ensemble", "ddu"]
losses = ["log", "zero_one"]
seeds = 2

[training]
epochs = 3

[dataset.random-rbf]
n_points = 400
"""


@pytest.fixture(name="here")
def in_this_process():
    """Return the engine for tests that are not about processes."""
    with here() as engine:
        yield engine


@pytest.fixture(scope="session")
def suite():
    return parse_suite(SMALL)


@pytest.fixture(scope="session")
def finished(suite, tmp_path_factory):
    """The folder of an undisturbed run; nobody may write to it."""
    folder = tmp_path_factory.mktemp("bench") / "finished"
    with here() as engine:
        report = run_suite(suite, folder, engine=engine)
    assert not report.failed
    assert len(report.done) == 6
    return Store(folder)


@pytest.fixture
def store(finished, tmp_path):
    """A copy of it to break."""
    shutil.copytree(finished.folder, tmp_path / "run")
    return Store(tmp_path / "run")
