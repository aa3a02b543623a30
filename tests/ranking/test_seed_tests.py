"""The paired test over seeds: by hand, against SciPy, and what cannot be tested."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from rue.errors import InputError
from rue.inference.method_ranking import holm
from rue.ranking import Contest, Score, find_inversions
from rue.ranking.inversions import compare_over_seeds

NEAR = Contest("d", "near_ood", "")


def scores(values, criterion="near_ood", loss=""):
    return [
        Score("d", method, seed, criterion, loss, value)
        for method, each in values.items()
        for seed, value in enumerate(each)
    ]


def test_by_hand():
    # Differences .2 and .1: mean .15, standard error .05, t = 3 with one degree of freedom, whose
    # distribution is Cauchy's: p = 1 - 2 atan(3) / pi.
    p = compare_over_seeds(scores({"a": (0.9, 0.8), "b": (0.7, 0.7)}))
    assert p(NEAR, "a", "b") == pytest.approx(1 - 2 * np.arctan(3) / np.pi)
    assert p(NEAR, "b", "a") == p(NEAR, "a", "b")


def test_against_scipy_and_corrected_for_all_pairs(rng):
    values = dict(zip("abc", rng.normal(size=(3, 5)), strict=True))
    p = compare_over_seeds(scores(values))
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    plain = [ttest_rel(values[x], values[y]).pvalue for x, y in pairs]
    assert [p(NEAR, *pair) for pair in pairs] == pytest.approx(holm(plain))


def test_best_near_zero_compares_sizes():
    # Means -.4 and .1: the sizes differ by .5 and .1, not by .5 and .1 with other signs.
    found = scores({"a": (-0.6, -0.2), "b": (0.1, 0.1)}, "spearman_hat", "log")
    p = compare_over_seeds(found)(Contest("d", "spearman_hat", "log"), "b", "a")
    assert p == pytest.approx(ttest_rel([0.6, 0.2], [0.1, 0.1]).pvalue)


def test_what_cannot_be_tested_has_no_p_value():
    one = compare_over_seeds(scores({"a": (0.9,), "b": (0.7,)}))
    assert one(NEAR, "a", "b") is None
    same = compare_over_seeds(scores({"a": (0.9, 0.8), "b": (0.7, 0.6)}))
    assert same(NEAR, "a", "b") is None  # no seed differs from another
    means = [Score("d", m, None, "near_ood", "", v) for m, v in (("a", 0.9), ("b", 0.7))]
    assert compare_over_seeds(means)(NEAR, "a", "b") is None
    assert one(Contest("e", "near_ood", ""), "a", "b") is None
    with pytest.raises(InputError, match="did you mean 'near_ood'"):
        compare_over_seeds(scores({"a": (0.9,)}, "near_odd"))


def test_an_inversion_is_as_significant_as_the_weaker_order():
    both = [
        *scores({"a": (0.9, 0.8, 0.85), "b": (0.7, 0.75, 0.7)}),
        *scores({"a": (0.4, 0.3, 0.5), "b": (0.1, 0.2, 0.1)}, "aurec", "log"),
    ]
    p = compare_over_seeds(both)
    (found,) = find_inversions(both, p_value=p).inversions
    assert found.p_value == max(p(found.first, "a", "b"), p(found.second, "a", "b"))


def test_coverage_of_the_test(rng):
    # Two methods that are alike: a p-value below .1 in a tenth of 2,000 worlds.
    drawn = rng.normal(size=(2000, 2, 4))
    low = 0
    for pair in drawn:
        p = compare_over_seeds(scores(dict(zip("ab", pair, strict=True))))(NEAR, "a", "b")
        low += p < 0.1
    assert low / 2000 == pytest.approx(0.1, abs=0.027)
