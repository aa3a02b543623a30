"""Second moments E[p p^T] of the draws of each point, where pairs of answers need them."""

from collections.abc import Iterable
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import Kernel, kernel
from rue._kernels.draws import _logs, row_sum
from rue._kernels.threads import on_blocks

PAIR_FLOOR = 1e-12
"""The least probability of a class in a pair of answers."""
_BATCH = 1024


def pair_sums(
    kernel: Kernel, blocks: Iterable[tuple[slice, NDArray[Any]]], *answers: NDArray[Any]
) -> NDArray[Any]:
    """Return pair log loss, log risk of the mean and trace of J of each point, (n_points, 3).

    ``kernel`` is :func:`draw_pairs` or :func:`dirichlet_pairs`; ``answers`` are the counts, those
    that are in no pair with themselves, and the scale of each point.
    """
    out = np.empty((len(answers[0]), 3))
    for rows, stated in blocks:
        arrays = (np.ascontiguousarray(stated), *(array[rows] for array in (*answers, out)))

        def add_up(start: int, stop: int, arrays: Any = arrays) -> None:
            kernel(*(array[start:stop] for array in arrays))

        on_blocks(add_up, len(stated), stated.size)
    return out


@kernel
def draw_pairs(draws, counts, others, scale, out):
    """Write the three numbers of draws."""
    n_points, n_draws, n_classes = draws.shape
    rows, chosen = np.empty((n_draws, n_classes)), np.empty(n_classes, np.int64)
    joint, weight, logs = np.empty((3, n_classes + _BATCH))
    for i in range(n_points):
        trace, risk, loss, n_answers, n_chosen = 0.0, 0.0, 0.0, 0.0, 0
        for k in range(n_classes):
            if counts[i, k] > 0.0:
                n_answers += counts[i, k]
                chosen[n_chosen] = k
                n_chosen += 1
        joint[:n_chosen] = 0.0
        for s in range(n_draws):
            total = row_sum(draws[i, s])
            for k in range(n_classes):
                p = max(draws[i, s, k] / total, PAIR_FLOOR)
                trace += p * p
            for a in range(n_chosen):
                rows[s, a] = max(draws[i, s, chosen[a]] / total, PAIR_FLOOR)
                joint[a] += rows[s, a]
        for a in range(n_chosen):
            joint[a] /= n_draws
        _logs(joint[:n_chosen], logs)
        for a in range(n_chosen):
            risk -= counts[i, chosen[a]] * logs[a]
        end = 0
        for a in range(n_chosen):
            joint[end : end + a + 1] = 0.0
            for s in range(n_draws):
                for b in range(a + 1):
                    joint[end + b] += rows[s, a] * rows[s, b]
            for b in range(a):
                weight[end + b] = 2.0 * (counts[i, chosen[a]] * counts[i, chosen[b]])
            weight[end + a] = counts[i, chosen[a]] ** 2 - others[i, chosen[a]]
            end += a + 1
            if end > _BATCH or a + 1 == n_chosen:  # long loops of logarithms vectorise
                for e in range(end):
                    joint[e] /= n_draws
                _logs(joint[:end], logs)
                for e in range(end):
                    loss -= weight[e] * logs[e]
                end = 0
        out[i, 0] = loss / scale[i] if scale[i] > 0.0 else np.nan
        out[i, 1] = risk / n_answers
        out[i, 2] = trace / n_draws


@kernel
def dirichlet_pairs(alpha, counts, others, scale, out):
    """Write the three numbers of Dirichlet distributions, in closed form."""
    n_points, n_classes = alpha.shape
    row = np.empty(n_classes)
    for i in range(n_points):
        whole, floored = 0.0, 0.0
        for k in range(n_classes):
            whole += alpha[i, k]
        trace, risk, loss, n_answers = 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            row[k] = max(alpha[i, k], PAIR_FLOOR * whole)
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
