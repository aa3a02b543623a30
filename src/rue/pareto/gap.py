"""The Pareto-gap: how far a method's selectors are from the optimal ones (paper, section 4.2).

A selector accepts the points whose score is at most tau. It attains a coverage, a risk and a
regret; risk and regret are not divided by the coverage. Varying tau and the weights of the score

- (1 - lambda) A* + lambda E* of the realised components, lambda in [1/2, 1], gives the optimal
  surface S*, the best that any selector can attain (Theorem 1);
- w1 A^ + w2 E^ of the estimated components, for any w1 and w2, gives the achievable surface S,
  the best that selectors based on a method's uncertainties can attain.

In both, a block of identical points is one straight segment, which a selector attains that
accepts a random part of the block; so no result depends on the order of rows. The gap is the
distance IGD+ from S* to S.

A direction phi ranks the points (x, y) of the two estimated components by x cos(phi) + y sin(phi).
Two points change places at their critical angle. The opposite direction gives the reversed
ranking, so half the circle is enough: a prefix of the reversed ranking is the complement of a
prefix of the ranking. :mod:`rue.pareto.surfaces` has the surfaces themselves.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.beliefs import Convention, require_convention
from rue.components import Components
from rue.errors import InputError, ShapeError

Directions = Literal["auto", "exact"] | int
"""Along which directions rules are compared: all of them, or a number; see :func:`pareto_gap`."""

# "auto" is exact up to AUTO_EXACT_POINTS points and takes AUTO_DIRECTIONS directions above;
# "exact" is possible up to EXACT_POINTS points.
AUTO_EXACT_POINTS = 512
EXACT_POINTS = 5_000
AUTO_DIRECTIONS = 720

# With more points than this, the optimal surface is evaluated at 1,001 coverages.
ALL_PREFIXES = 1_000

# Realised scores that differ by less than this, times the largest component, count as equal.
# Components are rounded to 1e-12 of the loss's scale, which separates equal scores by as much.
SAME_SCORE = 4e-12

# Components are rounded to whole numbers from 0 to this; smaller differences do not count.
GRID = 1e12

# The number of pairs from which critical angles are sampled, and of crossings in one sweep.
SAMPLED_PAIRS = 1 << 18

# The number of rankings whose running sums are held at a time, and of these sums at most, unless
# a thirty-second of these rankings have more.
BATCH, BATCH_SUMS = 64, 1 << 23

# The number of levels whose fronts fit into the processor's cache.
LEVELS = 2048


def pareto_gap(
    star: Components,
    hat: Components,
    *,
    normalize: bool = False,
    directions: Directions = "auto",
    lambdas: int = 51,
    convention: Convention = "definition",
) -> float:
    r"""Return the Pareto-gap, IGD+ from the optimal surface S* to the achievable surface S.

    It is the mean over the points of S*, with coverage :math:`c^*`, risk :math:`r^*` and regret
    :math:`e^*`, of the least distance :math:`d_+` to a point (c, r, e) of S, which counts only the
    coordinates that are worse (Ishibuchi et al. 2015):

    .. math:: d_+^2 = \max(0, c^* - c)^2 + \max(0, r - r^*)^2 + \max(0, e - e^*)^2.

    Parameters
    ----------
    star, hat : Components
        The realised and the estimated components of the same points.
    normalize : bool
        Whether to divide risk and regret by their values at full coverage, so that the gap does
        not depend on the unit of the loss. The mean of each component must be positive, or the
        component 0 everywhere.
    directions : {"auto", "exact"} or int
        The directions of S; see :func:`rue.achievable_surface`.
    lambdas : int
        The number of lambdas of S*; see :func:`rue.optimal_surface`.
    convention : {"definition", "published"}
        ``"published"`` takes the surfaces of the authors' code
        (:mod:`rue.pareto.surfaces`): 91 raw angles, equal scores in row order. It
        cannot be combined with ``directions`` or ``normalize``.

    Returns
    -------
    float
        The gap, at least 0; it is 0 if ``hat`` equals ``star`` and the directions are exact. S
        contains the selector that accepts nothing, so for non-negative components the gap is at
        most the mean coverage of S*, about 1/2.

    Raises
    ------
    InputError
        If ``star`` and ``hat`` have different numbers of points, or an option is invalid.

    Examples
    --------
    Constant estimates give a random ranking, so half of the points contain half of the avoidable
    error; the best half of the points contains none.

    >>> from rue import Components, pareto_gap
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> pareto_gap(star, Components(total=[2, 2], aleatoric=[1, 1], epistemic=[1, 1]))
    0.0416667
    >>> pareto_gap(star, star)
    0.0
    """
    from rue._kernels.pareto import nest
    from rue._kernels.threads import release_memory

    if convention != "definition":
        require_convention(convention)
        if directions != "auto" or normalize:
            raise InputError(
                'convention="published" has its own directions and units: '
                "omit directions and normalize"
            )
        from rue.pareto.surfaces import (
            published_achievable,
            published_gap,
            published_optimal,
        )

        return published_gap(
            published_optimal(star, lambdas=lambdas), published_achievable(star, hat)
        )
    optimal = optimal_points(star, lambdas).reshape(-1, 3)
    _, fronts = achievable_fronts(star, hat, directions, with_angles=False)
    risk, regret = fronts.risk, fronts.regret
    if normalize:
        risk_unit, regret_unit = _unit("total", star.total), _unit("epistemic", star.epistemic)
        optimal = optimal / [1.0, risk_unit, regret_unit]
        risk, regret = risk / risk_unit, regret / regret_unit
    accepted = np.flatnonzero(fronts.sizes)
    starts = np.cumsum(np.append(0, fronts.sizes[accepted]))
    release_memory()
    return _mean_distance(optimal, nest(starts, accepted / len(star), risk, regret))


def igd_plus(
    reference: FloatArray, coverage: FloatArray, risk: FloatArray, regret: FloatArray
) -> float:
    """Return IGD+, the mean over reference points of the least d+ to any of the points.

    It is fast if the points share few values of the coverage, and if for each value few points
    are not dominated.

    Parameters
    ----------
    reference : array of shape (n_reference, 3)
        Coverage, risk and regret of the reference points.
    coverage, risk, regret : array of shape (n,)
        The points, sorted by coverage, then by risk.

    Returns
    -------
    float
        The mean distance.

    Examples
    --------
    >>> from rue.pareto import igd_plus
    >>> reference = np.array([[0.5, 0.1, 0.0]])
    >>> igd_plus(reference, np.array([0.5]), np.array([0.4]), np.array([0.0]))
    0.3
    """
    from rue._kernels.pareto import nest

    levels = np.flatnonzero(np.diff(coverage, prepend=-np.inf))
    starts = np.append(levels, len(coverage))
    return _mean_distance(reference, nest(starts, coverage[levels], risk, regret))


def _mean_distance(reference: FloatArray, fronts: tuple[NDArray[Any], ...]) -> float:
    """Return the mean over reference points of the least d+ to nested fronts."""
    from rue._kernels.pareto import least_deficits, supports
    from rue._kernels.threads import each

    bounds = supports(fronts[1], fronts[2], fronts[4], fronts[5])
    distance = np.empty(len(reference))
    cuts = np.linspace(0, len(reference), min(64, len(reference)) + 1).astype(np.int64)

    def measure(i: int) -> None:
        part = slice(cuts[i], cuts[i + 1])
        least_deficits(reference[part], *fronts, *bounds, distance[part])

    each(measure, range(len(cuts) - 1))
    return float(distance.mean())


def optimal_points(star: Components, lambdas: int) -> FloatArray:
    """Return the points of the optimal surface; see :func:`rue.optimal_surface`."""
    from rue._kernels.pareto import accumulate
    from rue._kernels.sorting import sort_rows
    from rue._kernels.threads import Rooms, each

    if isinstance(lambdas, bool) or not isinstance(lambdas, int | np.integer) or lambdas < 2:
        raise InputError(f"lambdas must be an integer of at least 2, got {lambdas!r}")
    n_points = len(star)
    rows = _sorted_rows(star.total, star.aleatoric, star.epistemic)
    total, aleatoric, epistemic = star.total[rows], star.aleatoric[rows], star.epistemic[rows]
    risk = block_means(total / n_points, block_starts(epistemic, aleatoric))
    losses = np.column_stack([risk, epistemic / n_points])
    slack = SAME_SCORE * max(np.abs(aleatoric).max(), np.abs(epistemic).max())
    accepted = _prefixes(n_points)
    lams = np.linspace(0.5, 1.0, lambdas)
    points = np.empty((lambdas, len(accepted), 3))
    points[:, :, 0] = accepted / n_points
    rooms = Rooms(lambda: (*_room(n_points), np.empty((2, n_points + 1))))

    def rank(i: int) -> None:
        with rooms.borrowed() as (score, order, room, sums):
            # This is (1 - lambda) A + lambda E, written with the total so that equal totals have
            # equal scores at lambda = 1/2.
            np.multiply(1.0 - lams[i], total, out=score)
            score += np.multiply(2.0 * lams[i] - 1.0, epistemic, out=sums[0, 1:])
            sort_rows(score, order, room)
            accumulate(order, score, slack, losses, sums[0], sums[1])
            points[i, :, 1:] = sums[:, accepted].T

    each(rank, range(lambdas))
    return points


def _room(n_points: int) -> tuple[FloatArray, IntArray, NDArray[np.uint64]]:
    """Return memory for scores and their order, and to sort them."""
    order = np.empty(n_points, np.int64)
    return np.empty(n_points), order, np.empty((2, n_points), np.uint64)


def _sorted_rows(*keys: FloatArray) -> IntArray:
    """Return the same as np.lexsort, several times faster: the last key decides first."""
    from rue._kernels.sorting import argsort

    order: IntArray = argsort(keys[0])
    for key in keys[1:]:
        order = order[argsort(key[order])]
    return order


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

    Rows are sorted by ``accepted``, then by ``risk``; ``angle`` is the direction of the ranking,
    empty if nobody needs it. ``sizes`` are those of the fronts.
    """

    sizes: IntArray
    risk: FloatArray
    regret: FloatArray
    angle: FloatArray

    @property
    def accepted(self) -> IntArray:
        """The number of accepted points of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def achievable_fronts(
    star: Components, hat: Components, directions: Directions, *, with_angles: bool = True
) -> tuple[Plane, Fronts]:
    """Return the achievable surface as numbers of accepted points, sums and angles."""
    if len(hat) != len(star):
        raise ShapeError(f"hat must have {len(star)} points like star, got {len(hat)}")
    n_directions = _n_directions(directions, len(star))
    plane = plane_of(star, hat)
    if n_directions is None:
        return plane, all_rankings(plane)
    return plane, sampled_rankings(plane, n_directions, with_angles)


def plane_of(star: Components, hat: Components) -> Plane:
    """Shift both estimated components to 0, divide by their ranges, round to 1e-12 and sort."""
    burden = star.total + star.epistemic
    x, x_reach = _to_grid(hat.aleatoric, burden)
    y, y_reach = _to_grid(hat.epistemic, burden)
    rows = _sorted_rows(star.epistemic, star.total, y, x)
    x, y = x[rows], y[rows]
    starts = block_starts(x, y)
    risk_unit, regret_unit = _power_of_two(star.total), _power_of_two(star.epistemic)
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


def sampled_rankings(plane: Plane, n_directions: int, with_angles: bool = True) -> Fronts:
    """Return the fronts of directions at quantiles of the critical angles, and their opposites."""
    from rue._kernels.threads import release_memory

    fronts, sizes = _merged_rankings(plane, n_directions, with_angles)
    release_memory()
    return _flat(plane, fronts, sizes)


def _merged_rankings(
    plane: Plane, n_directions: int, with_angles: bool
) -> tuple[list[FloatArray], list[IntArray]]:
    """Return the fronts of ranges of levels, and their sizes; see :func:`sampled_rankings`."""
    from rue._kernels.pareto import accumulate_directions, insert_rankings
    from rue._kernels.threads import Rooms, each

    angles = spread(arc_middles(plane, (n_directions + 1) // 2))
    n_points = len(plane.x)
    # Each range of levels has its own fronts, so that threads share no memory.
    n_ranges = min(n_points + 1, max(16, n_points // LEVELS))
    cuts = np.linspace(0, n_points + 1, n_ranges + 1).astype(np.int64)
    fronts = [np.empty((n_levels, 4, 3 if with_angles else 2)) for n_levels in np.diff(cuts)]
    sizes = [np.zeros(len(front), np.int64) for front in fronts]
    champions = [np.full((2, len(front)), np.inf) for front in fronts]
    n_batch = min(len(angles), max(BATCH // 32, min(BATCH, BATCH_SUMS // n_points)))
    sums = np.empty((2, n_batch, n_points + 1))
    losses = np.column_stack([plane.risk, plane.regret])
    rooms = Rooms(lambda: (np.empty(n_points), np.empty((2, n_points), np.uint64)))
    for first in range(0, len(angles), n_batch):
        batch = angles[first : first + n_batch]

        def rank(part: IntArray, batch: FloatArray = batch) -> None:
            rows = slice(part[0], part[-1] + 1)
            with rooms.borrowed() as room:
                accumulate_directions(
                    *(plane.x, plane.y, batch[rows], losses, sums[0, rows], sums[1, rows]), *room
                )

        def merge(i: int, batch: FloatArray = batch) -> None:
            # Reversed rankings take the sums of the opposite range, which are still in the cache.
            for k in {i, len(fronts) - 1 - i}:
                fronts[k] = insert_rankings(
                    fronts[k], sizes[k], champions[k], cuts[k], sums[0], sums[1], batch
                )

        each(rank, np.array_split(np.arange(len(batch)), min(8, len(batch))))
        each(merge, range((len(fronts) + 1) // 2))
    return fronts, sizes


def all_rankings(plane: Plane) -> Fronts:
    """Return the fronts of all directions, by a rotational sweep."""
    from rue._kernels.pareto import crossings, find_lines, insert_fronts, sweep
    from rue._kernels.threads import each

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


def arc_middles(plane: Plane, n_arcs: int, n_pairs: int = SAMPLED_PAIRS) -> FloatArray:
    """Return the middles, in (0, pi], of ``n_arcs`` arcs between critical angles."""
    from rue._kernels.pareto import SAME_ANGLE

    x, y = plane.x[plane.starts], plane.y[plane.starts]
    if len(x) == 1:
        return np.array([np.pi / 2])
    low, high = _pairs(len(x), n_pairs)
    angles = np.sort(np.arctan2(x[high] - x[low], y[low] - y[high]))
    widths = np.empty(len(angles))
    np.subtract(angles[1:], angles[:-1], out=widths[:-1])
    widths[-1] = angles[0] + np.pi - angles[-1]
    arcs = np.flatnonzero(widths > SAME_ANGLE)
    if len(arcs) > n_arcs:
        arcs = arcs[(2 * np.arange(n_arcs) + 1) * len(arcs) // (2 * n_arcs)]
    middles = angles[arcs] + widths[arcs] / 2
    return np.sort(np.where(middles > np.pi, middles - np.pi, middles))


def spread(angles: FloatArray) -> FloatArray:
    """Return the angles in an order in which the first few already lie everywhere."""
    return angles[np.argsort(np.arange(len(angles)) * (np.sqrt(5) - 1) / 2 % 1.0)]


def _n_directions(directions: Directions, n_points: int) -> int | None:
    """Return the number of directions, or None for all of them; raise if it is invalid."""
    if directions == "auto":
        return None if n_points <= AUTO_EXACT_POINTS else AUTO_DIRECTIONS
    if directions == "exact":
        if n_points > EXACT_POINTS:
            raise InputError(
                f'directions="exact" is possible for at most {EXACT_POINTS:,} points, '
                f"got {n_points:,}"
            )
        return None
    if isinstance(directions, bool) or not isinstance(directions, int | np.integer):
        raise InputError(f'directions must be "auto", "exact" or a number, got {directions!r}')
    if directions < 1:
        raise InputError(f"directions must be at least 1, got {directions}")
    return int(directions)


def _prefixes(n_points: int) -> IntArray:
    """Return the numbers of accepted points at which the optimal surface is evaluated."""
    if n_points <= ALL_PREFIXES:
        return np.arange(n_points + 1)
    return (2 * np.arange(1001) * n_points + 1000) // 2000  # floor(j N / 1000 + 1/2)


def _unit(name: str, component: FloatArray) -> float:
    """Return the divisor of a component: its mean, or 1 if it is 0 everywhere."""
    mean = float(component.mean())
    if mean <= 0.0 and component.any():
        raise InputError(f"normalize=True needs a positive mean of star.{name}, got {mean}")
    return mean or 1.0


def _open_cuts(
    angles: FloatArray, points: tuple[FloatArray, FloatArray, IntArray, FloatArray]
) -> tuple[list[float], list[IntArray]]:
    """Return the angles that lie in open arcs, and the rankings there."""
    from rue._kernels.pareto import certify

    cuts, rankings = [], []
    for angle in angles:
        ranking = np.argsort(points[0] * np.cos(angle) + points[1] * np.sin(angle))
        if certify(ranking, angle, points):
            cuts.append(float(angle))
            rankings.append(ranking)
    return cuts, rankings


@lru_cache(maxsize=2)
def _pairs(n_blocks: int, n_pairs: int) -> tuple[IntArray, IntArray]:
    """Return the lower and the higher block of all pairs, or of at most ``n_pairs`` of them."""
    if n_blocks * (n_blocks - 1) // 2 <= n_pairs:
        return np.triu_indices(n_blocks, 1)
    pairs = np.random.default_rng(0).integers(0, n_blocks, (2, n_pairs))
    pairs = pairs[:, pairs[0] != pairs[1]]
    return np.minimum(*pairs), np.maximum(*pairs)


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


def _power_of_two(component: FloatArray) -> float:
    """Return the power of two next to the mean size of a component, or 1 if that is 0."""
    return float(np.ldexp(1.0, np.frexp(np.abs(component).mean())[1]))


def _flat(plane: Plane, fronts: list[FloatArray], sizes: list[IntArray]) -> Fronts:
    """Return the fronts of successive levels as rows, in the units of the components."""
    from rue._kernels.pareto import flatten
    from rue._kernels.threads import each

    ends = np.cumsum([size.sum() for size in sizes])
    risk, regret = np.empty((2, ends[-1]))
    angle = np.empty(ends[-1] if fronts[0].shape[2] > 2 else 0)

    def lay(i: int) -> None:
        rows = slice(ends[i] - sizes[i].sum(), ends[i])
        flatten(fronts[i], sizes[i], risk[rows], regret[rows], angle[rows])
        fronts[i] = np.empty((0, 0, 0))  # frees its memory
        risk[rows] *= plane.risk_unit
        regret[rows] *= plane.regret_unit

    each(lay, range(len(fronts)))
    return Fronts(np.concatenate(sizes), risk, regret, angle)
