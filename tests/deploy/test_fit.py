"""fit_selector: worked by hand, against a slow twin, and in a world where risk is a formula."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import naive_betting
from rue import (
    Annotations,
    Components,
    DeployableSelector,
    Draws,
    Kind,
    Problem,
    fit_selector,
    realize,
    try_promise,
)
from rue.deploy.wagers import fewest_points
from rue.errors import InputError, ShapeError
from rue.losses import get_loss


def components(aleatoric, epistemic):
    a, e = np.asarray(aleatoric, float), np.asarray(epistemic, float)
    return Components(a + e, a, e)


def scored(score):
    """Only the epistemic component ranks."""
    return components(np.zeros(len(score)), score)


# ---------------------------------------------------------------- by hand


def test_without_delta_the_budget_is_met_on_the_points():
    score = np.arange(10.0)
    star = components(np.zeros(10), score / 10)
    rule = fit_selector(star, scored(score), maximize="coverage", risk_max=0.1)
    # 0 + 0.1 + 0.2 + 0.3 + 0.4 = 1.0 of ten points: five are accepted.
    assert rule.accept(scored(score)).tolist() == [True] * 5 + [False] * 5
    assert rule.delta is None
    assert "Nothing is promised" in rule.promise
    # Per accepted point 0, 0.1, 0.2: mean 0.1.
    rule = fit_selector(star, scored(score), maximize="coverage", risk_max=0.1, normalized=True)
    assert rule.accept(scored(score)).sum() == 3


def test_equal_scores_go_together():
    # Five points at 1 with losses 0, 0, 0, 0, 1: all or none.
    star = components(np.zeros(10), [0] * 5 + [0, 0, 0, 0, 1])
    hat = scored([0.0] * 5 + [1.0] * 5)
    for risk_max, accepted in ((0.1, 10), (0.09, 5)):
        rule = fit_selector(star, hat, maximize="coverage", risk_max=risk_max)
        assert rule.accept(hat).sum() == accepted
    # A new point between the two scores is nearer to one of them.
    assert rule.accept(scored([0.4, 0.6])).tolist() == [True, False]
    # What rounding alone keeps apart is equal.
    near = scored([0.0] * 5 + [1.0, 1.0 + 1e-13, 1.0, 1.0 - 1e-13, 1.0])
    assert fit_selector(star, near, maximize="coverage", risk_max=0.09).accept(near).sum() == 5


# ---------------------------------------------------------------- a slow twin


def slow_tau(total, regret, score, risk_max, regret_max, delta, bound):
    """The largest score up to which both budgets pass, by trying each; -inf if none."""
    n, best = len(score), -math.inf
    order = np.random.default_rng(0).permutation(n)

    def p_value(losses, limit):
        return 1 / naive_betting.naive(losses[order] / bound, limit / bound, delta)[0]

    for tau in [-math.inf, *sorted(set(score))]:
        for losses, limit in ((total, risk_max), (regret, regret_max)):
            kept = np.where(score <= tau, losses, 0.0)
            if limit is not None and p_value(kept, limit) > delta:
                return best
        best = tau
    return best


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(5, 80),
    st.sampled_from([(0.2, None), (None, 0.1), (0.3, 0.1)]),
)
def test_is_the_slow_twin(seed, n, budgets):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 12, n) / 4
    regret = rng.uniform(0, 1, n) * (rng.uniform(0, 3, n) < score)
    star = components(rng.uniform(0, 0.3, n), regret)
    risk_max, regret_max = budgets
    found = fit_selector(
        star,
        scored(score),
        maximize="coverage",
        risk_max=risk_max,
        regret_max=regret_max,
        weights=(0, 1),
        delta=0.2,
        bound=1.5,
    )
    tau = slow_tau(star.total, star.epistemic, score, risk_max, regret_max, 0.2, 1.5)
    assert (score <= tau).tolist() == found.accept(scored(score)).tolist()


@settings(max_examples=16)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([None, 0.1]))
def test_units_do_not_matter(seed, normalized, delta):
    rng = np.random.default_rng(seed)
    n = 60
    star = components(rng.uniform(0, 0.2, n), rng.uniform(0, 1, n) ** 4)
    hat = components(rng.uniform(0, 1, n), rng.uniform(0, 1, n))
    asked = {"maximize": "coverage", "normalized": normalized}
    bound = {} if delta is None else {"delta": delta, "bound": 1.2}
    rule = fit_selector(star, hat, risk_max=0.2, regret_max=0.15, **asked, **bound)
    eight = {} if delta is None else {"delta": delta, "bound": 9.6}
    times = Components(8 * star.total, 8 * star.aleatoric, 8 * star.epistemic)
    other = fit_selector(times, hat, risk_max=1.6, regret_max=1.2, **asked, **eight)
    assert (other.weights, other.tau) == (rule.weights, rule.tau)


# ---------------------------------------------------------------- the promise, where risk is known


# Scores u uniform on [0, 1], losses 0/1 with probability u^2, all of them regret. Accepting up to
# tau, risk = tau^3 / 3, and tau^2 / 3 per accepted point.
def draw(n, rng):
    score = rng.uniform(0, 1, n)
    return components(np.zeros(n), rng.uniform(0, 1, n) < score**2), score


def most_broken(n_draws, delta):
    """What a share of delta exceeds by chance once in a thousand."""
    return binom.ppf(0.999, n_draws, delta) / n_draws


@pytest.mark.parametrize(
    ("asked", "risk"),
    [
        ({"risk_max": 0.1}, lambda tau: tau**3 / 3),
        ({"risk_max": 0.2, "regret_max": 0.1}, lambda tau: tau**3 / 3),
        ({"regret_max": 0.1, "normalized": True}, lambda tau: tau**2 / 3),
    ],
)
def test_the_promise_holds_where_risk_is_a_formula(rng, asked, risk):
    n_draws, delta = 300, 0.2
    broken = {True: 0, False: 0}
    for _ in range(n_draws):
        star, score = draw(150, rng)
        for promised in broken:
            promise = {"delta": delta, "bound": 1} if promised else {"weights": (0, 1)}
            rule = fit_selector(star, scored(score), maximize="coverage", **asked, **promise)
            tau = 0.0 if rule.tau == -math.inf else min(rule.tau, 1.0)
            assert rule.weights[1] > 0 or promised
            broken[promised] += risk(tau) > 0.1
    assert broken[True] / n_draws <= most_broken(n_draws, delta)
    assert broken[False] / n_draws > most_broken(n_draws, delta)  # the test can see it


def test_learned_weights_keep_the_promise(rng):
    # Loss 0/1 with probability a e: neither component alone ranks it.
    n = 40_000
    a, e = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    star = components(np.zeros(n), a * e)
    hat = components(a, e)

    def answers(rows, rng):
        return components(np.zeros(len(rows)), rng.uniform(0, 1, len(rows)) < (a * e)[rows])

    problem = Problem(maximize="coverage", risk_max=0.06)
    options = {"n_points": 300, "answers": answers, "delta": 0.2, "bound": 1}
    (found,) = try_promise(star, hat, problem, n_draws=100, **options)
    assert found.broken <= most_broken(100, 0.2)
    assert found.coverage > 0.3
    (alone,) = try_promise(star, hat, problem, n_draws=20, weights=(0, 1), **options)
    assert alone.coverage < found.coverage
    assert found.coverage_low <= found.coverage <= found.coverage_high


def test_few_annotators_err_on_the_safe_side(rng):
    # The plug-in regret of few answers is larger than the truth on average, the risk the same.
    probs = rng.dirichlet(np.ones(4), 3000)
    actions = rng.integers(0, 4, 3000)
    true = realize(Annotations.from_probs(probs), None, "zero_one", actions=actions)
    for n_annotators in (1, 5):
        few = Annotations(rng.multinomial(n_annotators, probs))
        star = realize(few, None, "zero_one", actions=actions)
        error = (star.total - true.total).std() / math.sqrt(3000)
        assert star.epistemic.mean() > true.epistemic.mean() + 3 * error
        assert abs(star.total.mean() - true.total.mean()) < 4 * error


def test_the_estimate_without_delta_is_honest(rng):
    # In-sample the best of many rules looks better than it is; held out it does not.
    honest, fooled = [], []
    for _ in range(60):
        n = 60
        a, e = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
        star = components(np.zeros(n), rng.uniform(0, 1, n) < a)
        rule = fit_selector(star, components(a, e), minimize="risk", coverage_min=0.5)
        new_a, new_e = rng.uniform(0, 1, 4000), rng.uniform(0, 1, 4000)
        accepted = rule.accept(components(new_a, new_e))
        truth = (new_a * accepted).mean()
        here = (rule.accept(components(a, e)) * star.total).mean()
        honest.append(rule.estimate.risk - truth)
        fooled.append(here - truth)
    error = np.std(honest) / math.sqrt(len(honest))
    assert abs(np.mean(honest)) < 3 * error
    assert np.mean(fooled) < -4 * np.std(fooled) / math.sqrt(len(fooled))


# ---------------------------------------------------------------- too little, and too much


@pytest.mark.parametrize("weights", [None, (1, 1)])
@pytest.mark.parametrize("limit", [0.01, 0.1])
def test_too_few_points_accept_nothing_and_say_how_many_do(rng, weights, limit):
    options = {"maximize": "coverage", "risk_max": limit, "delta": 0.1, "weights": weights}

    def perfect(n):
        zero = np.zeros(n)
        hat = components(rng.uniform(0, 1, n), rng.uniform(0, 1, n))
        return fit_selector(components(zero, zero), hat, bound=2, **options), hat

    rule, hat = perfect(20)
    assert rule.tau == -math.inf
    assert not rule.accept(hat).any()
    assert str(rule).startswith("Accept nothing.")
    assert (rule.n_learned, rule.weights) == (0, (1.0, 1.0))  # none to spend on weights
    assert rule.n_needed == fewest_points(limit / 2, 0.1)
    assert f"at least {rule.n_needed:,} are needed" in rule.notes[0]
    enough, hat = perfect(rule.n_needed)
    assert enough.accept(hat).all()
    assert (enough.notes, enough.n_needed) == ((), None)
    assert not perfect(rule.n_needed - 1)[0].accept(hat).any()
    assert (perfect(6 * rule.n_needed)[0].n_learned > 0) == (weights is None)


def test_too_few_points_per_accepted_point(rng):
    # Those that learn come on top: 23 must test, all accepted, and of 31 round(31 / 4) = 8 learn.
    zero = np.zeros(20)
    asked = {"maximize": "coverage", "risk_max": 0.1, "normalized": True}
    rule = fit_selector(
        components(zero, zero), scored(rng.uniform(0, 1, 20)), delta=0.1, bound=1, **asked
    )
    assert (rule.n_learned, rule.tau, rule.n_needed) == (5, -math.inf, 31)


@pytest.mark.parametrize("learn_share", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_points_needed_per_accepted_point_are_the_fewest(n, learn_share):
    # Whatever the number at hand: so many are enough, and one less is not.
    def perfect(n):
        zero = np.zeros(n)
        same = components(zero, zero)
        options = {"risk_max": 0.05, "normalized": True, "learn_share": learn_share}
        return fit_selector(same, same, maximize="coverage", delta=0.1, bound=1, **options)

    needed = perfect(n).n_needed
    assert perfect(needed).tau == math.inf
    assert perfect(needed - 1).tau == -math.inf


def test_points_needed_count_those_that_will_learn():
    # 40 points all test: too few to spend on weights. So many more will not, and a quarter learns.
    def fitted(n):
        star = components(np.zeros(n), np.full(n, 0.05))
        same = components(np.zeros(n), np.zeros(n))
        options = {"risk_max": 0.1, "delta": 0.1, "bound": 1}
        return fit_selector(star, same, maximize="coverage", **options)

    few = fitted(40)
    assert (few.n_learned, few.tau) == (0, -math.inf)
    enough = fitted(few.n_needed)
    assert enough.tau == math.inf


def test_enough_points_but_too_much_loss():
    # One block of equal scores with a risk of 0.08: the budget of 0.1 needs many more points.
    n = 200
    star = components(np.zeros(n), np.arange(n) % 25 < 2)
    hat = components(np.zeros(n), np.zeros(n))
    options = {"maximize": "coverage", "delta": 0.1, "bound": 1}
    rule = fit_selector(star, hat, risk_max=0.1, **options)
    assert (rule.tau, rule.n_needed > n) == (-math.inf, True)
    assert f"about {rule.n_needed:,} are needed at the risk of " in rule.notes[0]
    rule = fit_selector(star, hat, risk_max=0.05, normalized=True, **options)
    assert rule.n_needed is None
    assert "even at the best threshold the risk is" in rule.notes[0]
    rule = fit_selector(star, hat, risk_max=0.0, **options)
    assert (rule.tau, rule.n_needed) == (-math.inf, None)
    assert "no number of points shows that risk is 0" in rule.notes[0]


@pytest.mark.parametrize("delta", [0.1, 0.6])
def test_a_rate_above_the_budget_needs_more_than_any_number(delta):
    star = components(np.zeros(100), np.full(100, 0.5))
    hat = components(np.zeros(100), np.zeros(100))
    rule = fit_selector(star, hat, maximize="coverage", risk_max=0.3, delta=delta, bound=1)
    assert (rule.tau, rule.n_needed) == (-math.inf, None)
    assert "even at the best threshold the risk is 0.5" in rule.notes[0]


@pytest.mark.parametrize("normalized", [False, True])
def test_points_needed_are_about_enough(rng, normalized):
    # One block of equal scores; so many points as said pass more often than not, half rarely do.
    def passes(n):
        star = components(np.zeros(n), rng.uniform(size=n) < 0.06)
        options = {"delta": 0.1, "bound": 1, "weights": (1, 1), "normalized": normalized}
        hat = components(np.zeros(n), np.zeros(n))
        return fit_selector(star, hat, maximize="coverage", risk_max=0.1, **options)

    needed = [rule.n_needed for rule in (passes(60) for _ in range(40)) if rule.n_needed]
    n = int(np.median(needed))
    assert np.mean([passes(n).tau == math.inf for _ in range(100)]) > 0.5
    assert np.mean([passes(n // 3).tau == math.inf for _ in range(100)]) < 0.5


def test_a_budget_that_cannot_be_broken_accepts_everything(rng):
    star, score = draw(50, rng)
    for normalized in (False, True):
        rule = fit_selector(
            star,
            scored(score),
            maximize="coverage",
            risk_max=1,
            delta=0.1,
            bound=1,
            normalized=normalized,
        )
        assert rule.tau == math.inf
        assert rule.accept(scored([1e9])).all()
        assert rule.rule == "Accept everything"


@pytest.mark.parametrize("what", ["risk", "regret"])
@pytest.mark.parametrize("normalized", [False, True])
def test_least_risk_at_a_coverage(rng, what, normalized):
    star, score = draw(4000, rng)
    _, new_score = draw(4000, rng)
    asked = {"minimize": what, "coverage_min": 0.5, "normalized": normalized}
    for promise in ({}, {"delta": 0.1, "bound": 1, "risk_max": 0.2}):
        rule = fit_selector(star, scored(score), **asked, **promise)
        accepted = rule.accept(scored(new_score))
        assert accepted.mean() == pytest.approx(0.5, abs=0.05)
        assert rule.estimate.coverage == pytest.approx(0.5, abs=0.05)
        assert rule.notes == () or "coverage floor" in rule.notes[0]


def test_a_floor_that_is_missed_is_said(rng):
    star, score = draw(500, rng)
    asked = {"risk_max": 0.05, "coverage_min": 0.9}
    for problem in ({"maximize": "coverage"}, {"minimize": "regret"}):
        for promise in ({}, {"delta": 0.1, "bound": 1}):
            rule = fit_selector(star, scored(score), **problem, **asked, **promise)
            assert 0.2 < rule.accept(scored(score)).mean() < 0.7
            assert "The coverage floor of 0.9 is not reached" in rule.notes[0]


def test_where_no_budget_can_be_kept_nothing_is_accepted():
    star = components([1.0, 1.0], [0.0, 0.0])
    rule = fit_selector(star, scored([0, 1]), maximize="coverage", risk_max=0.5, normalized=True)
    assert rule.tau == -math.inf
    assert "No threshold keeps the budgets" in rule.notes[0]
    assert math.isnan(rule.estimate.risk)


# ---------------------------------------------------------------- refusals


GOOD = components([0.1, 0.2, 0.3], [0.1, 0.0, 0.2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delta": 0.1, "bound": 1}, "needs a budget"),
        ({"delta": 0, "bound": 1, "risk_max": 0.1}, "delta must be between 0 and 1, got 0"),
        ({"delta": 0.1, "risk_max": 0.1}, "needs a bound"),
        ({"delta": 0.1, "risk_max": 0.1, "bound": math.inf}, "needs a bound"),
        ({"delta": 0.1, "risk_max": 0.1, "bound": 0.4}, "at most the bound, 0.4, got 0.5 at row 2"),
        ({"risk_max": 0.1, "bound": 1}, "bound is used only with delta"),
        ({"risk_max": -1}, "risk_max must be"),
        ({"risk_max": 0.1, "learn_share": 1}, "learn_share must be"),
        ({"risk_max": 0.1, "weights": (0, 0)}, "not both 0"),
        ({"risk_max": 0.1, "weights": (1, 2, 3)}, "two numbers"),
        ({"risk_max": 0.1, "seed": -1}, "seed must be"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(InputError, match=words):
        fit_selector(GOOD, GOOD, maximize="coverage", **options)


@pytest.mark.parametrize("delta", [None, 0.1])
def test_a_budget_above_the_largest_loss_is_refused(delta):
    belief = Draws(np.full((3, 1, 2), 0.5))
    given = {} if delta is None else {"delta": delta, "bound": 1}
    kinds = [Kind.of(belief, get_loss("zero_one")), Kind(loss="zero_one", belief="components")]
    for kind in (*kinds, *([] if delta is None else [None])):
        with pytest.raises(InputError, match=r"largest possible loss.*, 1, got 5; 0.05 is 5 %"):
            fit_selector(GOOD, GOOD, maximize="coverage", risk_max=5, kind=kind, **given)
    with pytest.raises(InputError, match="regret_max must be at most the largest possible loss"):
        DeployableSelector("brier", maximize="coverage", regret_max=2.1, delta=delta).fit(
            Annotations([[1, 1], [2, 0], [1, 3]]), belief
        )
    for kind in (Kind(loss="log", floor=0.0), Kind(loss="absolute", belief="components"), Kind()):
        if delta is None:  # the largest loss is not known
            fit_selector(GOOD, GOOD, maximize="coverage", risk_max=5, kind=kind)


def test_refusals_of_components():
    asked = {"maximize": "coverage", "risk_max": 0.1}
    with pytest.raises(ShapeError, match="hat_cal must have 3 points"):
        fit_selector(GOOD, GOOD[:2], **asked)
    with pytest.raises(InputError, match="at least 2 calibration points"):
        fit_selector(GOOD[:1], GOOD[:1], **asked)
    with pytest.raises(InputError, match="hat_cal must be Components"):
        fit_selector(GOOD, [1, 2, 3], **asked)
    with pytest.raises(InputError, match="one objective"):
        fit_selector(GOOD, GOOD)
    with pytest.raises(InputError, match="n_draws must be"):
        try_promise(GOOD, GOOD, Problem(**asked), n_points=2, n_draws=0)
