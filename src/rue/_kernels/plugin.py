"""The mean Bayes risk of frequencies of answers, where it has no formula: answers are drawn."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.bootstrap import _mix


@kernel
def mean_plugin(key, probs, n_answers, costs, out):
    """Write the mean of the least cost of an action over drawn answers, shape (n_points,)."""
    n_points, n_classes = probs.shape
    cumulated, counts = np.empty(n_classes), np.zeros(n_classes, np.int64)
    for i in range(n_points):
        whole = 0.0
        for k in range(n_classes):
            whole += probs[i, k]
            cumulated[k] = whole
        m, risk = n_answers[i % n_answers.shape[0]], 0.0
        n_sets = max(8, 320 // m)
        state = _mix(np.uint64(key) + np.uint64(i) * np.uint64(0xD1342543DE82EF95))
        for _ in range(n_sets):
            counts[:] = 0
            most = 0
            for _ in range(m):
                state += np.uint64(0x9E3779B97F4A7C15)
                number = whole * (np.float64(_mix(state) >> np.uint64(11)) * 2.0**-53)
                k = _first_above(cumulated, number)
                counts[k] += 1
                most = max(most, counts[k])
            if costs.shape[0] == 0:
                risk += 1.0 - most / m
                continue
            least = np.inf
            for a in range(costs.shape[0]):
                cost = 0.0
                for k in range(n_classes):
                    cost += costs[a, k] * counts[k]
                least = min(least, cost)
            risk += least / m
        out[i] = risk / n_sets


@kernel
def _first_above(cumulated, number):
    """Return the first class whose cumulated probability is above a number."""
    if cumulated.shape[0] <= 16:
        for k in range(cumulated.shape[0] - 1):
            if cumulated[k] > number:
                return k
        return cumulated.shape[0] - 1
    low, high = 0, cumulated.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] > number:
            high = middle
        else:
            low = middle + 1
    return low
