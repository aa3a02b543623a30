"""Agreement of two columns of numbers: in order (rank correlations) and in size (calibration)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_vector
from rue.errors import InputError

__all__ = ["RegretCalibration", "kendall", "regret_calibration", "spearman"]


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation r_s.

    It is the Pearson correlation of the ranks; equal values share their mean rank.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        The values to compare.

    Returns
    -------
    float
        The correlation, from -1 to 1; NaN if ``x`` or ``y`` is constant.

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 4, 9])
    1.0
    """
    from rue._kernels.sorting import argsort, mid_ranks

    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    centre = (len(x) + 1) / 2
    a = mid_ranks(x, argsort(x)) - centre
    b = mid_ranks(y, argsort(y)) - centre
    aa, bb = float(a @ a), float(b @ b)
    if aa == 0 or bb == 0:
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt(aa * bb), -1, 1))


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    r"""Return Kendall's rank correlation, tau-b.

    It is :math:`(C - D) / \sqrt{T_x T_y}`, where C and D are the numbers of concordant and
    discordant pairs, and :math:`T_x` and :math:`T_y` the numbers of pairs that are not tied. Memory
    grows with :math:`n^2`: use it for tens of methods, not for thousands of points.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        The values to compare.

    Returns
    -------
    float
        The correlation, from -1 to 1; NaN if ``x`` or ``y`` is constant.

    Examples
    --------
    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3])
    0.667
    """
    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    a = np.sign(x[:, None] - x).ravel()  # each pair occurs twice, which cancels
    b = np.sign(y[:, None] - y).ravel()
    aa, bb = float(a @ a), float(b @ b)
    if aa == 0 or bb == 0:
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt(aa * bb), -1, 1))


@dataclass(frozen=True, eq=False)
class RegretCalibration:
    """A reliability curve of regret, with one entry per bin, and its mean absolute gap.

    Attributes
    ----------
    estimated, realised : array of shape (n_bins,)
        The mean estimated epistemic uncertainty and the mean realised regret of each bin, in the
        unit of the loss.
    count : array of shape (n_bins,)
        The number of points of each bin.
    gap : float
        The mean absolute difference of the two, weighted by ``count``.
    """

    estimated: FloatArray
    realised: FloatArray
    count: IntArray
    gap: float


def regret_calibration(
    regret: ArrayLike, epistemic: ArrayLike, *, bins: int = 10
) -> RegretCalibration:
    r"""Compare estimated epistemic uncertainty with the regret it predicts.

    Points are sorted by ``epistemic`` and divided into at most ``bins`` bins of about equal size;
    points with equal estimates are in the same bin. With the mean regret :math:`r_b` and the mean
    estimate :math:`e_b` of the :math:`n_b` points of bin b, the gap is

    .. math:: \sum_b \frac{n_b}{N}\, |r_b - e_b|,

    which is 0 if the estimates are right on average.

    Parameters
    ----------
    regret : array_like of shape (n_points,)
        The realised regret of each point.
    epistemic : array_like of shape (n_points,)
        The estimated epistemic uncertainty, in the unit of the loss.
    bins : int
        The largest number of bins.

    Returns
    -------
    RegretCalibration
        The curve, arrays of shape (n_bins,), and the gap.

    Raises
    ------
    InputError
        If ``bins`` is no whole number of at least 1.

    Examples
    --------
    >>> regret_calibration([0.0, 0.4, 0.4, 0.8], [0.1, 0.1, 0.5, 0.5], bins=2).gap
    0.1
    """
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    return calibration_in_bins(regret, epistemic, equal_bins(epistemic, bins))


def calibration_in_bins(
    regret: FloatArray, epistemic: FloatArray, which: IntArray
) -> RegretCalibration:
    """Return the curve of points whose bins are known; bins without points are left out."""
    count = np.bincount(which)
    kept = count > 0
    count = count[kept]
    estimated = np.bincount(which, epistemic)[kept] / count
    realised = np.bincount(which, regret)[kept] / count
    gap = float(np.abs(realised - estimated) @ count / len(regret))
    return RegretCalibration(estimated, realised, count, gap)


def equal_bins(epistemic: FloatArray, bins: int) -> IntArray:
    """Return the bin of each point, below ``bins``: about equal sizes, ties together."""
    from rue._kernels.sorting import argsort, mid_ranks

    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise InputError(f"bins must be a whole number of at least 1, got {bins!r}")
    middle = (mid_ranks(epistemic, argsort(epistemic)) - 0.5) / len(epistemic)
    return np.asarray(np.minimum((middle * bins).astype(np.int64), bins - 1))
