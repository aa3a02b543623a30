"""The study of plans: what it says about its rows, and its parts of docs/plans.md."""

import math

import pytest

from studies import plans


def made(data, loss, planned, measured, n_annotators=40, error=0.01, reliable=True):
    """A row of the study, with one planned width for each pilot of ten annotators."""

    def plan(width, n_points, sure):
        last = {"n_annotators": n_annotators, "bracket_width": width, "bracket_width_se": error}
        last |= {"n_points": n_points, "n_points_se": 1.0, "reliable": True, "width_reliable": sure}
        needed = {"annotators_needed": 10, "annotators_needed_se": 1.0}
        return {"rows": [last]} | needed | {"annotators_needed_reliable": sure}

    return {"data": data, "loss": loss, "pilot": 10} | {
        "planned": [plan(width, 100, reliable) for width in planned],
        "all": plan(measured, 110, True),
    }


ROWS = [
    made("cifar10h-features", "log", [0.09, 0.09], 0.1),
    made("fashion-mnist-h", "log", [0.1], 0.1),
    made("sentiment-movies", "brier", [0.2, 0.1], 0.1),
    made("sentiment-movies", "log", [0.1], 0.11),
    made("cifar10h-features", "zero_one", [0.3, 0.1], 0.1, error=0.05, reliable=False),
]


def test_the_summary_counts():
    text = plans.summary(ROWS)
    assert "In 4 of the 5 rows the measured width has an error of at most 10 %" in text
    # The mean of 0.2 and 0.1 is 50 % above 0.1.
    assert "in 3 of these rows, at worst +50 % (movies under brier loss)" in text
    assert "Of their 6 plans, 0 call the width uncertain" in text
    assert "of the other widths 5 of 6 are within 20 %" in text
    assert "6 of 6 numbers of points" in text  # 100 points for 110
    assert "in 83 % of the plans" in text
    assert f"{0.1 / math.hypot(0.01, 0.01):.1f} standard errors" in text
    assert "CIFAR-10H under zero_one loss with 40 annotators (0.10000 ± 0.05000; planned" in text
    assert "uncertain in 2 of 2 plans" in text


def test_a_row_counts_only_what_plans_call_reliable():
    assert plans.plans_cells(ROWS[2])[:4] == [
        "40",
        "0.1000 ± 0.0100",
        "0.1500 ± 0.0707",
        "1 of 2",
    ]
    assert plans.plans_cells(ROWS[4])[1:4] == ["0.1000 ± 0.0500", "not certain", "-"]


def test_plans_are_compared_with_the_last_precise_width():
    def width(error):
        return {"bracket_width": 1.0, "bracket_width_se": error}

    assert plans.compared_place([width(0.05), width(0.08)]) == 1
    assert plans.compared_place([width(0.05), width(0.2)]) == 0
    assert plans.compared_place([width(0.15), width(0.2)]) == 0


def test_the_floor_is_chosen_without_each_data_set():
    # Two doublings from 10 to 40 annotators: log(0.9) / 2 and log(10 / 11) / 2.
    cifar, movies = -math.log(0.9) / 2, math.log(1.1) / 2
    assert plans._misses(ROWS, "cifar10h-features") == pytest.approx(cifar)
    text = plans.floor_text(ROWS)
    assert f"{100 * movies:.1f} % without CIFAR-10H, which missed by {100 * cifar:.1f} %" in text
    assert f"at most {cifar / movies:.2f} times" in text
    # Two doublings with logarithms of 2 and 0, whose root mean square is log(2) / sqrt(2).
    ties = made("fashion-mnist-h", "zero_one", [0.2, 0.1], 0.1)
    text = plans.floor_text([*ROWS, ties])
    assert f"{100 * math.log(2) / math.sqrt(2) / 2:.1f} % (Fashion-MNIST-H)." in text
