"""Theorem 1 with appendices A and B: optimal, of the stated form, on any sample."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rue import Components, Selector, optimal_selector
from rue.errors import InfeasibleError

PROBLEMS = "coverage", "risk", "regret"


@dataclass(frozen=True)
class Instance:
    star: Components
    objective: str
    normalized: bool
    floor: float
    limits: tuple[float | None, float | None]

    def solve(self) -> Selector:
        goal = {"maximize" if self.objective == "coverage" else "minimize": self.objective}
        if self.objective != "coverage":
            goal["coverage_min"] = self.floor
        risk_max, regret_max = self.limits
        return optimal_selector(
            self.star, risk_max=risk_max, regret_max=regret_max, normalized=self.normalized, **goal
        )

    @property
    def costs(self):
        """The objective's own values and, for minima, the other's and its budget."""
        total, epistemic = self.star.total, self.star.epistemic
        if self.objective == "regret":
            return epistemic, total, self.limits[0]
        return total, epistemic, self.limits[1]


@st.composite
def instances(draw, objective, normalized, ties, n_budgets):
    """Budgets are what some thresholded selector attains, so that they can be met, and bind."""
    n = draw(st.integers(1, 25))
    steps = 4 if ties else 10_000
    grid = st.lists(st.integers(0, steps), min_size=n, max_size=n)
    aleatoric = np.array(draw(grid)) / steps
    epistemic = np.array(draw(grid)) * np.array(draw(grid)) / steps**2
    total = aleatoric + epistemic
    lam = draw(st.floats(0.5, 1.0))
    share = np.zeros(n)
    order = np.argsort((1 - lam) * aleatoric + lam * epistemic, kind="stable")
    k = draw(st.integers(1, n))
    share[order[:k]] = 1.0
    share[order[k - 1]] = draw(st.sampled_from([0.25, 0.7, 1.0]))
    loose = draw(st.sampled_from([1.0, 1.0, 1.01, 1.3]))
    per = share.sum() if normalized else n
    limits = [loose * float(share @ total) / per, loose * float(share @ epistemic) / per]
    if objective != "coverage":
        limits[PROBLEMS.index(objective) - 1] = None
        if n_budgets == 1:
            limits = [None, None]
    elif n_budgets == 1:
        limits[draw(st.integers(0, 1))] = None
    star = Components(total, aleatoric, epistemic)
    return Instance(star, objective, normalized, float(share.mean()), tuple(limits))


def every_kind(test):
    """Run for three problems, normalised or not, with ties or not, one budget or two."""
    for name, values in (
        ("objective", PROBLEMS),
        ("normalized", (False, True)),
        ("ties", (False, True)),
        ("n_budgets", (1, 2)),
    ):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def by_highs(instance):
    """The optimum as a linear program; of ratios by Charnes and Cooper's: y = t x, mean y = 1."""
    cost, other, budget = instance.costs
    n = len(cost)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    if instance.objective == "coverage" or not instance.normalized:
        rows, room = [], []
        if instance.objective == "coverage":
            objective = -np.ones(n)
            given = zip(
                (instance.star.total, instance.star.epistemic), instance.limits, strict=True
            )
        else:
            objective = cost
            rows, room = [-np.ones(n) / n], [-instance.floor]
            given = ((other, budget),)
        for score, limit in given:
            if limit is not None:
                unit = limit or score.max() or 1.0
                rows.append((score - limit * instance.normalized) / unit / n)
                room.append(0.0 if instance.normalized else limit / unit)
        done = linprog(objective / n, rows, room, bounds=(0, 1), method="highs", options=options)
        return abs(done.fun)
    rows = sp.hstack([sp.eye(n), -np.ones((n, 1))])
    if budget is not None:
        unit = budget or other.max() or 1.0
        rows = sp.vstack([rows, np.append((other - budget) / unit, 0.0)[None]])
    done = linprog(
        np.append(cost / n, 0.0),
        rows.tocsr(),
        np.zeros(rows.shape[0]),
        np.append(np.ones(n) / n, 0.0)[None],
        [1.0],
        bounds=[(0, None)] * n + [(0, 1 / instance.floor)],
        method="highs",
        options=options,
    )
    return done.fun


@every_kind
@settings(max_examples=12)
@given(data=st.data())
def test_the_optimum_is_that_of_highs(data, objective, normalized, ties, n_budgets):
    instance = data.draw(instances(objective, normalized, ties, n_budgets))
    selector = instance.solve()
    assert getattr(selector, objective) == pytest.approx(by_highs(instance), rel=1e-9, abs=1e-9)


