"""Second moments E[p p^T] of the draws of each point, where pairs of answers need them."""

from collections.abc import Iterable
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import Kernel, kernel
from rue._kernels.draws import _SUM, _logs, row_sum
from rue._kernels.threads import filled

PAIR_FLOOR = 1e-12
"""The least probability of a class in a pair of answers."""
_BATCH = 1024


def pair_sums(
    kernel: Kernel,
    blocks: Iterable[tuple[slice, NDArray[Any]]],
    counts: NDArray[Any],
    are_answers: bool,
) -> NDArray[Any]:
    """Return pair log loss, log risk of the mean, trace of J and of O of each point, (n_points, 4).

    ``kernel`` is :func:`draw_pairs` or :func:`dirichlet_pairs`. An answer is in no pair with
    itself; shares that stand for infinitely many answers are.
    """
    out = np.empty((len(counts), 4))
    for rows, stated in blocks:
        filled(kernel, out[rows], np.ascontiguousarray(stated), counts[rows], are_answers)
    return out


@kernel
def draw_pairs(start, stop, out, draws, counts, are_answers):
    """Write the four numbers of draws; terms of many points have their logarithms together."""
    _, n_draws, n_classes = draws.shape
    rows, columns = np.empty((n_draws, n_classes)), np.empty((n_classes, n_draws))
    chosen = np.empty(n_classes, np.int64)
    room = n_classes + _BATCH
    terms, weight, logs = np.empty(room), np.empty(room), np.empty(room)
    place, sums, end = np.empty(room, np.int64), out.reshape(-1), 0
    for i in range(start, stop):
        n_chosen, out[i] = 0, 0.0
        for k in range(n_classes):
            chosen[n_chosen] = k
            n_chosen += counts[i, k] > 0.0
        out[i, 2] = _floor(draws[i], rows) / n_draws
        for s in range(n_draws):
            for a in range(n_chosen):
                columns[a, s] = rows[s, chosen[a]]
        for a in range(n_chosen):
            count, mean = counts[i, chosen[a]], 0.0
            for s in range(n_draws):
                mean += columns[a, s]
            terms[end], weight[end], place[end] = mean / n_draws, count, 4 * i + 1
            end += 1
            for b in range(a + 1):
                terms[end] = _dot(columns, a, b) / n_draws
                weight[end] = 2.0 * (count * counts[i, chosen[b]])
                place[end] = 4 * i
                end += 1
            weight[end - 1] = count * count - count * are_answers
            if end >= _BATCH:
                _add_logs(terms[:end], logs, weight, place, sums)
                end = 0
    _add_logs(terms[:end], logs, weight, place, sums)
    _divide(start, stop, out, counts, are_answers)


@kernel(fastmath=_SUM)
def _floor(draws, rows):
    """Write the normalised draws of a point, floored, and return the sum of their squares."""
    squares = 0.0
    for s in range(draws.shape[0]):
        total = row_sum(draws[s])
        for k in range(draws.shape[1]):
            rows[s, k] = max(draws[s, k] / total, PAIR_FLOOR)
            squares += rows[s, k] * rows[s, k]
    return squares


@kernel(fastmath=_SUM)
def _dot(rows, a, b):
    total = 0.0
    for s in range(rows.shape[1]):
        total += rows[a, s] * rows[b, s]
    return total


@kernel
def _add_logs(terms, logs, weight, place, sums):
    """Take the weighted logarithms of terms off the sums to which they belong."""
    _logs(terms, logs, PAIR_FLOOR**2)
    for e in range(terms.shape[0]):
        sums[place[e]] -= weight[e] * logs[e]


@kernel
def dirichlet_pairs(start, stop, out, alpha, counts, are_answers):
    """Write the four numbers of Dirichlet distributions, in closed form."""
    n_classes = alpha.shape[1]
    row = np.empty(n_classes)
    for i in range(start, stop):
        whole, floored, trace, risk, loss = row_sum(alpha[i]), 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            row[k] = max(alpha[i, k], PAIR_FLOOR * whole)
            floored += row[k]
        for a in range(n_classes):
            # Shares first: the square of a large alpha would overflow.
            mean = row[a] / floored
            trace += mean * ((row[a] + 1.0) / (floored + 1.0))
            if counts[i, a] == 0.0:
                continue
            risk -= counts[i, a] * log(mean)
            for b in range(a + 1):
                weight = counts[i, a] * counts[i, b]
                weight = 2.0 * weight if a != b else weight - counts[i, a] * are_answers
                if weight == 0.0:
                    continue
                loss -= weight * (log(mean) + log((row[b] + (a == b)) / (floored + 1.0)))
        out[i, 0], out[i, 1], out[i, 2] = loss, risk, trace
    _divide(start, stop, out, counts, are_answers)


@kernel
def _divide(start, stop, out, counts, are_answers):
    """Divide sums by the number of pairs or answers, and write how often pairs agree."""
    for i in range(start, stop):
        n_answers, same = 0.0, 0.0
        for k in range(counts.shape[1]):
            n_answers += counts[i, k]
            same += counts[i, k] * (counts[i, k] - are_answers)
        n_pairs = n_answers * (n_answers - are_answers)
        n_pairs = n_pairs if n_pairs > 0.0 else np.nan
        out[i, 0] /= n_pairs
        out[i, 1] /= n_answers
        out[i, 3] = same / n_pairs
