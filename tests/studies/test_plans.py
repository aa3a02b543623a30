"""The study of plans: what it says about its rows, and its parts of docs/uncertainty.md."""

import math

import pytest

from studies import plans
from studies.rows import read_rows


def made(data, loss, planned, measured, n_annotators=40):
    """A row of the study; the pilot has ten annotators."""

    def plan(width, n_points):
        last = {"n_annotators": n_annotators, "bracket_width": width, "bracket_width_se": 0.01}
        last |= {"n_points": n_points, "n_points_se": 1.0, "reliable": True}
        return {"rows": [last], "annotators_needed": 10, "annotators_needed_se": 1.0}

    return {"data": data, "loss": loss, "pilot": 10} | {
        "planned": plan(planned, 100),
        "all": plan(measured, 110),
    }


ROWS = [
    made("cifar10h-features", "log", 0.09, 0.1),
    made("fashion-mnist-h", "log", 0.1, 0.1),
    made("sentiment-movies", "brier", 0.2, 0.1),
    made("sentiment-movies", "log", 0.1, 0.11),
]


def test_the_summary_counts():
    text = plans.summary(ROWS)
    assert "Of the 4 widths, 3 are within 20 %" in text
    assert "movies under brier loss (+100 %)" in text
    assert "reliable 4 of 4" in text  # 100 points for 110
    assert "less than one standard error in 3 rows" in text
    assert f"{0.1 / math.hypot(0.01, 0.01):.1f} standard errors" in text


def test_the_floor_is_chosen_without_each_data_set():
    # Two doublings from 10 to 40 annotators: log(0.9) / 2 and log(10 / 11) / 2.
    cifar, movies = -math.log(0.9) / 2, math.log(1.1) / 2
    assert plans._misses(ROWS, "cifar10h-features") == pytest.approx(cifar)
    text = plans.floor_text(ROWS)
    assert f"{100 * movies:.1f} % without CIFAR-10H, which missed by {100 * cifar:.1f} %" in text
    assert f"at most {cifar / movies:.2f} times" in text


def test_the_page_has_the_rows():
    page = plans.PAGE.read_text()
    for text in plans.blocks(read_rows("plans")["plans"]).values():
        assert text in page
