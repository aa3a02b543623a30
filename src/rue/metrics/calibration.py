"""Regret calibration: whether estimated epistemic uncertainty has the size of the regret."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_vector
from rue.errors import InputError

__all__ = ["RegretCalibration", "regret_calibration"]


@dataclass(frozen=True, eq=False)
class RegretCalibration:
    """A reliability curve of regret, one entry per bin, and its mean absolute gap.

    ``estimated`` and ``realised`` are the mean estimated epistemic uncertainty and the mean
    realised regret of the ``count`` points of a bin; both have the unit of the loss.
    """

    estimated: FloatArray
    realised: FloatArray
    count: IntArray
    gap: float


def regret_calibration(
    regret: ArrayLike, epistemic: ArrayLike, *, bins: int = 10
) -> RegretCalibration:
    """Compare estimated epistemic uncertainty with the regret it predicts.

    Points are sorted by ``epistemic`` and cut into at most ``bins`` bins of about the same size;
    equal estimates stay together (a block belongs to the bin of its middle). The gap is
    sum_b (n_b / N) abs(mean regret_b - mean epistemic_b): 0 when the estimate means what it says.

    Examples
    --------
    >>> regret_calibration([0.0, 0.4, 0.4, 0.8], [0.1, 0.1, 0.5, 0.5], bins=2).gap
    0.1
    """
    from rue._kernels.curves import mid_ranks

    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise InputError(f"bins must be a whole number of at least 1, got {bins}")
    middle = (mid_ranks(epistemic, np.argsort(epistemic)) - 0.5) / len(regret)
    which = np.minimum((middle * bins).astype(np.int64), bins - 1)
    count = np.bincount(which, minlength=bins)
    kept = count > 0
    count = count[kept]
    estimated = np.bincount(which, epistemic, bins)[kept] / count
    realised = np.bincount(which, regret, bins)[kept] / count
    gap = float(np.abs(realised - estimated) @ count / len(regret))
    return RegretCalibration(estimated, realised, count, gap)
