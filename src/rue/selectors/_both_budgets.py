"""The optimum where both constraints bind: a line in the plane of (total, epistemic).

Accepting the share x_i of the point v_i = (1, T_i, E_i) attains z = sum x_i v_i =
N (coverage, risk, regret), and all such z form a convex body. If both constraints of a problem
bind, its optimum is the point where a ray leaves that body:

    maximise coverage    from N (0, risk_max, regret_max)        along (1, 0, 0)
      normalised         from 0, with T - risk_max, E - regret_max instead of T, E
    minimise risk        from N (coverage_min, 0, regret_max)    along (0, -1, 0)
    minimise regret      from N (coverage_min, risk_max, 0)      along (0, 0, -1)

The plane that touches the body there, c1 risk + c2 regret - d coverage = const, accepts the points
below the line c1 T + c2 E = d; two blocks of identical points on the line spend the rest of the
two budgets. Finding that line is the dual problem. It has the form of a median regression and is
solved as by Barrodale and Roberts (1973): rotate the line about one of its points to the best
slope, then about another of its points, until nothing improves. A rotation is one sort, and a
handful of rotations is enough.
"""

import math
from dataclasses import replace

import numpy as np

from rue.losses.base import TOLERANCE
from rue.selectors._boundary import (
    Blocks,
    Boundary,
    Number,
    Point,
    RealizedPoints,
    Triple,
    difference,
    split,
    sums_over,
)

_ROUNDING = 1e-15
_SAMPLE = 1 << 14


def turn(points: RealizedPoints, anchor: Triple, ray: Triple, pivot: Point) -> Boundary | None:
    """Return the boundary at which the ray from the anchor leaves the attainable set."""
    if len(points) > 4 * _SAMPLE:
        guess = _turn_near_a_guess(points, anchor, ray, pivot)
        if guess is not None:
            return guess
    tried: dict[tuple[Point, float], tuple[float, Boundary]] = {}
    while True:
        ratio = _best_ratio(points, anchor, ray, pivot)
        if ratio is None or (pivot, ratio) in tried:  # only rounding is left to gain
            missed, boundary = min(
                tried.values(), key=lambda pair: pair[0], default=(math.inf, None)
            )
            return boundary if missed <= TOLERANCE else None
        line = _through(pivot, ratio, ray, points.origin)
        boundary, missed, better = _share_out(line, *split(line, points), anchor, ray)
        if missed <= _ROUNDING:
            return boundary
        tried[pivot, ratio] = missed, boundary
        pivot = better


