"""Rank correlations: Spearman's, for two components, and Kendall's, for rankings of methods."""

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_vector

__all__ = ["kendall", "spearman"]


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
