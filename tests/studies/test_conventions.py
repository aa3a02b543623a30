"""What the conventions do: the section is that of its rows, and its measurements are right."""

import numpy as np
import pytest

from rue.components import Components, Run
from studies import conventions
from studies.rows import read_rows

RECORD = read_rows("conventions")


def made(regret, score):
    star = Components(regret, np.zeros(len(regret)), regret)
    hat = Components(score, np.zeros(len(score)), score)
    return Run(star, hat, method="m", loss="zero_one")


def test_the_range_over_row_orders_by_hand():
    """Two points share the lowest score, one with regret 1; the third point has regret 0.

    The trapezoids over coverage 0, 1/3, 2/3, 1 with the curve 0, a, 1/3, 1/3 have the area
    (a/2 + (a + 1/3)/2 + 1/3) / 3: a is 0 or 1/3, so 1/6 or 5/18. Exact ties have the mean, 2/9.
    """
    found = conventions.row_order(made(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])))
    assert found["n_lowest"] == 2
    assert found["least"] == found["given"] == pytest.approx(1 / 6)
    assert found["most"] == pytest.approx(5 / 18)
    assert found["exact"] == pytest.approx(2 / 9)
    assert found["least"] <= found["random_low"] < found["random_high"] <= found["most"]


def test_two_classes_show_which_scores_ignore_the_loss():
    same = [row["method"] for row in conventions.two_classes() if row["log"] == row["zero_one"]]
    assert same == ["evidential", "ddu"]


def test_more_directions_never_enlarge_the_gap():
    for row in RECORD["surfaces"]:
        assert row["fine"] <= row["raw_91"] * 1.001
    for row in RECORD["order"]:
        assert row["least"] <= row["random_low"] <= row["random_high"] <= row["most"]
        assert row["least"] <= row["given"] <= row["most"]
