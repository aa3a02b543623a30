"""Rank correlations: Spearman's, of two components, and Kendall's, of two rankings of methods."""

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_vector

__all__ = ["kendall", "spearman"]


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
