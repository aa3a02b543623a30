"""Rankings by linear combinations of two components, and the fronts that their prefixes leave.

A direction phi ranks the points (x, y) by x cos(phi) + y sin(phi). Two points change places at
their critical angle. The opposite direction ranks the other way round, so half the circle is
enough: what a reversed ranking accepts is what the ranking itself rejects.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components

__all__ = [
    "Fronts",
    "Plane",
    "all_rankings",
    "block_means",
    "block_starts",
    "plane_of",
    "sampled_rankings",
]

# Components are whole numbers up to this; a smaller difference is none.
GRID = 1e12

# How many pairs critical angles are sampled from, and how many crossings a sweep holds.
SAMPLED_PAIRS = 1 << 18

# How many rankings' running sums are held at a time: enough for a front, once it is in the
# processor's cache, to take many points.
BATCH = 64


@dataclass(frozen=True, eq=False)
class Plane:
    """Estimated components on a grid, rows sorted by them, and the realised ones beside them.

    ``x`` and ``y`` (aleatoric and epistemic) are whole numbers from 0 to 1e12. A component's
    reach is half its range, negative where it is mirrored, and 0 where it is constant. ``risk``
    and ``regret`` are divided by the number of points and by their units, powers of two that
    make their sums about 1; those of a block of equal (x, y) are replaced by their mean.
    ``starts`` are the first rows of the blocks, ``rows`` where each row was before.
    """

    x: FloatArray
    y: FloatArray
    x_reach: float
    y_reach: float
    risk: FloatArray
    regret: FloatArray
    risk_unit: float
    regret_unit: float
    starts: IntArray
    rows: IntArray

    def weights(self, angle: FloatArray) -> FloatArray:
        """Weights of the components as they were given, length 1; 0 for a constant one."""
        largest = max(abs(self.x_reach), abs(self.y_reach)) or 1.0
        x_reach, y_reach = self.x_reach / largest, self.y_reach / largest
        if x_reach and y_reach:
            x_weight = np.cos(angle) * abs(y_reach) * np.sign(x_reach)
            y_weight = np.sin(angle) * abs(x_reach) * np.sign(y_reach)
            length = np.hypot(x_weight, y_weight)
            return np.column_stack([x_weight / length, y_weight / length])
        return np.sign(np.column_stack([np.cos(angle) * x_reach, np.sin(angle) * y_reach]))


@dataclass(frozen=True, eq=False)
class Fronts:
    """What is best for each number of accepted points: no row of the same number dominates.

    Rows are sorted by ``accepted``, then ``risk``; ``angle`` is the direction of the ranking.
    """

    accepted: IntArray
    risk: FloatArray
    regret: FloatArray
    angle: FloatArray


def plane_of(star: Components, hat: Components) -> Plane:
    """Shift both estimated components to 0, divide by their ranges, round to 1e-12 and sort.

    A component that falls where the realised ones rise is mirrored. This leaves the set of all
    rankings as it is, and makes a component and its negative the same, sampled pairs included.
    """
    burden = star.total + star.epistemic
    x, x_reach = _to_grid(hat.aleatoric, burden)
    y, y_reach = _to_grid(hat.epistemic, burden)
    rows = np.lexsort((star.epistemic, star.total, y, x))
    x, y = x[rows], y[rows]
    starts = block_starts(x, y)
    risk_unit, regret_unit = _unit(star.total), _unit(star.epistemic)
    risk = block_means(star.total[rows] / risk_unit / len(star), starts)
    regret = block_means(star.epistemic[rows] / regret_unit / len(star), starts)
    return Plane(x, y, x_reach, y_reach, risk, regret, risk_unit, regret_unit, starts, rows)


def block_starts(first: FloatArray, second: FloatArray) -> IntArray:
    """Rows at which a block of rows equal in both begins; equal rows stand together."""
    new = (np.diff(first) != 0) | (np.diff(second) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1])


def block_means(values: FloatArray, starts: IntArray) -> FloatArray:
    """Replace the values of each block by their mean."""
    counts = np.diff(starts, append=len(values))
    return np.repeat(np.add.reduceat(values, starts) / counts, counts)


def sampled_rankings(plane: Plane, n_directions: int) -> Fronts:
    """Take directions at quantiles of the critical angles, and their opposites."""
    from rue._kernels.pareto import accumulate, insert_rankings
    from rue._kernels.threads import each

    angles = _arc_middles(plane, (n_directions + 1) // 2)
    n_points = len(plane.x)
    # Each range of levels has fronts of its own, so that threads do not meet.
    cuts = np.linspace(0, n_points + 1, min(16, n_points + 1) + 1).astype(np.int64)
    fronts = [np.empty((n_levels, 32, 3)) for n_levels in np.diff(cuts)]
    sizes = [np.zeros(len(front), np.int64) for front in fronts]
    sums = np.empty((2, min(BATCH, len(angles)), n_points + 1))
    for first in range(0, len(angles), BATCH):
        batch = angles[first : first + BATCH]

        def rank(i: int, batch: FloatArray = batch) -> None:
            score = plane.x * np.cos(batch[i]) + plane.y * np.sin(batch[i])
            order = np.argsort(score)
            accumulate(order, score, 0.0, plane.risk, plane.regret, sums[0, i], sums[1, i])

        def merge(i: int, batch: FloatArray = batch) -> None:
            fronts[i] = insert_rankings(fronts[i], sizes[i], cuts[i], sums[0], sums[1], batch)

        each(rank, range(len(batch)))
        each(merge, range(len(fronts)))
    return _flat(plane, fronts, sizes)


def all_rankings(plane: Plane) -> Fronts:
    """Sweep the circle: each crossing changes only the prefixes that end between two points.

    The half circle is cut into sweeps of about as many crossings each; a cut lies in an open
    arc. Only the fronts are kept. Points that lie on one line but for rounding change places at
    one angle, so that a linear image of the estimates has the same rankings.
    """
    from rue._kernels.lines import find_lines
    from rue._kernels.pareto import insert_fronts
    from rue._kernels.sweep import crossings, sweep
    from rue._kernels.threads import each

    n_points = len(plane.x)
    x, y = plane.x[plane.starts], plane.y[plane.starts]
    points = (x, y, *find_lines(x, y))
    counts = np.diff(plane.starts, append=n_points)
    risk = plane.risk[plane.starts] * counts
    regret = plane.regret[plane.starts] * counts

    n_sweeps = 1 + len(x) * (len(x) - 1) // 2 // SAMPLED_PAIRS
    cuts, rankings = _open_cuts(_arc_middles(plane, n_sweeps), points)
    rng = np.random.default_rng(0)
    while not cuts:
        # Of random angles few are not in an open arc: that takes a critical angle within 1e-9,
        # and there are at most EXACT_POINTS^2 / 2 of them.
        cuts, rankings = _open_cuts(np.pi * (1.0 - rng.random(1)), points)
    rankings.append(rankings[0][::-1].copy())

    def run(sweeps: IntArray) -> tuple[FloatArray, IntArray]:
        fronts, sizes = np.empty((n_points + 1, 16, 3)), np.zeros(n_points + 1, np.int64)
        for i in sweeps:
            first, second, at = crossings(rankings[i], rankings[i + 1], cuts[0], points)
            fronts = sweep(
                *(rankings[i], cuts[i], first, second, at, np.argsort(at)),
                *(points, counts, risk, regret, fronts, sizes),
            )
        return fronts, sizes

    (fronts, sizes), *others = each(run, np.array_split(np.arange(len(cuts)), min(8, len(cuts))))
    for other in others:
        fronts = insert_fronts(fronts, sizes, *other)
    return _flat(plane, [fronts], [sizes])


def _open_cuts(
    angles: FloatArray, points: tuple[FloatArray, FloatArray, IntArray, FloatArray]
) -> tuple[list[float], list[IntArray]]:
    """Keep the angles that lie in open arcs, with the rankings there."""
    from rue._kernels.sweep import certify

    cuts, rankings = [], []
    for angle in angles:
        ranking = np.argsort(points[0] * np.cos(angle) + points[1] * np.sin(angle))
        if certify(ranking, angle, points):
            cuts.append(float(angle))
            rankings.append(ranking)
    return cuts, rankings


def _arc_middles(plane: Plane, n_arcs: int) -> FloatArray:
    """Middles, in (0, pi], of ``n_arcs`` arcs between critical angles, or of all if fewer.

    The critical angles are those of all pairs of blocks, or of a sample of pairs. Angles within
    SAME_ANGLE are one. The arcs are equally spaced in number.
    """
    from rue._kernels.sweep import SAME_ANGLE

    x, y = plane.x[plane.starts], plane.y[plane.starts]
    if len(x) == 1:
        return np.array([np.pi / 2])
    if len(x) * (len(x) - 1) // 2 <= SAMPLED_PAIRS:
        low, high = np.triu_indices(len(x), 1)
    else:
        pairs = np.random.default_rng(0).integers(0, len(x), (2, SAMPLED_PAIRS))
        low, high = np.sort(pairs[:, pairs[0] != pairs[1]], axis=0)
    angles = np.sort(np.arctan2(x[high] - x[low], y[low] - y[high]))
    widths = np.diff(angles, append=angles[0] + np.pi)
    middles = (angles + widths / 2)[widths > SAME_ANGLE]
    if len(middles) > n_arcs:
        middles = middles[(2 * np.arange(n_arcs) + 1) * len(middles) // (2 * n_arcs)]
    return np.sort(np.where(middles > np.pi, middles - np.pi, middles))


def _to_grid(component: FloatArray, burden: FloatArray) -> tuple[FloatArray, float]:
    """Return whole numbers from 0 to GRID that rise with ``burden``, and half the range, signed."""
    # Dividing by a power of two is exact, and keeps ranges of the largest numbers finite.
    exponent = np.frexp(np.abs(component).max())[1]
    shifted = np.ldexp(component, -exponent)
    shifted -= shifted.min()
    extent = shifted.max()
    if extent == 0.0:
        return shifted, 0.0
    grid = np.rint(shifted / extent * GRID)
    reach = float(np.ldexp(extent, exponent - 1))
    if grid @ (burden - burden.mean()) < 0.0:
        return GRID - grid, -reach
    return grid, reach


def _unit(component: FloatArray) -> float:
    """Return the power of two next to the mean size of a component, or 1 if that is 0."""
    return float(np.ldexp(1.0, np.frexp(np.abs(component).mean())[1]))


def _flat(plane: Plane, fronts: list[FloatArray], sizes: list[IntArray]) -> Fronts:
    """Lay fronts of successive levels out as rows, in the components' own units."""
    from rue._kernels.pareto import flatten
    from rue._kernels.threads import each

    level_sizes = np.concatenate(sizes)
    ends = np.cumsum([size.sum() for size in sizes])
    risk, regret, angle = np.empty((3, ends[-1]))

    def lay(i: int) -> None:
        rows = slice(ends[i] - sizes[i].sum(), ends[i])
        flatten(fronts[i], sizes[i], risk[rows], regret[rows], angle[rows])
        risk[rows] *= plane.risk_unit
        regret[rows] *= plane.regret_unit

    each(lay, range(len(fronts)))
    return Fronts(np.repeat(np.arange(len(level_sizes)), level_sizes), risk, regret, angle)
