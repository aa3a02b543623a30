"""Definition 1 over draws: one pass per point, in float64, on all cores.

Every kernel takes ``probs`` (n_points, n_draws, n_classes), float32 or float64, whose rows need
not be normalised, and returns the mean Bayes risk (aleatoric) and the mean regret of the action
``a(m)`` (epistemic) of each point, where m is the mean distribution.
"""

import numpy as np
from numba import prange

from rue._kernels import N_BLOCKS, block, kernel, parallel_kernel

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


@parallel_kernel
def first_bad_row(rows, tolerance):
    """Return the index of the first row that is not a distribution, or -1."""
    n_rows, n_classes = rows.shape
    first = np.full(N_BLOCKS, n_rows)
    for b in prange(N_BLOCKS):
        start, stop = block(b, n_rows)
        for i in range(start, stop):
            total, least = 0.0, 0.0
            for k in range(n_classes):
                total += np.float64(rows[i, k])
                least = min(least, np.float64(rows[i, k]))
            # Written so that NaN counts as invalid.
            if not (least >= 0.0 and abs(total - 1.0) <= tolerance):
                first[b] = i
                break
    least_row = first.min()
    return least_row if least_row < n_rows else -1


@parallel_kernel
def mean(probs):
    """Return the mean distribution m of each point, (n_points, n_classes)."""
    n_points, _, n_classes = probs.shape
    out = np.empty((n_points, n_classes))
    for b in prange(N_BLOCKS):
        start, stop = block(b, n_points)
        for i in range(start, stop):
            mean_draw(probs[i], out[i])
    return out


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


@parallel_kernel
def log_loss(probs, floor):
    """Entropy, and Kullback-Leibler divergence of each draw from the mean floored at ``floor``."""
    n_points, n_draws, n_classes = probs.shape
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    size = n_draws * n_classes
    batch = max(1, 4096 // size)
    for b in prange(N_BLOCKS):
        log_mean = np.empty(n_classes)
        logs = np.empty((batch, n_draws, n_classes))
        start, stop = block(b, n_points)
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
    return aleatoric, epistemic


@parallel_kernel
def brier(probs):
    """1 - sum p^2, and sum (p - m)^2."""
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
                for k in range(n_classes):
                    p = probs[i, s, k] / total
                    risk += p * (1.0 - p)
                    regret += (p - m[k]) ** 2
            aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws
    return aleatoric, epistemic


@parallel_kernel
def zero_one(probs, tie):
    """1 - max p, and max p - p[a], where a is the first class within ``tie`` of max m."""
    n_points, n_draws, n_classes = probs.shape
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    for b in prange(N_BLOCKS):
        m = np.empty(n_classes)
        start, stop = block(b, n_points)
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
    return aleatoric, epistemic


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
        m = np.empty(n_classes)
        start, stop = block(b, n_points)
        for i in range(start, stop):
            mean_draw(probs[i], m)
            a, below = 0, m[0]
            while below < level and a < n_classes - 1:
                a += 1
                below += m[a]
            risk, regret = 0.0, 0.0
            for s in range(n_draws):
                total = row_sum(probs[i, s])
                below = 0.0
                for j in range(n_classes - 1):
                    below += probs[i, s, j] / total
                    risk += steps[j] * min((1.0 - q) * below, q * (1.0 - below))
                    excess = below - q
                    regret += steps[j] * max(excess if j < a else -excess, 0.0)
            aleatoric[i], epistemic[i] = risk / n_draws, regret / n_draws
    return aleatoric, epistemic


@parallel_kernel
def cost(probs, costs, tie):
    """Least (C p), and (C p)[a] minus it, where a is the first action within ``tie`` of min C m."""
    n_points, n_draws, n_classes = probs.shape
    n_actions = costs.shape[0]
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    for b in prange(N_BLOCKS):
        m = np.empty(n_classes)
        expected = np.empty(n_actions)
        start, stop = block(b, n_points)
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
    return aleatoric, epistemic
