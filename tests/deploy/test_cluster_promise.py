"""Promises over clusters: the mean of each cluster bets, and the promise is for its points."""

import numpy as np
import pytest

from naive_betting import naive
from rue import Components, fit_selector
from rue.deploy import attained

BUDGETS = [{"risk_max": 0.12}, {"regret_max": 0.08}, {"risk_max": 0.25, "normalized": True}]


def world(rng, n_clusters, size=6):
    """Points whose doubt and loss are alike in a cluster; sizes differ from 1 to ``size``."""
    sizes = rng.integers(1, size + 1, n_clusters)
    codes = np.repeat(np.arange(n_clusters), sizes)
    common, own = rng.random(n_clusters)[codes], rng.random(len(codes))
    doubt = 0.7 * common + 0.3 * own
    hard = rng.beta(0.5, 1.5, n_clusters)[codes]
    loss = np.clip(doubt * hard + 0.1 * rng.random(len(codes)), 0, 1)
    star = Components(loss, 0.4 * loss, 0.6 * loss)
    hat = Components(doubt, 0.5 * doubt, 0.5 * doubt)
    return star, hat, codes


@pytest.fixture(scope="module")
def population():
    return world(np.random.default_rng(7), 8_000)


def fitted(star, hat, codes, seed=0, **options):
    base = {"maximize": "coverage", "delta": 0.1, "bound": 1.0, "weights": (1, 1)}
    return fit_selector(star, hat, cluster=codes, seed=seed, **base | options)


@pytest.mark.parametrize("problem", BUDGETS)
def test_promises_hold_and_cover_at_least_as_much_as_one_point_of_each(population, problem):
    """In 100 draws of 150 clusters: broken at most 10 % and three errors; coverage not less."""
    star, hat, codes = population
    rows_of = np.split(np.arange(len(codes)), np.flatnonzero(np.diff(codes)) + 1)
    normalized = problem.get("normalized", False)
    broken, coverage = 0, {"means": 0.0, "one": 0.0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(rows_of), 150, replace=False)
        rows = np.concatenate([rows_of[c] for c in drawn])
        part, said, own = star[rows], hat[rows], codes[rows]
        rule = fitted(part, said, own, seed, **problem)
        shuffled = rng.permutation(len(own))
        single = shuffled[np.unique(own[shuffled], return_index=True)[1]]
        one = fitted(part[single], said[single], np.arange(150), seed, **problem)
        for name, each in (("means", rule), ("one", one)):
            accepted = each.accept(hat)
            coverage[name] += accepted.mean() / 100
        found = attained(star, rule.accept(hat), normalized=normalized, cluster=codes)
        broken += (
            found.risk > problem["risk_max"]
            if "risk_max" in problem
            else found.regret > problem["regret_max"]
        )
    assert broken <= 10 + 3 * np.sqrt(100 * 0.1 * 0.9)
    assert coverage["means"] >= coverage["one"] - 0.002


@pytest.mark.parametrize("problem", BUDGETS)
def test_clusters_of_one_point_are_points(problem):
    star, hat, _ = world(np.random.default_rng(1), 300, 1)
    alone, plain = fitted(star, hat, np.arange(300), **problem), fitted(star, hat, None, **problem)
    assert alone == plain


def test_the_p_value_is_that_of_the_cluster_means():
    """At the threshold, plain Python bets on the means; with one more point it does not pass."""
    star, hat, codes = world(np.random.default_rng(2), 80)
    rule = fitted(star, hat, codes, risk_max=0.15)
    order = np.random.default_rng(0).permutation(80)

    def bet(tau):
        kept = star.total * (hat.total <= tau)
        means = [sum(kept[codes == c]) / sum(codes == c) for c in order]
        return means, 1 / naive(means, 0.15, 0.1, prior=0.15)[0]

    means, p_value = bet(rule.tau)
    assert p_value == pytest.approx(rule.p_value, rel=1e-3)  # it stops at the goal
    assert p_value <= 0.1 < bet(np.min(hat.total[hat.total > rule.tau]))[1]
    assert rule.n_learned == 0
    assert rule.estimate.risk == pytest.approx(np.mean(means))
    assert rule.estimate.risk_error == pytest.approx(np.std(means) / np.sqrt(80))


def test_per_accepted_point_a_rejected_point_changes_nothing():
    """The p-value of the mean of limit + C (loss - limit), by plain Python."""
    star, hat, codes = world(np.random.default_rng(5), 400)
    rule = fitted(star, hat, codes, risk_max=0.3, normalized=True)
    assert rule.estimate.coverage > 0
    order = np.random.default_rng(0).permutation(400)[rule.n_learned :]
    part = (hat.total <= rule.tau) * (star.total - 0.3)
    means = [0.3 + part[codes == c].mean() for c in order]
    assert 1 / naive(means, 0.3, 0.1, prior=0.3)[0] <= 0.1
    share = [(hat.total <= rule.tau)[codes == c].mean() for c in order]
    assert rule.estimate.coverage == pytest.approx(np.mean(share))
    loss = [(star.total * (hat.total <= rule.tau))[codes == c].mean() for c in order]
    assert rule.estimate.risk == pytest.approx(np.mean(loss) / np.mean(share))


def test_many_points_share_bets():
    """Beyond 10,000 points the promise is nearly that of own bets."""
    star, hat, codes = world(np.random.default_rng(3), 4000)
    assert len(star) > 10_000
    large = fitted(star, hat, codes, risk_max=0.12)
    # The same clusters again, without the points that no threshold near it decides.
    means = np.bincount(codes, star.total * (hat.total <= large.tau)) / np.bincount(codes)
    assert 0.112 < means.mean() < 0.12
    assert large.p_value <= 0.1
    learned = fitted(star, hat, codes, risk_max=0.12, weights=None)
    assert learned.n_learned == 1000
    assert learned.estimate.coverage == pytest.approx(large.estimate.coverage, abs=0.03)


def test_too_few_clusters_are_called_clusters():
    star, hat, codes = world(np.random.default_rng(4), 12)
    rule = fitted(star, hat, codes, risk_max=0.01)
    assert not rule.accept(hat).any()
    assert rule.n_needed > 12
    assert rule.notes[1].startswith("Nothing is accepted: 12 calibration clusters are too few")


def test_sizes_do_not_weigh(rng):
    """A cluster of a thousand copies counts as one: copies of a point change nothing."""
    star, hat, _ = world(rng, 100, 1)
    copies = np.repeat(np.arange(100), np.where(np.arange(100) < 3, 50, 1))
    twice = np.repeat(np.arange(100), 2)
    once = fitted(star[twice], hat[twice], twice, risk_max=0.15)
    often = fitted(star[copies], hat[copies], copies, risk_max=0.15)
    assert often.tau == once.tau
    assert often.estimate.coverage == pytest.approx(once.estimate.coverage)
    assert often.estimate.risk_error == pytest.approx(once.estimate.risk_error)
