"""Data of your own in a suite: a TOML file in the place of a name, and no Python."""

import numpy as np
import pytest

from rue.bench.cells import cells, configuration, json_checksum
from rue.bench.run import run_suite
from rue.bench.store import Store
from rue.bench.suite import parse_suite, read_suite
from rue.data import check
from rue.data.own.description import save_description
from rue.errors import FileError, InputError

SUITE = """
name = "own"
datasets = ["data/mine.toml"]
methods = ["ensemble"]
losses = ["log"]
seeds = 1
[training]
epochs = 1
"""


@pytest.fixture
def suite(tmp_path):
    """Write a suite beside a folder of counts and features."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "data"
    folder.mkdir()
    counts = rng.multinomial(5, [0.2, 0.3, 0.5], size=60)
    np.savez(folder / "answers.npz", counts=counts, features=rng.normal(size=(60, 3)))
    save_description(check(folder, folder=folder).description, folder / "mine.toml")
    (tmp_path / "suite.toml").write_text(SUITE)
    return read_suite(str(tmp_path / "suite.toml"))


def test_it_runs_and_its_table_needs_no_file(suite, tmp_path, here):
    assert (suite.datasets, dict(suite.own)) == (("mine",), {"mine": "data/mine.toml"})
    report = run_suite(suite, tmp_path / "out", engine=here)
    assert [str(cell) for cell in report.done] == ["mine/ensemble/0"]
    store = Store(tmp_path / "out")
    row = store.row(report.done[0])
    assert row.data.n_test > 0
    assert set(row.data.checksums) == {"answers.npz"}
    (tmp_path / "data/mine.toml").unlink()
    assert store.suite().datasets == ("mine",)
    assert store.row(report.done[0]) == row


def test_other_data_makes_a_cell_stale(suite, tmp_path):
    (cell,) = cells(suite)
    before = json_checksum(configuration(suite, cell))
    path = tmp_path / "data/mine.toml"
    path.write_text(path.read_text() + "\n")
    assert json_checksum(configuration(suite, cell)) != before
    path.unlink()
    with pytest.raises(FileError, match=r"own needs the file data/mine\.toml, beside the suite"):
        configuration(suite, cell)


def test_names():
    def parse(datasets):
        return parse_suite(f'name = "s"\ndatasets = {datasets}\n')

    assert parse('["a/x.toml", "letter"]').datasets == ("x", "letter")
    with pytest.raises(InputError, match=r"rename letter\.toml: a data set of rue has that name"):
        parse('["letter.toml"]')
    with pytest.raises(InputError, match=r"rename a b\.toml: letters, digits"):
        parse('["a b.toml"]')
    with pytest.raises(InputError, match="datasets must be a non-empty list without"):
        parse('["a/x.toml", "b/x.toml"]')


def test_options():
    text = 'name = "s"\ndatasets = ["x.toml"]\n[dataset.x]\n'
    assert parse_suite(text + "size = 32\n").dataset["x"] == {"size": 32}
    with pytest.raises(InputError, match=r"dataset\.x must be one of .*, got 'n_points'"):
        parse_suite(text + "n_points = 3\n")
