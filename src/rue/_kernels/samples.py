"""Definition 1 over empirical distributions: one sort and one sweep per point.

Every kernel takes ``values`` (n_points, n_draws, n_values), float32 or float64: each draw is the
empirical distribution of its values, and the mixture of a point that of all of them. Sums are
taken over the steps between neighbouring values, so that nothing cancels.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import kernel
from rue._kernels.threads import filled, pointwise


def crps(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the mean of sum step F_s (1 - F_s) over draws, and mean of sum step (F_s - F)^2."""
    flat = values.reshape(len(values), -1)
    return _crps(flat, np.argsort(flat, axis=1), values.shape[1])


@pointwise
def _crps(start, stop, aleatoric, epistemic, flat, order, n_draws):
    """Sweep over the values of each point in their ``order``."""
    _, size = flat.shape
    n_values = size // n_draws
    counts = np.empty(n_draws, np.int64)
    for i in range(start, stop):
        counts[:] = 0
        squares, within, between = 0, 0.0, 0.0
        here = np.float64(flat[i, order[i, 0]])
        for k in range(1, size):
            s = order[i, k - 1] // n_values
            squares += 2 * counts[s] + 1
            counts[s] += 1
            after = np.float64(flat[i, order[i, k]])
            within += (after - here) * (n_values * k - squares)
            between += (after - here) * (n_draws * squares - k * k)
            here = after
        aleatoric[i] = within / (size * n_values)
        epistemic[i] = between / (size * size)


def quantile(values: NDArray[Any], level: float) -> NDArray[Any]:
    """Return the smallest value v of each point with F(v) >= ``level``."""
    flat = values.reshape(len(values), -1)
    rank = max(1, math.ceil(level * flat.shape[1]))
    return np.partition(flat, rank - 1, axis=1)[:, rank - 1].astype(np.float64)


def pinball(values: NDArray[Any], q: float, level: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean Bayes risk of the draws, and mean regret of the mixture's quantile, pinball loss."""
    return _pinball(np.sort(values, axis=2), quantile(values, level), q)


@pointwise
def _pinball(start, stop, aleatoric, epistemic, values, action, q):
    """Sum over the steps of each draw's sorted values."""
    _, n_draws, n_values = values.shape
    for i in range(start, stop):
        a = action[i]
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            low = np.float64(values[i, s, 0])
            regret += q * max(low - a, 0.0)
            for k in range(1, n_values):
                high = np.float64(values[i, s, k])
                below = k / n_values
                risk += (high - low) * min((1.0 - q) * below, q * (1.0 - below))
                passed = min(max(a - low, 0.0), high - low)
                excess = below - q
                regret += passed * max(excess, 0.0) + (high - low - passed) * max(-excess, 0.0)
                low = high
            regret += (1.0 - q) * max(a - low, 0.0)
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


def distances(values: NDArray[Any], answers: NDArray[Any], starts: NDArray[Any]) -> NDArray[Any]:
    """E|X - y| of the mixture for each answer y, sorted; point i has those from starts[i] on."""
    pooled = np.sort(values.reshape(len(values), -1), axis=1)
    return filled(_distances, np.empty(len(answers)), pooled, answers, starts)


@kernel
def _distances(start, stop, out, pooled, answers, starts):
    """Merge the sorted values of each point with its sorted answers."""
    size = pooled.shape[1]
    for i in range(start, stop):
        origin = np.float64(pooled[i, 0])
        total = 0.0
        for k in range(size):
            total += pooled[i, k] - origin
        k, passed = 0, 0.0
        for j in range(starts[i], starts[i + 1]):
            y = answers[j] - origin
            while k < size and pooled[i, k] - origin <= y:
                passed += pooled[i, k] - origin
                k += 1
            out[j] = (k * y - passed + (total - passed) - (size - k) * y) / size
