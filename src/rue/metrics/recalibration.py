"""Recalibrate epistemic uncertainty: give an estimate in the right order the right size.

A monotone (isotonic) regression of the realised regret on the estimate, by least squares. Where it
is fitted, its mean equals the mean regret, so a budget for the regret can be read off it. It has
ties where the order of the estimates is wrong: rank by the estimate itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_seed, as_vector
from rue._text import short_repr
from rue.errors import InputError
from rue.metrics.clusters import label_codes, number_clusters
from rue.metrics.measures import regret_calibration

_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A nondecreasing, piecewise linear map from estimates to the regret they stand for.

    Attributes
    ----------
    epistemic : array of shape (n_knots,)
        Estimates, strictly increasing.
    regret : array of shape (n_knots,)
        The regret at each of them, nondecreasing; constant below the first and above the last.
    """

    epistemic: FloatArray
    regret: FloatArray

    __repr__ = short_repr

    def apply(self, epistemic: ArrayLike) -> FloatArray:
        """Return the regret that estimates stand for.

        Parameters
        ----------
        epistemic : array_like of shape (n_points,)
            Estimated epistemic uncertainty.

        Returns
        -------
        array of shape (n_points,)
            In the unit of the loss.

        Raises
        ------
        InputError
            If a number is not finite.
        """
        return np.interp(as_vector("epistemic", epistemic), self.epistemic, self.regret)


def fit_recalibration(regret: ArrayLike, epistemic: ArrayLike) -> Recalibration:
    """Fit a monotone regression of the regret on the estimated epistemic uncertainty.

    Parameters
    ----------
    regret : array_like of shape (n_points,)
        The realised regret of calibration points.
    epistemic : array_like of shape (n_points,)
        Their estimated epistemic uncertainty; any increasing score.

    Returns
    -------
    Recalibration
        The map. On the calibration points its mean is the mean regret, and fitting it again to
        its own values changes nothing.

    Raises
    ------
    InputError
        If a number is not finite.
    ShapeError
        If there is no point, or the two differ in length.

    Examples
    --------
    >>> from rue import fit_recalibration
    >>> fitted = fit_recalibration([0.0, 0.4, 0.2, 0.8], [1.0, 2.0, 3.0, 4.0])
    >>> fitted.apply([1.0, 2.0, 2.5, 9.0])
    array([0. , 0.3, 0.3, 0.8])
    """
    from scipy.optimize import isotonic_regression

    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    rows = np.lexsort((regret, epistemic))  # so that not even rounding depends on their order
    regret, epistemic = regret[rows], epistemic[rows]
    knots, which = np.unique(epistemic, return_inverse=True)
    size = np.bincount(which).astype(np.float64)
    means = np.bincount(which, regret) / size
    fitted = isotonic_regression(means, weights=size).x
    # Only the ends of each constant piece are needed.
    rises = np.diff(fitted) != 0
    corners = np.append(True, rises) | np.append(rises, True)
    return Recalibration(knots[corners], fitted[corners])


def recalibrate(
    regret: ArrayLike,
    epistemic: ArrayLike,
    *,
    folds: int = 5,
    seed: int = 0,
    cluster: ArrayLike | None = None,
) -> FloatArray:
    """Return recalibrated estimates, each from a fit to the points of the other folds.

    Parameters
    ----------
    regret, epistemic : array_like of shape (n_points,)
        As in :func:`fit_recalibration`.
    folds : int
        The number of random folds, from 2 to the number of points or clusters. Each has about as
        many of them. The order of the rows does not change the folds.
    seed : int
        Seed of the folds, at least 0.
    cluster : array_like of shape (n_points,), optional
        Labels of clusters, points that belong together. Each is in one fold as a whole: otherwise
        a point's estimate is from a fit to its own cluster.

    Returns
    -------
    array of shape (n_points,)
        The regret that each estimate stands for, according to other points.

    Raises
    ------
    InputError
        If ``folds`` is no whole number from 2 to the number of points or clusters, or another
        option is invalid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> regret = rng.gamma(1.0, size=1000)
    >>> from rue import recalibrate, regret_calibration
    >>> regret_calibration(regret, recalibrate(regret, 9 * regret)).gap < 0.05
    True
    """
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    rows, unit = _units(regret, epistemic, folds, cluster)
    fold = _folds(unit, folds, np.random.default_rng(as_seed(seed)))
    regret, epistemic = regret[rows], epistemic[rows]
    fitted = np.empty(len(regret))
    for k in range(folds):
        own = fold == k
        fitted[rows[own]] = fit_recalibration(regret[~own], epistemic[~own]).apply(epistemic[own])
    return fitted


def gap_after_recalibration(
    regret: ArrayLike,
    epistemic: ArrayLike,
    *,
    seed: int = 0,
    cluster: ArrayLike | None = None,
) -> float:
    """Estimate the gap that recalibration leaves on as many new points."""
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    rows, unit = _units(regret, epistemic, 2, cluster)
    regret, epistemic = regret[rows], epistemic[rows]
    rng, gaps = np.random.default_rng(as_seed(seed)), []
    for _ in range(_HALVINGS):
        half = _folds(unit, 2, rng)
        for own in (half == 0, half == 1):
            after = fit_recalibration(regret[~own], epistemic[~own]).apply(epistemic[own])
            gaps.append(regret_calibration(regret[own], after).gap)
    return float(np.mean(gaps) / np.sqrt(2))


def _units(
    regret: FloatArray, epistemic: FloatArray, folds: int, cluster: ArrayLike | None
) -> tuple[IntArray, IntArray]:
    """Return the rows in the order of their own values, and the point or cluster of each."""
    codes = None if cluster is None else label_codes(cluster, len(regret))
    keys = (regret, epistemic) if codes is None else (codes, regret, epistemic)
    rows = np.asarray(np.lexsort(keys))
    unit = np.arange(len(rows)) if codes is None else number_clusters(codes[rows])
    n_units = int(unit.max()) + 1
    whole = isinstance(folds, int | np.integer) and not isinstance(folds, bool)
    if not whole or not 2 <= folds <= n_units:
        word = "points" if codes is None else "clusters"
        raise InputError(
            f"folds must be a whole number from 2 to the {n_units} {word}, got {folds!r}"
        )
    return rows, unit


def _folds(unit: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Return the fold of each row: random, with about as many points or clusters in each."""
    return np.asarray((rng.permutation(int(unit.max()) + 1) % folds)[unit])
