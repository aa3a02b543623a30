"""The bootstrap with weights, which sorts the points once and not once per replicate.

A replicate is stored as weights: how often each of the N points was drawn. Copies of a point have
equal scores, so one pass over the sorted points gives the same result as sorting the copies.
"""

import numpy as np

from rue._kernels import kernel

N_COLUMNS = 13
"""aurec, its oracle, aurc, aurc_total, risk, regret, spearman_hat, spearman_star, calibration,
aurec_total, aurec_aleatoric, spearman_epistemic, spearman_aleatoric."""

N_LANES = 32
"""The number of replicates whose areas are added up side by side, which is vectorised."""


@kernel
def draw(key, replicate, weight):
    """Write how often each point is drawn in a replicate."""
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


@kernel
def draw_points(key, replicate, clusters, drawn, weight):
    """Write how often each point is drawn: point by point, or all points of a cluster together."""
    if clusters.shape[0] == 0:
        draw(key, replicate, weight)
        return
    draw(key, replicate, drawn)
    for i in range(weight.shape[0]):
        weight[i] = drawn[clusters[i]]


@kernel
def draw_weights(key, first, clusters, rows, weights):
    """Write the weights of the replicates from ``first`` on; point i is numbered ``rows[i]``."""
    drawn = np.empty(count_clusters(clusters), np.uint8)
    weight = np.empty(weights.shape[1], np.uint8)
    for b in range(weights.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        for i in range(rows.shape[0]):
            weights[b, rows[i]] = weight[i]


@kernel
def count_clusters(clusters):
    """Return the number of clusters, which are numbered from 0; 0 if there are none."""
    return clusters.max() + 1 if clusters.shape[0] > 0 else 0


@kernel
def _mass(weight):
    """Return the number of points that were drawn."""
    mass = 0
    for i in range(weight.shape[0]):
        mass += np.int64(weight[i])
    return mass


@kernel
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _area(weight, order, last, ties, value, mass):
    """Return the area under a coverage curve."""
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


@kernel
def weighted_areas(weights, order, last, value, out):
    """Write the area of each weighted sample; see :func:`_area`."""
    ties = not last.all()
    for b in range(weights.shape[0]):
        out[b] = _area(weights[b], order, last, ties, value, _mass(weights[b]))


@kernel(fastmath={"reassoc"})
def _weighted_sum(weight, value):
    total = 0.0
    for i in range(weight.shape[0]):
        total += np.float64(weight[i]) * value[i]
    return total


@kernel
def weighted_means(weights, value, out):
    """Write the mean of a value in each weighted sample."""
    for b in range(weights.shape[0]):
        out[b] = _weighted_sum(weights[b], value) / _mass(weights[b])


@kernel
def teams(weights, order, last, excess, asked, rounding, scale, out):
    """Write parity with a person, the least cost of a team and its coverage of weighted samples."""
    n_points = order.shape[0]
    for b in range(weights.shape[0]):
        weight = weights[b]
        mass, whole, size, cost, least = 0, 0.0, 0.0, 0.0, 0.0
        for i in range(n_points):
            w = np.int64(weight[order[i]])
            mass += w
            whole += w * asked[i]
            size += w * abs(excess[i])
            cost += w * excess[i]
            if last[i]:
                least = min(least, cost)
        close = rounding * max(size, mass * scale)
        # Corners of the curve: the last as low as the least one, and the last that is not above 0
        # with the corner after it.
        covered, low, even, after = 0, 0, 0, 0
        cost, even_cost, after_cost, is_even = 0.0, 0.0, 0.0, True
        for i in range(n_points):
            w = np.int64(weight[order[i]])
            covered += w
            cost += w * excess[i]
            if not last[i]:
                continue
            if cost <= least + close:
                low = covered
            if cost <= close:
                even, even_cost, is_even = covered, cost, True
            elif is_even:
                after, after_cost, is_even = covered, cost, False
        out[b, 0] = 1.0
        if even < mass:
            part = max(-even_cost, 0.0) / (after_cost - even_cost)
            out[b, 0] = (even + part * (after - even)) / mass
        out[b, 1] = (whole + least) / mass
        out[b, 2] = low / mass


@kernel
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


@kernel
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


@kernel(fastmath={"reassoc"})
def _correlation(weight, a, b, mass):
    """Return the correlation of ranks; their products are multiples of 1/4, so sums are exact."""
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


@kernel
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


@kernel
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
    """Write the columns of one weighted sample; see N_COLUMNS."""
    mass = _mass(weight)
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
        _measure_further(weight, orders, lasts, ties, regret, hat, mass, out)


@kernel
def _measure_further(weight, orders, lasts, ties, regret, hat, mass, out):
    """Write the columns of one weighted sample that are no areas; see :func:`measure`."""
    ranks = np.empty((4, weight.shape[0]))
    _ranks(weight, orders[0], lasts[0], ties[0], ranks[0])
    _ranks(weight, orders[3], lasts[3], ties[3], ranks[1])
    _ranks(weight, orders[2], lasts[2], ties[2], ranks[2])
    _ranks(weight, orders[4], lasts[4], ties[4], ranks[3])
    out[6] = _correlation(weight, ranks[0], ranks[1], mass)
    out[7] = _correlation(weight, ranks[2], ranks[3], mass)
    out[11] = _correlation(weight, ranks[0], ranks[2], mass)
    out[12] = _correlation(weight, ranks[1], ranks[3], mass)
    out[8] = _calibration(weight, orders[0], lasts[0], hat, regret, mass, 10)


@kernel
def _add_areas(lanes, order, last, ties, first, second, mass, sums):
    """Write what :func:`_two_areas` returns, for N_LANES replicates side by side."""
    sums[:] = 0.0
    if not ties:
        for i in range(order.shape[0]):
            point, v, u = order[i], first[i], second[i]
            for k in range(N_LANES):
                w = np.float64(lanes[point, k])
                left = w * (2.0 * mass[k] - sums[4, k] - w)
                sums[0, k] += v * left
                sums[1, k] += u * left
                sums[2, k] += w * v
                sums[3, k] += w * u
                sums[4, k] += 2.0 * w
        return
    for i in range(order.shape[0]):
        point, v, u = order[i], first[i], second[i]
        for k in range(N_LANES):
            w = np.float64(lanes[point, k])
            sums[5, k] += w
            sums[6, k] += w * v
            sums[7, k] += w * u
        if last[i]:
            for k in range(N_LANES):
                left = 2.0 * mass[k] - sums[4, k] - sums[5, k]
                sums[0, k] += sums[6, k] * left
                sums[1, k] += sums[7, k] * left
                sums[2, k] += sums[6, k]
                sums[3, k] += sums[7, k]
                sums[4, k] += 2.0 * sums[5, k]
                sums[5, k] = sums[6, k] = sums[7, k] = 0.0


@kernel
def _measure_lanes(
    weights,
    mass,
    lanes,
    orders,
    lasts,
    ties,
    regret,
    risk,
    risk_by_total,
    sorted_regret,
    regret_by_total,
    regret_by_aleatoric,
    out,
):
    """Write the areas of N_LANES weighted samples; see :func:`measure`."""
    n_points, sums = weights.shape[1], np.empty((8, N_LANES))
    for first in range(0, n_points, 64):  # blocks that fit into the processor's nearest cache
        for k in range(N_LANES):
            for i in range(first, min(first + 64, n_points)):
                lanes[i, k] = weights[k, i]
    _add_areas(lanes, orders[0], lasts[0], ties[0], regret, risk, mass, sums)
    for k in range(N_LANES):
        scale = 0.5 / mass[k] / mass[k]
        out[k, 0], out[k, 2] = sums[0, k] * scale, sums[1, k] * scale
        out[k, 5], out[k, 4] = sums[2, k] / mass[k], sums[3, k] / mass[k]
    _add_areas(lanes, orders[1], lasts[1], ties[1], risk_by_total, regret_by_total, mass, sums)
    for k in range(N_LANES):
        out[k, 3], out[k, 9] = (
            0.5 * sums[0, k] / mass[k] / mass[k],
            0.5 * sums[1, k] / mass[k] / mass[k],
        )
    _add_areas(lanes, orders[2], lasts[2], ties[2], sorted_regret, sorted_regret, mass, sums)
    for k in range(N_LANES):
        out[k, 1] = 0.5 * sums[0, k] / mass[k] / mass[k]
    by_aleatoric = regret_by_aleatoric
    _add_areas(lanes, orders[3], lasts[3], ties[3], by_aleatoric, by_aleatoric, mass, sums)
    for k in range(N_LANES):
        out[k, 10] = 0.5 * sums[0, k] / mass[k] / mass[k]


@kernel
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
    n_points, n_replicates = orders.shape[1], out.shape[0]
    weights, mass = np.empty((N_LANES, n_points), np.uint8), np.empty(N_LANES)
    lanes = np.empty((n_points, N_LANES), np.uint8)
    drawn = np.empty(count_clusters(clusters), np.uint8)
    for start in range(0, n_replicates, N_LANES):
        stop = min(start + N_LANES, n_replicates)
        for b in range(start, stop):
            draw_points(key, first + b, clusters, drawn, weights[b - start])
            mass[b - start] = _mass(weights[b - start])
            if stop < start + N_LANES:
                measure(
                    *(weights[b - start], orders, lasts, ties, regret, risk, risk_by_total),
                    *(sorted_regret, hat, regret_by_total, regret_by_aleatoric, further, out[b]),
                )
            elif further:
                _measure_further(
                    *(weights[b - start], orders, lasts, ties, regret, hat),
                    *(np.int64(mass[b - start]), out[b]),
                )
        if stop == start + N_LANES:
            _measure_lanes(
                *(weights, mass, lanes, orders, lasts, ties, regret, risk, risk_by_total),
                *(sorted_regret, regret_by_total, regret_by_aleatoric, out[start:stop]),
            )
