"""Theorem 1: the optimal selector under coverage, risk and regret budgets.

    C*(x) = 1{ (1 - λ) A*(x) + λ E*(x) <= τ },    1/2 <= λ <= 1

solves each of the three problems of :class:`rue.Problem` and their normalised variants (appendix
B).

On a finite sample each problem is a linear program in the acceptance probabilities of the points.
With one budget it is a knapsack, solved by one sort: λ = 1/2 ranks by the total, λ = 1 by the
epistemic component (``_programs.py``). If that solution breaks the other budget, both bind, and a
line in the plane of (total, epistemic) is turned until it meets both (``_both_budgets.py``).

:func:`team_selector` asks for no budgets: model and person together are to cost least.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InputError
from rue.losses.base import TOLERANCE
from rue.selectors._boundary import SAME, Boundary, Levels, RealizedPoints
from rue.selectors._programs import (
    excess_over,
    least_cost,
    most_coverage,
    require_attained,
    total_of,
)
from rue.selectors.selector import Problem, Selector, require_realized

# A floor or budget missed by more than this means that rounding has separated equal numbers.
_TOO_MUCH = 1e-10


def optimal_selector(
    star: Components,
    *,
    maximize: Literal["coverage"] | None = None,
    minimize: Literal["risk", "regret"] | None = None,
    coverage_min: float | None = None,
    risk_max: float | None = None,
    regret_max: float | None = None,
    normalized: bool = False,
) -> Selector:
    """Solve one of Theorem 1's problems exactly on a sample of realised components.

    With coverage = mean x, risk = mean x T* and regret = mean x E* (equations 4 to 6), over all
    acceptance probabilities x in [0, 1]^n_points. If ``normalized``, risk and regret are divided
    by the coverage, which must be positive.

    Among several optima the one with the largest coverage is returned, and points at tau are
    accepted in the order of total, then epistemic, as far as the budgets allow. Multipliers need
    not be unique; if one constraint binds alone, the smallest is returned. If no budget binds,
    everything is accepted (lam 1/2, tau inf, alpha = beta = 0).

    Parameters
    ----------
    star
        Realised components (:func:`rue.realize`), non-negative.
    maximize, minimize
        The objective, exactly one of the two.
    coverage_min
        The coverage floor, from 0 to 1. It is required to minimise.
    risk_max, regret_max
        The risk and the regret budget, not negative. Either may be None. A budget on the objective
        itself changes no optimum, but it is checked.
    normalized
        Whether risk and regret, and their budgets, are per accepted point (appendix B).

    Returns
    -------
    Selector
        The rule and what it attains; its ``acceptance`` has shape (n_points,).

    Raises
    ------
    InfeasibleError
        If no selector meets the budgets (to a relative 1e-12); the message names the budget and
        the best attainable value.
    InputError
        If the problem or the components are invalid.

    Examples
    --------
    >>> from rue import Components, optimal_selector
    >>> star = Components(
    ...     total=[0.1, 0.2, 0.3, 0.6],
    ...     aleatoric=[0.1, 0.0, 0.3, 0.2],
    ...     epistemic=[0.0, 0.2, 0.0, 0.4],
    ... )
    >>> print(optimal_selector(star, maximize="coverage", risk_max=0.15))
    Accept where total uncertainty is below 0.6, reject where it is above.
    This attains coverage 0.75, risk 0.15, regret 0.05.
    >>> optimal_selector(star, minimize="regret", coverage_min=0.6).acceptance
    array([1. , 0.4, 1. , 0. ])
    """
    problem = Problem(maximize, minimize, coverage_min, risk_max, regret_max, normalized)
    return solve(star, problem)


def solve(star: Components, problem: Problem) -> Selector:
    """Solve a problem exactly on a sample; see :func:`optimal_selector`.

    Parameters
    ----------
    star
        Realised components (:func:`rue.realize`), non-negative.
    problem
        The objective, the floor and the budgets.

    Returns
    -------
    Selector
        The rule and what it attains; its ``acceptance`` has shape (n_points,).

    Raises
    ------
    InfeasibleError
        If no selector meets the budgets.
    InputError
        If the components are invalid.

    Examples
    --------
    >>> from rue import Components, Problem
    >>> from rue.selectors import solve
    >>> star = Components([0.1, 0.5], [0.1, 0.1], [0.0, 0.4])
    >>> solve(star, Problem(maximize="coverage", risk_max=0.05)).coverage
    0.5
    """
    require_realized(star)
    boundary, acceptance, levels = _boundary_of(star, problem)
    acceptance.flags.writeable = False
    accepted = float(acceptance.sum())
    coverage = accepted / len(star)
    per = accepted if problem.normalized else len(star)
    risk = total_of(acceptance, star.total) / per
    regret = total_of(acceptance, star.epistemic) / per

    c1, c2, d = boundary.c1, boundary.c2, boundary.level
    weight = 2 * c1 + c2
    alpha, beta = c1, c2
    if problem.minimize is None:
        require_attained("coverage", coverage, problem.coverage_min, problem.normalized)
    else:
        least, limit, budget, beta = (
            (risk, problem.risk_max, problem.regret_max, c2)
            if problem.minimize == "risk"
            else (regret, problem.regret_max, problem.risk_max, c1)
        )
        require_attained(problem.minimize, least, limit, problem.normalized)
        alpha = d
        if problem.normalized:  # d = least + alpha + beta budget
            alpha = d - least - beta * (budget or 0.0)
            alpha = alpha if alpha > TOLERANCE * d else 0.0
    return Selector(
        lam=float((c1 + c2) / weight) if weight else 0.5,
        tau=float(d / weight) if weight else math.inf,
        alpha=float(alpha),
        beta=float(beta),
        coverage=coverage,
        risk=risk,
        regret=regret,
        acceptance=acceptance,
        normalized=problem.normalized,
        _boundary=boundary,
        _levels=levels,
    )


def _boundary_of(
    star: Components, problem: Problem
) -> tuple[Boundary, FloatArray, tuple[Levels, Levels] | None]:
    """Solve the problem; where rounding has separated equal numbers, merge them and solve again."""
    points = RealizedPoints(star.total, star.epistemic)
    boundary, acceptance, excess = _solved(star, problem, points)
    levels = None
    if excess > _TOO_MUCH:
        merged = Levels.of(star.total), Levels.of(star.epistemic)
        again = _solved(star, problem, points.at_levels(*merged), slack=SAME)
        if again[2] < excess:
            (boundary, acceptance, excess), levels = again, merged
    if excess > 10 * _TOO_MUCH:  # no rule is better than one that breaks its budgets
        raise InputError(
            f"star has numbers too close to distinguish: a budget is exceeded by {excess:.2g} of "
            "it; round them to 1e-9 of the largest"
        )
    return boundary, acceptance, levels


def _solved(
    star: Components, problem: Problem, points: RealizedPoints, slack: float = 0.0
) -> tuple[Boundary, FloatArray, float]:
    """Return the boundary, the acceptance and by how much floor and budgets are missed."""
    risk_max, regret_max, normalized = problem.risk_max, problem.regret_max, problem.normalized
    risk = None if risk_max is None else risk_max + slack * float(star.total.max())
    regret = None if regret_max is None else regret_max + slack * float(star.epistemic.max())
    if problem.minimize == "risk":
        boundary = least_cost(points, 0, problem.floor, regret, normalized)
    elif problem.minimize == "regret":
        boundary = least_cost(points, 1, problem.floor, risk, normalized)
    else:
        boundary = most_coverage(points, risk, regret, normalized)
    acceptance = boundary.acceptance(points)
    limits = (
        None if problem.minimize == "risk" else risk_max,
        None if problem.minimize == "regret" else regret_max,
    )
    floor = 0.0 if problem.minimize is None else problem.floor
    return boundary, acceptance, excess_over(star, acceptance, floor, limits, normalized)


@dataclass(frozen=True, eq=False)
class TeamSelector:
    """Which points the model keeps, and what the team costs.

    Attributes
    ----------
    coverage, risk, regret : float
        The share of accepted points, and their risk and regret over all points.
    team_risk : float
        The risk of the accepted points, and of a person on the others with the fee.
    person_risk : float
        What a person would cost on all points, without the fee.
    defer_fee : float
        The fee for each deferred point.
    acceptance : array of shape (n_points,)
        Which points are accepted.
    """

    coverage: float
    risk: float
    regret: float
    team_risk: float
    person_risk: float
    defer_fee: float
    acceptance: NDArray[np.bool]

    def __str__(self) -> str:
        fee = f" plus the fee of {self.defer_fee:g}" if self.defer_fee else ""
        return (
            f"Accept where the total is at most the risk of a person{fee}, defer elsewhere.\n"
            f"The team costs {self.team_risk:.6g} at coverage {self.coverage:.6g}."
        )


def team_selector(star: Components, *, defer_fee: float = 0.0) -> TeamSelector:
    """Accept where the model costs at most as much as a person and the fee.

    No other decisions cost less in sum, so there are no budgets.

    Parameters
    ----------
    star : Components
        Realised components with the risk of a person (:func:`rue.realize`).
    defer_fee : float
        What asking a person about a deferred point costs beyond their risk.

    Returns
    -------
    TeamSelector
        The decisions and what they cost.

    Raises
    ------
    InputError
        If the risk of a person is unknown, or the fee is invalid.

    Examples
    --------
    >>> from rue import Components
    >>> from rue.selectors import team_selector
    >>> star = Components([0.0, 0.5], [0.0, 0.2], [0.0, 0.3], person=np.array([0.25, 0.25]))
    >>> print(team_selector(star))
    Accept where the total is at most the risk of a person, defer elsewhere.
    The team costs 0.125 at coverage 0.5.
    """
    require_realized(star)
    if not 0 <= defer_fee < np.inf:
        raise InputError(f"defer_fee must be a number from 0 on, got {defer_fee}")
    if star.person is None:
        raise InputError(
            "star must have the risk of a person, which needs two answers for every point"
        )
    person_cost = star.person + defer_fee
    accepted = star.total <= person_cost + 1e-12 * max(
        float(star.total.max()), float(person_cost.max())
    )
    return TeamSelector(
        coverage=float(accepted.mean()),
        risk=float((accepted * star.total).mean()),
        regret=float((accepted * star.epistemic).mean()),
        team_risk=float(np.where(accepted, star.total, person_cost).mean()),
        person_risk=float(star.person.mean()),
        defer_fee=float(defer_fee),
        acceptance=accepted,
    )