@every_kind
@settings(max_examples=25)
@given(data=st.data())
def test_budgets_are_met_and_the_form_is_that_of_the_theorem(
    data, objective, normalized, ties, n_budgets
):
    instance = data.draw(instances(objective, normalized, ties, n_budgets))
    star, selector = instance.star, instance.solve()
    x = selector.acceptance
    per = x.sum() if normalized else len(x)
    assert selector.coverage == pytest.approx(x.mean(), rel=1e-12)
    assert selector.risk == pytest.approx(x @ star.total / per, rel=1e-12)
    assert selector.regret == pytest.approx(x @ star.epistemic / per, rel=1e-12)
    if objective != "coverage":
        assert selector.coverage >= instance.floor * (1 - 1e-12)
    for attained, limit in zip((selector.risk, selector.regret), instance.limits, strict=True):
        assert limit is None or attained <= limit * (1 + 2e-12)

    assert 0.5 <= selector.lam <= 1
    score = (1 - selector.lam) * star.aleatoric + selector.lam * star.epistemic
    assert (x[score < selector.tau * (1 - 1e-11)] == 1).all()
    assert (x[score > selector.tau * (1 + 1e-11)] == 0).all()
    fraction = (x > 0) & (x < 1)
    blocks = {*zip(star.total[fraction], star.epistemic[fraction], strict=True)}
    assert len(blocks) <= 2


@every_kind
@settings(max_examples=25)
@given(data=st.data())
def test_multipliers_certify_the_optimum_and_give_lambda_and_tau(
    data, objective, normalized, ties, n_budgets
):
    """Equal values of a feasible primal and a feasible dual point: no oracle is needed."""
    instance = data.draw(instances(objective, normalized, ties, n_budgets))
    selector = instance.solve()
    total, epistemic = instance.star.total, instance.star.epistemic
    alpha, beta = selector.alpha, selector.beta
    assert min(alpha, beta) >= 0
    best = getattr(selector, objective)
    if objective == "coverage":  # equation 12; normalised: with the budgets taken into d'
        risk_max, regret_max = (limit or 0.0 for limit in instance.limits)
        c1, c2, d = alpha, beta, 1.0
        constant = alpha * risk_max + beta * regret_max
        if normalized:
            d, constant = 1.0 + constant, 0.0
        dual = constant - np.minimum(0.0, c1 * total + c2 * epistemic - d).mean()
    else:  # equations 15 and 18
        budget = instance.costs[2] or 0.0
        c1, c2 = (1.0, beta) if objective == "risk" else (beta, 1.0)
        d, constant = alpha, alpha * instance.floor
        if normalized:
            d, constant = alpha + best + beta * budget, constant + best
        else:
            constant -= beta * budget
        dual = constant + np.minimum(0.0, c1 * total + c2 * epistemic - d).mean()
    size = 1.0 + (alpha + beta) * float(total.max())
    assert dual == pytest.approx(best, abs=1e-11 * size)
    if np.isinf(selector.tau):
        assert (selector.lam, alpha, beta) == (0.5, 0.0, 0.0)
        assert (selector.acceptance == 1).all()
    else:  # equations 14, 17 and 20, and equation 23
        assert selector.lam == pytest.approx((c1 + c2) / (2 * c1 + c2), rel=1e-12)
        assert selector.tau == pytest.approx(d / (2 * c1 + c2), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("normalized", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_endpoints_are_the_standard_formulations(data, normalized):
    """No regret budget: threshold the total. No risk budget: threshold the epistemic."""
    for objective in PROBLEMS:
        instance = data.draw(instances(objective, normalized, False, 1))
        selector = instance.solve()
        risk_max, regret_max = instance.limits
        if objective == "risk" or (objective == "coverage" and regret_max is None):
            assert selector.lam == 0.5
        elif np.isfinite(selector.tau):
            assert objective == "regret" or risk_max is None
            assert selector.lam == 1.0


@pytest.mark.parametrize("objective", ["risk", "regret"])
@pytest.mark.parametrize("normalized", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_among_optima_the_largest_coverage(data, objective, normalized):
    instance = data.draw(instances(objective, normalized, True, data.draw(st.integers(1, 2))))
    selector = instance.solve()
    limits = list(instance.limits)
    limits[PROBLEMS.index(objective) - 1] = getattr(selector, objective) * (1 + 1e-12)
    same = Instance(instance.star, "coverage", normalized, 0.0, tuple(limits))
    assert selector.coverage == pytest.approx(by_highs(same), abs=1e-6)


@settings(max_examples=100)
@given(data=st.data())
def test_both_budgets_bind_only_between_the_endpoints(data):
    """Strictly inside (1/2, 1) complementary slackness makes both constraints tight."""
    objective, normalized = data.draw(st.sampled_from(PROBLEMS)), data.draw(st.booleans())
    instance = data.draw(instances(objective, normalized, False, 2))
    selector = instance.solve()
    if 0.5 < selector.lam < 1:
        for attained, limit in zip((selector.risk, selector.regret), instance.limits, strict=True):
            assert limit is None or attained == pytest.approx(limit, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("normalized", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_what_cannot_be_met_is_named_with_what_can(data, normalized):
    instance = data.draw(instances("regret", normalized, data.draw(st.booleans()), 1))
    best = instance.solve().regret
    if best > 0:
        tight = Instance(instance.star, "risk", normalized, instance.floor, (None, 0.9 * best))
        with pytest.raises(InfeasibleError, match=r"regret <= .* best attainable is") as caught:
            tight.solve()
        assert float(str(caught.value).split()[-1]) == pytest.approx(best, rel=1e-8)
