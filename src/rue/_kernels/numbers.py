"""Definition 1 over draws of classes that are numbers; see :mod:`rue._kernels.draws`."""

import numpy as np
from numba import prange

from rue._kernels import N_BLOCKS, block, parallel_kernel
from rue._kernels.draws import mean_draw, normalize_draws, row_sum


@parallel_kernel
def squared(probs, values):
    """Variance of each draw, and the variance of the draws' means."""
    n_points, n_draws, n_classes = probs.shape
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    for b in prange(N_BLOCKS):
        means = np.empty(n_draws)
        start, stop = block(b, n_points)
        for i in range(start, stop):
            variance = 0.0
            for s in range(n_draws):
                total = row_sum(probs[i, s])
                first = 0.0
                for k in range(n_classes):
                    first += probs[i, s, k] * values[k]
                means[s] = first / total
                second = 0.0
                for k in range(n_classes):
                    second += probs[i, s, k] * (values[k] - means[s]) ** 2
                variance += second / total
            action = means.mean()
            aleatoric[i] = variance / n_draws
            epistemic[i] = ((means - action) ** 2).mean()
    return aleatoric, epistemic


@parallel_kernel
def rps(probs, steps):
    """Mean of sum_j step_j F_j (1 - F_j), and of sum_j step_j (F_j - E F_j)^2."""
    n_points, n_draws, n_classes = probs.shape
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    for b in prange(N_BLOCKS):
        m = np.empty(n_classes)
        start, stop = block(b, n_points)
        for i in range(start, stop):
            mean_draw(probs[i], m)
            risk, regret = 0.0, 0.0
            for s in range(n_draws):
                total = row_sum(probs[i, s])
                below, above = 0.0, 0.0
                for j in range(n_classes - 1):
                    p = probs[i, s, j] / total
                    below += p
                    above += p - m[j]
                    risk += steps[j] * max(below * (1.0 - below), 0.0)
                    regret += steps[j] * above**2
            aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws
    return aleatoric, epistemic


@parallel_kernel
def pinball(probs, steps, q, level):
    """Mean of sum_j step_j min((1-q) F_j, q (1-F_j)), and of sum_j step_j (+-(F_j - q))+.

    The action is v[a], a the first class with F_a >= ``level`` under the mean distribution. Its
    regret has one term for each step between neighbouring values: (F_j - q)+ where j < a, and
    (q - F_j)+ elsewhere.
    """
    n_points, n_draws, n_classes = probs.shape
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    for b in prange(N_BLOCKS):
        m, rows = np.empty(n_classes), np.empty((n_draws, n_classes))
        start, stop = block(b, n_points)
        for i in range(start, stop):
            normalize_draws(probs[i], rows, m)
            a, below = 0, m[0]
            while below < level and a < n_classes - 1:
                a += 1
                below += m[a]
            risk, regret = 0.0, 0.0
            for s in range(n_draws):
                below = 0.0
                for j in range(n_classes - 1):
                    below += rows[s, j]
                    risk += steps[j] * min((1.0 - q) * below, q * (1.0 - below))
                    excess = below - q
                    regret += steps[j] * max(excess if j < a else -excess, 0.0)
            aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws
    return aleatoric, epistemic
