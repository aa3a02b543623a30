"""What selectors attain: the optimal and the achievable surface (section 4.2 of the paper).

A selector accepts the points whose score is at most tau, and attains a coverage, a risk and a
regret, none of them divided by the coverage. Sweeping tau and the weights of the score

- (1 - lambda) A* + lambda E* of the realised components, lambda in [1/2, 1], gives S*, the best
  that anyone could do (Theorem 1);
- w1 A^ + w2 E^ of the estimated components, any w1 and w2, gives S, the best that a method's
  uncertainties can do.

A block of identical points is one straight segment in either, which is what a selector attains
that accepts a random part of it; so nothing depends on the order of rows.
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

# Up to how many points "auto" is exact and "exact" is possible, and how many directions
# "auto" takes above.
AUTO_EXACT_POINTS = 512
EXACT_POINTS = 5_000
AUTO_DIRECTIONS = 720

# Above so many points the optimal surface is cut at 1,001 coverages.
ALL_PREFIXES = 1_000

# Realised scores closer than this, times the largest component, are equal. Components are
# rounded to 1e-12 of the loss's scale, which moves equal scores apart by as much.
SAME_SCORE = 4e-12


@dataclass(frozen=True, eq=False)
class Surface:
    """Points of a surface and the score that attains each, sorted as its maker says.

    Attributes
    ----------
    points
        Coverage, risk and regret, shape (n, 3).
    weights
        Weights of the aleatoric and the epistemic component in the score, shape (n, 2).
    """

    points: FloatArray
    weights: FloatArray

    @property
    def coverage(self) -> FloatArray:
        """The share of points kept."""
        return self.points[:, 0]

    @property
    def risk(self) -> FloatArray:
        """The realised total of the points kept, over the number of all points."""
        return self.points[:, 1]

    @property
    def regret(self) -> FloatArray:
        """The realised epistemic of the points kept, over the number of all points."""
        return self.points[:, 2]

    @property
    def lam(self) -> FloatArray:
        """Theorem 1's lambda, of an optimal surface: its weights are (1 - lambda, lambda)."""
        return self.weights[:, 1]

    def __len__(self) -> int:
        return len(self.points)


def optimal_surface(star: Components, *, lambdas: int = 51) -> Surface:
    """Return S*: what thresholds on (1 - lambda) A* + lambda E* attain, as section 4.2 has it.

    Parameters
    ----------
    star
        The realised components, n_points each.
    lambdas
        The number of lambdas, equally spaced in [1/2, 1].

    Returns
    -------
    Surface
        By lambda, then coverage. All ``n_points + 1`` prefixes of each ranking, or for more than
        1,000 points the 1,001 of k = floor(j n_points / 1000 + 1/2) points. Points of equal
        scores are taken by lower epistemic, then lower aleatoric.

    Examples
    --------
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> optimal_surface(star, lambdas=2).points[:3]
    array([[0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    from rue._kernels.pareto import accumulate
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
        # (1 - lambda) A + lambda E, by the total: equal totals are equal at lambda = 1/2.
        score = (1.0 - lams[i]) * total + (2.0 * lams[i] - 1.0) * epistemic
        sums = np.empty((2, n_points + 1))
        accumulate(np.argsort(score), score, slack, risk, regret, sums[0], sums[1])
        points[i, :, 1:] = sums[:, accepted].T

    each(rank, range(lambdas))
    lam = np.repeat(lams, len(accepted))
    return Surface(points.reshape(-1, 3), np.column_stack([1.0 - lam, lam]))


def achievable_surface(
    star: Components, hat: Components, *, directions: Directions = "auto"
) -> Surface:
    """Return S: the best that thresholds on w1 A^ + w2 E^ attain, as section 4.2 has it.

    Two points change places in the ranking at their critical angle. Between neighbouring
    critical angles, in an open arc, the ranking is the same, so one direction for each arc of
    the full circle and all its ``n_points + 1`` prefixes are all there is. Both estimated
    components are first shifted to 0, divided by their range and rounded to 1e-12, and angles
    within 1e-9 are one. So S does not change with the unit, zero or sign of a component.

    Parameters
    ----------
    star, hat
        The realised and the estimated components, n_points each.
    directions
        ``"exact"`` takes all arcs, up to 5,000 points. A number takes so many arcs of the circle
        (in opposite pairs, so an odd number becomes the next even one), equally spaced among
        those between the distinct critical angles of 262,144 sampled pairs, or of all pairs if
        they are fewer; it takes all of these arcs if they are fewer. A direction is the middle
        of its arc. ``"auto"`` is exact up to 512 points and 720 above.

    Returns
    -------
    Surface
        By coverage, then risk. Only points that no other point of the same coverage dominates:
        at most as much risk and regret. The weights have length 1.

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
        raise ShapeError(f"hat must have {len(star)} points as star has, got {len(hat)}")
    n_directions = _n_directions(directions, len(star))
    plane = plane_of(star, hat)
    if n_directions is None:
        return plane, all_rankings(plane)
    return plane, sampled_rankings(plane, n_directions)


def _n_directions(directions: Directions, n_points: int) -> int | None:
    """Check ``directions``; None stands for all of them."""
    if directions == "auto":
        return None if n_points <= AUTO_EXACT_POINTS else AUTO_DIRECTIONS
    if directions == "exact":
        if n_points > EXACT_POINTS:
            raise InputError(
                f'directions="exact" takes at most {EXACT_POINTS:,} points, got {n_points:,}'
            )
        return None
    if isinstance(directions, bool) or not isinstance(directions, int | np.integer):
        raise InputError(f'directions must be "auto", "exact" or a number, got {directions!r}')
    if directions < 1:
        raise InputError(f"directions must be at least 1, got {directions}")
    return int(directions)


def _prefixes(n_points: int) -> IntArray:
    """Return the numbers of accepted points at which the optimal surface is cut."""
    if n_points <= ALL_PREFIXES:
        return np.arange(n_points + 1)
    return (2 * np.arange(1001) * n_points + 1000) // 2000  # floor(j N / 1000 + 1/2)
