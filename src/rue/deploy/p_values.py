"""P-values of "the mean loss is above the limit", and the order in which thresholds are tested.

Losses are independent and lie in [0, 1]. If their mean is above the limit, the p-value of
Hoeffding and Bentkus is at most u with probability at most u, for every u:

    p = min( exp(-n KL(mean, limit)),  e P(Bin(n, limit) <= ceil(n mean)) ),    mean <= limit

(Bates et al. 2021). Thresholds are tested in a fixed order, each at the full delta, and testing
stops at the first that fails: a threshold that breaks its budget passes only if the first such
threshold in the order does, which has probability at most delta (Angelopoulos et al. 2021).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray

__all__ = ["hoeffding_bentkus", "n_passed", "points_needed"]

# Components are rounded to 1e-12 of the scale; a sum this close to a whole number is that number.
_SAME = 1e-9
# No exact search beyond the first number of points; the second is more than any data set has.
_MOST, _NOBODY = 10**8, 1e18


def hoeffding_bentkus(total: ArrayLike, n_points: ArrayLike, limit: float) -> FloatArray:
    """Return p-values of "the mean is above the limit" from sums of losses in [0, 1].

    Parameters
    ----------
    total
        Sums of ``n_points`` losses each, any shape.
    n_points
        How many losses each sum has, same shape or a number; without any the p-value is 1.
    limit
        The budget, in units of the largest loss.

    Returns
    -------
    ndarray of the broadcast shape of ``total`` and ``n_points``
        P-values, from 0 to 1.

    Examples
    --------
    >>> from rue.deploy import hoeffding_bentkus
    >>> hoeffding_bentkus(0, 29, 0.1)  # 0.9^29: no loss at all in 29 points
    array(0.0471)
    """
    from scipy.special import bdtr, xlog1py, xlogy

    total, n_points = np.broadcast_arrays(
        np.asarray(total, dtype=np.float64), np.asarray(n_points, dtype=np.float64)
    )
    if limit >= 1:  # no loss is larger
        return np.zeros(total.shape)
    if limit <= 0:
        return np.ones(total.shape)
    n = np.maximum(n_points, 1.0)
    mean = np.clip(total / n, 0.0, limit)
    divergence = xlogy(mean, mean / limit) + xlog1py(1 - mean, (limit - mean) / (1 - limit))
    whole = np.clip(np.ceil(total - _SAME), 0, n)
    # bdtr is NaN from 2^31 points on; the other bound holds alone.
    p = np.fmin(np.exp(-n * divergence), math.e * bdtr(whole, n.astype(np.int64), limit))
    return np.asarray(np.where(n_points > 0, np.minimum(p, 1.0), 1.0))


def n_passed(p_values: FloatArray, delta: float) -> int:
    """Return how many p-values, in their order, come before the first above delta."""
    failed = p_values > delta
    return int(np.argmax(failed)) if failed.any() else len(p_values)


def points_needed(limit: float, delta: float, rate: float = 0.0) -> int | None:
    r"""Return the least number of points with which a mean of ``rate`` passes.

    For a rate of 0 it is the first n with :math:`(1 - \text{limit})^n \le \delta`. For other rates
    it is approximate, because the p-value moves in small steps.

    Parameters
    ----------
    limit, rate
        The budget and the mean loss, in units of the largest loss.
    delta
        The level of the test.

    Returns
    -------
    int or None
        The number of points; None if no number suffices.

    Examples
    --------
    >>> from rue.deploy import points_needed
    >>> points_needed(0.1, 0.1), points_needed(0.1, 0.1, rate=0.05)
    (22, 134)
    """
    if limit >= 1:
        return 0
    if rate >= limit or limit <= 0:
        return None
    n = max(1, math.ceil(min(math.log(delta) / math.log1p(-limit), _NOBODY)))
    if rate > 0:
        low = n - 1
        while hoeffding_bentkus(rate * n, n, limit) > delta:
            low, n = n, 2 * n
            if n > _MOST:
                return None
        while n - low > 1:
            middle = (low + n) // 2
            if hoeffding_bentkus(rate * middle, middle, limit) <= delta:
                n = middle
            else:
                low = middle
        return n
    while n < _MOST and hoeffding_bentkus(0, n, limit) > delta:  # the logarithms were rounded
        n += 1
    return n
