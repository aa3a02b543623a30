"""best_cut: a slow twin that tries every cut, and the same answer with bins as without."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rue import Components, Problem
from rue._kernels.sorting import binned_sums
from rue.deploy import candidates as module
from rue.deploy.candidates import Bins, best_cut, directions, keeps_budgets, losses_of
from rue.deploy.promise import Promise
from rue.deploy.rule import weighted_score

PROBLEMS = [
    Problem(maximize="coverage", risk_max=0.2, regret_max=0.1),
    Problem(maximize="coverage", regret_max=0.15, normalized=True),
    Problem(minimize="risk", coverage_min=0.4),
    Problem(minimize="regret", coverage_min=0.3, risk_max=0.2),
    Problem(minimize="regret", coverage_min=0.3, risk_max=0.5, normalized=True),
    Problem(minimize="risk", coverage_min=0.9, risk_max=0.05),
]


def world(seed, n, ties):
    rng = np.random.default_rng(seed)
    a, e = rng.gamma(0.5, 0.2, n), rng.gamma(0.3, 0.3, n)
    noisy = a * rng.lognormal(0, 0.5, n), e * rng.lognormal(0, 0.7, n)
    if ties:
        noisy = tuple(np.round(8 * x) / 8 for x in noisy)
    total = np.minimum(a + e, 1.0)
    star = Components(total, total - np.minimum(e, total), np.minimum(e, total))
    return star, Components(noisy[0] + noisy[1], *noisy)


def slow_cut(star, hat, problem, candidates):
    """Try each cut of each direction; the first of the best."""
    n, best, found = len(star), None, (candidates[0], -math.inf)
    for weights in candidates:
        s = weighted_score(hat, weights)
        for tau in sorted(set(s)):
            kept = s <= tau
            per = kept.sum() if problem.normalized else n
            rates = {
                "risk": star.total[kept].sum() / per,
                "regret": star.epistemic[kept].sum() / per,
            }
            if any(rates[k] > limit * (1 + 1e-12) for k, limit in problem.budgets.items()):
                continue
            value = (0.0, kept.sum())
            if problem.minimize is not None and kept.mean() >= problem.floor - 1e-12:
                value = (1.0, -rates[problem.minimize])
            if best is None or value > (best[0], best[1] + 1e-12):
                best, found = value, (weights, tau)
    return found


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.sampled_from(PROBLEMS), st.booleans())
def test_is_the_slow_twin(seed, n, problem, ties):
    star, hat = world(seed, n, ties)
    candidates = directions(hat)[:7]
    weights, tau = best_cut(losses_of(star), hat, problem, candidates)
    other, slow = slow_cut(star, hat, problem, candidates)
    assert weights == other
    assert ((weighted_score(hat, weights) <= tau) == (weighted_score(hat, weights) <= slow)).all()


def fits(name, problem):
    if name == "sample":
        return keeps_budgets
    promise = Promise(problem, 0.1, 1.0)
    return lambda thresholds, _: promise.expected_p_values(thresholds, 700) <= 0.1


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(PROBLEMS),
    st.booleans(),
    st.sampled_from(["sample", "betting"]),
)
def test_bins_change_nothing(seed, problem, ties, name):
    if name != "sample" and not problem.budgets:
        name = "sample"
    star, hat = world(seed, 400, ties)
    losses, candidates = losses_of(star, squares=True), directions(hat)[:40]
    few = pytest.MonkeyPatch()
    with few.context() as patch:
        patch.setattr(module, "_MANY", 10**9)
        plain = best_cut(losses, hat, problem, candidates, fits(name, problem))
        patch.setattr(module, "_MANY", 2)
        patch.setattr(module, "_N_BINS", 16)
        binned = best_cut(losses, hat, problem, candidates, fits(name, problem))
    assert binned == plain


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bins_rule_out_most_directions(problem, monkeypatch):
    star, hat = world(0, 4000, False)
    losses, candidates = losses_of(star), directions(hat)
    sorted_ones = []
    exact = module._best
    monkeypatch.setattr(module, "_MANY", 2)
    monkeypatch.setattr(module, "_N_BINS", 256)
    monkeypatch.setattr(module, "_best", lambda *a: sorted_ones.append(1) or exact(*a))
    best_cut(losses, hat, problem, candidates)
    assert len(sorted_ones) < len(candidates) / 4


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 12))
def test_binned_sums_are_those_of_a_search(seed, ties, n_edges):
    star, hat = world(seed, 60, ties)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(3, 2))
    scores = weights[:, :1] * hat.aleatoric + weights[:, 1:] * hat.epistemic
    edges = np.sort(rng.choice(scores, n_edges, axis=1), axis=1)
    parts = rng.integers(0, 2, 60)
    columns = np.stack([star.total, star.epistemic], axis=1)
    found = binned_sums(hat.aleatoric, hat.epistemic, weights, edges, columns, parts, 2)
    for d in range(3):
        bins = np.searchsorted(edges[d], scores[d])
        for part in range(2):
            mine = parts == part
            count = np.bincount(bins[mine], minlength=n_edges + 1)
            total = np.bincount(bins[mine], star.total[mine], minlength=n_edges + 1)
            assert found[d, part, :, 0].tolist() == count.tolist()
            assert found[d, part, :, 1] == pytest.approx(total)


def test_bins_without_a_part_are_those_of_the_others(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 2)
    monkeypatch.setattr(module, "_N_BINS", 16)
    star, hat = world(1, 300, False)
    losses, candidates = losses_of(star), directions(hat)
    parts = np.random.default_rng(0).integers(0, 5, 300)
    bins = Bins.of_many(losses, hat, candidates, parts, 5)
    assert bins.count.shape == (len(candidates), 5, 16)
    assert bins.without(2).count.sum() == len(candidates) * (parts != 2).sum()
    assert bins.without(2).sums["risk"][0].sum() == pytest.approx(star.total[parts != 2].sum())
