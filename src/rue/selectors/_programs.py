"""The three problems of Theorem 1 on a finite sample: linear programs with two constraints.

With one constraint alone each is a knapsack: accept points by one score until the budget is spent
or the floor is reached. If that also meets the other constraint, it is optimal; otherwise both
bind, and ``_both_budgets.py`` finds the boundary.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InfeasibleError
from rue.losses.base import TOLERANCE
from rue.selectors._both_budgets import turn
from rue.selectors._boundary import Boundary, RealizedPoints, Triple, difference, split

_EVERYTHING = Boundary(0.0, 0.0, 1.0)
_NAMES = "risk", "regret"


def infeasible(what: str, best: float, condition: str) -> InfeasibleError:
    """Return the error that names the budget and the best attainable value."""
    return InfeasibleError(f"no selector {condition} has {what}: the best attainable is {best:.9g}")


def total_of(acceptance: FloatArray, score: FloatArray) -> float:
    """Return the sum of a score over the accepted points."""
    return float(np.sum(acceptance * score))


def most_coverage(
    points: RealizedPoints, risk_max: float | None, regret_max: float | None, normalized: bool
) -> Boundary:
    """Solve (P_C): maximise coverage under a risk and a regret budget."""
    if not normalized:
        limits = risk_max, regret_max
        rooms = [None if limit is None else _Budget(limit * len(points)) for limit in limits]
        boundary = _most_within(points, *rooms)
        assert boundary is not None
        return boundary
    if risk_max is not None:
        least = float(points.total.min())
        risk_max = _attainable("risk", risk_max, least, "that accepts anything")
    if regret_max is not None:
        least = float(points.epistemic.min())
        regret_max = _attainable("regret", regret_max, least, "that accepts anything")
    boundary = _most_ratios_within(points, risk_max, regret_max)
    if boundary is None and risk_max is not None and regret_max is not None:
        # The two budgets cannot be met together, unless only rounding prevents it.
        best = least_cost(points, 1, 0.0, risk_max, normalized=True).acceptance(points)
        least = total_of(best, points.epistemic) / float(best.sum())
        condition = f"with normalised risk <= {risk_max:g}"
        regret_max = _attainable("regret", regret_max, least, condition)
        slack = 1 + TOLERANCE
        boundary = _most_ratios_within(points, risk_max * slack, regret_max * slack)
    assert boundary is not None
    return boundary


def least_cost(
    points: RealizedPoints, axis: int, floor: float, limit: float | None, normalized: bool
) -> Boundary:
    """Solve (P_Ri) for axis 0, (P_Re) for axis 1: minimise under a coverage floor and a budget."""
    n_points = float(len(points))
    mass = max(_whole(floor * n_points), 0.5 if normalized else 0.0)
    boundary = _first_points(points, axis, mass)
    if limit is not None:
        per = mass if normalized else n_points
        other, budget = points.score(1 - axis), _Budget(limit * per)
        if not budget.is_met(boundary.acceptance(points), other):
            best = _first_points(points, 1 - axis, mass).acceptance(points)
            least = total_of(best, other)
            if not budget.is_met(best, other):
                what = ("normalised " if normalized else "") + f"{_NAMES[1 - axis]} <= {limit:g}"
                raise infeasible(what, least / per, f"with coverage >= {floor:g}")
            room = max(budget.room, least)
            anchor = Triple(mass, room, 0.0) if axis else Triple(mass, 0.0, room)
            ray = Triple(0.0, 0.0, -1.0) if axis else Triple(0.0, -1.0, 0.0)
            assert boundary.first is not None
            both = turn(points, anchor, ray, boundary.first[:2])
            assert both is not None
            boundary = both
    return _widened(boundary, points, axis, limit, normalized)


def excess_over(
    star: Components,
    acceptance: FloatArray,
    floor: float,
    limits: tuple[float | None, float | None],
    normalized: bool,
) -> float:
    """Return by how much a selector breaks its floor or a budget at worst, relative to it."""
    coverage = float(acceptance.mean())
    per = len(star) * (coverage if normalized else 1.0)
    worst = (floor - coverage) / floor if floor else 0.0
    for limit, score in zip(limits, (star.total, star.epistemic), strict=True):
        if limit is not None and per:
            spent = total_of(acceptance, score) / per
            worst = max(worst, (spent - limit) / (limit + 1e-3 * float(score.max()) + 1e-300))
    return worst


def require_attained(objective: str, best: float, limit: float | None, normalized: bool) -> None:
    """Raise if even the optimum breaks a budget on the objective itself."""
    if limit is None:
        return
    if objective == "coverage":
        if best < limit * (1 - TOLERANCE):
            raise infeasible(f"coverage >= {limit:g}", best, "within the budgets")
    elif best > limit * (1 + TOLERANCE):
        name = f"normalised {objective}" if normalized else objective
        raise infeasible(f"{name} <= {limit:g}", best, "within the other budgets")


@dataclass(frozen=True)
class _Budget:
    """sum x_i score_i <= room; scores may be shifted by a limit, which sets their precision."""

    room: float
    limit: float = 0.0

    def is_met(self, acceptance: FloatArray, score: FloatArray) -> bool:
        slack = TOLERANCE * (self.room + self.limit * float(acceptance.sum()))
        return total_of(acceptance, score) <= self.room + slack


def _most_ratios_within(
    points: RealizedPoints, risk_max: float | None, regret_max: float | None
) -> Boundary | None:
    """Maximise coverage under budgets on ratios; None if that accepts nothing."""
    points = points.seen_from((risk_max or 0.0, regret_max or 0.0))
    limits = risk_max, regret_max
    rooms = [None if limit is None else _Budget(0.0, limit) for limit in limits]
    boundary = _most_within(points, *rooms)
    if boundary is None or boundary is _EVERYTHING:
        return boundary
    return boundary if boundary.acceptance(points).sum() > 0.999 else None


def _most_within(
    points: RealizedPoints, risk: _Budget | None, regret: _Budget | None
) -> Boundary | None:
    budgets = risk, regret
    starts: list[tuple[float, Boundary]] = []
    for axis, budget in enumerate(budgets):
        if budget is None or budget.is_met(np.ones(len(points)), points.score(axis)):
            continue
        boundary = _first_within(points, axis, budget)
        acceptance = boundary.acceptance(points)
        other = budgets[1 - axis]
        if other is None or other.is_met(acceptance, points.score(1 - axis)):
            return boundary
        starts.append((float(acceptance.sum()), boundary))
    if risk is None or regret is None or not starts:
        return _EVERYTHING
    # Starting from the tighter budget, no turn leads back to a line for one budget alone.
    start = min(starts, key=lambda pair: pair[0])[1].first
    assert start is not None
    anchor, ray = Triple(0.0, risk.room, regret.room), Triple(1.0, 0.0, 0.0)
    return turn(points, anchor, ray, start[:2])


def _attainable(name: str, limit: float, least: float, condition: str) -> float:
    """Return the limit, raised to the least attainable ratio if only rounding separates them."""
    if least > limit * (1 + TOLERANCE):
        raise infeasible(f"normalised {name} <= {limit:g}", least, condition)
    return max(limit, least)


def _first_within(points: RealizedPoints, axis: int, budget: _Budget) -> Boundary:
    """Accept points by one score until its budget is spent."""
    ranked = np.sort(points.score(axis))
    allowed = budget.room + TOLERANCE * (budget.room + budget.limit * np.arange(len(ranked)))
    n_within = int(np.count_nonzero(np.cumsum(ranked) <= allowed))
    d = float(ranked[min(n_within, len(ranked) - 1)])
    line = Boundary((1 - axis) / d, axis / d, 1.0, points.origin)
    below, on = split(line, points)
    cut = on.first_within(on.points.score(axis), budget.room - below[1 + axis])
    return replace(line, first=cut)


def _whole(mass: float) -> float:
    """Return the nearest whole number if only rounding separates it from ``mass``."""
    return float(round(mass)) if abs(mass - round(mass)) <= TOLERANCE * mass else mass


def _first_points(points: RealizedPoints, axis: int, mass: float) -> Boundary:
    """Accept ``mass`` points by one score."""
    k = math.ceil(mass)
    d = float(np.partition(points.score(axis), k - 1)[k - 1]) if k else 0.0
    line = Boundary(1.0 - axis, float(axis), d)
    below, on = split(line, points)
    if len(on) == 0:
        return line
    return replace(line, first=on.first_within(np.ones(len(on)), mass - below.coverage))


def _widened(
    boundary: Boundary, points: RealizedPoints, axis: int, limit: float | None, normalized: bool
) -> Boundary:
    """Among the optima of (P_Ri) or (P_Re) return the one with the largest coverage."""
    below, on = split(boundary, points)
    if (below.coverage if normalized else boundary.d) > 0 or len(on) == 0:
        return boundary
    if limit is None:
        return replace(boundary, first=on.cut(-1, 1.0), last=None)
    cost = difference(on.points.score(1 - axis), limit if normalized else 0.0)
    room = 0.0 if normalized else limit * len(points)
    # A binding budget must still be spent exactly, so only points at one end are dropped.
    binds = (boundary.c2, boundary.c1)[axis] > 0
    from_last = binds and axis == 0
    if binds and np.sum(cost * on.count) < 0:
        cost, from_last = -cost, not from_last
    cut = on.first_within(cost, room, reverse=from_last)
    return replace(boundary, first=None if from_last else cut, last=cut if from_last else None)
