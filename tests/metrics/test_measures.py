"""Spearman and Kendall against scipy; regret calibration by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from rue import kendall, regret_calibration, spearman
from rue.errors import InputError
from rue.metrics.measures import areas

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40)


@given(pairs)
def test_equals_scipy_with_ties(rows):
    x, y = zip(*rows, strict=True)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(spearman(x, y))
    else:
        assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_by_hand():
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4, centred -1.5 0 0 1.5 and -1.5 -0.5 0.5 1.5:
    # 4.5 / sqrt(4.5 * 5)
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / np.sqrt(22.5))
    assert spearman([1, 2, 3], [5, 6, 7]) == 1
    assert spearman([1, 2, 3], [7, 6, 5]) == -1


@given(pairs)
def test_kendall_equals_scipy_with_ties(rows):
    x, y = zip(*rows, strict=True)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(kendall(x, y))
    else:
        assert kendall(x, y) == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
        assert kendall(y, x) == kendall(x, y) == -kendall(x, [-v for v in y])


def test_kendall_by_hand():
    # Six pairs; (2, 2) is tied in x, so five count there. In y all six do. One of the five is
    # out of order: (4 - 1) / sqrt(5 * 6).
    assert kendall([1, 2, 2, 3], [2, 1, 3, 4]) == pytest.approx(3 / np.sqrt(30))
    assert kendall([1, 2, 3], [5, 6, 7]) == 1
    assert kendall([1, 2, 3], [7, 6, 5]) == -1
    assert np.isnan(kendall([1], [1]))


def test_calibration_by_hand():
    # Two bins of two: estimated 0.1 and 0.5, realised 0.2 and 0.6: gap 0.1.
    found = regret_calibration([0.0, 0.4, 0.4, 0.8], [0.1, 0.1, 0.5, 0.5], bins=2)
    assert found.estimated == pytest.approx([0.1, 0.5])
    assert found.realised == pytest.approx([0.2, 0.6])
    assert found.count.tolist() == [2, 2]
    assert found.gap == pytest.approx(0.1)


@given(pairs, st.integers(1, 12), st.randoms())
def test_calibration_laws(rows, bins, random):
    regret, epistemic = zip(*rows, strict=True)
    found = regret_calibration(regret, epistemic, bins=bins)
    assert found.count.sum() == len(rows)
    assert len(found.count) <= bins
    assert (np.diff(found.estimated) > 0).all()
    assert found.estimated @ found.count == pytest.approx(sum(epistemic))
    assert found.realised @ found.count == pytest.approx(sum(regret))
    assert regret_calibration(epistemic, epistemic, bins=bins).gap == pytest.approx(0)
    again = regret_calibration(*zip(*random.sample(rows, len(rows)), strict=True), bins=bins)
    assert again.gap == pytest.approx(found.gap)


def test_bins_must_be_positive():
    with pytest.raises(InputError, match="bins"):
        regret_calibration([1.0], [1.0], bins=0)


def test_the_rule_by_row_order_refuses_weights_and_normalised_curves():
    for option in ({"sample_weight": [1, 2]}, {"normalized": True}):
        with pytest.raises(InputError, match="row_order' cannot be used with"):
            areas([0.5, 0.0], [1.0, 2.0], rule="row_order", **option)


def test_one_bin_is_the_whole_sample():
    curve = regret_calibration([0.0, 1.0, 0.5], [0.2, 0.4, 0.6], bins=1)
    assert (curve.estimated.tolist(), curve.realised.tolist()) == ([pytest.approx(0.4)], [0.5])
    with pytest.raises(InputError, match="at least 1, got 0"):
        regret_calibration([0.0, 1.0], [0.2, 0.4], bins=0)
