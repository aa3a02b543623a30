"""Definition 1 over draws: one pass per point, in float64, on all cores.

Every kernel takes ``probs`` (n_points, n_draws, n_classes), float32 or float64, whose rows need
not be normalised, and returns the mean Bayes risk (aleatoric) and the mean regret of the action
``a(m)`` (epistemic) of each point, where m is the mean distribution. Losses of classes that are
numbers have their kernels in :mod:`rue._kernels.numbers`.

The last function takes answers instead. They are counts of few people, so that most of a million
points share their terms: each different term has its logarithm once for every strength, and points
add up what this table has.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import kernel
from rue._kernels.threads import filled, on_blocks, pointwise

_SUM = {"reassoc", "contract", "nsz"}  # lets a sum be vectorised; everything else stays exact

_SQRT_HALF = np.int64(0x3FE6A09E667F3BCD)
_ONE = np.int64(0x3FF0000000000000)
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_TWO_52 = np.int64(0x4330000000000000)
_BIAS = 4503599627370496.0 + 1023.0
_LOG_2 = 0.6931471805599453
_TINY = 1e-300

# The room for different answers at first, and the constants that spread them over it.
_FIRST_ROOM = 1 << 12
_MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
    np.uint64(32),
)


@kernel(fastmath={"contract"})
def log(x):
    """Return the natural logarithm of x >= 1e-300, to 1e-16, as LLVM can vectorise it."""
    u = np.float64(x).view(np.int64) + (_ONE - _SQRT_HALF)
    # Before AVX-512 there is no instruction that converts int64 to float64; the exponent is
    # placed in the mantissa of 2^52 instead.
    k = np.int64((u >> 52) | _TWO_52).view(np.float64) - _BIAS
    z = np.int64((u & _MANTISSA) + _SQRT_HALF).view(np.float64)
    s = (z - 1.0) / (z + 1.0)
    q = s * s
    r = ((((1 / 21 * q + 1 / 19) * q + 1 / 17) * q + 1 / 15) * q + 1 / 13) * q + 1 / 11
    r = (((r * q + 1 / 9) * q + 1 / 7) * q + 1 / 5) * q + 1 / 3
    return k * _LOG_2 + 2.0 * (s + s * q * r)


@kernel(fastmath=_SUM)
def row_sum(row):
    """Sum a row in float64."""
    total = 0.0
    for k in range(row.shape[0]):
        total += np.float64(row[k])
    return total


@kernel(fastmath={"nnan", "nsz", "reassoc"})
def _highest(row):
    """Return the largest number of a row; the options let the loop be vectorised."""
    highest = row[0]
    for k in range(1, row.shape[0]):
        highest = max(highest, row[k])
    return highest


@kernel
def rooms(probs):
    """Return room for the renormalised draws of some points, and for their means."""
    _, n_draws, n_classes = probs.shape
    batch = max(1, 1024 // (n_draws * n_classes))
    return np.empty((batch, n_draws, n_classes)), np.empty((batch, n_classes))


@kernel
def normalize_draws(draws, rows, means):
    """Write the renormalised draws of some points, and their means, into rooms."""
    n_points, n_draws, n_classes = draws.shape
    for i in range(n_points):
        for k in range(n_classes):
            means[i, k] = 0.0
        for s in range(n_draws):
            total = row_sum(draws[i, s])
            for k in range(n_classes):
                rows[i, s, k] = draws[i, s, k] / total
                means[i, k] += rows[i, s, k]
        for k in range(n_classes):
            means[i, k] /= n_draws


@kernel
def mean_draws(draws, totals, means):
    """Write the sum of each draw, and the mean of the renormalised draws of each point."""
    n_points, n_draws, n_classes = draws.shape
    for i in range(n_points):
        for k in range(n_classes):
            means[i, k] = 0.0
        for s in range(n_draws):
            total = row_sum(draws[i, s])
            totals[i, s] = total
            for k in range(n_classes):
                means[i, k] += draws[i, s, k] / total
        for k in range(n_classes):
            means[i, k] /= n_draws


def first_bad_row(rows: NDArray[Any], tolerance: float) -> int:
    """Return the index of the first row that is not a distribution, or -1."""
    bad_rows = on_blocks(
        lambda start, stop: _first_bad_row(rows, tolerance, start, stop), len(rows), rows.size
    )
    return next((int(row) for row in bad_rows if row >= 0), -1)


@kernel
def _first_bad_row(rows, tolerance, start, stop):
    for i in range(start, stop):
        total, least = 0.0, 0.0
        for k in range(rows.shape[1]):
            total += np.float64(rows[i, k])
            least = min(least, np.float64(rows[i, k]))
        # Written so that NaN counts as invalid.
        if not (least >= 0.0 and abs(total - 1.0) <= tolerance):
            return i
    return -1


def mean(probs: NDArray[Any]) -> NDArray[Any]:
    """Return the mean distribution m of each point, (n_points, n_classes)."""
    return filled(_mean, np.empty((len(probs), probs.shape[2])), probs)


@kernel
def _mean(start, stop, out, probs):
    mean_draws(probs[start:stop], np.empty((stop - start, probs.shape[1])), out[start:stop])


@kernel
def _logs(flat, out, least):
    """Write the logarithms of many numbers at once: long loops vectorise, short ones do not."""
    for j in range(flat.shape[0]):
        out[j] = log(max(np.float64(flat[j]), least))


@kernel(fastmath=_SUM)
def _entropy_terms(row, logs, log_mean):
    """Return sum p log p and sum p (log p - log m) of one unnormalised row."""
    plogp, cross = 0.0, 0.0
    for k in range(row.shape[0]):
        p = np.float64(row[k])
        plogp += p * logs[k]
        cross += p * (logs[k] - log_mean[k])
    return plogp, cross


@kernel
def _entropies(draws, totals, logs, log_totals, log_means, aleatoric, epistemic):
    """Write the entropy of some points, and the mean divergence of their draws from the mean."""
    n_points, n_draws, _ = draws.shape
    for i in range(n_points):
        entropy, divergence = 0.0, 0.0
        for s in range(n_draws):
            plogp, cross = _entropy_terms(draws[i, s], logs[i, s], log_means[i])
            entropy += log_totals[i, s] - plogp / totals[i, s]
            divergence += cross / totals[i, s] - log_totals[i, s]
        aleatoric[i], epistemic[i] = entropy / n_draws, divergence / n_draws


@pointwise
def log_loss(start, stop, aleatoric, epistemic, probs, floor):
    """Entropy, and Kullback-Leibler divergence of each draw from the mean floored at ``floor``."""
    _, n_draws, n_classes = probs.shape
    batch = max(1, 4096 // (n_draws * n_classes))
    logs = np.empty((batch, n_draws, n_classes))
    totals, log_totals = np.empty((batch, n_draws)), np.empty((batch, n_draws))
    means, log_means = np.empty((batch, n_classes)), np.empty((batch, n_classes))
    for first in range(start, stop, batch):
        last = min(first + batch, stop)
        draws = probs[first:last]
        mean_draws(draws, totals, means)
        _logs(draws.reshape(-1), logs.reshape(-1), _TINY)
        _logs(totals.reshape(-1), log_totals.reshape(-1), _TINY)
        _logs(means.reshape(-1), log_means.reshape(-1), floor)
        out = aleatoric[first:last], epistemic[first:last]
        _entropies(draws, totals, logs, log_totals, log_means, *out)


@pointwise
def brier(start, stop, aleatoric, epistemic, probs):
    """1 - sum p^2, and sum (p - m)^2."""
    _, n_draws, n_classes = probs.shape
    rows, m = rooms(probs)
    for i in range(start, stop):
        j = (i - start) % len(m)
        if j == 0:
            normalize_draws(probs[i : min(i + len(m), stop)], rows, m)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            for k in range(n_classes):
                risk += rows[j, s, k] * (1.0 - rows[j, s, k])
                regret += (rows[j, s, k] - m[j, k]) ** 2
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def zero_one(start, stop, aleatoric, epistemic, probs, tie):
    """1 - max p, and max p - p[a], where a is the first class within ``tie`` of max m."""
    _, n_draws, _ = probs.shape
    rows, m = rooms(probs)
    for i in range(start, stop):
        j = (i - start) % len(m)
        if j == 0:
            normalize_draws(probs[i : min(i + len(m), stop)], rows, m)
        bar = _highest(m[j]) - tie
        a = 0
        while m[j, a] < bar:
            a += 1
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            highest = _highest(rows[j, s])
            risk += 1.0 - highest
            regret += highest - rows[j, s, a]
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def cost(start, stop, aleatoric, epistemic, probs, costs, tie):
    """Least (C p), and (C p)[a] minus it, where a is the first action within ``tie`` of min C m."""
    _, n_draws, n_classes = probs.shape
    n_actions = costs.shape[0]
    totals, m = np.empty((1, n_draws)), np.empty((1, n_classes))
    expected = np.empty(n_actions)
    for i in range(start, stop):
        mean_draws(probs[i : i + 1], totals, m)
        for c in range(n_actions):
            expected[c] = 0.0
            for k in range(n_classes):
                expected[c] += costs[c, k] * m[0, k]
        bar = expected.min() + tie
        a = 0
        while expected[a] > bar:
            a += 1
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            for c in range(n_actions):
                expected[c] = 0.0
                for k in range(n_classes):
                    expected[c] += costs[c, k] * probs[i, s, k]
                expected[c] /= totals[0, s]
            least = expected.min()
            risk += least
            regret += expected[a] - least
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


def leave_one_out_log(
    counts: NDArray[Any], octaves: NDArray[Any], tolerance: float
) -> NDArray[Any]:
    """Return the mean log loss of each point's answers under distributions that omit them."""
    totals, starts, pool = _pool(counts)
    entry = np.empty(starts[-1], np.uint32)
    answers = (starts, entry, *_number(counts, totals, pool, entry))
    if len(counts) == 1:
        return _best_for_others(answers, np.array([counts.shape[1] / 2]), tolerance)[1]
    octave, own = _best_for_others(answers, octaves, tolerance)
    for base in octaves:
        points = octave == base
        if points.any():
            candidates = base * 2.0 ** (np.arange(-8, 9) / 8)
            own[points] = _best_for_others(answers, candidates, tolerance)[1][points]
    return own


