"""Hoeffding-Bentkus: against plain Python, the exact binomial, and enumeration."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue.deploy.p_values import hoeffding_bentkus, n_passed, points_needed


def binomial(k, n, p):
    """P(Bin(n, p) <= k)."""
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(min(k, n) + 1))


def divergence(a, b):
    left = a * math.log(a / b) if a else 0.0
    return left + (1 - a) * math.log((1 - a) / (1 - b))


def naive(total, n, limit):
    mean = min(total / n, limit)
    hoeffding = math.exp(-n * divergence(mean, limit))
    return min(hoeffding, math.e * binomial(math.ceil(total - 1e-9), n, limit), 1.0)


def test_by_hand():
    # No loss in 22 points, budget 0.1: KL(0, 0.1) = -log 0.9, so p = 0.9^22 = 0.0985 <= 0.1;
    # 21 points give 0.1094. Bentkus has a factor e more.
    assert hoeffding_bentkus(0, 22, 0.1) == pytest.approx(0.9**22)
    assert points_needed(0.1, 0.1) == 22
    # One loss in 30, budget 0.5: P(Bin <= 1) = 31 / 2^30, e times it; Hoeffding:
    # exp(-30 (log 2 + (1/30) log(1/30) + (29/30) log(29/30))) = 2^-30 30^30/29^29 = 80.2 / 2^30.
    assert hoeffding_bentkus(1, 30, 0.5) == pytest.approx(30**30 / 29**29 / 2**30)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0.001, 0.999))
def test_is_the_naive_twin(n, share, limit):
    assert hoeffding_bentkus(share * n, n, limit) == pytest.approx(
        naive(share * n, n, limit), rel=1e-9, abs=1e-300
    )


@pytest.mark.parametrize("n", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("limit", [0.003, 0.05, 0.3, 0.8])
def test_against_the_exact_binomial(n, limit):
    # Of 0/1 losses the exact p-value is P(Bin(n, limit) <= k): ours is never below it, and by
    # Bentkus at most e times it.
    k = np.arange(n + 1)
    exact = np.array([binomial(int(j), n, limit) for j in k])
    ours = hoeffding_bentkus(k, n, limit)
    assert (ours >= exact * (1 - 1e-9)).all()
    assert (ours <= np.minimum(math.e * exact, 1) * (1 + 1e-9)).all()
    # Valid: with mean = limit, P(p <= u) <= u at every u that p can be.
    chance = np.diff(exact, prepend=0.0)
    for u in ours:
        assert chance[ours <= u * (1 + 1e-12)].sum() <= u * (1 + 1e-9)


@pytest.mark.parametrize(
    ("values", "probs"),
    [((0, 0.5, 1), (0.5, 0.3, 0.2)), ((0, 0.1, 0.7), (0.6, 0.3, 0.1)), ((0.2, 0.4), (0.5, 0.5))],
)
def test_is_valid_for_losses_between(values, probs):
    # All outcomes of seven points, each with its probability; the mean is at the limit.
    n, limit = 7, float(np.dot(values, probs))
    outcomes = list(product(range(len(values)), repeat=n))
    totals = np.array([sum(values[i] for i in outcome) for outcome in outcomes])
    chance = np.array([math.prod(probs[i] for i in outcome) for outcome in outcomes])
    p = hoeffding_bentkus(totals, n, limit)
    for u in np.unique(p):
        assert chance[p <= u * (1 + 1e-12)].sum() <= u * (1 + 1e-9)


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.lists(st.floats(0, 1), min_size=2))
def test_more_loss_is_less_sure(n, limit, shares):
    p = hoeffding_bentkus(np.sort(shares) * n, n, limit)
    assert (np.diff(p) >= -1e-12).all()
    assert ((p >= 0) & (p <= 1)).all()


def test_edges():
    assert hoeffding_bentkus(0, 0, 0.1) == 1  # no points, no evidence
    assert hoeffding_bentkus(0, 10, 0) == 1  # a budget of 0 cannot be shown
    assert hoeffding_bentkus(10, 10, 1) == 0  # no loss is above 1
    assert hoeffding_bentkus(5, 10, 0.5) == 1  # at the limit
    # A sum that rounding has lifted over a whole number is that number.
    assert hoeffding_bentkus(3 + 1e-12, 40, 0.2) == pytest.approx(hoeffding_bentkus(3, 40, 0.2))


@given(st.floats(0.001, 0.99), st.floats(0.001, 0.5))
def test_points_needed_are_the_fewest(limit, delta):
    n = points_needed(limit, delta)
    assert hoeffding_bentkus(0, n, limit) <= delta
    assert n == 1 or hoeffding_bentkus(0, n - 1, limit) > delta


@given(st.floats(0.02, 0.9), st.floats(0.01, 0.5), st.floats(0.05, 0.8))
def test_points_needed_at_a_rate(limit, delta, share):
    n = points_needed(limit, delta, share * limit)
    assert hoeffding_bentkus(share * limit * n, n, limit) <= delta
    assert n >= points_needed(limit, delta)


def test_points_that_no_number_makes_enough():
    assert points_needed(0.1, 0.1, 0.1) is None
    assert points_needed(0.0, 0.1) is None
    assert points_needed(1.0, 0.1) == 0


@pytest.mark.parametrize("limit", [1e-9, 1e-14, 1e-17])
def test_small_limits(limit):
    # Without a loss p = (1 - limit)^n = exp(-n limit), though 1 - limit is rounded.
    n = 3 / limit
    assert hoeffding_bentkus(0, n, limit) == pytest.approx(math.exp(-3), rel=1e-8)
    assert points_needed(limit, 0.1) == pytest.approx(math.log(10) / limit, rel=1e-8)


def test_points_that_nobody_has():
    assert points_needed(5e-324, 0.1) == 10**18


@pytest.mark.parametrize(
    ("p", "passed"),
    [([0.01, 0.05, 0.1], 3), ([0.01, 0.2, 0.01], 1), ([0.2, 0.0], 0), ([], 0)],
)
def test_testing_stops_at_the_first_that_fails(p, passed):
    assert n_passed(np.array(p), 0.1) == passed


@given(st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0.01, 0.95))
def test_a_mean_of_the_accepted_is_the_sharper_test(coverage, share, limit):
    # E[C (loss - b)] <= 0, seen over all points: C (loss - b) + b has the mean (1-c) b + c r.
    rate = share * limit
    everyone = divergence((1 - coverage) * limit + coverage * rate, limit)
    assert everyone <= coverage * divergence(rate, limit) + 1e-12
