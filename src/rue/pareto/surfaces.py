"""The optimal and the achievable surface, whose distance is the Pareto-gap (paper, equation 11).

Their points are those that :mod:`rue.pareto.gap` compares; here they also have the weights of the
score that attains each.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._text import short_repr
from rue.components import Components
from rue.errors import ShapeError
from rue.pareto.gap import Directions, achievable_fronts, igd_plus, optimal_points


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

    __repr__ = short_repr

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
    >>> from rue import Components, optimal_surface
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> optimal_surface(star, lambdas=2).points[:3]
    array([[0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    points = optimal_points(star, lambdas)
    lam = np.repeat(np.linspace(0.5, 1.0, lambdas), points.shape[1])
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
    >>> from rue import Components, achievable_surface
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


N_ANGLES, N_LAMBDAS = 91, 51


def published_optimal(star: Components, *, lambdas: int = N_LAMBDAS) -> FloatArray:
    """Return the optimal surface as the authors' code computes it."""
    lams = np.linspace(0.5, 1.0, lambdas)
    return _sweep(star, star.aleatoric, star.epistemic, np.column_stack([1.0 - lams, lams]))


def published_achievable(
    star: Components, hat: Components, *, angles: int = N_ANGLES
) -> FloatArray:
    """Return the achievable surface as the authors' code computes it."""
    if len(hat) != len(star):
        raise ShapeError(f"hat must have {len(star)} points like star, got {len(hat)}")
    theta = 2 * np.pi * np.arange(angles) / angles
    return _sweep(
        star, hat.aleatoric, hat.epistemic, np.column_stack([np.cos(theta), np.sin(theta)])
    )


def published_gap(optimal: FloatArray, achievable: FloatArray) -> float:
    """Return IGD+ from an optimal to an achievable surface, each of shape (..., 3)."""
    points = achievable.reshape(-1, 3)
    points = points[np.lexsort((points[:, 2], points[:, 1], points[:, 0]))]
    return igd_plus(np.ascontiguousarray(optimal.reshape(-1, 3)), *np.ascontiguousarray(points.T))


def _sweep(
    star: Components, aleatoric: FloatArray, epistemic: FloatArray, weights: FloatArray
) -> FloatArray:
    from rue._kernels.threads import each

    n_points = len(star)
    points = np.zeros((len(weights), n_points + 1, 3))
    points[:, :, 0] = np.arange(n_points + 1) / n_points

    def rank(i: int) -> None:
        score = weights[i, 0] * aleatoric + weights[i, 1] * epistemic
        order = np.argsort(score, kind="stable")
        points[i, 1:, 1] = np.cumsum(star.total[order]) / n_points
        points[i, 1:, 2] = np.cumsum(star.epistemic[order]) / n_points

    each(rank, range(len(weights)))
    return points
