"""A small suite, run once: 6 cells on 400 points of random-rbf."""

import shutil

import pytest

from rue.bench.engine import Event, Local, attempt
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


class Here:
    """Runs tasks in this process: another one takes 5 s to start, and most tests need none."""

    def run(self, suite, tasks):
        for task in tasks:
            yield Event(task, "started")
            yield attempt(suite, task)


@pytest.fixture
def here():
    import numba
    import threadpoolctl
    import torch

    threads = numba.get_num_threads(), torch.get_num_threads()
    with threadpoolctl.threadpool_limits():  # which tasks change, too
        yield Here()
    numba.set_num_threads(threads[0])
    torch.set_num_threads(threads[1])


@pytest.fixture(scope="session")
def suite():
    return parse_suite(SMALL)


@pytest.fixture(scope="session")
def finished(suite, tmp_path_factory):
    """The folder of an undisturbed run; nobody may write to it."""
    folder = tmp_path_factory.mktemp("bench") / "finished"
    report = run_suite(suite, folder, engine=Local(2))
    assert not report.failed
    assert len(report.done) == 6
    return Store(folder)


@pytest.fixture
def store(finished, tmp_path):
    """A copy of it to break."""
    shutil.copytree(finished.folder, tmp_path / "run")
    return Store(tmp_path / "run")
