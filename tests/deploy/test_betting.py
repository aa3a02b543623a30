"""Betting p-values: by hand, a naive twin, the supermartingale by enumeration, and its laws."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import naive_betting
from rue._kernels.wealth import wealth, wealth_of_bets
from rue.deploy import betting
from rue.deploy.wagers import fewest_points, profile
from rue.errors import InputError, ShapeError

losses_and_delta = (
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.floats(0.01, 0.5),
)


def run(losses, limit, delta=0.1, *, first=0, accepted=None, per_accepted=False):
    """The largest wealth of the points in their order, and the bets."""
    losses = np.array(losses, dtype=float)
    ranks = np.zeros(len(losses), dtype=np.int64)
    if accepted is not None:
        ranks[~np.array(accepted)] = 1
    bets = np.zeros(len(losses))
    found = wealth(losses, ranks, 0, limit, delta, first, per_accepted, math.inf, profile(), bets)
    return found, bets


# ---------------------------------------------------------------- by hand


def test_bets_by_hand():
    # u = 0.95 * 0.1 = 0.095; Phi^-1(u) = -1.3106, phi = 0.16902. Before the first of 100 points the
    # variance is 1/4, so sqrt(v r) = 5 and the bet is 0.16902 / (0.095 * 5) = 0.3558.
    _, bets = run(np.zeros(100), 0.1)
    assert bets[0] == pytest.approx(0.3558, abs=1e-4)
    # No loss: wealth 1 + 0.3558 * 0.1 = 1.03558, u = 0.09838, Phi^-1 = -1.2909, phi = 0.17339. The
    # mean was 1/2 before, so squares are 1/4 + 1/4 of two points: v = 1/4; r = 99.
    # 0.17339 / (0.09838 * sqrt(99/4)) = 0.3543.
    assert bets[1] == pytest.approx(0.3543, abs=1e-4)


def test_worked_by_hand():
    # Limit 1/2, delta 0.2, two points without loss: I(0.19) / (0.19 sqrt(2/4)) = 0.2714 / 0.1344 =
    # 2.02 is more than 0.999 / (1 - 1/2) = 1.998, and so is the next; each wins 1.998 / 2.
    assert betting([0, 0], 0.5, delta=0.2) == pytest.approx(1 / 1.999**2)
    # A loss of 1 first leaves 1 - 1.998 / 2 = 0.001; the most wealth on the way was 1.
    assert betting([1, 1], 0.5, delta=0.2) == 1
    assert run([1, 0], 0.5, 0.2)[0] == 1


# ---------------------------------------------------------------- a naive twin


@settings(max_examples=60)
@given(*losses_and_delta, st.floats(0.01, 0.95), st.integers(0, 3), st.booleans(), st.data())
def test_is_the_naive_twin(losses, delta, limit, first, per_accepted, data):
    accepted = data.draw(
        st.lists(st.booleans(), min_size=len(losses), max_size=len(losses)), label="accepted"
    )
    options = {"first": first, "accepted": accepted, "per_accepted": per_accepted}
    most, bets = naive_betting.naive(losses, limit, delta, **options)
    found, made = run(losses, limit, delta, **options)
    assert found == pytest.approx(most, rel=1e-9)
    assert made == pytest.approx(np.array(bets), rel=1e-6, abs=1e-12)


def test_the_order_is_that_of_the_seed():
    rng = np.random.default_rng(0)
    losses = rng.uniform(0, 0.2, 50)
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(50)
        assert betting(losses, 0.15, seed=seed) == 1 / run(losses[order], 0.15)[0]
    assert betting(losses, 0.11, seed=0) != betting(losses, 0.11, seed=1)


# ---------------------------------------------------------------- validity

WORLDS = [((0, 1), (0.9, 0.1)), ((0, 1), (0.5, 0.5)), ((0, 0.5, 1), (0.5, 0.3, 0.2)),
          ((0, 0.1, 0.7), (0.6, 0.3, 0.1)), ((0.2, 0.4), (0.5, 0.5))]  # fmt: skip


@pytest.mark.parametrize(("values", "probs"), WORLDS)
@pytest.mark.parametrize("per_accepted", [False, True])
def test_wealth_is_a_martingale_by_enumeration(values, probs, per_accepted):
    # All outcomes of six points with the mean at the limit, each with its probability: the expected
    # wealth after each point is 1. Above the limit it falls.
    n, limit = 6, float(np.dot(values, probs))
    accepted = [True, False, True, True, False, True] if per_accepted else None
    mean = np.zeros(n + 1)
    for outcome in product(range(len(values)), repeat=n):
        losses = np.array([values[i] for i in outcome])
        chance = math.prod(probs[i] for i in outcome)
        _, bets = run(losses, limit, 0.3, accepted=accepted, per_accepted=per_accepted)
        kept = np.ones(n) if accepted is None else np.array(accepted)
        steps = 1 + bets * kept * (limit - losses)
        mean += chance * np.append(1.0, np.cumprod(steps))
        assert ((bets >= 0) & (bets * (1 - limit) <= 1)).all()
    assert mean == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("values", "probs"), WORLDS)
@pytest.mark.parametrize("shift", [1.0, 0.8])
def test_is_valid_by_enumeration(values, probs, shift):
    # P(p <= u) <= u for every u that p can be, where the mean is at the limit, or above it.
    n, limit = 7, shift * float(np.dot(values, probs))
    found, chances = [], []
    for outcome in product(range(len(values)), repeat=n):
        found.append(1 / run([values[i] for i in outcome], limit, 0.3)[0])
        chances.append(math.prod(probs[i] for i in outcome))
    p, chance = np.array(found), np.array(chances)
    for u in np.unique(p):
        assert chance[p <= u * (1 + 1e-12)].sum() <= u * (1 + 1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.05, 0.9), st.data())
def test_bets_depend_on_earlier_points_alone(losses, limit, data):
    k = data.draw(st.integers(0, len(losses) - 1), label="k")
    other = losses[:k] + data.draw(
        st.lists(st.floats(0, 1), min_size=len(losses) - k, max_size=len(losses) - k), label="rest"
    )
    one, two = run(losses, limit)[1], run(other, limit)[1]
    assert one[:k].tolist() == two[:k].tolist()
    # The bet on point k is made before it is seen; it is 0 only if betting had stopped.
    assert one[k] == two[k]


@pytest.mark.parametrize("n", [30, 200, 1000])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.5])
def test_binomial_worst_cases(n, limit):
    # 0/1 losses with the mean at the limit are the hardest: at most delta pass, and not far fewer.
    rng = np.random.default_rng(5)
    n_draws = 2000
    for delta in (0.1, 0.3):
        draws = rng.uniform(size=(n_draws, n)) < limit
        p = np.array([1 / run(row, limit, delta)[0] for row in draws])
        passed = np.mean(p <= delta)
        assert passed <= binom.ppf(0.999, n_draws, delta) / n_draws
        enough = n * limit >= 20
        assert passed > 0.6 * delta or not enough


# ---------------------------------------------------------------- laws


@settings(max_examples=60)
@given(*losses_and_delta, st.lists(st.floats(0.001, 0.999), min_size=2, max_size=12))
def test_p_is_above_0_and_falls_in_the_limit(losses, delta, limits):
    p = np.array([betting(losses, limit, delta=delta) for limit in sorted(limits)])
    assert ((p > 0) & (p <= 1)).all()
    assert (np.diff(p) <= 1e-12).all()


@settings(max_examples=60)
@given(*losses_and_delta, st.floats(0.01, 0.9), st.data())
def test_wealth_of_the_same_bets_falls_in_the_losses(losses, delta, limit, data):
    # What thresholds that share bets rest on.
    _, bets = run(losses, limit, delta)
    less = [data.draw(st.floats(0, 1)) * x for x in losses]
    zero = np.zeros(len(losses), dtype=np.int64)
    one, two = (wealth_of_bets(np.array(x), zero, 0, limit, bets) for x in (losses, less))
    assert two >= one * (1 - 1e-12)
    assert one == pytest.approx(run(losses, limit, delta)[0], rel=1e-9)


def test_profile_is_concave_and_0_at_the_ends():
    height = profile()
    assert (height[0], height[-1]) == (0, 0)
    assert (np.diff(height, 2) < 0).all()
    assert height == pytest.approx(height[::-1], abs=1e-12)
    assert height[512] == pytest.approx(1 / math.sqrt(2 * math.pi))


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("limit", [0.003, 0.05, 0.3, 0.8])
def test_fewest_points_without_a_loss(limit, delta):
    n = fewest_points(limit, delta)
    assert betting(np.zeros(n), limit, delta=delta) <= delta
    assert n == 1 or betting(np.zeros(n - 1), limit, delta=delta) > delta
    at_once = math.log(delta) / math.log1p(-limit)  # (1 - limit)^n <= delta, all at once
    assert at_once <= n <= 1.3 * at_once + 2.3


def test_fewest_points_of_small_limits():
    # Only the product with the limit matters.
    assert fewest_points(1e-8, 0.1) == pytest.approx(fewest_points(1e-3, 0.1) * 1e5, rel=0.01)
    assert fewest_points(0.0, 0.1) is None
    assert fewest_points(1.0, 0.1) == 0


def test_edges():
    assert betting([0.5], 1.0) == 0  # no loss is above 1
    assert betting([0.0], 0.0) == 1  # a budget of 0 cannot be shown
    assert betting([1.0] * 50, 0.999) == 1
    assert 0.94e-12 < betting([0.0] * 1000, 0.9, delta=1e-12) <= 1e-12


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([0.1, 1.5], 0.2), {}, "losses must be from 0 to 1, got 1.5 at row 1"),
        (([0.1], 0.2), {"delta": 0}, "delta must be between 0 and 1, got 0"),
        (([0.1], 0.2), {"seed": -1}, "seed must be a whole number"),
        (([math.nan], 0.2), {}, "losses must be finite"),
    ],
)
def test_refusals(arguments, options, words):
    with pytest.raises(InputError, match=words):
        betting(*arguments, **options)
    with pytest.raises(ShapeError):
        betting([], 0.1)
