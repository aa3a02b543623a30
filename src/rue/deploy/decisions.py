"""What decisions attain on points whose truth is known: coverage, risk and regret."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray
from rue._schema import Undefined
from rue.components import Components
from rue.errors import ShapeError
from rue.selectors.selector import Problem

if TYPE_CHECKING:
    from rue.deploy.trials import Outcome


@dataclass(frozen=True)
class Attained:
    """Coverage, risk and regret of decisions on some points, each with its standard error.

    Attributes
    ----------
    coverage, coverage_error : float
        Share of accepted points, and its standard error.
    risk, risk_error, regret, regret_error : float
        Over all points, or per accepted point if so requested; then NaN if none is accepted.
    n_points, n_accepted : int
        Number of points, and of accepted ones.
    """

    coverage: float
    coverage_error: float
    risk: Undefined
    risk_error: Undefined
    regret: Undefined
    regret_error: Undefined
    n_points: int
    n_accepted: int


def attained(
    star: Components,
    accepted: ArrayLike,
    *,
    normalized: bool = False,
    cluster: ArrayLike | None = None,
) -> Attained:
    """Return what decisions attain on points whose truth is known.

    Parameters
    ----------
    star
        Realised components of n_points points (:func:`rue.realize`).
    accepted
        Decisions, shape (n_points,), true for accept.
    normalized
        Whether risk and regret are per accepted point.
    cluster
        Labels of clusters, shape (n_points,). Then all but the counts is for a random point of a
        random cluster, with standard errors over clusters.

    Returns
    -------
    Attained
        Coverage, risk and regret with standard errors.

    Raises
    ------
    ShapeError
        If there is not one decision per point.

    Examples
    --------
    >>> from rue import Components
    >>> from rue.deploy import attained
    >>> star = Components(total=[0.2, 0.4], aleatoric=[0.1, 0.4], epistemic=[0.1, 0.0])
    >>> attained(star, [True, False]).risk, attained(star, [True, False], normalized=True).risk
    (0.1, 0.2)
    """
    accepted = np.asarray(accepted, dtype=bool)
    if accepted.shape != (len(star),):
        raise ShapeError(f"accepted must have shape ({len(star)},), got {accepted.shape}")
    codes = None if cluster is None else np.unique(np.asarray(cluster), return_inverse=True)[1]
    n_points, n_accepted = len(star), int(accepted.sum())
    share = cluster_means(accepted.astype(np.float64), codes)
    coverage = float(share.mean())
    root = math.sqrt(len(share))
    rates = {}
    for name, values in (("risk", star.total), ("regret", star.epistemic)):
        sums = cluster_means(accepted * values, codes)
        rate, error = float(sums.mean()), float(sums.std()) / root
        if normalized:  # a ratio of two means
            rate = rate / coverage if n_accepted else math.nan
            off = cluster_means(accepted * (values - rate), codes)
            spread = float(off.std()) if n_accepted else math.nan
            error = spread / coverage / root if n_accepted else math.nan
        rates[name], rates[f"{name}_error"] = rate, error
    return Attained(
        coverage=coverage,
        coverage_error=float(share.std()) / root,
        n_points=n_points,
        n_accepted=n_accepted,
        **rates,
    )


def cluster_means(values: FloatArray, codes: IntArray | None) -> FloatArray:
    """Return the mean over each cluster's points, or the values themselves without clusters."""
    if codes is None:
        return values
    sizes = np.bincount(codes)
    filled = sizes > 0
    return np.asarray(np.bincount(codes, values)[filled] / sizes[filled])


def budgets_kept(found: "Attained | Outcome", problem: Problem) -> dict[str, bool]:
    """Return which budgets are kept on the points where ``found`` was measured.

    Parameters
    ----------
    found
        What decisions attain; measured per accepted point if the problem is normalised.
    problem
        The budgets.

    Returns
    -------
    dict from "risk" and "regret" to bool
        One entry for each budget given. Decisions that accept nothing keep every budget.

    Examples
    --------
    >>> from rue import Components, Problem
    >>> from rue.deploy import attained, budgets_kept
    >>> star = Components(total=[0.2, 0.4], aleatoric=[0.1, 0.4], epistemic=[0.1, 0.0])
    >>> budgets_kept(attained(star, [True, True]), Problem(maximize="coverage", risk_max=0.2))
    {'risk': False}
    """
    return {  # NaN, where nothing is accepted, is not above
        name: not getattr(found, name) > limit * (1 + 1e-9)
        for name, limit in problem.budgets.items()
    }
