"""The boundary between accept and reject: a line in the plane of (total, epistemic)."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.losses.base import TOLERANCE

# Components are rounded to 1e-12 of the loss's scale, which separates equal ones by as much.
SAME = 8e-12


@dataclass(frozen=True, eq=False)
class Levels:
    """Runs of numbers whose neighbours are within 8e-12 of the largest, each with its mean."""

    low: FloatArray
    high: FloatArray
    level: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Return the runs of a sample."""
        ranked = np.unique(values)
        head = np.flatnonzero(np.append(True, np.diff(ranked) > SAME * ranked[-1]))
        tail = np.append(head[1:], len(ranked)) - 1
        mean = np.add.reduceat(ranked, head) / (tail - head + 1)
        return cls(ranked[head], ranked[tail], mean)

    def snap(self, values: FloatArray) -> FloatArray:
        """Replace numbers within a run by its mean, and leave others unchanged."""
        run = np.maximum(np.searchsorted(self.low, values, side="right") - 1, 0)
        inside = (self.low[run] <= values) & (values <= self.high[run])
        return np.where(inside, self.level[run], values)


Number = TypeVar("Number", float, FloatArray)

Point = tuple[float, float]
"""Total and epistemic."""


class Triple(NamedTuple):
    """Sums of (1, T, E) over the accepted points: N times (coverage, risk, regret)."""

    coverage: float
    risk: float
    regret: float

    def minus(self, other: "Triple", times: float = 1.0) -> "Triple":
        """Return self - times * other."""
        return Triple(*(a - times * b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True)
class RealizedPoints:
    """A sample in the plane of total (axis 0) and epistemic (axis 1), relative to an origin.

    The origin is 0, or the budgets if normalised, as in sum x_i (T_i - risk_max) <= 0.
    """

    total: FloatArray
    epistemic: FloatArray
    origin: Point = (0.0, 0.0)

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, rows: NDArray[Any] | slice) -> "RealizedPoints":
        """Return some of the points."""
        return RealizedPoints(self.total[rows], self.epistemic[rows], self.origin)

    def score(self, axis: int) -> FloatArray:
        """Return the totals (axis 0) or the epistemic components (axis 1)."""
        return (self.total, self.epistemic)[axis]

    def at_levels(self, total: Levels, epistemic: Levels) -> "RealizedPoints":
        """Merge values that only rounding separates."""
        return RealizedPoints(total.snap(self.total), epistemic.snap(self.epistemic), self.origin)

    def seen_from(self, origin: Point) -> "RealizedPoints":
        """Return the points relative to another origin; the present one must be 0."""
        if origin == self.origin:
            return self
        return RealizedPoints(self.total - origin[0], self.epistemic - origin[1], origin)


class Cut(NamedTuple):
    """A block of identical points on the line, and the share of it that is accepted."""

    total: float
    epistemic: float
    share: float


