"""Definition 1 over draws: one pass per point, in float64, on all cores.

Every kernel takes ``probs`` (n_points, n_draws, n_classes), float32 or float64, whose rows need
not be normalised, and returns the mean Bayes risk (aleatoric) and the mean regret of the action
``a(m)`` (epistemic) of each point, where m is the mean distribution. Losses of classes that are
numbers have their kernels in :mod:`rue._kernels.numbers`. The last kernel takes answers instead.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._kernels import kernel
from rue._kernels.threads import on_blocks, pointwise

_SUM = {"reassoc", "contract", "nsz"}  # lets a sum be vectorised; everything else stays exact

_SQRT_HALF = np.int64(0x3FE6A09E667F3BCD)
_ONE = np.int64(0x3FF0000000000000)
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_TWO_52 = np.int64(0x4330000000000000)
_BIAS = 4503599627370496.0 + 1023.0
_LOG_2 = 0.6931471805599453
_TINY = 1e-300


@kernel(fastmath={"contract"})
def log(x):
    """Return the natural logarithm of x >= 1e-300, to 1e-16 absolute, in a form LLVM can vectorise.

    x = 2^k z with z in [sqrt(1/2), sqrt(2)); log z = 2 artanh(s), s = (z - 1)/(z + 1), by its
    Taylor series (|s| < 0.172, so the eleventh term is below 1e-17).
    """
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


@kernel
def mean_draw(draws, mean):
    """Write the mean of the renormalised draws of one point into ``mean``."""
    n_draws, n_classes = draws.shape
    mean[:] = 0.0
    for s in range(n_draws):
        total = row_sum(draws[s])
        for k in range(n_classes):
            mean[k] += draws[s, k] / total
    for k in range(n_classes):
        mean[k] /= n_draws


@kernel
def normalize_draws(draws, rows, mean):
    """Write the renormalised draws of one point into ``rows``, and their mean into ``mean``."""
    n_draws, n_classes = draws.shape
    mean[:] = 0.0
    for s in range(n_draws):
        total = row_sum(draws[s])
        for k in range(n_classes):
            rows[s, k] = draws[s, k] / total
            mean[k] += rows[s, k]
    for k in range(n_classes):
        mean[k] /= n_draws


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
    out = np.empty((len(probs), probs.shape[2]))
    on_blocks(lambda start, stop: _mean(probs[start:stop], out[start:stop]), len(probs), probs.size)
    return out


@kernel
def _mean(probs, out):
    for i in range(probs.shape[0]):
        mean_draw(probs[i], out[i])


@kernel
def _logs(flat, out):
    """Write the logarithms of many points at once: long loops vectorise, short ones do not."""
    for j in range(flat.shape[0]):
        out[j] = log(max(np.float64(flat[j]), _TINY))


@kernel(fastmath=_SUM)
def _entropy_terms(row, logs, log_mean):
    """Return sum p, sum p log p and sum p (log p - log m) of one unnormalised row."""
    total, plogp, cross = 0.0, 0.0, 0.0
    for k in range(row.shape[0]):
        p = np.float64(row[k])
        total += p
        plogp += p * logs[k]
        cross += p * (logs[k] - log_mean[k])
    return total, plogp, cross


@pointwise
def log_loss(start, stop, aleatoric, epistemic, probs, floor):
    """Entropy, and Kullback-Leibler divergence of each draw from the mean floored at ``floor``."""
    _, n_draws, n_classes = probs.shape
    size = n_draws * n_classes
    batch = max(1, 4096 // size)
    log_mean = np.empty(n_classes)
    logs = np.empty((batch, n_draws, n_classes))
    for i in range(start, stop):
        j = (i - start) % batch
        if j == 0:
            last = min(i + batch, stop)
            _logs(probs[i:last].reshape(-1), logs.reshape(-1))
        mean_draw(probs[i], log_mean)
        for k in range(n_classes):
            log_mean[k] = log(max(log_mean[k], floor))
        entropy, divergence = 0.0, 0.0
        for s in range(n_draws):
            total, plogp, cross = _entropy_terms(probs[i, s], logs[j, s], log_mean)
            log_total = log(total)
            entropy += log_total - plogp / total
            divergence += cross / total - log_total
        aleatoric[i], epistemic[i] = entropy / n_draws, divergence / n_draws


@pointwise
def brier(start, stop, aleatoric, epistemic, probs):
    """1 - sum p^2, and sum (p - m)^2."""
    _, n_draws, n_classes = probs.shape
    m = np.empty(n_classes)
    for i in range(start, stop):
        mean_draw(probs[i], m)
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            total = row_sum(probs[i, s])
            for k in range(n_classes):
                p = probs[i, s, k] / total
                risk += p * (1.0 - p)
                regret += (p - m[k]) ** 2
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def zero_one(start, stop, aleatoric, epistemic, probs, tie):
    """1 - max p, and max p - p[a], where a is the first class within ``tie`` of max m."""
    _, n_draws, n_classes = probs.shape
    m = np.empty(n_classes)
    for i in range(start, stop):
        mean_draw(probs[i], m)
        bar = m.max() - tie
        a = 0
        while m[a] < bar:
            a += 1
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            total = row_sum(probs[i, s])
            highest = np.float64(probs[i, s].max()) / total
            risk += 1.0 - highest
            regret += highest - probs[i, s, a] / total
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@pointwise
def cost(start, stop, aleatoric, epistemic, probs, costs, tie):
    """Least (C p), and (C p)[a] minus it, where a is the first action within ``tie`` of min C m."""
    _, n_draws, n_classes = probs.shape
    n_actions = costs.shape[0]
    m = np.empty(n_classes)
    expected = np.empty(n_actions)
    for i in range(start, stop):
        mean_draw(probs[i], m)
        for c in range(n_actions):
            expected[c] = (costs[c] * m).sum()
        bar = expected.min() + tie
        a = 0
        while expected[a] > bar:
            a += 1
        risk, regret = 0.0, 0.0
        for s in range(n_draws):
            total = row_sum(probs[i, s])
            for c in range(n_actions):
                expected[c] = 0.0
                for k in range(n_classes):
                    expected[c] += costs[c, k] * probs[i, s, k]
                expected[c] /= total
            least = expected.min()
            risk += least
            regret += expected[a] - least
        aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws


@kernel
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
