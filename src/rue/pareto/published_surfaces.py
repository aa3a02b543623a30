"""The published convention: surfaces as the authors' code computes them.

The achievable surface has 91 directions at the angles 2 pi k / 91, in the raw units of the two
estimated components; the optimal surface has 51 lambdas. Both contain all N + 1 prefixes of each
ranking, and points with equal scores are ranked in the order of the rows. So, unlike those of
:mod:`rue.pareto.gap`, these surfaces depend on the row order and on the unit of a score.
"""

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import ShapeError
from rue.pareto.gap import igd_plus

__all__ = ["N_ANGLES", "N_LAMBDAS", "published_achievable", "published_gap", "published_optimal"]

N_ANGLES, N_LAMBDAS = 91, 51


def published_optimal(star: Components, *, lambdas: int = N_LAMBDAS) -> FloatArray:
    """Return the optimal surface as the authors' code computes it.

    Parameters
    ----------
    star : Components
        The realised components.
    lambdas : int
        The number of lambdas, equally spaced in [1/2, 1].

    Returns
    -------
    float array of shape (lambdas, n_points + 1, 3)
        Coverage, risk and regret of every prefix of every ranking.

    Examples
    --------
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> published_optimal(star)[-1]
    array([[0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [1.  , 0.5 , 0.25]])
    """
    lams = np.linspace(0.5, 1.0, lambdas)
    return _sweep(star, star.aleatoric, star.epistemic, np.column_stack([1.0 - lams, lams]))


def published_achievable(
    star: Components, hat: Components, *, angles: int = N_ANGLES
) -> FloatArray:
    """Return the achievable surface as the authors' code computes it.

    Parameters
    ----------
    star, hat : Components
        The realised and the estimated components of the same points.
    angles : int
        The number of directions, equally spaced on the full circle from angle 0.

    Returns
    -------
    float array of shape (angles, n_points + 1, 3)
        Coverage, risk and regret of every prefix of every ranking.

    Raises
    ------
    ShapeError
        If ``star`` and ``hat`` have different numbers of points.

    Examples
    --------
    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> published_achievable(star, star).shape
    (91, 3, 3)
    """
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
