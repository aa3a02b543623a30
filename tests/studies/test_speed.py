"""docs/speed.md has the measurements of every file in speed/, by the machine and the day."""

import pkgutil
import re
from pathlib import Path

import speed
from speed import evaluation
from speed.__main__ import _section
from speed.pareto import answers_and_draws
from speed.timing import GiB

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"


def test_every_file_has_its_table():
    page = PAGE.read_text()
    files = {module.name for module in pkgutil.iter_modules(speed.__path__)}
    assert set(re.findall("<!-- begin (.*?) -->", page)) == files - {"__main__", "timing"}
    assert page.count("Measured on ") + page.count("Not measured in") == len(files) - 2


def test_a_section_says_what_was_compared():
    rows = [
        ("a", 0.5, "peer", 2.0, "<= 1"),
        ("b", GiB(1.5), "limit", GiB(3), ""),
        ("c", 2, "", 0, ""),
    ]
    lines = _section(rows).splitlines()
    assert lines[2:5] == [
        "| a | 500 ms | peer | 2 s | 0.25 | <= 1 |",
        "| b | 1.5 GiB | limit | 3 GiB | 0.5 |  |",
        "| c | 2 s |  |  |  |  |",
    ]
    assert "cores" in lines[-1]
    assert "numpy" in lines[-1]


def test_the_columns_of_a_row_can_be_measured(monkeypatch):
    counts, probs = answers_and_draws(40)
    monkeypatch.setattr(evaluation, "answers_and_draws", lambda _: (counts, probs))
    assert all(ours > 0 for _, ours, *_ in evaluation.columns())
