"""The bootstrap with weights, which sorts the points once and not once per replicate.

A replicate is stored as weights: how often each of the N points was drawn. Copies of a point have
equal scores, so one pass over the sorted points gives the same result as sorting the copies.
"""

import numpy as np

from rue._kernels import kernel

N_COLUMNS = 13
"""aurec, its oracle, aurc, aurc_total, risk, regret, spearman_hat, spearman_star, calibration,
aurec_total, aurec_aleatoric, spearman_epistemic, spearman_aleatoric."""


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
def weighted_areas(weights, order, ties, value, out):
    """Write the area of each weighted sample; ``value`` is sorted, and ``ties`` as in `_place`."""
    drawn, middle = np.empty(order.shape[0], np.uint8), np.empty(order.shape[0], np.int32)
    for b in range(weights.shape[0]):
        _place(weights[b], order, ties, drawn, middle)
        out[b] = 0.5 * _one_area(drawn, middle, value, _mass(weights[b]))


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


_TILE = 1024
"""Curves are added up in parts of so many points, of which most cannot hold what is looked for."""


@kernel
def teams(weights, order, last, excess, asked, rounding, scale, out):
    """Write parity with a person, the least cost of a team and its coverage of weighted samples."""
    n_points = order.shape[0]
    n_tiles = (n_points + _TILE - 1) // _TILE
    drawn = np.empty(n_points, np.uint8)
    # Before each part of the curve: the points drawn and the cost; and its descent, at most.
    covered, cost, descent = np.zeros(n_tiles + 1), np.zeros(n_tiles + 1), np.zeros(n_tiles)
    for b in range(weights.shape[0]):
        _take(weights[b], order, drawn)
        mass, size, least = np.float64(_mass(drawn)), 0.0, 0.0
        for t in range(n_tiles):
            part = slice(t * _TILE, min((t + 1) * _TILE, n_points))
            rise, length = _rise(drawn[part], excess[part])
            size += length
            descent[t] = 0.5 * (length - rise) + 1e-15 * size
            covered[t + 1] = covered[t] + _mass(drawn[part])
            cost[t + 1] = cost[t] + rise
        for t in range(n_tiles):
            if cost[t] - descent[t] < least:
                height = cost[t]
                for i in range(t * _TILE, min((t + 1) * _TILE, n_points)):
                    height += drawn[i] * excess[i]
                    if last[i]:
                        least = min(least, height)
        close = rounding * max(size, mass * scale)
        out[b, 0] = 1.0
        even, even_covered, even_cost = _last_corner(
            drawn, last, excess, covered, cost, descent, close
        )
        if even_covered < mass:
            width, climb, at, is_open = 0.0, 0.0, even, True
            while is_open:  # to the corner after it
                width += drawn[at]
                climb += drawn[at] * excess[at]
                is_open = not last[at]
                at += 1
            share = max(-even_cost, 0.0) / climb if climb > 0.0 else 0.0
            out[b, 0] = (even_covered + share * width) / mass
        out[b, 1] = (_weighted_sum(drawn, asked) + least) / mass
        least += close
        out[b, 2] = _last_corner(drawn, last, excess, covered, cost, descent, least)[1] / mass


@kernel(fastmath={"reassoc"})
def _rise(drawn, excess):
    """Return by how much a curve rises, and how long its way up and down is."""
    rise, length = 0.0, 0.0
    for i in range(drawn.shape[0]):
        step = np.float64(drawn[i]) * excess[i]
        rise += step
        length += abs(step)
    return rise, length


@kernel
def _last_corner(drawn, last, excess, covered, cost, descent, limit):
    """Return the end, the points drawn and the cost of the last corner within a limit, or 0."""
    for t in range(descent.shape[0] - 1, -1, -1):
        if cost[t] - descent[t] > limit:
            continue
        end, end_mass, end_cost = 0, 0.0, 0.0
        mass, height = covered[t], cost[t]
        for i in range(t * _TILE, min((t + 1) * _TILE, drawn.shape[0])):
            mass += drawn[i]
            height += drawn[i] * excess[i]
            if last[i] and height <= limit:
                end, end_mass, end_cost = i + 1, mass, height
        if end > 0:
            return end, end_mass, end_cost
    return 0, 0.0, 0.0


@kernel
def _place(weight, order, ties, drawn, middle):
    """Write the weights of the sorted points, and twice the weight below the middle of each."""
    _take(weight, order, drawn)
    twice = np.int32(0)
    for i in range(drawn.shape[0]):
        w = np.int32(drawn[i])
        middle[i] = twice + w
        twice += w + w
    for k in range(ties.shape[0]):  # points of equal scores share the middle of their block
        first, stop = ties[k, 0], ties[k, 1]
        low, high = middle[first] - drawn[first], middle[stop - 1] + drawn[stop - 1]
        middle[first:stop] = (low + high) // 2


