"""The log loss of each answer under a distribution that the other answers give."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.draws import log, row_sum


@kernel(nogil=True)
def leave_one_out_log(counts, octaves, tolerance):
    """Return the mean log loss of each point's answers under distributions that omit them.

    These are (n_others + s q) / (m - 1 + s) with pooled frequencies q. Each point has the
    strength s with the least loss on all other points, the first one where losses differ by
    rounding only: one of the ``octaves``, and then of eighths of an octave around it. A single
    point has s = n_classes / 2. ``counts`` has shape (n_points, n_classes).
    """
    n_points, n_classes = counts.shape
    starts, totals = np.zeros(n_points + 1, np.int64), np.zeros(n_points)
    for i in range(n_points):
        starts[i + 1] = starts[i]
        for k in range(n_classes):
            starts[i + 1] += counts[i, k] > 0
            totals[i] += counts[i, k]
    n_answers = starts[-1]  # different ones for each point
    same, share = np.empty(n_answers), np.empty(n_answers)
    q, rest = np.empty(n_answers), np.empty(n_answers)
    for i in range(n_points):
        e = starts[i]
        for k in range(n_classes):
            if counts[i, k] > 0:
                same[e], share[e] = counts[i, k] - 1, counts[i, k] / totals[i]
                rest[e] = totals[i] - 1
                e += 1
    _pool(counts, totals, starts, q)
    answers = (starts, same, share, q, rest)
    if n_points == 1:
        return _paid(answers, n_classes / 2)
    own = np.empty(n_points)
    octave = _best_for_others(answers, octaves, tolerance)
    for base in octaves:
        if not (octave == base).any():
            continue
        candidates = base * 2.0 ** (np.arange(-8, 9) / 8)
        fine = _best_for_others(answers, candidates, tolerance)
        for s in candidates:
            if (fine == s).any():
                paid = _paid(answers, s)
                for i in range(n_points):
                    if octave[i] == base and fine[i] == s:
                        own[i] = paid[i]
    return own


@kernel
def _pool(counts, totals, starts, q):
    """Write how often other points with the majority of the other answers have each answer.

    One uniform point is added to each majority's points, so that no class has probability 0. A
    point with several majorities counts in part for each.
    """
    n_points, n_classes = counts.shape
    pooled, size = np.zeros((n_classes, n_classes)), np.zeros(n_classes)
    most, weight = np.empty(n_points), np.empty(n_points)
    for i in range(n_points):
        most[i], times = _most(counts[i])
        weight[i] = 1 / times
        for label in range(n_classes):
            if counts[i, label] == most[i]:
                size[label] += weight[i]
                for k in range(n_classes):
                    pooled[label, k] += weight[i] * (counts[i, k] / totals[i])
    others = np.empty(n_classes)
    for i in range(n_points):
        e = starts[i]
        others[:] = counts[i]
        for y in range(n_classes):
            if counts[i, y] == 0:
                continue
            others[y] -= 1
            largest, times = _most(others)
            found, share = 0.0, counts[i, y] / totals[i]
            for label in range(n_classes):
                if others[label] == largest:
                    own = weight[i] if counts[i, label] == most[i] else 0.0
                    rest = max(pooled[label, y] - own * share, 0.0) + 1 / n_classes
                    found += rest / (size[label] - own + 1)
            q[e] = found / times
            others[y] += 1
            e += 1


@kernel
def _most(counts):
    """Return the largest count, and how many classes have it."""
    largest, times = counts[0], 1
    for k in range(1, counts.shape[0]):
        if counts[k] > largest:
            largest, times = counts[k], 1
        elif counts[k] == largest:
            times += 1
    return largest, times


@kernel
def _best_for_others(answers, candidates, tolerance):
    """Return for each point the first candidate with the least loss on all other points."""
    n_points = answers[0].shape[0] - 1
    best, least = np.full(n_points, candidates[0]), np.full(n_points, np.inf)
    for s in candidates:
        own = _paid(answers, s)
        whole = row_sum(own)
        for i in range(n_points):
            others = whole - own[i]
            if others < least[i] - tolerance * abs(others):
                best[i], least[i] = s, others
    return best


@kernel
def _paid(answers, s):
    """Return the mean log loss of the answers to each point under strength ``s``."""
    starts, same, share, q, rest = answers
    terms, own = np.empty(share.shape[0]), np.empty(starts.shape[0] - 1)
    for e in range(terms.shape[0]):
        terms[e] = -share[e] * log((same[e] + s * q[e]) / (rest[e] + s))
    for i in range(own.shape[0]):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += terms[e]
        own[i] = total
    return own
