"""Definition 1 over draws of classes that are numbers; see :mod:`rue._kernels.draws`."""

import numpy as np

from rue._kernels.draws import normalize_draws, rooms, row_sum
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
    """Mean of sum_k step_k F_k (1 - F_k), and of sum_k step_k (F_k - E F_k)^2."""
    _, n_draws, n_classes = probs.shape
    rows, m = rooms(probs)
    for i in range(start, stop):
        j = (i - start) % len(m)
        if j == 0:
            normalize_draws(probs[i : min(i + len(m), stop)], rows, m)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            below, above = 0.0, 0.0
            for k in range(n_classes - 1):
                below += rows[j, s, k]
                above += rows[j, s, k] - m[j, k]
                risk += steps[k] * max(below * (1.0 - below), 0.0)
                regret += steps[k] * above**2
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def pinball(start, stop, aleatoric, epistemic, probs, steps, q, level):
    """Mean of sum_k step_k min((1-q) F_k, q (1-F_k)), and of sum_k step_k (+-(F_k - q))+."""
    _, n_draws, n_classes = probs.shape
    rows, m = rooms(probs)
    sign, terms = np.empty(n_classes), np.empty((2, n_draws, n_classes))
    for i in range(start, stop):
        j = (i - start) % len(m)
        if j == 0:
            normalize_draws(probs[i : min(i + len(m), stop)], rows, m)
        below = 0.0
        for k in range(n_classes - 1):
            below += m[j, k]
            sign[k] = 1.0 if below < level else -1.0
        for s in range(n_draws):
            for k in range(1, n_classes - 1):
                rows[j, s, k] += rows[j, s, k - 1]
        for s in range(n_draws):  # a loop of its own is vectorised
            for k in range(n_classes - 1):
                below = rows[j, s, k]
                terms[0, s, k] = steps[k] * min((1.0 - q) * below, q * (1.0 - below))
                terms[1, s, k] = steps[k] * max(sign[k] * (below - q), 0.0)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            for k in range(n_classes - 1):
                risk += terms[0, s, k]
                regret += terms[1, s, k]
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws
