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
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.beliefs import Convention, require_convention
from rue.components import Components
from rue.errors import InputError, ShapeError
from rue.pareto._rankings import (
    Fronts,
    Plane,
    all_rankings,
    block_means,
    block_starts,
    plane_of,
    sampled_rankings,
)

__all__ = [
    "Directions",
    "Surface",
    "achievable_surface",
    "igd_plus",
    "optimal_surface",
    "pareto_gap",
    "surface_gap",
]

Directions = Literal["auto", "exact"] | int

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


@dataclass(frozen=True, eq=False)
class Surface:
    """The points of a surface, and the weights of the score that attains each.

    Attributes
    ----------
    points : array of shape (n, 3)
        Coverage, risk and regret.
    weights : array of shape (n, 2)
        The weights of the aleatoric and the epistemic component in the score.
    """

    points: FloatArray
    weights: FloatArray

    @property
    def coverage(self) -> FloatArray:
        """The share of accepted points, shape (n,)."""
        return self.points[:, 0]

    @property
    def risk(self) -> FloatArray:
        """The realised total of the accepted points over the number of all points, shape (n,)."""
        return self.points[:, 1]

    @property
    def regret(self) -> FloatArray:
        """The regret of the accepted points over the number of all points, shape (n,)."""
        return self.points[:, 2]

    @property
    def lam(self) -> FloatArray:
        """Lambda of Theorem 1, for an optimal surface: its weights are (1 - lambda, lambda)."""
        return self.weights[:, 1]

    def __len__(self) -> int:
        return len(self.points)


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
        (:mod:`rue.pareto.published_surfaces`): 91 raw angles, equal scores in row order. It
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

    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> pareto_gap(star, Components(total=[2, 2], aleatoric=[1, 1], epistemic=[1, 1]))
    0.0416667
    >>> pareto_gap(star, star)
    0.0
    """
    if convention != "definition":
        require_convention(convention)
        if directions != "auto" or normalize:
            raise InputError(
                'convention="published" has its own directions and units: '
                "omit directions and normalize"
            )
        from rue.pareto.published_surfaces import (
            published_achievable,
            published_gap,
            published_optimal,
        )

        return published_gap(
            published_optimal(star, lambdas=lambdas), published_achievable(star, hat)
        )
    optimal = optimal_surface(star, lambdas=lambdas).points
    _, fronts = achievable_fronts(star, hat, directions)
    coverage, risk, regret = fronts.accepted / len(star), fronts.risk, fronts.regret
    if normalize:
        risk_unit, regret_unit = _unit("total", star.total), _unit("epistemic", star.epistemic)
        optimal = optimal / [1.0, risk_unit, regret_unit]
        risk, regret = risk / risk_unit, regret / regret_unit
    return igd_plus(optimal, coverage, risk, regret)


def optimal_surface(star: Components, *, lambdas: int = 51) -> Surface:
    """Return the optimal surface S*, which thresholds on (1 - lambda) A* + lambda E* attain.

    Parameters
    ----------
    star : Components
        The realised components.
    lambdas : int
        The number of lambdas, equally spaced in [1/2, 1]; at least 2.

    Returns
    -------
    Surface
        The points, sorted by lambda, then by coverage: all ``n_points + 1`` prefixes of each
        ranking, or, for more than 1,000 points, the 1,001 prefixes of length
        floor(j n_points / 1000 + 1/2). Points with equal scores are ordered by epistemic, then
        by aleatoric, both ascending.

    Raises
    ------
    InputError
        If ``lambdas`` is no whole number of at least 2.

    Examples
    --------
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> optimal_surface(star, lambdas=2).points[:3]
    array([[0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    from rue._kernels.pareto import accumulate
    from rue._kernels.sorting import argsort, each

    if isinstance(lambdas, bool) or not isinstance(lambdas, int | np.integer) or lambdas < 2:
        raise InputError(f"lambdas must be an integer of at least 2, got {lambdas!r}")
    n_points = len(star)
    rows = np.lexsort((star.total, star.aleatoric, star.epistemic))
    total, aleatoric, epistemic = star.total[rows], star.aleatoric[rows], star.epistemic[rows]
    risk = block_means(total / n_points, block_starts(epistemic, aleatoric))
    regret = epistemic / n_points
    slack = SAME_SCORE * max(np.abs(aleatoric).max(), np.abs(epistemic).max())
    accepted = _prefixes(n_points)
    lams = np.linspace(0.5, 1.0, lambdas)
    points = np.empty((lambdas, len(accepted), 3))
    points[:, :, 0] = accepted / n_points

    def rank(i: int) -> None:
        # This is (1 - lambda) A + lambda E, written with the total so that equal totals have
        # equal scores at lambda = 1/2.
        score = (1.0 - lams[i]) * total + (2.0 * lams[i] - 1.0) * epistemic
        sums = np.empty((2, n_points + 1))
        accumulate(argsort(score), score, slack, risk, regret, sums[0], sums[1])
        points[i, :, 1:] = sums[:, accepted].T

    each(rank, range(lambdas))
    lam = np.repeat(lams, len(accepted))
    return Surface(points.reshape(-1, 3), np.column_stack([1.0 - lam, lam]))


def achievable_surface(
    star: Components, hat: Components, *, directions: Directions = "auto"
) -> Surface:
    """Return the achievable surface S, the best that thresholds on w1 A^ + w2 E^ attain.

    Two points change places in the ranking at their critical angle. Between neighbouring
    critical angles, in an open arc, the ranking does not change, so one direction per arc of the
    full circle, with all its ``n_points + 1`` prefixes, gives all selectors. Both estimated
    components are first shifted to 0, divided by their range and rounded to 1e-12, and angles
    within 1e-9 count as one. So S does not depend on the unit, zero or sign of a component.

    Parameters
    ----------
    star, hat : Components
        The realised and the estimated components of the same points.
    directions : {"auto", "exact"} or int
        ``"exact"`` takes all arcs; it is possible for up to 5,000 points. A number takes that
        many arcs (in opposite pairs, so an odd number is rounded up), equally spaced among those
        between the critical angles of 262,144 sampled pairs, or of all pairs if there are fewer.
        A direction is the middle of its arc. ``"auto"`` means ``"exact"`` for up to 512 points
        and 720 for more.

    Returns
    -------
    Surface
        The points that no other point of the same coverage dominates (with at most as much risk
        and regret), sorted by coverage, then by risk. The weights have length 1.

    Raises
    ------
    InputError
        If ``directions`` is invalid, or ``"exact"`` with more than 5,000 points.
    ShapeError
        If ``star`` and ``hat`` have different numbers of points.

    Examples
    --------
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> hat = Components(total=[3, 3], aleatoric=[1, 2], epistemic=[2, 1])
    >>> achievable_surface(star, hat).points
    array([[0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    plane, fronts = achievable_fronts(star, hat, directions)
    coverage = fronts.accepted / len(star)
    points = np.column_stack([coverage, fronts.risk, fronts.regret])
    return Surface(points, plane.weights(fronts.angle))


def surface_gap(optimal: Surface, achievable: Surface) -> float:
    """Return the Pareto-gap of two surfaces that are known already."""
    return igd_plus(optimal.points, *np.ascontiguousarray(achievable.points.T))


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
    >>> reference = np.array([[0.5, 0.1, 0.0]])
    >>> igd_plus(reference, np.array([0.5]), np.array([0.4]), np.array([0.0]))
    0.3
    """
    from rue._kernels.pareto import least_deficits, nest
    from rue._kernels.sorting import each

    levels = np.flatnonzero(np.diff(coverage, prepend=-np.inf))
    fronts = nest(np.append(levels, len(coverage)), coverage[levels], risk, regret)
    distance = np.empty(len(reference))
    cuts = np.linspace(0, len(reference), min(64, len(reference)) + 1).astype(np.int64)

    def measure(i: int) -> None:
        part = slice(cuts[i], cuts[i + 1])
        least_deficits(reference[part], *fronts, distance[part])

    each(measure, range(len(cuts) - 1))
    return float(distance.mean())


def achievable_fronts(
    star: Components, hat: Components, directions: Directions
) -> tuple[Plane, Fronts]:
    """Return the achievable surface as numbers of accepted points, sums and angles."""
    if len(hat) != len(star):
        raise ShapeError(f"hat must have {len(star)} points like star, got {len(hat)}")
    n_directions = _n_directions(directions, len(star))
    plane = plane_of(star, hat)
    if n_directions is None:
        return plane, all_rankings(plane)
    return plane, sampled_rankings(plane, n_directions)


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
