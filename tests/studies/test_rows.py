"""Rows of studies are read and written as they are, and say what computed them."""

import json
import platform

import numpy as np
import pytest

import rue
import studies.rows
from studies import ROWS
from studies.rows import as_json, grouped, read_rows, stamp, where, write_rows

FILES = sorted(ROWS.glob("*.json"))


def test_a_stamp_has_versions_checksums_and_settings():
    made = stamp("typer", "no-such-package", checksums={"f": "00"}, settings={"seeds": [0, 1]})
    names = {"rue": rue.__version__, "python": platform.python_version(), "numpy": np.__version__}
    assert made["versions"].items() >= names.items()
    assert "typer" in made["versions"]
    assert "no-such-package" not in made["versions"]
    del made["versions"]
    assert made == {"checksums": {"f": "00"}, "settings": {"seeds": [0, 1]}}
    assert stamp().keys() == {"versions"}


def test_rows_are_chosen_and_grouped_in_their_order():
    first, second, third = {"a": 1, "b": 2}, {"a": 2, "b": 2}, {"a": 1, "b": 3}
    assert where([first, second, third], a=1) == [first, third]
    assert where([first], a=1, c=None) == []
    assert grouped([third, first, second], "a") == {1: [third, first], 2: [second]}
    assert list(grouped([third, first], "a", "b")) == [(1, 3), (1, 2)]


def test_rows_come_back_bit_by_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(studies.rows, "ROWS", tmp_path / "rows")
    assert read_rows("a") == {}
    values = np.random.default_rng(0).normal(size=20).tolist()
    write_rows("a", {"values": values, "none": None})
    assert read_rows("a") == {"values": values, "none": None}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_says_what_computed_it(file):
    text = file.read_text()
    record = json.loads(text)
    assert as_json(record) == text
    stamped = [record]
    if "versions" not in record:
        suites = [part["rows"] if isinstance(part, dict) else part for part in record.values()]
        stamped = [row for rows in suites for row in rows]
    assert stamped
    for row in stamped:
        assert row["versions"].keys() >= {"rue", "python", "numpy"}


def test_docs_hold_pages_figures_and_rows_only():
    from studies import DOCS

    for path in DOCS.rglob("*"):
        where = path.relative_to(DOCS).parts[0]
        if path.is_file() and where not in ("figures", "rows", "assets"):
            assert path.suffix == ".md" or (where == "results" and path.suffix == ".json"), path
