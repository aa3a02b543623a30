"""compare_rules: each row is the rule that it says, and nothing beats what is possible."""

import math

import numpy as np
import pytest

from rue import Components, Problem, compare_rules, fit_selector, optimal_selector
from rue.deploy import attained


def components(aleatoric, epistemic):
    a, e = np.asarray(aleatoric, float), np.asarray(epistemic, float)
    return Components(a + e, a, e)


@pytest.fixture
def world(rng):
    def points(n):
        a, e = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
        return components(0.2 * a, 0.6 * e**3), components(a, e), rng.uniform(0, 1, n)

    return points(400), points(3000)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("delta", [None, 0.1])
def test_rows_are_what_they_say(world, delta, normalized):
    (star, hat, doubt), (new_star, new_hat, new_doubt) = world
    asked = {"maximize": "coverage", "risk_max": 0.2, "normalized": normalized}
    promise = {} if delta is None else {"delta": delta, "bound": 0.8}
    problem = Problem(**asked)
    rows = compare_rules(
        star, hat, new_star, new_hat, problem, doubt_cal=doubt, doubt_new=new_doubt, **promise
    )
    by_name = {row.name: row for row in rows}
    names = ["learned", "total", "epistemic", "confidence", "no promise", "possible"]
    assert list(by_name) == [n for n in names if delta or n != "no promise"]
    for name, weights in (("learned", None), ("total", (1, 1)), ("epistemic", (0, 1))):
        rule = fit_selector(star, hat, weights=weights, **asked, **promise)
        found = attained(new_star, rule.accept(new_hat), normalized=normalized)
        row = by_name[name]
        assert (row.coverage, row.risk, row.regret) == (found.coverage, found.risk, found.regret)
        assert row.promised == (delta is not None)
        assert row.rule == rule
    best = optimal_selector(new_star, **asked)
    assert by_name["possible"].coverage == best.coverage
    assert by_name["learned"].coverage > 0
    for row in (row for row in rows if row.coverage):  # at its own risk no more is possible
        own = optimal_selector(new_star, **{**asked, "risk_max": row.risk})
        assert row.coverage <= own.coverage + 1e-9
    # A doubt that knows nothing accepts least.
    assert by_name["confidence"].coverage < by_name["learned"].coverage


def test_without_probabilities_there_is_no_confidence(world):
    (star, hat, _), (new_star, new_hat, _) = world
    problem = Problem(maximize="coverage", risk_max=0.2)
    rows = compare_rules(star, hat, new_star, new_hat, problem)
    assert "confidence" not in [row.name for row in rows]


def test_where_nothing_is_possible(world):
    (star, hat, _), (new_star, new_hat, _) = world
    problem = Problem(maximize="coverage", risk_max=1e-9, normalized=True)
    rows = compare_rules(star, hat, new_star, new_hat, problem)
    assert rows[-1].coverage == 0
    assert math.isnan(rows[-1].risk)
