"""Recalibration: isotonic regression by its min-max formula, its laws, and what it is for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue import fit_recalibration, recalibrate, regret_calibration
from rue.errors import InputError
from rue.metrics.recalibration import gap_after_recalibration


def naive_isotonic(regret, score):
    """Return max over s <= t of the min over u >= t of the mean regret with scores in [s, u]."""
    levels = sorted(set(score))
    found = []
    for t in score:
        best = -np.inf
        for s in [v for v in levels if v <= t]:
            means = [regret[(score >= s) & (score <= u)].mean() for u in levels if u >= t]
            best = max(best, min(means))
        found.append(best)
    return np.array(found)


points = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=14).map(
    lambda rows: np.array(rows, float).T
)


def test_by_hand():
    # Scores 2 and 3 are in the wrong order: both get (0.4 + 0.2) / 2. Outside it is constant,
    # and halfway between 1 and 2 it is (0 + 0.3) / 2.
    fitted = fit_recalibration([0.0, 0.4, 0.2, 0.8], [1, 2, 3, 4])
    assert fitted.apply([0, 1, 1.5, 2, 2.7, 3, 4, 9]) == pytest.approx(
        [0, 0, 0.15, 0.3, 0.3, 0.3, 0.8, 0.8]
    )


@given(points)
def test_is_the_naive_regression(rows):
    regret, score = rows
    found = fit_recalibration(regret, score).apply(score)
    np.testing.assert_allclose(found, naive_isotonic(regret, score), atol=1e-12)


@given(points)
def test_laws(rows):
    regret, score = rows
    found = fit_recalibration(regret, score).apply(score)
    order = np.argsort(score)
    assert (np.diff(found[order]) >= 0).all()
    assert found.mean() == pytest.approx(regret.mean(), abs=1e-12)
    again = fit_recalibration(regret, found).apply(found)
    np.testing.assert_allclose(again, found, atol=1e-12)
    moved = fit_recalibration(regret, np.exp(score)).apply(np.exp(score))
    np.testing.assert_allclose(moved, found, atol=1e-12)


def test_gives_the_right_order_the_right_size(rng):
    epistemic = rng.gamma(1.0, size=4000)
    regret = 0.1 * epistemic**2 * rng.gamma(4.0, 1 / 4, 4000)
    before = regret_calibration(regret, epistemic).gap
    after = regret_calibration(regret, recalibrate(regret, epistemic)).gap
    assert after < before / 10


def test_no_point_is_fitted_to_itself():
    """Two folds of one point each: each gets the other's regret."""
    assert recalibrate([1.0, 3.0], [5, 6], folds=2) == pytest.approx([3.0, 1.0])


@given(points, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, random):
    regret, score = np.repeat(rows, 2, axis=1)
    turn = np.array(random.sample(range(len(score)), len(score)))
    found = recalibrate(regret, score, folds=2)
    turned = recalibrate(regret[turn], score[turn], folds=2)
    mine = sorted(zip(regret, score, found, strict=True))  # equal points may change places
    assert mine == sorted(zip(regret[turn], score[turn], turned, strict=True))


def many_ties(rng, n):
    """Six scores, the least of them for 60 % of the points; most regrets are 0, as under 0/1."""
    score = np.maximum(rng.integers(-5, 5, n), 0) / 10
    return np.where(rng.random(n) < 0.1 + 0.6 * score, rng.random(n), 0.0), score


def no_ties(rng, n):
    score = rng.random(n)
    return score**2 * rng.gamma(4.0, 0.25, n), score


@pytest.mark.parametrize("world", [many_ties, no_ties])
@pytest.mark.parametrize("n", [200, 600])
@pytest.mark.parametrize("copies", [1, 4])
def test_the_gap_after_is_that_of_new_points(world, n, copies, rng):
    """The mean over 60 samples, against three new samples for the map of each.

    Copies of a point are a cluster. Both means have errors of a few percent.
    """
    found, true = [], []
    for _ in range(60):
        samples = [np.repeat(world(rng, n // copies), copies, axis=1) for _ in range(4)]
        regret, score = samples[0]
        cluster = None if copies == 1 else np.repeat(np.arange(n // copies), copies)
        found.append(gap_after_recalibration(regret, score, cluster=cluster))
        fitted = fit_recalibration(regret, score)
        true += [regret_calibration(r, fitted.apply(s)).gap for r, s in samples[1:]]
    assert np.mean(found) == pytest.approx(np.mean(true), rel=0.2)


def test_the_gap_after_by_hand():
    # Two points are each a half: a gap of 2 in both directions, and in every halving.
    assert gap_after_recalibration([1.0, 3.0], [5, 6]) == pytest.approx(2 / 2**0.5)


def test_the_seed_of_the_gap_after_is_0_if_none_is_given(rng):
    regret, score = rng.gamma(0.5, size=(2, 40))
    first, other = (gap_after_recalibration(regret, score, seed=seed) for seed in (0, 1))
    assert gap_after_recalibration(regret, score) == first != other


@given(points, st.randoms())
def test_the_gap_after_does_not_depend_on_the_order_of_the_rows(rows, random):
    regret, score = np.repeat(rows, 2, axis=1)
    turn = np.array(random.sample(range(len(score)), len(score)))
    found = gap_after_recalibration(regret, score)
    assert gap_after_recalibration(regret[turn], score[turn]) == found


def test_clusters_are_in_one_fold():
    """Two folds of one cluster each: each gets the other's mean regret."""
    found = recalibrate([1.0, 3, 1, 7], [5, 5, 5, 5], folds=2, cluster=["a", "a", "b", "b"])
    assert found.tolist() == [4.0, 4.0, 2.0, 2.0]


def test_a_score_that_only_names_the_cluster_gains_nothing(rng):
    """Five copies of each of 30 points: a fit to copies of a point is better than the mean."""
    error = np.empty((40, 3))
    for trial in error:
        score, regret = rng.gamma(1.0, size=30), rng.gamma(0.5, 2.0, 30)
        score, regret, document = (np.repeat(x, 5) for x in (score, regret, np.arange(30)))
        for i, labels in enumerate((None, document)):
            trial[i] = np.mean((regret - recalibrate(regret, score, cluster=labels)) ** 2)
        trial[2] = regret.var()
    by_points, by_clusters, by_mean = error.mean(axis=0)
    assert by_points < by_mean < by_clusters


@pytest.mark.parametrize("labels", [["a", "a", "a", "a"], ["a", "b"], ["a", "b", "", "b"]])
def test_wrong_clusters(labels):
    with pytest.raises(InputError, match="cluster"):
        recalibrate([0.0, 1.0, 2.0, 3.0], [1, 2, 3, 4], folds=2, cluster=labels)


def test_more_folds_than_clusters():
    with pytest.raises(InputError, match=r"from 2 to the 2 clusters, got 3"):
        recalibrate([0.0, 1.0, 2.0], [1, 2, 3], folds=3, cluster=["a", "b", "b"])


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
def test_wrong_seed(seed):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, got"):
        recalibrate([0.0, 1.0], [1, 2], folds=2, seed=seed)


@pytest.mark.parametrize("folds", [1, 3, 2.5, True])
def test_wrong_folds(folds):
    with pytest.raises(InputError, match=r"folds must be a whole number from 2 to the 2 points"):
        recalibrate([0.0, 1.0], [1, 2], folds=folds)
