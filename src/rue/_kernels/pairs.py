"""Second moments E[p p^T] of the draws of each point, where pairs of answers need them."""

from math import log

import numpy as np

from rue._kernels import kernel
from rue._kernels.draws import row_sum


@kernel
def draw_pairs(draws, counts, others, scale, floor, out):
    """Write pair log loss, log risk of the mean and trace of J of each point, (n_points, 3)."""
    n_points, n_draws, n_classes = draws.shape
    rows = np.empty((n_draws, n_classes))
    for i in range(n_points):
        trace, risk, loss, n_answers = 0.0, 0.0, 0.0, 0.0
        for s in range(n_draws):
            total = row_sum(draws[i, s])
            for k in range(n_classes):
                p = max(draws[i, s, k] / total, floor)
                rows[s, k] = p
                trace += p * p
        for a in range(n_classes):
            n_answers += counts[i, a]
        for a in range(n_classes):
            if counts[i, a] == 0.0:
                continue
            mean = 0.0
            for s in range(n_draws):
                mean += rows[s, a]
            risk -= counts[i, a] * log(mean / n_draws)
            for b in range(a + 1):
                weight = counts[i, a] * counts[i, b]
                weight = 2.0 * weight if a != b else weight - others[i, a]
                if weight == 0.0:
                    continue
                joint = 0.0
                for s in range(n_draws):
                    joint += rows[s, a] * rows[s, b]
                loss -= weight * log(joint / n_draws)
        out[i, 0] = loss / scale[i] if scale[i] > 0.0 else np.nan
        out[i, 1] = risk / n_answers
        out[i, 2] = trace / n_draws


@kernel
def dirichlet_pairs(alpha, counts, others, scale, floor, out):
    """Write the same three numbers of Dirichlet distributions, in closed form."""
    n_points, n_classes = alpha.shape
    row = np.empty(n_classes)
    for i in range(n_points):
        whole, floored = 0.0, 0.0
        for k in range(n_classes):
            whole += alpha[i, k]
        trace, risk, loss, n_answers = 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            row[k] = max(alpha[i, k], floor * whole)
            floored += row[k]
            n_answers += counts[i, k]
        for a in range(n_classes):
            # Shares first: the square of a large alpha would overflow.
            mean = row[a] / floored
            trace += mean * ((row[a] + 1.0) / (floored + 1.0))
            if counts[i, a] == 0.0:
                continue
            risk -= counts[i, a] * log(mean)
            for b in range(a + 1):
                weight = counts[i, a] * counts[i, b]
                weight = 2.0 * weight if a != b else weight - others[i, a]
                if weight == 0.0:
                    continue
                extra = 1.0 if a == b else 0.0
                loss -= weight * (log(mean) + log((row[b] + extra) / (floored + 1.0)))
        out[i, 0] = loss / scale[i] if scale[i] > 0.0 else np.nan
        out[i, 1] = risk / n_answers
        out[i, 2] = trace