def _best_for_others(
    answers: tuple[NDArray[Any], ...], candidates: NDArray[Any], tolerance: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each point the first candidate with the least loss on all others, and its loss."""
    starts, entry, same, q, rest = answers
    n_points, size = len(starts) - 1, len(entry)
    terms = _terms(same, q, rest, candidates)
    parts = on_blocks(lambda start, stop: _whole(starts, entry, terms, start, stop), n_points, size)
    whole, best, own = np.sum(parts, axis=0), np.empty(n_points), np.empty(n_points)
    points = (starts, entry, terms, whole, candidates, tolerance)
    on_blocks(lambda start, stop: _choose(*points, start, stop, best, own), n_points, size)
    return best, own


@kernel
def _terms(same, q, rest, candidates):
    """Return the loss of each different answer under each candidate, in rows of 16 or 32."""
    n_lanes = 16 * (1 + (candidates.shape[0] - 1) // 16)
    terms, column = np.zeros((same.shape[0], n_lanes)), np.empty(same.shape[0])
    for c in range(candidates.shape[0]):
        s = candidates[c]
        for e in range(same.shape[0]):
            share = (same[e] + 1) / (rest[e] + 1)
            column[e] = -share * log((same[e] + s * q[e]) / (rest[e] + s))
        terms[:, c] = column
    return terms


@kernel
def _whole(starts, entry, terms, start, stop):
    """Return the sum of the losses of some points under each candidate."""
    sums = np.zeros(terms.shape[1])
    for e in range(starts[start], starts[stop]):
        row = terms[entry[e]]
        for first in range(0, sums.shape[0], 16):
            for c in range(16):
                sums[first + c] += row[first + c]
    return sums


@kernel
def _choose(starts, entry, terms, whole, candidates, tolerance, start, stop, best, own):
    """Write the first candidate with the least loss on all other points, and its own loss."""
    losses = np.empty(terms.shape[1])
    for i in range(start, stop):
        losses[:] = 0.0
        for e in range(starts[i], starts[i + 1]):
            row = terms[entry[e]]
            for first in range(0, losses.shape[0], 16):
                for c in range(16):
                    losses[first + c] += row[first + c]
        least, place = np.inf, 0
        for c in range(candidates.shape[0]):
            others = whole[c] - losses[c]
            if others < least - tolerance * abs(others):
                least, place = others, c
        best[i], own[i] = candidates[place], losses[place]


@kernel
def _pool(counts):
    """Return the sums of the points, where their answers start, and the pooled frequencies."""
    n_points, n_classes = counts.shape
    totals, starts = np.zeros(n_points), np.zeros(n_points + 1, np.int64)
    pooled, size = np.zeros((n_classes, n_classes)), np.zeros(n_classes)
    most, weight = np.empty(n_points), np.empty(n_points)
    for i in range(n_points):
        starts[i + 1] = starts[i]
        for k in range(n_classes):
            starts[i + 1] += counts[i, k] > 0
            totals[i] += counts[i, k]
        most[i], times = _most(counts[i])
        weight[i] = 1 / times
        for label in range(n_classes):
            if counts[i, label] == most[i]:
                size[label] += weight[i]
                for k in range(n_classes):
                    pooled[label, k] += weight[i] * (counts[i, k] / totals[i])
    return totals, starts, (pooled, size, most, weight)


@kernel
def _number(counts, totals, pool, entry):
    """Write the number of each answer among the different ones, and return what those are."""
    pooled, size, most, weight = pool
    n_points, n_classes = counts.shape
    room = _FIRST_ROOM
    table, slots = np.empty((3, room)), np.full(4 * room, -1)
    n_entries, e = 0, 0
    others, majors = np.empty(n_classes), np.empty(n_classes, np.int64)
    for i in range(n_points):
        n_majors = 0
        for label in range(n_classes):
            majors[n_majors] = label
            n_majors += counts[i, label] == most[i]
        for y in range(n_classes):
            if counts[i, y] == 0:
                continue
            frequency, share, times = 0.0, counts[i, y] / totals[i], n_majors
            if counts[i, y] < most[i] or n_majors > 1:  # the other answers have these majorities
                times -= counts[i, y] == most[i]
                for label in majors[:n_majors]:
                    if label != y or counts[i, y] < most[i]:
                        rest = max(pooled[label, y] - weight[i] * share, 0.0) + 1 / n_classes
                        frequency += rest / (size[label] - weight[i] + 1)
            else:
                others[:] = counts[i]
                others[y] -= 1
                largest, times = _most(others)
                for label in range(n_classes):
                    if others[label] == largest:
                        own = weight[i] if label == y else 0.0
                        rest = max(pooled[label, y] - own * share, 0.0) + 1 / n_classes
                        frequency += rest / (size[label] - own + 1)
            same, q, rest = counts[i, y] - 1, frequency / times, totals[i] - 1
            if n_entries == room:
                table, slots = _roomier(table, n_entries)
                room = table.shape[1]
            slot = _slot(table, slots, same, q, rest)
            if slots[slot] < 0:
                slots[slot] = n_entries
                table[0, n_entries], table[1, n_entries], table[2, n_entries] = same, q, rest
                n_entries += 1
            entry[e] = slots[slot]
            e += 1
    return table[0, :n_entries], table[1, :n_entries], table[2, :n_entries]


@kernel
def _roomier(table, n_entries):
    """Return a table with four times the room, and the slots of its entries."""
    wider = np.empty((3, 4 * table.shape[1]))
    slots = np.full(4 * wider.shape[1], -1)
    wider[:, :n_entries] = table
    for e in range(n_entries):
        slots[_slot(wider, slots, wider[0, e], wider[1, e], wider[2, e])] = e
    return wider, slots


@kernel
def _slot(table, slots, same, q, rest):
    """Return the slot of an entry, or the free one where it belongs."""
    bits = np.float64(q).view(np.uint64) ^ (np.float64(same).view(np.uint64) * _MIX[0])
    bits = (bits ^ (bits >> _MIX[3])) * _MIX[1]
    bits = (bits ^ np.float64(rest).view(np.uint64)) * _MIX[2]
    last = slots.shape[0] - 1
    at = np.int64((bits ^ (bits >> _MIX[3])) & np.uint64(last))
    while True:
        e = slots[at]
        if e < 0 or (table[0, e] == same and table[1, e] == q and table[2, e] == rest):
            return at
        at = (at + 1) & last


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
