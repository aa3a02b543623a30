"""The optimal and the achievable surface (section 4.2 of the paper).

A selector accepts the points whose score is at most tau. It attains a coverage, a risk and a
regret; risk and regret are not divided by the coverage. Varying tau and the weights of the score

- (1 - lambda) A* + lambda E* of the realised components, lambda in [1/2, 1], gives S*, the best
  that any selector can attain (Theorem 1);
- w1 A^ + w2 E^ of the estimated components, for any w1 and w2, gives S, the best that selectors
  based on a method's uncertainties can attain.

In both, a block of identical points is one straight segment, which a selector attains that
accepts a random part of the block; so no result depends on the order of rows.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray, IntArray
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

__all__ = ["Directions", "Surface", "achievable_surface", "optimal_surface"]

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
    from rue._kernels.sorting import argsort
    from rue._kernels.threads import each

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