@kernel
def _take(values, places, out):
    """Write ``values[places]``; no places mean all values."""
    if places.shape[0] == 0:
        out[:] = values
        return
    for i in range(places.shape[0]):
        out[i] = values[places[i]]


@kernel(fastmath={"reassoc"})
def _two_areas(drawn, middle, first, second, mass):
    """Return twice the areas of two values under one ranking."""
    area, other, twice = 0.0, 0.0, 2.0 * mass
    for i in range(drawn.shape[0]):
        left = np.float64(drawn[i]) * (twice - np.float64(middle[i]))
        area += first[i] * left
        other += second[i] * left
    return area / mass / mass, other / mass / mass


@kernel(fastmath={"reassoc"})
def _one_area(drawn, middle, value, mass):
    """Return twice the area of a value under a ranking."""
    area, twice = 0.0, 2.0 * mass
    for i in range(drawn.shape[0]):
        area += value[i] * (np.float64(drawn[i]) * (twice - np.float64(middle[i])))
    return area / mass / mass


@kernel(fastmath={"reassoc"})
def _correlate(weight, ranks, mass, out):
    """Write the rank correlations; sums of whole numbers are exact up to 300,000 points."""
    aa, bb, cc, dd, ab, cd, ac, bd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first, second, third, fourth = ranks[0], ranks[1], ranks[2], ranks[3]
    for i in range(weight.shape[0]):
        w = np.float64(weight[i])
        a, b = np.float64(first[i]) - mass, np.float64(second[i]) - mass
        c, d = np.float64(third[i]) - mass, np.float64(fourth[i]) - mass
        wa, wd = w * a, w * d
        aa += wa * a
        ab += wa * b
        ac += wa * c
        dd += wd * d
        bd += wd * b
        cd += wd * c
        bb += w * b * b
        cc += w * c * c
    out[6], out[7] = _ratio(ab, aa, bb), _ratio(cd, cc, dd)
    out[11], out[12] = _ratio(ac, aa, cc), _ratio(bd, bb, dd)


@kernel
def _ratio(ab, aa, bb):
    if aa == 0.0 or bb == 0.0:
        return np.nan
    return min(1.0, max(-1.0, ab / np.sqrt(aa * bb)))


@kernel
def _calibration(drawn, middle, gap, mass, n_bins):
    """Return the mean absolute gap of regret calibration; points are sorted by the estimate."""
    total, first = 0.0, 0
    for k in range(n_bins):
        stop, high = first, drawn.shape[0]
        while stop < high:  # the first point of a later bin
            half = (stop + high) // 2
            if min(np.int64(0.5 * middle[half] / mass * n_bins), n_bins - 1) <= k:
                stop = half + 1
            else:
                high = half
        total += abs(_weighted_sum(drawn[first:stop], gap[first:stop]))
        first = stop
    return total / mass


@kernel
def measure(weight, rankings, values, further, room, out):
    """Write the columns of one weighted sample; see N_COLUMNS."""
    orders, places, ties = rankings
    regret, risk, gap, risk_by_total, regret_by_total, sorted_regret, regret_by_aleatoric = values
    drawn, middle, ranks = room
    mass = _mass(weight)
    for k in range(5 if further else 4):
        _place(weight, orders[k], ties[k], drawn, middle)
        if further and k != 3:
            _take(middle, places[min(k, 3)], ranks[min(k, 3)])
        if k == 0:
            area, other = _two_areas(drawn, middle, regret, risk, mass)
            out[0], out[2] = 0.5 * area, 0.5 * other
            out[5] = _weighted_sum(drawn, regret) / mass
            out[4] = _weighted_sum(drawn, risk) / mass
            out[8] = _calibration(drawn, middle, gap, mass, 10)
        elif k == 1:
            out[10] = 0.5 * _one_area(drawn, middle, regret_by_aleatoric, mass)
        elif k == 2:
            out[1] = 0.5 * _one_area(drawn, middle, sorted_regret, mass)
        elif k == 3:
            area, other = _two_areas(drawn, middle, risk_by_total, regret_by_total, mass)
            out[3], out[9] = 0.5 * area, 0.5 * other
    if further:
        _correlate(weight, ranks, mass, out)


@kernel
def measure_all(key, first, clusters, rankings, values, further, points, room, weights, out):
    """Draw and measure the replicates from ``first`` on, and write weights unless they are none."""
    drawn, weight = np.empty(count_clusters(clusters), np.uint8), room[3]
    for b in range(out.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        measure(weight, rankings, values, further, room[:3], out[b])
        if b < weights.shape[0]:
            _take(weight, points, weights[b])
