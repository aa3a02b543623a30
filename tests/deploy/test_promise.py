"""Thresholds that share bets: a slow twin over the real line, and the promise they keep."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import naive_betting
from rue import Components, Problem, fit_selector
from rue.deploy import promise as module
from rue.deploy.promise import Promise

DELTA = 0.2


def slow_tau(losses, limits, scores, references, first):
    """Walk up the real line; each threshold takes the bets of the reference above it."""
    top = [*sorted(references), math.inf]
    # Where what is accepted, or the bets, change; and a place in between each two.
    places = sorted({*scores, *references})
    line = [places[0] - 1]
    for here, there in zip(places, [*places[1:], places[-1] + 2], strict=True):
        line += [here, (here + there) / 2]
    best = -math.inf
    for tau in line:
        reference = next(r for r in top if r >= tau)
        for name, limit in limits.items():
            theirs = np.where(scores <= reference, losses[name], 0.0)
            mine = np.where(scores <= tau, losses[name], 0.0)
            most, bets = naive_betting.naive(theirs, limit, DELTA, first)
            if most * DELTA < 1:  # otherwise mine, which are smaller, pass with the same bets
                steps = np.cumprod(1 + np.array(bets) * (limit - mine))
                if max(1.0, steps.max()) * DELTA < 1:
                    return best
        best = tau
    return best


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(10, 60),
    st.sampled_from([{"risk_max": 0.2}, {"regret_max": 0.1}, {"risk_max": 0.3, "regret_max": 0.1}]),
    st.booleans(),
)
def test_is_the_slow_twin(seed, n, budgets, others):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 30, n) / 8
    regret = rng.uniform(0, 1, n) * (rng.uniform(0, 6, n) < scores)
    losses = {"risk": regret + rng.uniform(0, 0.2, n) * (1 - regret), "regret": regret}
    promise = Promise(Problem(maximize="coverage", **budgets), DELTA, 1.0)
    patch = pytest.MonkeyPatch()
    with patch.context() as to:
        to.setattr(module, "_OWN_BETS", 0)
        to.setattr(module, "_MOST", 6)
        to.setattr(module, "_SHARE", 5)
        references = rng.integers(0, 32, 6) / 8 if others else np.empty(0)
        found = promise.test(losses, scores, None, references)
        first = 0 if others else min(n // 5, 6)
        used = references if others else scores[:first]
    slow = slow_tau(losses, promise.limits, scores, used, first)
    assert (scores <= found.tau).tolist() == (scores <= slow).tolist()
    # And no threshold beyond those that passed: one of an empty stretch may be a little smaller.
    assert found.tau <= slow or not (scores[(scores > slow) & (scores <= found.tau)]).size
    if found.p_value is not None:
        assert 0 < found.p_value <= DELTA


@pytest.mark.parametrize("weights", [None, (0, 1)])
def test_the_promise_holds_where_risk_is_a_formula(rng, monkeypatch, weights):
    # As in test_fit.py, with shared bets: scores uniform, losses 0/1 with probability u^2, so that
    # risk = tau^3 / 3.
    monkeypatch.setattr(module, "_OWN_BETS", 0)
    n_draws, broken, shared, own = 300, 0, 0.0, 0.0
    for _ in range(n_draws):
        score = rng.uniform(0, 1, 300)
        zero = np.zeros(300)
        loss = rng.uniform(0, 1, 300) < score**2
        star, hat = Components(loss, zero, loss), Components(score, zero, score)
        options = {"maximize": "coverage", "risk_max": 0.1, "delta": DELTA, "bound": 1}
        rule = fit_selector(star, hat, weights=weights, **options)
        tau = 0.0 if rule.tau == -math.inf else min(rule.tau, 1.0)
        broken += tau**3 / 3 > 0.1
        shared += tau / n_draws
        with monkeypatch.context() as to:
            to.setattr(module, "_OWN_BETS", 1_000)
            own += min(fit_selector(star, hat, weights=weights, **options).tau, 1.0) / n_draws
    assert broken / n_draws <= binom.ppf(0.999, n_draws, DELTA) / n_draws
    assert shared == pytest.approx(own, abs=0.02)  # what shared bets cost is little


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.floats(0.01, 0.6), min_size=2, max_size=5))
def test_a_larger_budget_accepts_no_less(seed, limits):
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 1, 80)
    zero = np.zeros(80)
    star = Components(score**2 * rng.uniform(0, 1, 80), zero, score**2 * rng.uniform(0, 1, 80))
    star = Components(star.total, zero, star.total)
    hat = Components(score, zero, score)
    options = {"maximize": "coverage", "delta": DELTA, "bound": 1, "weights": (0, 1)}
    taus = [fit_selector(star, hat, risk_max=limit, **options).tau for limit in sorted(limits)]
    assert taus == sorted(taus)


@pytest.mark.parametrize("n", [3, 500, 501, 999, 10_000])
def test_spread(n):
    found = module._spread(n, 500)
    assert len(found) == min(n, 500)
    assert found[-1] == n - 1
    assert (np.diff(found) >= 1).all()
