"""Problem: valid ones keep what they were given, invalid ones raise with the rule and the value."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue import Components, Problem, fit_selector, optimal_selector
from rue.errors import InputError
from rue.selectors import solve
from rue.selectors._boundary import SAME, Levels
from rue.selectors.selector import require_reachable

limits = st.none() | st.floats(0, 1e6)


@given(
    st.sampled_from([{"maximize": "coverage"}, {"minimize": "risk"}, {"minimize": "regret"}]),
    st.floats(0, 1),
    limits,
    limits,
    st.booleans(),
)
def test_a_problem_is_its_keywords(objective, floor, risk_max, regret_max, normalized):
    problem = Problem(
        **objective,
        coverage_min=floor,
        risk_max=risk_max,
        regret_max=regret_max,
        normalized=normalized,
    )
    assert Problem(**problem.to_dict()) == problem
    assert problem.objective == (objective.get("minimize") or "coverage")
    assert problem.floor == floor
    given_limits = {"risk": risk_max, "regret": regret_max}
    assert problem.budgets == {k: v for k, v in given_limits.items() if v is not None}


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, "there must be one objective"),
        ({"maximize": "coverage", "minimize": "risk"}, "there must be one objective"),
        ({"maximize": "risk"}, "maximize must be 'coverage', got 'risk'"),
        ({"minimize": "coverage"}, "minimize must be 'risk' or 'regret', got 'coverage'"),
        ({"minimize": "risk"}, "to minimize risk needs coverage_min"),
        (
            {"maximize": "coverage", "coverage_min": 1.5},
            "from 0 to 1, got 1.5",
        ),
        ({"maximize": "coverage", "coverage_min": math.nan}, "from 0 to 1, got nan"),
        ({"maximize": "coverage", "risk_max": -0.1}, "risk_max must be finite .* got -0.1"),
        ({"maximize": "coverage", "regret_max": math.inf}, "regret_max must be finite .* got inf"),
        ({"maximize": "coverage", "risk_max": "low"}, "risk_max must be a number, got 'low'"),
        ({"maximize": "coverage", "risk_max": True}, "risk_max must be a number, got True"),
        ({"maximize": "coverage", "normalized": 1}, "normalized must be true or false, got 1"),
    ],
)
def test_invalid_problems_raise(keywords, words):
    with pytest.raises(InputError, match=words):
        Problem(**keywords)


def test_numpy_numbers_become_plain_ones():
    problem = Problem(maximize="coverage", risk_max=np.float32(0.5), coverage_min=np.int64(1))
    assert (type(problem.risk_max), type(problem.coverage_min)) == (float, float)
    assert type(Problem("coverage", normalized=np.True_).normalized) is bool
    with pytest.raises(FrozenInstanceError):
        problem.risk_max = 1.0


def test_keywords_build_the_problem():
    rng = np.random.default_rng(0)
    a, e = rng.uniform(0, 1, (2, 50))
    star = Components(a + e, a, e)
    keywords = {"minimize": "regret", "coverage_min": 0.4, "risk_max": 0.9, "normalized": True}
    problem = Problem(**keywords)
    one, other = solve(star, problem), optimal_selector(star, **keywords)
    assert (one.tau, one.lam, one.regret) == (other.tau, other.lam, other.regret)
    assert (one.acceptance == other.acceptance).all()
    rule = fit_selector(star, star, **keywords)
    assert rule.problem == problem
    assert rule == fit_selector(star, star, **problem.to_dict())


def test_numbers_within_the_tolerance_of_the_largest_are_one_level():
    levels = Levels.of(np.array([1.0, SAME, 0.0, 3 * SAME]))  # the steps are 1, 2 and many
    assert levels.low.tolist() == [0.0, 3 * SAME, 1.0]
    assert levels.high.tolist() == [SAME, 3 * SAME, 1.0]
    assert levels.snap(np.array([0.0, SAME, 0.5])).tolist() == [SAME / 2, SAME / 2, 0.5]


def test_a_budget_above_the_largest_loss_excludes_nothing_and_may_be_a_percentage():
    require_reachable(Problem(maximize="coverage", risk_max=1, regret_max=0.5), 1.0, None)
    with pytest.raises(InputError, match=r"under log loss, 2, got 5$"):
        require_reachable(Problem(maximize="coverage", risk_max=5), 2.0, "log")
    with pytest.raises(InputError, match=r"loss, 1, got 5; 0\.05 is 5 %$"):
        require_reachable(Problem(maximize="coverage", regret_max=5), 1.0, None)
