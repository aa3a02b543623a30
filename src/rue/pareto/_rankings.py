"""Rankings by linear combinations of two components, and the Pareto fronts of their prefixes.

A direction phi ranks the points (x, y) by x cos(phi) + y sin(phi). Two points change places at
their critical angle. The opposite direction gives the reversed ranking, so half the circle is
enough: a prefix of the reversed ranking is the complement of a prefix of the ranking.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components

__all__ = [
    "Fronts",
    "Plane",
    "all_rankings",
    "arc_middles",
    "block_means",
    "block_starts",
    "plane_of",
    "sampled_rankings",
    "spread",
]

# Components are rounded to whole numbers from 0 to this; smaller differences do not count.
GRID = 1e12

# The number of pairs from which critical angles are sampled, and of crossings in one sweep.
SAMPLED_PAIRS = 1 << 18

# The number of rankings whose running sums are held at a time, and of these sums at most, unless
# an eighth of these rankings have more.
BATCH, BATCH_SUMS = 64, 1 << 23

# The number of levels whose fronts fit into the processor's cache.
LEVELS = 2048


@dataclass(frozen=True, eq=False)
class Plane:
    """The estimated components on a grid, rows sorted by them, with the realised components.

    Attributes
    ----------
    x, y : array of shape (n_points,)
        The aleatoric and the epistemic component as whole numbers from 0 to 1e12.
    x_reach, y_reach : float
        Half the range of a component; negative if it is mirrored, 0 if it is constant.
    risk, regret : array of shape (n_points,)
        The realised components, divided by the number of points and by their units. Within a
        block of equal (x, y) they are replaced by their mean.
    risk_unit, regret_unit : float
        Powers of two that make the sums of ``risk`` and ``regret`` about 1.
    starts : array of shape (n_blocks,)
        The first row of each block.
    rows : array of shape (n_points,)
        The original index of each row.
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
        """Return the weights of the original components, of length 1; 0 for a constant one."""
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
    """The Pareto front of risk and regret for each number of accepted points.

    Rows are sorted by ``accepted``, then by ``risk``; ``angle`` is the direction of the ranking.
    """

    accepted: IntArray
    risk: FloatArray
    regret: FloatArray
    angle: FloatArray