def _turn_near_a_guess(
    points: RealizedPoints, anchor: Triple, ray: Triple, pivot: Point
) -> Boundary | None:
    """Solve for a part of the points, then for those near its line, and check all the others."""
    n_points = len(points)
    part = points[:: n_points // _SAMPLE]
    share = len(part) / n_points
    guess = turn(part, Triple(*(share * a for a in anchor)), ray, pivot)
    if guess is None:
        return None
    start = guess.first or guess.last
    assert start is not None
    gap = guess.c1 * points.total + guess.c2 * points.epistemic - guess.d
    distance = np.abs(gap)
    n_near = int(8 / math.sqrt(_SAMPLE) * n_points)  # the guess is off by its sampling error
    near = distance <= np.partition(distance, n_near)[n_near]
    if np.count_nonzero(near) > n_points // 2:  # many ties
        return None
    below, above = ~near & (gap < 0), ~near & (gap > 0)
    boundary = turn(points[near], anchor.minus(sums_over(points[below])), ray, start[:2])
    if boundary is None:
        return None
    is_below, is_on = boundary.sides(points)
    good = is_below[below].all() and not (is_below | is_on)[above].any()
    return boundary if good else None


def _best_ratio(points: RealizedPoints, anchor: Triple, ray: Triple, pivot: Point) -> float | None:
    """Rotate a line about the pivot from c2/c1 = 0 to infinity; return the best ratio."""
    t, e = pivot
    u = difference(points.total, t, points.origin[0])
    v = difference(points.epistemic, e, points.origin[1])
    moment = _moment(pivot, ray, 1.0, points.total, points.epistemic)
    leaves = u < 0
    crossing = np.flatnonzero(leaves & (v > 0) | (u > 0) & (v < 0))
    ratio = -u[crossing] / v[crossing]
    order = np.argsort(ratio)
    ratio, crossing = ratio[order], crossing[order]
    leaving = np.where(leaves[crossing], moment[crossing], 0.0)
    stayed = float(moment[(u <= 0) & (v <= 0)].sum())
    not_yet_left = np.append(np.cumsum(leaving[:0:-1])[::-1], 0.0)[: len(ratio)]
    come_in = np.cumsum(moment[crossing] - leaving)
    rounding = 0.1 * TOLERANCE * (abs(stayed) + _size(pivot, ray, anchor))
    passed = stayed + not_yet_left + come_in >= _moment(pivot, ray, *anchor) - rounding
    by_risk, by_regret = t * ray.coverage - ray.risk, ratio * (e * ray.coverage - ray.regret)
    gains = by_risk + by_regret > TOLERANCE * (abs(by_risk) + np.abs(by_regret))
    stops = np.flatnonzero(passed & gains)
    return float(ratio[stops[0]]) if len(stops) else None


def _through(pivot: Point, ratio: float, ray: Triple, origin: Point) -> Boundary:
    """Return the line through the pivot with c2/c1 = ratio, scaled to gain 1 along the ray."""
    t, e = pivot
    gain = (t * ray.coverage - ray.risk) + ratio * (e * ray.coverage - ray.regret)
    return Boundary(1 / gain, ratio / gain, (t + ratio * e) / gain, origin)


def _share_out(
    line: Boundary, below: Triple, on: Blocks, anchor: Triple, ray: Triple
) -> tuple[Boundary, float, Point]:
    """Spend what the points below the line leave of both budgets on the blocks on the line."""
    gap = anchor.minus(below)
    n_on = float(on.edge[-1])
    reach = line.c1 * gap.risk + line.c2 * gap.regret - line.d * gap.coverage
    mass = gap.coverage + reach * ray.coverage
    end = on.point(-1)
    moment = _moment(end, ray, 1.0, on.points.total, on.points.epistemic)
    sums = np.append(0.0, np.cumsum(on.count * moment))
    wanted = _moment(end, ray, *gap)

    def of_first(mass: float) -> float:
        k = on.at(mass)
        return float(sums[k] + (mass - on.edge[k]) * moment[k])

    short = of_first(mass) - wanted
    over = wanted - (float(sums[-1]) - of_first(n_on - mass))
    missed = max(short, over, 0.0)
    if missed > 0:
        size = _size(end, ray, anchor) + _size(end, ray, below)
        missed /= size - (abs(anchor.coverage) + below.coverage) * float(moment[0])
    better = on.point(on.at(mass if short > over else n_on - mass))

    skipped = min(max(n_on - mass, 0.0), n_on)
    head = np.clip(np.append(on.edge, on.edge - skipped), 0.0, n_on - skipped)
    head.sort()
    taken = np.interp(head, on.edge, sums) - np.interp(head + skipped, on.edge, sums)
    n_first = float(np.interp(float(sums[-1]) - wanted, -taken, head))
    f, g = on.at(n_first), on.at(n_first + skipped)
    if f == g:
        first = on.cut(f - 1, 1.0) if f else None
        last = on.cut(f, 1.0 - skipped / on.count[f])
        return replace(line, first=first, last=last), missed, better

    left = gap.minus(on.sums(slice(0, f), slice(g + 1, len(on))))
    shares = _shares(left, on.sums(f), on.sums(g), line, ray)
    first, last = on.cut(f, shares[0]), on.cut(g, shares[1])
    if last.share == 0 and g + 1 < len(on):
        last = on.cut(g + 1, 1.0)
    return replace(line, first=first, last=last), missed, better


def _shares(
    room: Triple, first: Triple, last: Triple, line: Boundary, ray: Triple
) -> tuple[float, float]:
    """Return the shares of two blocks that spend the room; the first has more epistemic."""
    swap = ray.regret < 0
    heavy, light = (last, first) if swap else (first, last)
    about = light.risk / light.coverage, light.regret / light.coverage
    lever = _moment(about, ray, *heavy)
    x = min(max(_moment(about, ray, *room) / lever, 0.0), 1.0) if lever else 0.0
    k = 0
    if ray.coverage:  # by the budget that feels the light one most
        k = 1 if line.c1 * light.risk > line.c2 * light.regret else 2
    y = (room[k] - x * heavy[k]) / light[k]
    if not 0 <= y <= 1:
        y = min(max(y, 0.0), 1.0)
        x = (room[k] - y * light[k]) / heavy[k] if heavy[k] else x
    return (y, x) if swap else (x, y)


def _moment(about: Point, ray: Triple, coverage: float, risk: Number, regret: Number) -> Number:
    """Return the determinant of (coverage, risk, regret), the pivot (1, T, E) and the ray."""
    t, e = about
    return (e * ray.coverage - ray.regret) * (risk - t * coverage) + (
        ray.risk - t * ray.coverage
    ) * (regret - e * coverage)


def _size(about: Point, ray: Triple, z: Triple) -> float:
    """Return the size of the terms of a moment, which bounds its rounding error."""
    t, e = (abs(x) for x in about)
    coverage, risk, regret = (abs(x) for x in z)
    return (e * ray.coverage + abs(ray.regret)) * (risk + t * coverage) + (
        abs(ray.risk) + t * ray.coverage
    ) * (regret + e * coverage)
