"""The bootstrap with weights, which sorts the points once and not once per replicate.

A replicate is stored as weights: how often each of the N points was drawn. Copies of a point have
equal scores, so one pass over the sorted points gives the same result as sorting the copies.
"""

import numpy as np

from rue._kernels import kernel

N_COLUMNS = 11
"""aurec, its oracle, aurc, aurc_total, risk, regret, spearman_hat, spearman_star, calibration,
aurec_total, aurec_aleatoric."""


@kernel(nogil=True)
def draw(key, replicate, weight):
    """Write how often each point is drawn in a replicate: N draws of N points, with splitmix64.

    A draw is the high half of a 32-bit random number times N, so the probabilities of points
    differ by at most N / 2^32. Counts are bytes, so that they fit in the cache; the probability
    that a point is drawn 256 times is below 1e-500.
    """
    n_points = weight.shape[0]
    weight[:] = 0
    state = np.uint64(key) + np.uint64(replicate) * np.uint64(0xD1342543DE82EF95)
    state = _mix(state)
    n = np.uint64(n_points)
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    for _ in range(n_points // 2):
        state += np.uint64(0x9E3779B97F4A7C15)
        bits = _mix(state)
        weight[((bits & low) * n) >> shift] += 1
        weight[((bits >> shift) * n) >> shift] += 1
    if n_points % 2:
        state += np.uint64(0x9E3779B97F4A7C15)
        weight[((_mix(state) & low) * n) >> shift] += 1


@kernel(nogil=True)
def draw_points(key, replicate, clusters, drawn, weight):
    """Write how often each point is drawn: point by point, or all points of a cluster together.

    ``clusters`` holds the cluster of each point, or nothing; ``drawn`` has room for each cluster.
    """
    if clusters.shape[0] == 0:
        draw(key, replicate, weight)
        return
    draw(key, replicate, drawn)
    for i in range(weight.shape[0]):
        weight[i] = drawn[clusters[i]]


@kernel
def count_clusters(clusters):
    """Return the number of clusters, which are numbered from 0; 0 if there are none."""
    return clusters.max() + 1 if clusters.shape[0] > 0 else 0


@kernel
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(nogil=True)
def _area(weight, order, last, ties, value, mass):
    """Return the area under a coverage curve.

    Each block adds its value times the weight that is rejected later, plus half its own weight.

    ``order`` sorts the points by score; ``last`` marks the ends of blocks of equal scores, if
    there are ``ties``, and ``value`` is in that order.
    """
    area, covered = 0.0, 0
    twice = 2 * mass
    if not ties:
        for i in range(order.shape[0]):
            w = np.int64(weight[order[i]])
            area += value[i] * np.float64(w * (twice - covered - w))
            covered += 2 * w
        return 0.5 * area / mass / mass
    width, rise = 0, 0.0
    for i in range(order.shape[0]):
        w = np.int64(weight[order[i]])
        width += w
        rise += w * value[i]
        if last[i]:
            area += rise * np.float64(twice - covered - width)
            covered += 2 * width
            width, rise = 0, 0.0
    return 0.5 * area / mass / mass


@kernel(nogil=True)
def _two_areas(weight, order, last, ties, first, second, mass):
    """Return the sums of :func:`_area` of two values under one ranking, and those of the values."""
    area, other, covered, height, top = 0.0, 0.0, 0, 0.0, 0.0
    twice = 2 * mass
    if not ties:
        for i in range(order.shape[0]):
            w = np.int64(weight[order[i]])
            left = np.float64(w * (twice - covered - w))
            area += first[i] * left
            other += second[i] * left
            height += w * first[i]
            top += w * second[i]
            covered += 2 * w
    else:
        width, rise, climb = 0, 0.0, 0.0
        for i in range(order.shape[0]):
            w = np.int64(weight[order[i]])
            width += w
            rise += w * first[i]
            climb += w * second[i]
            if last[i]:
                left = np.float64(twice - covered - width)
                area += rise * left
                other += climb * left
                height += rise
                top += climb
                covered += 2 * width
                width, rise, climb = 0, 0.0, 0.0
    return area, other, height, top


@kernel(nogil=True)
def _ranks(weight, order, last, ties, ranks):
    """Write the ranks of the points of a replicate; copies and ties share their mean rank."""
    if not ties:
        covered = 0
        for i in range(order.shape[0]):
            w = np.int64(weight[order[i]])
            ranks[order[i]] = 0.5 * np.float64(2 * covered + w + 1)
            covered += w
        return
    covered, width, begin = 0.0, 0.0, 0
    for i in range(order.shape[0]):
        width += weight[order[i]]
        if last[i]:
            for j in range(begin, i + 1):
                ranks[order[j]] = covered + 0.5 * (width + 1.0)
            covered += width
            width, begin = 0.0, i + 1


@kernel(nogil=True, fastmath={"reassoc"})
def _correlation(weight, a, b, mass):
    """Return the correlation of ranks; their products are multiples of 1/4, so sums are exact.

    At least they are up to 200,000 points, after which the last digit may depend on the order.
    """
    centre = 0.5 * (mass + 1.0)
    ab, aa, bb = 0.0, 0.0, 0.0
    for i in range(weight.shape[0]):
        x, y = a[i] - centre, b[i] - centre
        w = np.float64(weight[i])
        ab += w * x * y
        aa += w * x * x
        bb += w * y * y
    if aa == 0.0 or bb == 0.0:
        return np.nan
    return min(1.0, max(-1.0, ab / np.sqrt(aa * bb)))


@kernel(nogil=True)
def _calibration(weight, order, last, estimated, realised, mass, bins):
    """Return the mean absolute gap of regret calibration; columns are sorted by the estimate."""
    gaps, filled, sum_ = np.zeros(bins), 0, 0.0
    covered, width, gap = 0.0, 0.0, 0.0
    for i in range(order.shape[0]):
        w = np.float64(weight[order[i]])
        width += w
        gap += w * (realised[i] - estimated[i])
        if last[i]:
            middle = (covered + 0.5 * width) / mass
            to_fill = min(np.int64(middle * bins), bins - 1)
            if to_fill != filled:
                gaps[filled] = sum_
                filled, sum_ = to_fill, 0.0
            sum_ += gap
            covered += width
            width = gap = 0.0
    gaps[filled] = sum_
    return np.abs(gaps).sum() / mass


@kernel(nogil=True)
def measure(
    weight,
    orders,
    lasts,
    ties,
    regret,
    risk,
    risk_by_total,
    sorted_regret,
    hat,
    regret_by_total,
    regret_by_aleatoric,
    further,
    out,
):
    """Write the columns of one weighted sample; see N_COLUMNS.

    ``orders``, ``lasts`` and ``ties`` are of epistemic_hat, total_hat, epistemic_star,
    aleatoric_hat and aleatoric_star. ``regret``, ``risk`` and ``hat`` (epistemic) are in the
    order of the first, ``risk_by_total`` and ``regret_by_total`` of the second, ``sorted_regret``
    of the third, ``regret_by_aleatoric`` of the fourth.
    """
    n_points = weight.shape[0]
    mass = 0
    for i in range(n_points):
        mass += np.int64(weight[i])
    area, other, height, top = _two_areas(weight, orders[0], lasts[0], ties[0], regret, risk, mass)
    scale = 0.5 / mass / mass
    out[0], out[2], out[5], out[4] = area * scale, other * scale, height / mass, top / mass
    out[1] = _area(weight, orders[2], lasts[2], ties[2], sorted_regret, mass)
    area, other, _, _ = _two_areas(
        weight, orders[1], lasts[1], ties[1], risk_by_total, regret_by_total, mass
    )
    out[3], out[9] = 0.5 * area / mass / mass, 0.5 * other / mass / mass
    out[10] = _area(weight, orders[3], lasts[3], ties[3], regret_by_aleatoric, mass)
    if further:
        ranks = np.empty((4, n_points))
        _ranks(weight, orders[0], lasts[0], ties[0], ranks[0])
        _ranks(weight, orders[3], lasts[3], ties[3], ranks[1])
        _ranks(weight, orders[2], lasts[2], ties[2], ranks[2])
        _ranks(weight, orders[4], lasts[4], ties[4], ranks[3])
        out[6] = _correlation(weight, ranks[0], ranks[1], mass)
        out[7] = _correlation(weight, ranks[2], ranks[3], mass)
        out[8] = _calibration(weight, orders[0], lasts[0], hat, regret, mass, 10)


@kernel(nogil=True)
def measure_all(
    key,
    first,
    clusters,
    orders,
    lasts,
    ties,
    regret,
    risk,
    risk_by_total,
    sorted_regret,
    hat,
    regret_by_total,
    regret_by_aleatoric,
    further,
    out,
):
    """Draw and measure the replicates ``first`` to ``first + len(out)``."""
    weight = np.empty(orders.shape[1], np.uint8)
    drawn = np.empty(count_clusters(clusters), np.uint8)
    for b in range(out.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        measure(
            weight,
            orders,
            lasts,
            ties,
            regret,
            risk,
            risk_by_total,
            sorted_regret,
            hat,
            regret_by_total,
            regret_by_aleatoric,
            further,
            out[b],
        )
