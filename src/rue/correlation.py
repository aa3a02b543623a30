"""How aleatoric and epistemic move together, and whether an estimate means what it says."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_vector
from rue.errors import InputError

__all__ = ["RegretCalibration", "kendall", "regret_calibration", "spearman"]


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation r_s, equal values sharing their mean rank.

    The Pearson correlation of the ranks, in [-1, 1]; NaN when one side is constant.

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 4, 9])
    1.0
    """
    from rue._kernels.curves import mid_ranks

    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    centre = (len(x) + 1) / 2
    a = mid_ranks(x, np.argsort(x)) - centre
    b = mid_ranks(y, np.argsort(y)) - centre
    aa, bb = float(a @ a), float(b @ b)
    if aa == 0 or bb == 0:
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt(aa * bb), -1, 1))


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's rank correlation, tau-b: agreeing minus disagreeing pairs, ties counted out.

    (C - D) / sqrt(T_x T_y) with T the pairs that are not tied, in [-1, 1]; NaN when one side is
    constant. All pairs are held at once: it is for tens of methods, not for points.

    Examples
    --------
    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3])
    0.667
    """
    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    a = np.sign(x[:, None] - x).ravel()  # each pair twice, which cancels
    b = np.sign(y[:, None] - y).ravel()
    aa, bb = float(a @ a), float(b @ b)
    if aa == 0 or bb == 0:
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt(aa * bb), -1, 1))


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
