"""Definition 1 over draws of classes that are numbers; see :mod:`rue._kernels.draws`."""

import numpy as np

from rue._kernels.draws import normalize_draws, row_sum
from rue._kernels.threads import pointwise


@pointwise
def squared(start, stop, aleatoric, epistemic, probs, values):
    """Variance of each draw, and the variance of the draws' means."""
    _, n_draws, n_classes = probs.shape
    means = np.empty(n_draws)
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


@pointwise
def rps(start, stop, aleatoric, epistemic, probs, steps):
    """Mean of sum_j step_j F_j (1 - F_j), and of sum_j step_j (F_j - E F_j)^2."""
    _, n_draws, n_classes = probs.shape
    m, rows = np.empty(n_classes), np.empty((n_draws, n_classes))
    for i in range(start, stop):
        normalize_draws(probs[i], rows, m)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            below, above = 0.0, 0.0
            for j in range(n_classes - 1):
                below += rows[s, j]
                above += rows[s, j] - m[j]
                risk += steps[j] * max(below * (1.0 - below), 0.0)
                regret += steps[j] * above**2
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def pinball(start, stop, aleatoric, epistemic, probs, steps, q, level):
    """Mean of sum_j step_j min((1-q) F_j, q (1-F_j)), and of sum_j step_j (+-(F_j - q))+."""
    _, n_draws, n_classes = probs.shape
    m, rows = np.empty(n_classes), np.empty((n_draws, n_classes))
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
