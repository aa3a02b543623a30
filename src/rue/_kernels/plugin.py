"""Answers that are drawn: how likely they are, and the mean Bayes risk of their frequencies."""

import math

import numpy as np

from rue._kernels import kernel
from rue._kernels.bootstrap import _mix


@kernel
def mean_plugin(key, probs, n_answers, costs, out):
    """Write the mean of the least cost of an action over drawn answers, shape (n_points,).

    Of costs, only what the action that is best under ``probs`` costs beyond it is drawn: mostly 0.
    """
    n_points, n_classes = probs.shape
    cumulated, counts = np.empty(n_classes), np.zeros(n_classes, np.int64)
    for i in range(n_points):
        whole = 0.0
        for k in range(n_classes):
            whole += probs[i, k]
            cumulated[k] = whole
        m, risk = n_answers[i % n_answers.shape[0]], 0.0
        best, least_mean = 0, 0.0
        for a in range(costs.shape[0]):
            mean = 0.0
            for k in range(n_classes):
                mean += costs[a, k] * probs[i, k] / whole
            if a == 0 or mean < least_mean:
                best, least_mean = a, mean
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
            least, paid = np.inf, 0.0
            for a in range(costs.shape[0]):
                cost = 0.0
                for k in range(n_classes):
                    cost += costs[a, k] * counts[k]
                least = min(least, cost)
                if a == best:
                    paid = cost
            risk -= (paid - least) / m
        out[i] = least_mean + risk / n_sets


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


@kernel
def log_likelihoods(bases, counts, strengths, out):
    """Write the log likelihood of counts of answers under Dirichlets around each base."""
    n_bases, n_points, n_classes = bases.shape
    for i in range(n_points):
        for b in range(n_bases):
            mass, m = 0.0, 0.0
            for k in range(n_classes):
                mass += bases[b, i, k]
                m += counts[i, k]
            for s in range(strengths.shape[0]):
                total = -_log_rise(strengths[s] * mass, m)
                for k in range(n_classes):
                    if counts[i, k] > 0.0:
                        total += _log_rise(strengths[s] * bases[b, i, k], counts[i, k])
                out[i, b * strengths.shape[0] + s] = total


@kernel
def _log_rise(start, count):
    """Return the logarithm of start (start + 1) ... (start + count - 1)."""
    if count > 64.0:
        return math.lgamma(start + count) - math.lgamma(start)
    total, product = 0.0, 1.0
    for j in range(int(count)):
        product *= start + j
        if product > 1e280:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)
