"""Bootstrap bands for the reliability curve of regret against epistemic uncertainty."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.inference.intervals import require_options
from rue.metrics.calibration import RegretCalibration, equal_bins, regret_calibration

__all__ = ["CalibrationBands", "calibration_bands"]

_MOST = 1 << 22
"""Numbers drawn at once."""


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


def calibration_bands(
    regret: ArrayLike,
    epistemic: ArrayLike,
    *,
    bins: int = 10,
    level: float = 0.95,
    n_replicates: int = 500,
    seed: int = 0,
) -> CalibrationBands:
    """Return the reliability curve of regret, with a bootstrap interval for each bin.

    Parameters
    ----------
    regret, epistemic, bins
        As in :func:`rue.regret_calibration`.
    level : float
        The confidence level of each interval, between 0 and 1.
    n_replicates : int
        The number of bootstrap samples of the points of each bin.
    seed : int
        Seed of the samples.

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
    >>> regret = np.random.default_rng(0).gamma(1.0, size=200)
    >>> bands = calibration_bands(regret, regret, bins=2)
    >>> bool((bands.low <= bands.curve.realised).all())
    True
    """
    require_options(level, "percentile", n_replicates)
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    curve = regret_calibration(regret, epistemic, bins=bins)
    which, rng = equal_bins(epistemic, bins), np.random.default_rng(seed)
    ends = []
    for k in np.unique(which):
        values = np.sort(regret[which == k])
        step = max(1, _MOST // len(values))
        sizes = [min(step, n_replicates - start) for start in range(0, n_replicates, step)]
        drawn = np.concatenate(
            [values[rng.integers(0, len(values), (r, len(values)))].mean(axis=1) for r in sizes]
        )
        ends.append(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    low, high = np.array(ends).T
    return CalibrationBands(curve, low, high, level)
