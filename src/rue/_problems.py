"""The three problems of Theorem 1 on a finite sample: linear programs with two constraints.

Under one of its constraints alone each is a knapsack: take points by one score until the budget
is used up, or the floor reached. If that keeps the other constraint too it is optimal; if not,
both bind, and the boundary is found by turning a line (``_turning.py``).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from rue._arrays import FloatArray
from rue._boundary import TOLERANCE, Boundary, Points, Triple, difference, split
from rue._turning import turn
from rue.errors import InfeasibleError

__all__ = ["EVERYTHING", "NAMES", "infeasible", "least_cost", "most_coverage", "total_of"]

EVERYTHING = Boundary(0.0, 0.0, 1.0)
"""Everything is below this line."""

NAMES = "risk", "regret"


def infeasible(what: str, best: float, given: str) -> InfeasibleError:
    """Say which budget cannot be met, and what can be attained."""
    return InfeasibleError(f"no selector {given} has {what}: the best attainable is {best:.9g}")


def total_of(acceptance: FloatArray, score: FloatArray) -> float:
    """Sum a score over the accepted."""
    return float(np.sum(acceptance * score))


@dataclass(frozen=True)
class _Budget:
    """sum x_i (score_i - limit) <= room.

    A plain budget has limit 0 and room N risk_max, say; a normalised one limit risk_max, room 0.
    """

    score: FloatArray
    limit: float
    room: float

    def is_met(self, acceptance: FloatArray) -> bool:
        allowed = self.room + self.limit * float(acceptance.sum())
        return total_of(acceptance, self.score) <= allowed * (1 + TOLERANCE)


def most_coverage(
    points: Points, risk_max: float | None, regret_max: float | None, normalized: bool
) -> Boundary:
    """(P_C): maximise coverage under a risk and a regret budget."""
    budgets = [
        None if limit is None else _budget(points, axis, limit, normalized)
        for axis, limit in enumerate((risk_max, regret_max))
    ]
    starts: list[tuple[float, Boundary]] = []
    for axis, budget in enumerate(budgets):
        if budget is None or budget.is_met(np.ones_like(budget.score)):
            continue
        boundary = _first_within(points, axis, budget)
        acceptance = boundary.acceptance(points)
        other = budgets[1 - axis]
        if other is None or other.is_met(acceptance):
            return boundary
        starts.append((float(acceptance.sum()), boundary))
    risk, regret = budgets
    if risk is None or regret is None or not starts:
        return EVERYTHING

    # From the tighter of the two no turn leads back to a line for one budget alone.
    start = min(starts, key=lambda pair: pair[0])[1].first
    assert start is not None
    anchor = Triple(0.0, risk.room, regret.room)
    ray = Triple(1.0, risk.limit, regret.limit)
    both = turn(points, anchor, ray, start[:2])
    if normalized and (both is None or both.acceptance(points).sum() < 0.999):
        # A selector that accepts anything can accept the worth of a point: perhaps there is none.
        least = _least_regret(points, risk.limit)
        if least > regret.limit * (1 + TOLERANCE):
            what = f"normalised regret <= {regret.limit:g}"
            raise infeasible(what, least, f"with normalised risk <= {risk.limit:g}")
        slack = 1 + TOLERANCE
        ray = Triple(1.0, risk.limit * slack, max(regret.limit, least) * slack)
        both = turn(points, anchor, ray, start[:2])
    assert both is not None
    return both


def least_cost(
    points: Points, axis: int, floor: float, limit: float | None, normalized: bool
) -> Boundary:
    """(P_Ri) for axis 0, (P_Re) for axis 1: minimise under a coverage floor and a budget.

    The normalised problem is solved by the plain one, by the change of variables of Charnes and
    Cooper: to accept every point with the same part of its probability changes no ratio, so a
    coverage equal to the floor is optimal. Below the worth of one point a floor does not matter,
    as the best ratio is that of one block or of a mixture of two.
    """
    n_points = float(len(points.total))
    mass = max(floor * n_points, 0.5 if normalized else 0.0)
    boundary = _first_points(points, axis, mass)
    if limit is not None:
        per = mass if normalized else n_points
        budget = _Budget(points[1 - axis], 0.0, limit * per)
        if not budget.is_met(boundary.acceptance(points)):
            best = _first_points(points, 1 - axis, mass).acceptance(points)
            least = total_of(best, budget.score)
            if not budget.is_met(best):
                what = ("normalised " if normalized else "") + f"{NAMES[1 - axis]} <= {limit:g}"
                raise infeasible(what, least / per, f"with coverage >= {floor:g}")
            room = max(budget.room, least)
            anchor = Triple(mass, room, 0.0) if axis else Triple(mass, 0.0, room)
            ray = Triple(0.0, 0.0, -1.0) if axis else Triple(0.0, -1.0, 0.0)
            assert boundary.first is not None
            both = turn(points, anchor, ray, boundary.first[:2])
            assert both is not None
            boundary = both
    return _widened(boundary, points, axis, limit, normalized)


def _budget(points: Points, axis: int, limit: float, normalized: bool) -> _Budget:
    score = points[axis]
    if not normalized:
        return _Budget(score, 0.0, limit * len(score))
    least = float(score.min())
    if least > limit * (1 + TOLERANCE):
        what = f"normalised {NAMES[axis]} <= {limit:g}"
        raise infeasible(what, least, "that accepts anything")
    return _Budget(score, max(limit, least), 0.0)


def _least_regret(points: Points, risk_max: float) -> float:
    boundary = least_cost(points, 1, 0.0, risk_max, normalized=True)
    acceptance = boundary.acceptance(points)
    return total_of(acceptance, points.epistemic) / float(acceptance.sum())


def _first_within(points: Points, axis: int, budget: _Budget) -> Boundary:
    """Take points by one score until its budget is used up."""
    ranked = np.sort(budget.score)
    spent = np.cumsum(difference(ranked, budget.limit))
    allowed = budget.room + TOLERANCE * (budget.room + budget.limit * np.arange(len(ranked)))
    n_within = int(np.count_nonzero(spent <= allowed))
    d = float(ranked[min(n_within, len(ranked) - 1)])
    gain = d - budget.limit
    line = Boundary((1 - axis) / gain, axis / gain, d / gain)
    below, on = split(line, points)
    room = budget.room - (below[1 + axis] - budget.limit * below.coverage)
    cost = difference((on.total, on.epistemic)[axis], budget.limit)
    return replace(line, first=on.first_within(cost, room))


def _first_points(points: Points, axis: int, mass: float) -> Boundary:
    """Take so many points by one score."""
    k = math.ceil(mass * (1 - TOLERANCE))
    d = float(np.partition(points[axis], k - 1)[k - 1]) if k else 0.0
    line = Boundary(1.0 - axis, float(axis), d)
    below, on = split(line, points)
    if len(on) == 0:
        return line
    return replace(line, first=on.first_within(np.ones(len(on)), mass - below.coverage))


def _widened(
    boundary: Boundary, points: Points, axis: int, limit: float | None, normalized: bool
) -> Boundary:
    """Among the optima of (P_Ri) or (P_Re) take the one of largest coverage.

    Coverage can grow only where the floor is slack: on a line at score 0, or, as only ratios
    count if normalised, on a line with nothing below.
    """
    below, on = split(boundary, points)
    if (below.coverage if normalized else boundary.d) > 0 or len(on) == 0:
        return boundary
    if limit is None:
        return replace(boundary, first=on.cut(-1, 1.0), last=None)
    cost = difference((on.epistemic, on.total)[axis], limit if normalized else 0.0)
    room = 0.0 if normalized else limit * len(points.total)
    # A budget that binds is still to be used up exactly, so only points at one end are dropped.
    binds = (boundary.c2, boundary.c1)[axis] > 0
    from_last = binds and axis == 0
    if binds and np.sum(cost * on.count) < 0:
        cost, from_last = -cost, not from_last
    cut = on.first_within(cost, room, reverse=from_last)
    return replace(boundary, first=None if from_last else cut, last=cut if from_last else None)