@dataclass(frozen=True)
class Boundary:
    """Accept below the line c1 T + c2 E = d, reject above it, and divide what lies on it.

    T and E are relative to the origin. On the line, points are ordered by total, then epistemic.
    Those before ``first`` and those after ``last`` are accepted, those between are rejected, and
    the two blocks themselves are accepted in part.
    """

    c1: float
    c2: float
    d: float
    origin: Point = (0.0, 0.0)
    first: Cut | None = None
    last: Cut | None = None

    @property
    def level(self) -> float:
        """The line's d relative to 0."""
        return self.d + self.c1 * self.origin[0] + self.c2 * self.origin[1]

    def sides(self, points: RealizedPoints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks of the points below the line and of those on it."""
        gap = self.c1 * points.total
        gap += self.c2 * points.epistemic
        gap -= self.d
        width = TOLERANCE * (gap + 2 * self.level)
        return gap < -width, np.abs(gap) <= width

    def order(self, total: Number, epistemic: Number) -> tuple[Number, Number]:
        """Return two keys that sort points on the line by total, then epistemic."""
        if self.c2 == 0:
            return epistemic, total
        return self.c2 * total - self.c1 * epistemic, total if self.c1 else epistemic

    def acceptance(self, points: RealizedPoints) -> FloatArray:
        """Return the probability with which each point is accepted, shape (n_points,)."""
        points = points.seen_from(self.origin)
        below, on_line = self.sides(points)
        share = below.astype(np.float64)
        on = np.flatnonzero(on_line)
        key, then = self.order(points.total[on], points.epistemic[on])
        for cut, outside in ((self.first, -1), (self.last, 1)):
            if cut is not None:
                cut_key, cut_then = self.order(cut.total, cut.epistemic)
                place = np.sign(key - cut_key)
                place = np.where(place == 0, np.sign(then - cut_then), place)
                share[on[place == outside]] = 1.0
                share[on[place == 0]] = cut.share
        return share


class Blocks:
    """Points on a line in their order on it, identical ones counted together."""

    def __init__(self, line: Boundary, points: RealizedPoints) -> None:
        key, then = line.order(points.total, points.epistemic)
        order = np.argsort(key)
        tied = key[order[1:]] == key[order[:-1]]
        if (tied & (then[order[1:]] != then[order[:-1]])).any():
            order = np.lexsort((then, key))
        t, e = points.total[order], points.epistemic[order]
        is_new = np.append(True, (t[1:] != t[:-1]) | (e[1:] != e[:-1]))
        head = np.flatnonzero(is_new[: len(t)])
        self.points = points[order[head]]
        self.edge = np.append(head, len(t)).astype(np.float64)
        self.count = np.diff(self.edge)

    def __len__(self) -> int:
        return len(self.count)

    def point(self, block: int) -> Point:
        """Return total and epistemic of one block."""
        return float(self.points.total[block]), float(self.points.epistemic[block])

    def sums(self, *blocks: int | slice) -> Triple:
        """Return what accepting whole blocks attains."""
        rows = np.r_[blocks]
        columns = np.ones(len(rows)), self.points.total[rows], self.points.epistemic[rows]
        return Triple(*(float(np.sum(self.count[rows] * column)) for column in columns))

    def at(self, mass: float) -> int:
        """Return the block in which the given number of points ends, from the first on."""
        return min(max(int(np.searchsorted(self.edge, mass)) - 1, 0), len(self) - 1)

    def cut(self, block: int, share: float) -> Cut:
        """Accept a share of one block, 0 or 1 if only rounding separates it from that."""
        share = min(max(float(share), 0.0), 1.0)
        if abs(share - round(share)) <= TOLERANCE:
            share = float(round(share))
        return Cut(*self.point(block), share)

    def first_within(self, cost: FloatArray, room: float, *, reverse: bool = False) -> Cut:
        """Return the cut where the first points, at ``cost`` each, have spent the room."""
        step = -1 if reverse else 1
        cost = (cost * self.count)[::step]
        spent = np.append(0.0, np.cumsum(cost))
        k = int(np.count_nonzero(spent[1:] <= room))
        share = (room - spent[k]) / cost[k] if k < len(self) else 0.0
        if k and share <= TOLERANCE:  # the block before is the last that is accepted
            k, share = k - 1, 1.0
        return self.cut(len(self) - 1 - k if reverse else k, share)


def split(line: Boundary, points: RealizedPoints) -> tuple[Triple, Blocks]:
    """Return what the points below a line attain, and the blocks on it."""
    below, on = line.sides(points)
    return sums_over(points[below]), Blocks(line, points[on])


def sums_over(points: RealizedPoints) -> Triple:
    """Return what accepting all these points attains."""
    return Triple(float(len(points)), float(points.total.sum()), float(points.epistemic.sum()))


def difference(values: FloatArray, value: float, origin: float = 0.0) -> FloatArray:
    """Return values - value, 0 where only rounding separates them."""
    gap = values - value
    gap[np.abs(gap) <= TOLERANCE * (values + (value + 2 * origin))] = 0.0
    return gap