def plane_of(star: Components, hat: Components) -> Plane:
    """Shift both estimated components to 0, divide by their ranges, round to 1e-12 and sort.

    A component that falls as the realised ones rise is mirrored. This does not change the set of
    all rankings, and makes a component and its negative equivalent, also for sampled pairs.
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
    """Return the first row of each block of rows that are equal in both arrays."""
    new = (np.diff(first) != 0) | (np.diff(second) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1])


def block_means(values: FloatArray, starts: IntArray) -> FloatArray:
    """Replace the values of each block by their mean."""
    counts = np.diff(starts, append=len(values))
    return np.repeat(np.add.reduceat(values, starts) / counts, counts)


def sampled_rankings(plane: Plane, n_directions: int) -> Fronts:
    """Return the fronts of directions at quantiles of the critical angles, and their opposites."""
    from rue._kernels.pareto import accumulate_directions, insert_rankings
    from rue._kernels.sorting import each

    angles = spread(arc_middles(plane, (n_directions + 1) // 2))
    n_points = len(plane.x)
    # Each range of levels has its own fronts, so that threads share no memory.
    n_ranges = min(n_points + 1, max(16, n_points // LEVELS))
    cuts = np.linspace(0, n_points + 1, n_ranges + 1).astype(np.int64)
    fronts = [np.empty((n_levels, 16, 3)) for n_levels in np.diff(cuts)]
    sizes = [np.zeros(len(front), np.int64) for front in fronts]
    champions = [np.full((2, len(front)), np.inf) for front in fronts]
    n_batch = min(len(angles), max(BATCH // 8, min(BATCH, BATCH_SUMS // n_points)))
    sums = np.empty((2, n_batch, n_points + 1))
    for first in range(0, len(angles), n_batch):
        batch = angles[first : first + n_batch]

        def rank(part: IntArray, batch: FloatArray = batch) -> None:
            rows = slice(part[0], part[-1] + 1)
            accumulate_directions(
                *(plane.x, plane.y, batch[rows], plane.risk, plane.regret),
                *(sums[0, rows], sums[1, rows]),
            )

        def merge(i: int, batch: FloatArray = batch) -> None:
            fronts[i] = insert_rankings(
                fronts[i], sizes[i], champions[i], cuts[i], sums[0], sums[1], batch
            )

        each(rank, np.array_split(np.arange(len(batch)), min(8, len(batch))))
        each(merge, range(len(fronts)))
    return _flat(plane, fronts, sizes)


def all_rankings(plane: Plane) -> Fronts:
    """Return the fronts of all directions, by a rotational sweep.

    Each crossing changes only the prefixes that end between the two points. The half circle is
    divided into sweeps with about equally many crossings, each from one open arc to another.
    Only the fronts are kept. Points that lie on one line up to rounding change places at the
    same angle, so that a linear transformation of the estimates has the same rankings.
    """
    from rue._kernels.pareto import insert_fronts
    from rue._kernels.sorting import each
    from rue._kernels.sweep import crossings, find_lines, sweep

    n_points = len(plane.x)
    x, y = plane.x[plane.starts], plane.y[plane.starts]
    points = (x, y, *find_lines(x, y))
    counts = np.diff(plane.starts, append=n_points)
    risk = plane.risk[plane.starts] * counts
    regret = plane.regret[plane.starts] * counts

    n_sweeps = 1 + len(x) * (len(x) - 1) // 2 // SAMPLED_PAIRS
    cuts, rankings = _open_cuts(arc_middles(plane, n_sweeps), points)
    rng = np.random.default_rng(0)
    while not cuts:
        # A random angle is rarely outside all open arcs: it would have to be within 1e-9 of one
        # of at most EXACT_POINTS^2 / 2 critical angles.
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
    """Return the angles that lie in open arcs, and the rankings there."""
    from rue._kernels.sweep import certify

    cuts, rankings = [], []
    for angle in angles:
        ranking = np.argsort(points[0] * np.cos(angle) + points[1] * np.sin(angle))
        if certify(ranking, angle, points):
            cuts.append(float(angle))
            rankings.append(ranking)
    return cuts, rankings


def arc_middles(plane: Plane, n_arcs: int, n_pairs: int = SAMPLED_PAIRS) -> FloatArray:
    """Return the middles, in (0, pi], of ``n_arcs`` arcs between critical angles.

    If there are fewer arcs, all are taken; otherwise they are equally spaced in number. The
    critical angles are those of all pairs of blocks, or of ``n_pairs`` of them; angles within
    SAME_ANGLE of each other count as one.
    """
    from rue._kernels.sorting import argsort
    from rue._kernels.sweep import SAME_ANGLE

    x, y = plane.x[plane.starts], plane.y[plane.starts]
    if len(x) == 1:
        return np.array([np.pi / 2])
    low, high = _pairs(len(x), n_pairs)
    angles = np.arctan2(x[high] - x[low], y[low] - y[high])
    angles = angles[argsort(angles)]
    widths = np.empty(len(angles))
    np.subtract(angles[1:], angles[:-1], out=widths[:-1])
    widths[-1] = angles[0] + np.pi - angles[-1]
    arcs = np.flatnonzero(widths > SAME_ANGLE)
    if len(arcs) > n_arcs:
        arcs = arcs[(2 * np.arange(n_arcs) + 1) * len(arcs) // (2 * n_arcs)]
    middles = angles[arcs] + widths[arcs] / 2
    return np.sort(np.where(middles > np.pi, middles - np.pi, middles))


@lru_cache(maxsize=2)
def _pairs(n_blocks: int, n_pairs: int) -> tuple[IntArray, IntArray]:
    """Return the lower and the higher block of all pairs, or of at most ``n_pairs`` of them."""
    if n_blocks * (n_blocks - 1) // 2 <= n_pairs:
        return np.triu_indices(n_blocks, 1)
    pairs = np.random.default_rng(0).integers(0, n_blocks, (2, n_pairs))
    pairs = pairs[:, pairs[0] != pairs[1]]
    return np.minimum(*pairs), np.maximum(*pairs)


def spread(angles: FloatArray) -> FloatArray:
    """Return the angles in an order in which the first few already lie everywhere.

    Then good prefixes are found early, and most of the others are worse than these in both sums.
    """
    return angles[np.argsort(np.arange(len(angles)) * (np.sqrt(5) - 1) / 2 % 1.0)]


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
    """Return the fronts of successive levels as rows, in the units of the components."""
    from rue._kernels.pareto import flatten
    from rue._kernels.sorting import each

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
