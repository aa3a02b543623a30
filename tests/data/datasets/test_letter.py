"""Letter: the real file, and OpenML's answer played by us."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rue.data
from rue.data.datasets import letter
from rue.errors import FileError


def test_real(real):
    data = rue.data.load("letter", real)
    entry = rue.data.ENTRIES["letter"]
    assert data.inputs.shape == (20_000, 16)
    assert data.class_names[data.labels[0]] == "T"
    assert data.inputs[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]
    assert np.bincount(data.labels)[:5].tolist() == [789, 766, 736, 805, 768]
    assert {s: len(getattr(data, s)) for s in entry.splits} == entry.splits
    assert data.annotations is None
    assert data.checksums == entry.checksums


def test_real_equal_rows_share_a_split(real):
    data = rue.data.load("letter", real)
    rows = [(label, *row) for label, row in zip(data.labels, data.inputs.tolist(), strict=True)]
    parts = [{rows[i] for i in getattr(data, s)} for s in ("train", "validation", "test")]
    assert len(set(rows)) < 20_000
    assert sum(map(len, parts)) == len(set(rows))


ROWS = ["T" + ",2" * 16, "I" + ",5" * 16, "D" + ",4" * 16]


@pytest.fixture
def openml(monkeypatch):
    """Answer as OpenML does: another order, labels last, numbers as floats."""
    monkeypatch.setattr(letter, "_SHA256", letter._sorted_digest(ROWS))
    table = pd.DataFrame([row.split(",") for row in reversed(ROWS)])
    bunch = SimpleNamespace(data=table.iloc[:, 1:].astype(float), target=table[0])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)
    return bunch


def test_fetch(openml, tmp_path):
    rue.data.fetch("letter", tmp_path)
    assert (tmp_path / letter.PATH).read_text().split() == ROWS[::-1]
    # The registry keeps the real checksum.
    data = rue.data.load("letter", tmp_path, verify=False)
    assert [data.class_names[k] for k in data.labels] == ["D", "I", "T"]
    rue.data.fetch("letter", tmp_path)


def test_fetch_of_other_rows_leaves_nothing(openml, tmp_path):
    openml.data.iloc[0, 0] = 7.0
    with pytest.raises(FileError, match="nothing was kept"):
        rue.data.fetch("letter", tmp_path)
    assert not (tmp_path / letter.PATH).exists()


def test_fetch_without_a_network(monkeypatch, tmp_path):
    def fail(**_):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(FileError, match="OpenML 6 could not be fetched: no route"):
        rue.data.fetch("letter", tmp_path)


@pytest.mark.parametrize(
    "row", ["T,1,2", "T" + ",nan" * 16, "?" + ",1" * 16, "T" + ",x" * 16, "T" + ",1" * 17]
)
def test_bad_rows(tmp_path, row):
    (tmp_path / "letter").mkdir()
    (tmp_path / letter.PATH).write_text(row + "\n")
    with pytest.raises(FileError, match="a letter and 16 numbers per line"):
        rue.data.load("letter", tmp_path, verify=False)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "letter").mkdir()
    (tmp_path / letter.PATH).write_bytes(b"T,\xe9" + b",1" * 15)
    for verify, message in ((True, "not the published file"), (False, "a letter and 16 numbers")):
        with pytest.raises(FileError, match=message):
            rue.data.load("letter", tmp_path, verify=verify)
