"""Definition 1 over normal distributions: quantiles of mixtures, and expected distances.

Every kernel takes ``mean`` and ``sd``, float64 of shape (n_points, n_draws): the mixture of a
point gives each of its draws the same weight.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import kernel
from rue._kernels.threads import filled, pointwise

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_PI = math.sqrt(2 * math.pi)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_SQRT_1_OVER_PI = math.sqrt(1 / math.pi)
_TIE = 1e-12  # a level counts as reached within this tolerance, as for all beliefs
_N_STEPS = 200


@kernel
def distance(d, s):
    """Return E|X| for X ~ N(d, s^2)."""
    z = d / s
    return s * _SQRT_2_OVER_PI * math.exp(-0.5 * z * z) + d * math.erf(z * _SQRT_HALF)


@kernel
def log_tail(z):
    """Return log P(X > z) for X ~ N(0, 1) and z >= 0, also where the probability underflows."""
    if z < 30.0:
        return math.log(0.5 * math.erfc(z * _SQRT_HALF))
    w = 1.0 / (z * z)
    series = w * (-1.0 + w * (3.0 + w * (-15.0 + w * (105.0 - 945.0 * w))))
    return -0.5 * z * z - math.log(z * _SQRT_2_PI) + math.log1p(series)


@kernel
def _side(mean, sd, a):
    """Return whether more mass is above ``a`` than below, where both probabilities underflow."""
    above, below = -np.inf, -np.inf
    for s in range(mean.shape[0]):
        z = (a - mean[s]) / sd[s]
        tail = log_tail(abs(z))
        if z < 0.0:
            below = np.logaddexp(below, tail)
        else:
            above = np.logaddexp(above, tail)
    if below == above:
        return 0.0
    return 1.0 if below > above else -1.0


@kernel
def _excess(mean, sd, a, q):
    """Return F(a) - q and the density at ``a``."""
    n_draws = mean.shape[0]
    passed, tails, density = 0, 0.0, 0.0
    for s in range(n_draws):
        z = (a - mean[s]) / sd[s]
        tail = 0.5 * math.erfc(abs(z) * _SQRT_HALF)
        if z >= 0.0:
            passed += 1
            tails -= tail
        else:
            tails += tail
        density += math.exp(-0.5 * z * z) / sd[s]
    whole = passed - q * n_draws
    if abs(whole) <= _TIE * n_draws:
        whole = 0.0
    if whole == 0.0 and tails == 0.0 and density == 0.0:
        return _side(mean, sd, a), 0.0
    return (whole + tails) / n_draws, density / (n_draws * _SQRT_2_PI)


@kernel
def _quantile(mean, sd, q, z_q):
    """Return the a with F(a) = q, by Newton's method within a bracket."""
    low, high, least = np.inf, -np.inf, np.inf
    for s in range(mean.shape[0]):
        own = mean[s] + z_q * sd[s]
        low, high, least = min(low, own), max(high, own), min(least, sd[s])
    width = high - low
    a = 0.5 * (low + high)
    step, before = width, width
    for _ in range(_N_STEPS):
        excess, density = _excess(mean, sd, a, q)
        if excess == 0.0:
            return a
        if excess > 0.0:
            high = a
        else:
            low = a
        # Bisect where Newton leaves the bracket or does not halve the step before the last.
        newton = a - excess / density if density > 0.0 else np.inf
        if low < newton < high and abs(newton - a) < 0.5 * abs(before):
            before, step, new = step, newton - a, newton
            if abs(step) <= 1e-8 * least:  # and the next would be its square
                return new
        else:
            new = 0.5 * (low + high)
            before, step = step, 0.5 * (high - low)
        if new == a or abs(step) <= 1e-15 * width:
            return new
        a = new
    return a


def quantile(mean: NDArray[Any], sd: NDArray[Any], q: float, z_q: float) -> NDArray[Any]:
    """Return the quantile at level ``q`` of each point's mixture; ``z_q`` is that of N(0, 1)."""
    return filled(_quantiles, np.empty(len(mean)), mean, sd, q, z_q)


@kernel
def _quantiles(start, stop, out, mean, sd, q, z_q):
    near = np.empty(mean.shape[1])
    for i in range(start, stop):
        for s in range(mean.shape[1]):
            near[s] = mean[i, s] - mean[i, 0]
        out[i] = mean[i, 0] + _quantile(near, sd[i], q, z_q)


@pointwise
def pinball(start, stop, aleatoric, epistemic, mean, sd, q, z_q):
    """Mean Bayes risk of the draws, and mean regret of the mixture's quantile, pinball loss."""
    _, n_draws = mean.shape
    least = math.exp(-0.5 * z_q * z_q) / _SQRT_2_PI
    near = np.empty(n_draws)
    for i in range(start, stop):
        for s in range(n_draws):
            near[s] = mean[i, s] - mean[i, 0]
        a = _quantile(near, sd[i], q, z_q)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            z = (a - near[s]) / sd[i, s]
            height = math.exp(-0.5 * z * z) / _SQRT_2_PI
            tail = 0.5 * math.erfc(abs(z) * _SQRT_HALF)
            below = tail if z < 0.0 else 1.0 - tail
            risk += least * sd[i, s]
            regret += max((height - least + z * (below - q)) * sd[i, s], 0.0)
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def crps(start, stop, aleatoric, epistemic, mean, sd):
    """Mean of E|X - X'|/2 over draws, and mean of the integral of (F_s - F)^2."""
    _, n_draws = mean.shape
    for i in range(start, stop):
        spread, apart = 0.0, 0.0
        for s in range(n_draws):
            spread += sd[i, s]
            for t in range(s):
                both = math.sqrt(sd[i, s] ** 2 + sd[i, t] ** 2)
                between = distance(mean[i, s] - mean[i, t], both)
                apart += max(between - (sd[i, s] + sd[i, t]) * _SQRT_1_OVER_PI, 0.0)
        aleatoric[i] = spread * _SQRT_1_OVER_PI / n_draws
        epistemic[i] = apart / n_draws**2


def distances(
    mean: NDArray[Any], sd: NDArray[Any], answers: NDArray[Any], starts: NDArray[Any]
) -> NDArray[Any]:
    """E|X - y| of the mixture for each answer y; point i has those from starts[i] on."""
    return filled(_distances, np.empty(len(answers)), mean, sd, answers, starts)


@kernel
def _distances(start, stop, out, mean, sd, answers, starts):
    n_draws = mean.shape[1]
    for i in range(start, stop):
        for j in range(starts[i], starts[i + 1]):
            total = 0.0
            for s in range(n_draws):
                total += distance(mean[i, s] - answers[j], sd[i, s])
            out[j] = total / n_draws
