"""optimal_selector: worked examples, degenerate samples, what it says and what it refuses."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rue import Components, optimal_selector
from rue.errors import InfeasibleError, InputError
from rue.selectors import _both_budgets as turning
from rue.selectors._boundary import SAME

# Four points a, b, c, d as (total, epistemic): (0.1, 0), (0.2, 0.2), (0.3, 0), (0.6, 0.4).
FOUR = Components([0.1, 0.2, 0.3, 0.6], [0.1, 0.0, 0.3, 0.2], [0.0, 0.2, 0.0, 0.4])


def sample(total, epistemic):
    total, epistemic = np.asarray(total, float), np.asarray(epistemic, float)
    return Components(total, total - epistemic, epistemic)


def close(values):
    return pytest.approx(values, rel=1e-12, abs=1e-14)


# ---------------------------------------------------------------- worked by hand


def test_coverage_under_two_budgets():
    # Both bind, at shares 1/2 of b and c: N risk = 0.1 + 0.1 + 0.15 = 0.35, N regret = 0.1.
    # (By total alone a, b come first, with regret 0.2; by epistemic a, c, with risk 0.4.)
    # The line through b and c: alpha 0.2 + beta 0.2 = 1 = alpha 0.3, so alpha = 10/3, beta = 5/3,
    # lambda = (alpha + beta)/(2 alpha + beta) = 5/(25/3) = 0.6 and tau = 3/25.
    selector = optimal_selector(FOUR, maximize="coverage", risk_max=0.35 / 4, regret_max=0.1 / 4)
    assert selector.acceptance.tolist() == close([1.0, 0.5, 0.5, 0.0])
    assert (selector.alpha, selector.beta) == (close(10 / 3), close(5 / 3))
    assert (selector.lam, selector.tau) == (close(0.6), close(0.12))
    assert (selector.coverage, selector.risk, selector.regret) == close((0.5, 0.0875, 0.025))


def test_least_risk_under_a_floor_and_a_budget():
    # N coverage = 2.4 and N regret = 0.12: 0.6 of b, the rest 0.8 of c. The line through both:
    # 0.2 + beta 0.2 = 0.3 = alpha, so beta = 1/2, lambda = 1.5/2.5, tau = 0.3/2.5.
    selector = optimal_selector(FOUR, minimize="risk", coverage_min=0.6, regret_max=0.03)
    assert selector.acceptance.tolist() == close([1.0, 0.6, 0.8, 0.0])
    assert (selector.alpha, selector.beta) == (close(0.3), close(0.5))
    assert (selector.lam, selector.tau) == (close(0.6), close(0.12))
    assert selector.risk == close((0.1 + 0.12 + 0.24) / 4)


def test_least_regret_under_a_floor_and_a_budget():
    # N coverage = 2.4 and N risk = 0.1 + 0.2 b + 0.3 c = 0.46 with b + c = 1.4: b = 0.6, c = 0.8.
    # The line through both: beta 0.2 + 0.2 = beta 0.3 = alpha, so beta = 2, alpha = 0.6,
    # lambda = 3/5, tau = 0.6/5.
    selector = optimal_selector(FOUR, minimize="regret", coverage_min=0.6, risk_max=0.115)
    assert selector.acceptance.tolist() == close([1.0, 0.6, 0.8, 0.0])
    assert (selector.alpha, selector.beta) == (close(0.6), close(2.0))
    assert (selector.lam, selector.tau) == (close(0.6), close(0.12))


def test_normalised_coverage_under_one_budget():
    # a, b, c have mean total 0.2; with the share x of d (0.6 + 0.6 x)/(3 + x) = 0.22, so
    # x = 0.06/0.38. alpha = 1/(0.6 - 0.22), d' = 1 + 0.22 alpha = 0.6 alpha, tau = 0.3.
    selector = optimal_selector(FOUR, maximize="coverage", risk_max=0.22, normalized=True)
    assert selector.acceptance.tolist() == close([1.0, 1.0, 1.0, 0.06 / 0.38])
    assert (selector.alpha, selector.beta) == (close(1 / 0.38), 0.0)
    assert (selector.lam, selector.tau, selector.risk) == (0.5, close(0.3), close(0.22))


def test_normalised_least_risk_grows_to_the_largest_coverage():
    # Of (0.1, 0.3) and (0.4, 0) at most one part in three of the first keeps the regret at 0.1;
    # all ratios are the same from the floor up to all of the second with half of the first.
    star = sample([0.1, 0.4, 0.9], [0.3, 0.0, 0.5])
    selector = optimal_selector(
        star, minimize="risk", coverage_min=0.1, regret_max=0.1, normalized=True
    )
    assert selector.acceptance.tolist() == close([0.5, 1.0, 0.0])
    assert (selector.risk, selector.alpha, selector.beta) == (close(0.3), 0.0, close(1.0))
    # With four of the first, one of the second is enough for half of one, and no more.
    star = sample([0.1] * 4 + [0.4], [0.3] * 4 + [0.0])
    selector = optimal_selector(
        star, minimize="risk", coverage_min=0.0, regret_max=0.1, normalized=True
    )
    assert selector.acceptance.tolist() == close([0.125] * 4 + [1.0])
    # With four of the second, all of the first go with two of them.
    star = sample([0.1] + [0.4] * 4, [0.3] + [0.0] * 4)
    selector = optimal_selector(
        star, minimize="risk", coverage_min=0.0, regret_max=0.1, normalized=True
    )
    assert selector.acceptance.tolist() == close([1.0] + [0.5] * 4)


def test_normalised_least_regret_grows_to_the_largest_coverage():
    # The same with the roles changed: (0.1, 0.1) and (0.4, 0) mix to a risk of 0.3 as one to two.
    for n_first, n_last, shares in ((1, 1, (0.5, 1.0)), (1, 4, (1.0, 0.5)), (4, 1, (0.125, 1.0))):
        star = sample([0.1] * n_first + [0.4] * n_last, [0.1] * n_first + [0.0] * n_last)
        selector = optimal_selector(
            star, minimize="regret", coverage_min=0.0, risk_max=0.3, normalized=True
        )
        assert selector.acceptance.tolist() == close([shares[0]] * n_first + [shares[1]] * n_last)
        assert (selector.regret, selector.alpha) == (close(0.1 / 3), 0.0)


# ---------------------------------------------------------------- degenerate samples


def test_slack_budgets_accept_all():
    for budgets in ({}, {"risk_max": 0.3}, {"risk_max": 9.0, "regret_max": 0.15}):
        selector = optimal_selector(FOUR, maximize="coverage", **budgets)
        assert selector.acceptance.tolist() == [1.0] * 4
        assert (selector.lam, selector.tau) == (0.5, np.inf)
        assert (selector.alpha, selector.beta) == (0.0, 0.0)


def test_zero_budgets_accept_what_is_free():
    star = sample([0.0, 0.0, 0.2, 0.2, 0.5], [0.0, 0.0, 0.0, 0.1, 0.0])
    selector = optimal_selector(star, maximize="coverage", risk_max=0.0)
    assert selector.acceptance.tolist() == [1, 1, 0, 0, 0]
    assert (selector.lam, selector.tau, selector.alpha) == (0.5, close(0.1), close(5.0))
    selector = optimal_selector(star, maximize="coverage", regret_max=0.0)
    assert selector.acceptance.tolist() == [1, 1, 1, 0, 1]
    assert (selector.lam, selector.tau, selector.beta) == (1.0, close(0.1), close(10.0))
    # Both: 0.45 of N risk is the 0.2 and half of the 0.5, and nothing that has regret.
    selector = optimal_selector(star, maximize="coverage", risk_max=0.45 / 5, regret_max=0.0)
    assert selector.acceptance.tolist() == close([1, 1, 1, 0, 0.5])
    assert selector.regret == 0.0
    nothing = optimal_selector(FOUR, maximize="coverage", risk_max=0.0)
    assert (nothing.coverage, nothing.risk, nothing.acceptance.sum()) == (0.0, 0.0, 0.0)


def test_minima_take_all_that_is_free():
    star = sample([0.0, 0.0, 0.2, 0.4, 0.5], [0.0, 0.0, 0.0, 0.0, 0.3])
    selector = optimal_selector(star, minimize="risk", coverage_min=0.2)
    assert selector.acceptance.tolist() == [1, 1, 0, 0, 0]
    assert (selector.lam, selector.tau, selector.alpha) == (0.5, 0.0, 0.0)
    selector = optimal_selector(star, minimize="regret", coverage_min=0.2)
    assert selector.acceptance.tolist() == [1, 1, 1, 1, 0]
    assert (selector.lam, selector.tau, selector.alpha) == (1.0, 0.0, 0.0)
    # In the order of total, as far as the risk goes: 0.2 and half of the 0.4.
    selector = optimal_selector(star, minimize="regret", coverage_min=0.2, risk_max=0.08)
    assert selector.acceptance.tolist() == close([1, 1, 1, 0.5, 0])
    nothing = optimal_selector(FOUR, minimize="risk", coverage_min=0.0)
    assert nothing.acceptance.tolist() == [0] * 4
    assert (nothing.tau, nothing.alpha) == (0.0, 0.0)
    everything = optimal_selector(FOUR, minimize="risk", coverage_min=1.0)
    assert everything.acceptance.tolist() == [1] * 4
    assert (everything.tau, everything.alpha) == (close(0.3), close(0.6))


def test_ties_are_taken_by_total_then_epistemic():
    star = sample([0.5, 0.5, 0.5, 0.1], [0.3, 0.1, 0.2, 0.0])
    selector = optimal_selector(star, minimize="risk", coverage_min=0.625)
    assert selector.acceptance.tolist() == [0.0, 1.0, 0.5, 1.0]
    star = sample([0.6, 0.4, 0.5, 0.1], [0.3, 0.3, 0.3, 0.0])
    selector = optimal_selector(star, minimize="regret", coverage_min=0.625)
    assert selector.acceptance.tolist() == [0.0, 1.0, 0.5, 1.0]


def test_equal_but_for_rounding_is_equal():
    # 0.1 + 0.7 is the float below 0.8: by its last digit it would be taken first.
    star = Components([0.1 + 0.7, 0.8, 0.3 + 0.5], [0.1, 0.8, 0.3], [0.7, 0.0, 0.5])
    assert star.total[0] < star.total[1]
    selector = optimal_selector(star, minimize="risk", coverage_min=1 / 3)
    assert selector.acceptance.tolist() == [0.0, 1.0, 0.0]
    selector = optimal_selector(star, maximize="coverage", risk_max=0.4)
    assert selector.acceptance.tolist() == close([0.0, 1.0, 0.5])


def test_blocks_that_differ_by_rounding_alone_are_not_mixed_up():
    # 0.8 and the float below it, in turn: one line of one total, shared out exactly.
    total = np.array([0.8, 0.1 + 0.7] * 10)
    selector = optimal_selector(sample(total, np.full(20, 0.5)), minimize="risk", coverage_min=0.3)
    assert selector.coverage == close(0.3)
    assert len(set(zip(total, selector.acceptance, strict=True))) == 2


@pytest.mark.parametrize(("seed", "covered"), [(8387, 35), (12036, 53), (14138, 47), (21352, 10)])
def test_a_budget_that_merged_numbers_meet_but_for_rounding_is_met(seed, covered):
    # Components of 0, 1/2 and 1, but for noise; the budget is what the least regrets cost, so
    # their merged means exceed it by rounding. (In these cases the numbers as they are mislead.)
    rng = np.random.default_rng(seed)
    n, noise = rng.integers(20, 120), 10.0 ** rng.uniform(-15, -9)
    aleatoric = np.abs(rng.integers(0, 3, n) / 2 + rng.normal(size=n) * noise)
    regret = np.abs(rng.integers(0, 3, n) / 2 + rng.normal(size=n) * noise)
    star = Components(aleatoric + regret, aleatoric, regret)
    budget = np.sort(regret)[: rng.integers(1, n + 1)].sum() / n
    selector = optimal_selector(star, minimize="risk", coverage_min=covered / n, regret_max=budget)
    assert selector.coverage == close(covered / n)
    assert selector.regret <= budget + 1e-11


def test_a_point_that_costs_just_the_budgets_is_free():
    # Normalised budgets 0.1 and 0.05 are those of the fourth point, through which no line helps.
    star = sample([0.125, 0.075, 0.125, 0.1, 0.1], [0.05, 0.075, 0.05, 0.05, 0.075])
    selector = optimal_selector(
        star, maximize="coverage", risk_max=0.1, regret_max=0.05, normalized=True
    )
    assert selector.acceptance.tolist() == close([0, 0, 0, 1, 0])


def test_many_blocks_on_one_line():
    # T + E = 1 everywhere, ten of each: any mixture of mean total 0.5 is optimal. In the order
    # of total: the first blocks, and the last as a counterweight, none between.
    total = np.repeat([0.5, 0.6, 0.7, 0.8, 0.9], 10)
    star = sample(total, 1 - total)
    selector = optimal_selector(star, minimize="risk", coverage_min=0.4, regret_max=0.4 * 0.34)
    shares = selector.acceptance.reshape(5, 10)
    assert (shares == shares[:, :1]).all()
    # 20 points of mean epistemic 0.34: ten of 0.5, f of 0.4, 0.1 for the rest is too little
    # epistemic by itself, so x of 0.5 and y of 0.1 with x + y = 20, 0.5 x + 0.1 y = 6.8: x = 12
    # is more than ten. Ten of 0.5 and z of 0.4, 10 - z of 0.1: 5 + 0.4 z + 1 - 0.1 z = 6.8.
    z = 0.8 / 0.3
    assert shares[:, 0].tolist() == close([1.0, z / 10, 0.0, 0.0, 1 - z / 10])
    assert (selector.lam, selector.beta) == (close(2 / 3), close(1.0))


@pytest.mark.parametrize("normalized", [False, True])
def test_one_point(normalized):
    star = sample([0.4], [0.1])
    for budgets in ({"risk_max": 0.4}, {"regret_max": 0.1}, {"risk_max": 0.4, "regret_max": 0.1}):
        selector = optimal_selector(star, maximize="coverage", normalized=normalized, **budgets)
        assert selector.acceptance.tolist() == [1.0]
    selector = optimal_selector(
        star, minimize="risk", coverage_min=0.5, regret_max=0.1, normalized=normalized
    )
    assert selector.acceptance.tolist() == [1.0 if normalized else 0.5]


def test_no_epistemic_and_no_aleatoric():
    flat = sample([0.1, 0.2, 0.3], [0.0, 0.0, 0.0])
    selector = optimal_selector(flat, maximize="coverage", risk_max=0.1, regret_max=0.0)
    assert (selector.acceptance.tolist(), selector.lam) == ([1.0, 1.0, 0.0], 0.5)
    same = sample([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    tight = optimal_selector(same, maximize="coverage", risk_max=0.1, regret_max=0.05)
    assert tight.acceptance.tolist() == close([1.0, 0.25, 0.0])
    assert tight.lam == 1.0
    assert optimal_selector(same, maximize="coverage", risk_max=0.05, regret_max=0.1).lam == 0.5


# ---------------------------------------------------------------- laws


@st.composite
def problems(draw):
    n = draw(st.integers(1, 60))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.sampled_from([3, 16, 2**30]))
    aleatoric, epistemic = seed.integers(0, steps, (2, n)) / steps
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    normalized = draw(st.booleans())
    share = draw(st.floats(0.05, 0.95))
    unit = 1.0 if normalized else share
    limits = [float(unit * np.quantile(v, share / 2 + 0.3)) for v in (star.total, epistemic)]
    options = {"normalized": normalized}
    match draw(st.sampled_from(["coverage", "risk", "regret"])):
        case "coverage":
            options |= {"maximize": "coverage", "risk_max": limits[0], "regret_max": limits[1]}
        case "risk":
            options |= {"minimize": "risk", "coverage_min": share, "regret_max": limits[1]}
        case "regret":
            options |= {"minimize": "regret", "coverage_min": share, "risk_max": limits[0]}
    return star, options


def solved(star, options):
    try:
        return optimal_selector(star, **options)
    except InfeasibleError:
        return None


@given(problems(), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(problem, random):
    star, options = problem
    order = np.array(random.sample(range(len(star)), len(star)))
    here, there = solved(star, options), solved(star[order], options)
    assert (here is None) == (there is None)
    if here is not None:
        assert there.acceptance == pytest.approx(here.acceptance[order], abs=1e-11)


@given(problems(), st.integers(-9, 9))
def test_the_unit_of_the_loss_changes_nothing(problem, power):
    star, options = problem
    scale = 10.0**power
    scaled = Components(scale * star.total, scale * star.aleatoric, scale * star.epistemic)
    more = {k: v * scale if k in ("risk_max", "regret_max") else v for k, v in options.items()}
    here, there = solved(star, options), solved(scaled, more)
    assert (here is None) == (there is None)
    if here is not None:
        assert there.acceptance == pytest.approx(here.acceptance, abs=1e-9)
        assert there.lam == pytest.approx(here.lam, rel=1e-9)
        assert there.tau == pytest.approx(scale * here.tau, rel=1e-9)


@given(problems())
def test_repeating_the_sample_changes_nothing(problem):
    star, options = problem
    here, there = solved(star, options), solved(star[np.repeat(np.arange(len(star)), 3)], options)
    assert (here is None) == (there is None)
    if here is not None:
        assert (there.coverage, there.risk) == pytest.approx((here.coverage, here.risk), abs=1e-11)


@pytest.mark.parametrize("objective", ["coverage", "risk", "regret"])
@pytest.mark.parametrize("bias", [1.0, 0.5])
def test_solving_near_a_guess_is_solving(objective, bias, monkeypatch):
    """Large samples are solved near the line of a part; a bad guess is found out."""
    n, n_part, found = 3000, 400, []
    near_a_guess = turning._turn_near_a_guess

    def spy(*arguments):
        found.append(near_a_guess(*arguments))
        return found[-1]

    monkeypatch.setattr(turning, "_turn_near_a_guess", spy)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        total = rng.random(n)
        epistemic = total * rng.random(n) ** 3
        epistemic[:: n // n_part] *= bias  # the rows that the guess is made from
        star = sample(total, epistemic)
        order = np.argsort(total + rng.uniform(0.2, 2.0) * epistemic)[: n // 2]
        limits = {"risk_max": total[order].sum() / n, "regret_max": epistemic[order].sum() / n}
        if objective == "coverage":
            options = {"maximize": "coverage", **limits}
        else:
            del limits[f"{objective}_max"]
            options = {"minimize": objective, "coverage_min": 0.5, **limits}
        plain = optimal_selector(star, **options)
        assert 0.5 < plain.lam < 1
        with monkeypatch.context() as patch:
            patch.setattr(turning, "_SAMPLE", n_part)
            guessed = optimal_selector(star, **options)
        assert guessed.acceptance == pytest.approx(plain.acceptance, abs=1e-9)
    n_good = sum(boundary is not None for boundary in found)
    assert n_good >= 5 if bias == 1.0 else n_good < 20


@pytest.mark.parametrize("normalized", [False, True])
@given(seed=st.integers(0, 2**32), k=st.integers(1, 40))
@example(seed=1, k=19)  # the budget is the least attainable risk, and only near ties meet it
def test_budgets_hold_where_totals_are_equal_but_for_their_twelfth_digit(normalized, seed, k):
    rng = np.random.default_rng(seed)
    aleatoric, epistemic = np.round(rng.integers(0, 6, (2, 40)) / 51, 12)
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    share = np.zeros(40)
    share[np.argsort(star.total)[:k]] = 1.0
    share[np.argsort(star.total)[k - 1]] = rng.random()
    risk_max = float(share @ star.total) / (share.sum() if normalized else 40)
    selector = optimal_selector(
        star,
        minimize="regret",
        coverage_min=float(share.mean()),
        risk_max=risk_max,
        normalized=normalized,
    )
    # Totals within 8e-12 of the largest are one number to the selector.
    assert selector.risk <= risk_max * (1 + 2e-12) + SAME * star.total.max()
    assert selector.coverage >= share.mean() * (1 - 2e-12)


def test_two_blocks_of_nearly_one_total_are_shared_out_exactly():
    # Rounded to twelve digits 1/51 + 5/51 and 4/51 + 2/51 differ, and both are cut.
    counts = {(0, 0): 3, (0, 1): 2, (0, 3): 2, (0, 4): 2, (1, 4): 2, (1, 5): 2, (2, 3): 2}
    counts |= {(3, 3): 2, (4, 2): 2, (5, 5): 2, (0, 2): 1, (1, 2): 1, (2, 0): 1, (2, 5): 1}
    counts |= {(3, 1): 1, (3, 2): 1, (4, 0): 1, (4, 1): 1, (5, 2): 1, (5, 3): 1}
    rows = np.repeat(np.array(list(counts)), list(counts.values()), axis=0)
    aleatoric, epistemic = np.round(rows.T / 51, 12)
    selector = optimal_selector(
        Components(aleatoric + epistemic, aleatoric, epistemic),
        minimize="regret",
        coverage_min=0.7503291904040404,
        risk_max=0.06791135142361486,
        normalized=True,
    )
    assert selector.risk <= 0.06791135142361486 * (1 + 2e-12)
    assert selector.coverage == close(0.7503291904040404)


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32))
def test_the_least_ratio_can_be_met_again(seed):
    """What one problem attains is feasible for another, on the very edge of what is."""
    rng = np.random.default_rng(seed)
    aleatoric, epistemic = rng.random((2, 12))
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    risk_max = float(np.quantile(star.total, 0.2))
    least = optimal_selector(
        star, minimize="regret", coverage_min=0.0, risk_max=risk_max, normalized=True
    )
    again = optimal_selector(
        star, maximize="coverage", risk_max=least.risk, regret_max=least.regret, normalized=True
    )
    assert again.coverage == pytest.approx(least.coverage, abs=1e-6)
    assert again.regret <= least.regret * (1 + 3e-12)


def test_a_floor_of_whole_points_is_that_many_points(rng):
    total = np.sort(rng.random(78))
    assert 50 / 78 * 78 > 50  # by rounding
    selector = optimal_selector(sample(total, 0 * total), minimize="risk", coverage_min=50 / 78)
    assert selector.acceptance.tolist() == [1.0] * 50 + [0.0] * 28
    assert selector.alpha == total[49]


def test_a_million_points_meet_both_budgets(rng):
    aleatoric, epistemic = rng.gamma(1.0, 0.2, 10**6), rng.gamma(0.5, 0.1, 10**6)
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    risk_max, regret_max = 0.5 * star.total.mean(), 0.2 * epistemic.mean()
    selector = optimal_selector(star, maximize="coverage", risk_max=risk_max, regret_max=regret_max)
    assert (selector.risk, selector.regret) == pytest.approx((risk_max, regret_max), rel=1e-12)
    slack = 1 - selector.alpha * star.total - selector.beta * epistemic
    dual = np.maximum(0, slack).mean() + selector.alpha * risk_max + selector.beta * regret_max
    assert dual == pytest.approx(selector.coverage, rel=1e-12)


# ---------------------------------------------------------------- accept


@given(problems())
def test_accept_on_the_same_points_is_the_acceptance(problem):
    star, options = problem
    selector = solved(star, options)
    if selector is not None:
        assert (selector.accept(star) == selector.acceptance).all()


def test_accept_on_new_points():
    selector = optimal_selector(FOUR, minimize="risk", coverage_min=0.6, regret_max=0.03)
    # On the line T + E/2 = 0.3: before b, b itself, between b and c, c, and after c.
    new = sample([0.15, 0.2, 0.25, 0.3, 0.1, 0.5], [0.3, 0.2, 0.1, 0.0, 0.0, 0.5])
    assert selector.accept(new).tolist() == close([1.0, 0.6, 0.0, 0.8, 1.0, 0.0])


def test_accept_draws_with_the_probabilities_given():
    selector = optimal_selector(FOUR, minimize="risk", coverage_min=0.6, regret_max=0.03)
    many = FOUR[np.tile(np.arange(4), 20_000)]
    drawn = selector.accept(many, rng=7)
    assert drawn.dtype == bool
    assert drawn.reshape(-1, 4).mean(axis=0) == pytest.approx([1.0, 0.6, 0.8, 0.0], abs=0.015)
    assert (drawn == selector.accept(many, rng=np.random.default_rng(7))).all()


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"maximize": "coverage"}, "Accept every point. This attains coverage 1, risk 0.3"),
        ({"maximize": "coverage", "risk_max": 0.15}, "Accept where total uncertainty is below 0.6"),
        (
            {"minimize": "regret", "coverage_min": 0.6},
            "Accept where epistemic uncertainty is below 0.2, reject where it is above; at it, "
            "accept points up to total 0.2, epistemic 0.2 (these with probability 0.4). This",
        ),
        (
            {"minimize": "risk", "coverage_min": 0.6, "regret_max": 0.03},
            "Accept where 0.4 aleatoric + 0.6 epistemic uncertainty is below 0.12, reject where it "
            "is above; at it, accept points up to total 0.2, epistemic 0.2 (these with probability "
            "0.6) and from total 0.3, epistemic 0 on (these with probability 0.8). This attains "
            "coverage 0.6, risk 0.115, regret 0.03.",
        ),
        (
            {"maximize": "coverage", "risk_max": 0.2, "normalized": True},
            "coverage 0.75, risk 0.2, regret 0.0666667 per accepted point.",
        ),
    ],
)
def test_a_selector_says_what_it_does(options, words):
    assert words in str(optimal_selector(FOUR, **options))


def test_a_block_cut_in_the_middle_of_the_line():
    total = np.array([0.5, 0.6, 0.7])
    selector = optimal_selector(
        sample(total, 1 - total), minimize="risk", coverage_min=0.9, regret_max=0.36
    )
    assert selector.acceptance.tolist() == close([1.0, 0.7, 1.0])
    assert "up to total 0.5, epistemic 0.5 and from total 0.6" in str(selector)
    selector = optimal_selector(
        sample(total, 1 - total), minimize="risk", coverage_min=2 / 3, regret_max=0.8 / 3
    )
    assert selector.acceptance.tolist() == close([1.0, 0.0, 1.0])
    assert "up to total 0.5, epistemic 0.5 and from total 0.7, epistemic 0.3 on." in str(selector)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "one objective"),
        ({"maximize": "coverage", "minimize": "risk"}, "one objective"),
        ({"maximize": "risk"}, "maximize must be 'coverage', got 'risk'"),
        ({"minimize": "coverage"}, "minimize must be 'risk' or 'regret', got 'coverage'"),
        ({"minimize": "risk"}, "needs coverage_min"),
        ({"minimize": "risk", "coverage_min": 1.1}, "coverage_min must be from 0 to 1, got 1.1"),
        ({"minimize": "risk", "coverage_min": float("nan")}, "from 0 to 1, got nan"),
        ({"maximize": "coverage", "risk_max": -0.1}, "risk_max must be finite and not negative"),
        ({"maximize": "coverage", "regret_max": np.inf}, "regret_max must be finite"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(InputError, match=words) as caught:
        optimal_selector(FOUR, **options)
    assert not isinstance(caught.value, InfeasibleError)


def test_negative_components_are_refused():
    star = Components([0.1, -0.2], [0.1, -0.2], [0.0, 0.0])
    with pytest.raises(InputError, match=r"star.total must not be negative, got -0.2 at row 1"):
        optimal_selector(star, maximize="coverage")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        # Three of four points cost at least 0 + 0 + 0.2 of regret, and 0.1 + 0.2 + 0.3 of risk.
        (
            {"minimize": "risk", "coverage_min": 0.75, "regret_max": 0.04},
            "with coverage >= 0.75 has regret <= 0.04: the best attainable is 0.05",
        ),
        (
            {"minimize": "regret", "coverage_min": 0.75, "risk_max": 0.1},
            "with coverage >= 0.75 has risk <= 0.1: the best attainable is 0.15",
        ),
        (
            {"minimize": "regret", "coverage_min": 0.75, "risk_max": 0.1, "normalized": True},
            "has normalised risk <= 0.1: the best attainable is 0.2",
        ),
        (
            {"maximize": "coverage", "risk_max": 0.05, "normalized": True},
            "that accepts anything has normalised risk <= 0.05: the best attainable is 0.1",
        ),
        ({"maximize": "coverage", "risk_max": 0.15, "coverage_min": 0.8}, "attainable is 0.75"),
        ({"minimize": "risk", "coverage_min": 0.75, "risk_max": 0.1}, "attainable is 0.15"),
        ({"minimize": "regret", "coverage_min": 0.75, "regret_max": 0.01}, "attainable is 0.05"),
    ],
)
def test_infeasible_budgets_say_what_is_attainable(options, words):
    with pytest.raises(InfeasibleError, match=words):
        optimal_selector(FOUR, **options)


def test_ratios_that_can_be_met_one_by_one_but_not_together():
    # Only mixtures of (0.2, 0.2) and (0.4, 0): at mean total 0.25 the mean epistemic is 0.15.
    star = sample([0.2, 0.4], [0.2, 0.0])
    options = {"maximize": "coverage", "risk_max": 0.25, "normalized": True}
    with pytest.raises(InfeasibleError, match=r"risk <= 0.25 has .* attainable is 0.15"):
        optimal_selector(star, regret_max=0.1, **options)
    selector = optimal_selector(star, regret_max=0.15, **options)
    assert selector.acceptance.tolist() == pytest.approx([1.0, 1 / 3], abs=1e-9)


def test_a_budget_on_the_objective_that_holds_changes_nothing():
    plain = optimal_selector(FOUR, minimize="risk", coverage_min=0.75)
    checked = optimal_selector(FOUR, minimize="risk", coverage_min=0.75, risk_max=0.15)
    assert (checked.acceptance == plain.acceptance).all()


NEARLY_TIED = [
    (
        [0.117647058823, 0.137254901961, 0.098039215687, 0.176470588235, 0.098039215686],
        [0.098039215686, 0.058823529412, 0.039215686275, 0.098039215686, 0.078431372549],
        {"coverage_min": 0.22637605753983808, "risk_max": 0.09803921568611651, "normalized": True},
        0.07387,
    ),
    (
        [
            *(0.09803921568599999, 0.137254901961, 0.098039215687, 0.098039215687),
            *(0.196078431372, 0.07843137254900001, 0.13725490196100001),
        ],
        np.round(np.array([4, 4, 3, 2, 5, 3, 5]) / 51, 12),
        {"coverage_min": 0.43185717288609143, "risk_max": 0.039537818070128995},
        None,
    ),
]


@pytest.mark.parametrize(("total", "epistemic", "budgets", "least"), NEARLY_TIED)
def test_floors_hold_where_totals_differ_in_their_twelfth_digit(total, epistemic, budgets, least):
    star = Components(total, np.subtract(total, epistemic), epistemic)
    selector = optimal_selector(star, minimize="regret", **budgets)
    assert selector.coverage >= budgets["coverage_min"] * (1 - 1e-9)
    assert selector.risk <= budgets["risk_max"] * (1 + 1e-9)
    assert selector.accept(star) == pytest.approx(selector.acceptance)
    if least is not None:  # what a witness attains; within rounding of the budget there is more
        assert selector.regret <= least


def test_acceptance_cannot_be_changed():
    selector = optimal_selector(Components([1, 2], [1, 1], [0, 1]), maximize="coverage")
    with pytest.raises(ValueError, match="read-only"):
        selector.acceptance[0] = 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: optimal_selector([1, 2], maximize="coverage"), "star must be Components"),
        (
            lambda: optimal_selector(Components([1], [1], [0]), maximize="coverage", risk_max="1"),
            "risk_max must be a number",
        ),
        (
            lambda: optimal_selector(Components([1], [1], [0]), maximize="coverage", risk_max=True),
            "risk_max must be a number",
        ),
        (
            lambda: optimal_selector(Components([1e-155], [1e-155], [0]), maximize="coverage"),
            "from 1e-100 to 1e100",
        ),
        (
            lambda: optimal_selector(Components([1, 2], [5, 1], [0, 1]), maximize="coverage"),
            "star.total must be aleatoric",
        ),
    ],
)
def test_what_is_no_sample_or_budget_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("seed", range(40))
def test_a_huge_offset_is_solved_within_its_budgets_or_refused(seed):
    rng = np.random.default_rng(seed)
    epistemic = 1e6 + rng.random(6)
    aleatoric = 1e6 + rng.random(6)
    total = aleatoric + epistemic
    floor, limit = 0.2000002 + 0.7 * rng.random(), float(np.quantile(total, rng.random()))
    options = {"coverage_min": floor, "risk_max": limit, "normalized": True}
    try:
        selector = optimal_selector(
            Components(total, aleatoric, epistemic), minimize="regret", **options
        )
    except InputError:  # infeasible, or too close to tell apart
        return
    assert selector.coverage >= floor * (1 - 1e-9)
    assert selector.risk <= limit * (1 + 1e-9)
