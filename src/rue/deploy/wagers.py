r"""A betting p-value of "the mean loss is at least the limit" that adapts to the variance.

Losses :math:`X_1, X_2, \dots` from 0 to 1 are independent, with mean :math:`\mu`; the null
hypothesis is :math:`\mu \ge m`. Bet against it: begin with a wealth of 1 and, before each point,
choose a bet :math:`l_t` from 0 to :math:`1 / (1 - m)` that depends on earlier points only,

.. math:: W_t = W_{t-1} (1 + l_t (m - X_t)).

The wealth is not negative. Under the null it is a supermartingale, because

.. math:: E[W_t \mid \text{past}] = W_{t-1} (1 + l_t (m - \mu)) \le W_{t-1}.

By Ville's inequality its maximum reaches 1/u with probability at most u. So

.. math:: p = 1 / \max_t W_t

is a p-value, whatever the bets (Waudby-Smith and Ramdas 2023). The bets decide how often it is
small. Every p-value is compared with one level :math:`\delta` after n points, so the bet is the one
that reaches :math:`1 / \delta` by the n-th point most often. For a random walk with small steps of
variance v, of which r are left, that bet is known (Browne 1999; it replicates a digital option):

.. math:: l = \frac{I(u)}{u \sqrt{v r}}, \quad u = \delta W, \quad I(u) = \phi(\Phi^{-1}(u)),

with the normal density :math:`\phi` and distribution function :math:`\Phi`. In this limit the test
is exact: it passes if the mean is below m by :math:`\Phi^{-1}(1 - \delta)` standard errors. The
variance v is plugged in from the earlier points, with one more point of variance 1/4 before the
first. The bet is at most :math:`0.999 / (1 - m)`, so that no single loss ruins the gambler, and
never more than it takes to reach the goal at once if the next loss is 0. It aims at
:math:`1 / (0.95 \delta)`, because steps are not small. (The bet of Waudby-Smith and Ramdas,
:math:`\sqrt{2 \log(1/\delta) / (n v)}`, is its value at the start for small :math:`\delta`; it does
not follow the wealth, and passes less often.)

The p-value decreases in the limit m. In terms of u, the wealth after a loss x is
:math:`u + (m - x) I(u) / \sqrt{v r}`, up to a factor, and I is concave and 0 at both ends.

- If x < m, the slope in u is negative only where :math:`-I'(u) > \sqrt{v r} / m`. There
  :math:`I(u) \ge -I'(u) (1 - u)` makes the bet larger than the goal needs, so that it is cut; then
  the slope is x / m.
- If x > m, the slope is negative only where :math:`I'(u) > \sqrt{v r} / (1 - m)`. There
  :math:`I(u) / u \ge I'(u)` makes the bet larger than :math:`1 / (1 - m)`, so that it is cut, and
  the slope is positive.

So :math:`W_t` increases in :math:`W_{t-1}`. At the same :math:`W_{t-1}` it increases in m, cut or
not, and v does not depend on m.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector, require_whole
from rue.errors import InputError

_N_STEPS = 1024

# Beyond so many points the least number is scaled from a larger limit: only their product matters.
_MOST = 100_000

# More points than any data set has.
_NOBODY = 1e18


def betting(losses: ArrayLike, limit: float, *, delta: float = 0.1, seed: int = 0) -> float:
    """Return a betting p-value of "the mean is at least the limit" for losses in [0, 1].

    It is a valid p-value for every level, and sharpest at ``delta``: betting stops once its goal is
    reached, so p is never below 0.95 delta. The points are taken in one random order.

    Parameters
    ----------
    losses
        Independent losses, shape (n_points,), from 0 to 1.
    limit
        The budget, in units of the largest loss.
    delta
        The level that the bets aim at, between 0 and 1.
    seed
        Seed of the order of the points. Trying several seeds and keeping the least p-value makes
        it invalid.

    Returns
    -------
    float
        The p-value, above 0 and at most 1; 0 if the limit is 1 or more, because no loss exceeds it.

    Raises
    ------
    InputError
        If a loss is not from 0 to 1, or an option is invalid.

    Examples
    --------
    >>> from rue.deploy import betting
    >>> import numpy as np
    >>> losses = np.linspace(0, 0.1, 101)  # mean 0.05, and little spread
    >>> betting(losses, 0.1) <= 0.1
    True
    """
    from rue._kernels.wealth import wealth

    losses = as_vector("losses", losses)
    outside = (losses < 0) | (losses > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(f"losses must be from 0 to 1, got {losses[row]:g} at row {row}")
    if not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {delta}")
    order = np.random.default_rng(require_whole("seed", seed)).permutation(len(losses))
    if limit >= 1:
        return 0.0
    if not limit > 0:
        return 1.0
    same = np.zeros(len(losses), dtype=np.int64)
    trace = wealth(losses[order], same, 0, limit, delta, 0, False, math.inf, profile(), np.empty(0))
    return 1.0 / float(trace)


def fewest_points(limit: float, delta: float) -> int | None:
    """Return the least number of points that pass at delta without a loss; None if none does."""
    if limit >= 1:
        return 0
    if limit <= 0:
        return None
    # No bets do better than all at once, (1 - limit)^n.
    low = max(1, math.ceil(min(math.log(delta) / math.log1p(-limit), _NOBODY)))
    if low > 2 * _MOST:
        scale = low / _MOST
        return math.ceil(scale * (fewest_points(limit * scale, delta) or 0))
    return _first_that_passes(limit, delta, low)


@lru_cache(maxsize=256)
def _first_that_passes(limit: float, delta: float, low: int) -> int:
    if _passes(low, limit, delta):
        return low
    high = 2 * low
    while not _passes(high, limit, delta):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _passes(middle, limit, delta) else (middle, high)
    return high


def _passes(n_points: int, limit: float, delta: float) -> bool:
    from rue._kernels.wealth import wealth

    nothing, same = np.zeros(n_points), np.zeros(n_points, dtype=np.int64)
    trace = wealth(nothing, same, 0, limit, delta, 0, False, 1 / delta, profile(), np.empty(0))
    return bool(trace * delta >= 1)


@lru_cache(maxsize=1)
def profile() -> FloatArray:
    r"""Return :math:`I(u) = \phi(\Phi^{-1}(u))` at 1,025 equally spaced u from 0 to 1."""
    from scipy.special import ndtri

    u = np.linspace(0.0, 1.0, _N_STEPS + 1)
    height = np.zeros(len(u))
    height[1:-1] = np.exp(-(ndtri(u[1:-1]) ** 2) / 2) / math.sqrt(2 * math.pi)
    height.flags.writeable = False
    return height
