"""docs/brackets.md shows what the study of corrected columns measured."""

import re

import pytest

from rue.metrics.corrected import CORRECTED
from studies import DOCS, corrected
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("corrected")["rows"]


def test_every_world_and_loss_is_there(rows):
    found = {(row["world"], row["loss"], row["column"], row["m"]) for row in rows}
    assert found == {
        (world, loss, column, m)
        for world in corrected.WORLDS
        for loss in corrected.LOSSES
        for column in CORRECTED
        for m in corrected.N_ANNOTATORS
    }


def test_what_the_page_says_about_ten_annotators_and_more(rows):
    text = re.sub(r"\s+", " ", (DOCS / "brackets.md").read_text())
    words = re.search(r"\*\*From 10 annotators on\*\*.*?three reasons", text)[0]
    said = [int(n) for n in re.findall(r"(\d+) of 60", words)]
    measured = [
        sum(corrected.falls(row) for row in rows if row["column"] == column and row["m"] >= 10)
        for column in ("excess_aurec", "pareto_gap", "n_aurec", "spearman_star")
    ]
    assert said == measured


def test_a_small_study_again(monkeypatch):
    monkeypatch.setattr(corrected, "N_ANNOTATORS", (10,))
    monkeypatch.setattr(corrected, "AREAS", {"n_points": 100, "n_draws": 2})
    monkeypatch.setattr(corrected, "GAP", {"n_points": 20, "n_draws": 2})
    found = corrected.biases("5 classes, good model", "zero_one")
    assert [row["column"] for row in found] == list(CORRECTED)
    assert all(row["corrected_se"] > 0 for row in found)
