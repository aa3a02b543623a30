"""Bootstrap bands for the reliability curve of regret against epistemic uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_seed, as_vector
from rue._text import short_repr
from rue.inference.intervals import require_options
from rue.metrics.clusters import label_codes
from rue.metrics.measures import RegretCalibration, calibration_in_bins, equal_bins

_MOST = 1 << 22
"""Numbers drawn at once."""
_EXPANDED_FROM = 1000
"""Points of a bin from which on the expansion may take the place of samples."""


@dataclass(frozen=True, eq=False)
class CalibrationBands:
    """A reliability curve with a percentile band.

    Attributes
    ----------
    curve : RegretCalibration
        The curve, with one entry per bin, and its gap.
    low, high : array of shape (n_bins,)
        The ends of the interval of the mean realised regret of each bin.
    level : float
        The confidence level of each interval.
    """

    curve: RegretCalibration
    low: FloatArray
    high: FloatArray
    level: float

    __repr__ = short_repr


def calibration_bands(
    regret: ArrayLike,
    epistemic: ArrayLike,
    *,
    bins: int = 10,
    level: float = 0.95,
    n_replicates: int = 500,
    seed: int = 0,
    cluster: ArrayLike | None = None,
) -> CalibrationBands:
    r"""Return the reliability curve of regret, with a bootstrap interval for each bin.

    The interval has the quantiles of the mean regret in bootstrap samples of the bin's points. In
    bins of at least 1,000 points no sample is drawn: with the mean :math:`m`, the standard
    deviation :math:`s` and the skewness :math:`g` of the n regrets, the quantile at level q is

    .. math:: m + \frac{s}{\sqrt n}\left(z_q + \frac{g}{6\sqrt n}(z_q^2 - 1)\right)

    (Cornish and Fisher 1938), whose error is far below that of 500 samples. A bin whose regrets
    are so skewed or heavy-tailed that it would not be is sampled.

    Parameters
    ----------
    regret, epistemic, bins
        As in :func:`rue.regret_calibration`.
    level : float
        The confidence level of each interval, between 0 and 1.
    n_replicates : int
        The number of bootstrap samples.
    seed : int
        Seed of the samples.
    cluster : array_like of shape (n_points,), optional
        Labels of clusters. Whole clusters are resampled instead of points; bins stay as they are.

    Returns
    -------
    CalibrationBands
        Arrays of shape (n_bins,).

    Raises
    ------
    InputError
        If an option is invalid.

    Examples
    --------
    >>> from rue.inference import calibration_bands
    >>> regret = np.random.default_rng(0).gamma(1.0, size=200)
    >>> bands = calibration_bands(regret, regret, bins=2)
    >>> bool((bands.low <= bands.curve.realised).all())
    True
    """
    require_options(level, "percentile", n_replicates)
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    codes = None if cluster is None else label_codes(cluster, len(regret))
    which = equal_bins(epistemic, bins)
    curve = calibration_in_bins(regret, epistemic, which)
    rng, levels = np.random.default_rng(as_seed(seed)), np.array([(1 - level) / 2, (1 + level) / 2])
    if codes is not None:
        ends = _cluster_ends(regret, which, codes, levels, n_replicates, rng)
    else:
        grouped = np.split(regret[np.argsort(which, kind="stable")], np.cumsum(curve.count)[:-1])
        ends = np.array([_ends(values, levels, n_replicates, rng) for values in grouped])
    low, high = ends.T
    return CalibrationBands(curve, low, high, level)


def _ends(
    values: FloatArray, levels: FloatArray, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Return quantiles of the mean of bootstrap samples of some values."""
    n = len(values)
    if n >= _EXPANDED_FROM:
        mean, sd = values.mean(), values.std()
        standard = (values - mean) / (sd or 1.0)
        squares = standard * standard
        skewness, kurtosis = float(squares @ standard) / n, float(squares @ squares) / n
        if skewness**2 < 0.01 * n and kurtosis < 0.1 * n:
            from scipy.special import ndtri

            z = ndtri(levels)
            return np.asarray(mean + sd / n**0.5 * (z + skewness / (6 * n**0.5) * (z * z - 1)))
    values = np.sort(values)  # samples do not depend on the order of the rows
    step = max(1, _MOST // n)
    sizes = [min(step, n_replicates - start) for start in range(0, n_replicates, step)]
    drawn = [values[rng.integers(0, n, (size, n))].mean(axis=1) for size in sizes]
    return np.asarray(np.quantile(np.concatenate(drawn), levels))


def _cluster_ends(
    regret: FloatArray,
    which: IntArray,
    codes: IntArray,
    levels: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return quantiles of each bin's mean regret over samples of clusters, (n_bins, n_levels)."""
    _, which = np.unique(which, return_inverse=True)
    n_clusters, n_bins = int(codes.max()) + 1, int(which.max()) + 1
    cell = codes * n_bins + which
    size = n_clusters * n_bins
    counts = np.bincount(cell, minlength=size).reshape(n_clusters, n_bins)
    sums = np.bincount(cell, regret, size).reshape(n_clusters, n_bins)
    both = np.hstack([counts, sums])
    step = max(1, _MOST // n_clusters)
    drawn = np.empty((n_replicates, 2 * n_bins))
    for start in range(0, n_replicates, step):
        times = np.zeros((min(step, n_replicates - start), n_clusters))
        for weights in times:
            weights[:] = np.bincount(rng.integers(0, n_clusters, n_clusters), minlength=n_clusters)
        drawn[start : start + step] = times @ both
    points, totals = drawn[:, :n_bins], drawn[:, n_bins:]
    means = np.divide(totals, points, out=np.full(points.shape, np.nan), where=points > 0)
    return np.asarray(np.nanquantile(means, levels, axis=0).T)
