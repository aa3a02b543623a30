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
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_TILE = 1024
"""Points are measured in parts of so many, which stay in the cache."""

# Eight replicates are measured at a time: `lanes` holds the eight weights of a point as the bytes
# of one number, so that a point is fetched once for all of them. Eight numbers that belong to the
# replicates are a tuple, which LLVM keeps in vector registers.


@kernel
def _all(x):
    return (x, x, x, x, x, x, x, x)


@kernel
def _plus(a, b):
    return (
        *(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]),
        *(a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7]),
    )


@kernel
def _minus(a, b):
    return (
        *(a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]),
        *(a[4] - b[4], a[5] - b[5], a[6] - b[6], a[7] - b[7]),
    )


@kernel
def _times(a, b):
    return (
        *(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]),
        *(a[4] * b[4], a[5] * b[5], a[6] * b[6], a[7] * b[7]),
    )


@kernel
def _read(rows, i, j):
    """Return eight numbers of a row, from column j on."""
    return (
        *(np.float64(rows[i, j]), np.float64(rows[i, j + 1])),
        *(np.float64(rows[i, j + 2]), np.float64(rows[i, j + 3])),
        *(np.float64(rows[i, j + 4]), np.float64(rows[i, j + 5])),
        *(np.float64(rows[i, j + 6]), np.float64(rows[i, j + 7])),
    )


@kernel
def _write(a, rows, i, j):
    rows[i, j], rows[i, j + 1], rows[i, j + 2], rows[i, j + 3] = a[0], a[1], a[2], a[3]
    rows[i, j + 4], rows[i, j + 5], rows[i, j + 6], rows[i, j + 7] = a[4], a[5], a[6], a[7]


@kernel
def _bytes(numbers):
    """Return the bytes of numbers as rows of eight."""
    return numbers.view(np.uint8).reshape(numbers.shape[0], 8)


@kernel
def _place(lanes, order, drawn):
    """Write the weights of the points in the order of a score."""
    for i in range(order.shape[0]):
        drawn[i] = lanes[order[i]]


@kernel
def _sums(lanes, value):
    """Return the number of points drawn and the sum of a value in eight samples."""
    weights, zero, n_points = _bytes(lanes), _all(0.0), value.shape[0]
    mass, total = zero, zero
    for start in range(0, n_points, _TILE):
        count, part = zero, zero
        for i in range(start, min(start + _TILE, n_points)):
            w = _read(weights, i, 0)
            count = _plus(count, w)
            part = _plus(part, _times(w, _all(value[i])))
        mass, total = _plus(mass, count), _plus(total, part)
    return mass, total


@kernel
def _areas(drawn, last, first, second, mass, out):
    """Write the areas of two sorted values and their sums; ``last`` marks the ends of ties."""
    weights, zero, twice, n_points = _bytes(drawn), _all(0.0), _plus(mass, mass), last.shape[0]
    below, width, one, two = zero, zero, zero, zero
    area, other, total, further = zero, zero, zero, zero
    for start in range(0, n_points, _TILE):
        a, b, c, d = zero, zero, zero, zero
        for i in range(start, min(start + _TILE, n_points)):
            w = _read(weights, i, 0)
            width = _plus(width, w)
            one = _plus(one, _times(w, _all(first[i])))
            two = _plus(two, _times(w, _all(second[i])))
            if last[i]:  # copies of points of equal scores lie on one straight segment
                above = _plus(below, width)
                left = _minus(twice, _plus(below, above))
                a, b = _plus(a, _times(one, left)), _plus(b, _times(two, left))
                c, d = _plus(c, one), _plus(d, two)
                below, width, one, two = above, zero, zero, zero
        area, other = _plus(area, a), _plus(other, b)
        total, further = _plus(total, c), _plus(further, d)
    _write(area, out, 0, 0)
    _write(other, out, 1, 0)
    _write(total, out, 2, 0)
    _write(further, out, 3, 0)
    for b in range(8):
        size = np.float64(mass[b])
        for k in range(2):
            out[k, b] *= 0.5 / size / size
            out[2 + k, b] /= size


@kernel(vectors=True)
def weighted_areas(lanes, order, last, value, out):
    """Write the area of each weighted sample; ``value`` is sorted."""
    drawn, found = np.empty(order.shape[0], np.uint64), np.empty((4, 8))
    for k in range(lanes.shape[1]):
        _place(lanes[:, k], order, drawn)
        mass, _ = _sums(drawn, value)
        _areas(drawn, last, value, value, mass, found)
        out[8 * k : 8 * k + 8] = found[0]


@kernel(vectors=True)
def weighted_means(lanes, value, out):
    """Write the mean of a value in each weighted sample."""
    found = np.empty((2, 8))
    for k in range(lanes.shape[1]):
        mass, total = _sums(np.ascontiguousarray(lanes[:, k]), value)
        _write(mass, found, 0, 0)
        _write(total, found, 1, 0)
        out[8 * k : 8 * k + 8] = found[1] / found[0]


@kernel
def _rank(drawn, order, last, mass, ranks, column):
    """Write the ranks of each point in eight samples, and return the sum of their squares.

    A rank is twice the middle of a block of ties minus the number of points. It is written as what
    it is beyond its value if each point is drawn once.
    """
    weights, zero, n_points = _bytes(drawn), _all(0.0), last.shape[0]
    below, width, squares, first = zero, zero, zero, 0
    for start in range(0, n_points, _TILE):
        part = zero
        for i in range(start, min(start + _TILE, n_points)):
            width = _plus(width, _read(weights, i, 0))
            if last[i]:
                middle = _plus(_plus(below, below), width)
                beyond = _minus(middle, _all(np.float64(first + i + 1)))
                for k in range(first, i + 1):
                    _write(beyond, ranks, order[k], column)
                rank = _minus(middle, mass)
                part = _plus(part, _times(_times(width, rank), rank))
                below, width, first = _plus(below, width), zero, i + 1
        squares = _plus(squares, part)
    return squares


@kernel
def _correlate(drawn, last, plain, mass, ranks, squares, out):
    """Write the rank correlations; points are sorted by the first of four scores.

    ``ranks`` has those by the others (see :func:`_rank`), ``plain`` if each point is drawn once.
    """
    weights, zero, n_points = _bytes(drawn), _all(0.0), last.shape[0]
    below, width, one, two = zero, zero, zero, zero
    aa, ab, ac, bd, cd = zero, zero, zero, zero, zero
    for start in range(0, n_points, _TILE):
        own, by_one, by_two, by_three, by_four = zero, zero, zero, zero, zero
        for i in range(start, min(start + _TILE, n_points)):
            w = _read(weights, i, 0)
            b = _minus(_plus(_read(ranks, i, 0), _all(np.float64(plain[i, 0]))), mass)
            c = _minus(_plus(_read(ranks, i, 8), _all(np.float64(plain[i, 1]))), mass)
            d = _minus(_plus(_read(ranks, i, 16), _all(np.float64(plain[i, 2]))), mass)
            wb, wc, width = _times(w, b), _times(w, c), _plus(width, w)
            one, two = _plus(one, wb), _plus(two, wc)
            by_three, by_four = _plus(by_three, _times(wb, d)), _plus(by_four, _times(wc, d))
            if last[i]:
                a = _minus(_plus(_plus(below, below), width), mass)
                own = _plus(own, _times(_times(width, a), a))
                by_one, by_two = _plus(by_one, _times(one, a)), _plus(by_two, _times(two, a))
                below, width, one, two = _plus(below, width), zero, zero, zero
        aa, ab, ac = _plus(aa, own), _plus(ab, by_one), _plus(ac, by_two)
        bd, cd = _plus(bd, by_three), _plus(cd, by_four)
    bb, cc, dd = squares
    _ratios(ab, aa, bb, out[6])
    _ratios(cd, cc, dd, out[7])
    _ratios(ac, aa, cc, out[11])
    _ratios(bd, bb, dd, out[12])


@kernel
def _ratios(ab, aa, bb, out):
    """Write the rank correlations of eight samples."""
    for b in range(8):
        size = np.float64(aa[b]) * np.float64(bb[b])
        ratio = np.float64(ab[b]) / np.sqrt(size)  # NaN if a rank is constant
        out[b] = ratio if np.isnan(ratio) else min(1.0, max(-1.0, ratio))


@kernel
def _bin(middle, mass, n_bins):
    return min(np.int64(0.5 * middle / mass * n_bins), n_bins - 1)


@kernel
def _calibrations(drawn, last, parts, gap, mass, n_bins, out):
    """Write the mean absolute gap of regret calibration; points are sorted by the estimate."""
    weights, zero, below, start = _bytes(drawn), _all(0.0), _all(0.0), 0
    known, sums = np.empty((3, 8)), np.zeros((8, n_bins))
    for stop in parts:  # each is a block of ties, or few points
        above, rise, n_blocks = below, zero, 0
        for i in range(start, stop):
            w = _read(weights, i, 0)
            above = _plus(above, w)
            rise = _plus(rise, _times(w, _all(gap[i])))
            n_blocks += last[i]
        _write(below, known, 0, 0)
        _write(above, known, 1, 0)
        _write(rise, known, 2, 0)
        for b in range(8):
            size, low, high = np.float64(mass[b]), known[0, b], known[1, b]
            one = n_blocks == 1
            place = _bin(low + high if one else 2.0 * low, size, n_bins)
            if one or place == _bin(2.0 * high, size, n_bins):
                sums[b, place] += known[2, b]
            else:
                width, own = 0.0, 0.0
                for i in range(start, stop):
                    w = np.float64(weights[i, b])
                    width += w
                    own += w * gap[i]
                    if last[i]:
                        sums[b, _bin(2.0 * low + width, size, n_bins)] += own
                        low, width, own = low + width, 0.0, 0.0
        below, start = above, stop
    for b in range(8):
        out[b] = np.abs(sums[b]).sum() / np.float64(mass[b])


@kernel(vectors=True)
def measure(lanes, rankings, values, further, room, out):
    """Write the columns of eight weighted samples, see N_COLUMNS; ``out`` is (N_COLUMNS, 8).

    ``lanes`` are moved.
    """
    orders, lasts, parts, plain = rankings
    regret, risk, gap, risk_by_total, regret_by_total, sorted_regret, regret_by_aleatoric = values
    own, ranks = room
    found = np.empty((4, 8))
    _place(lanes, orders[0], own)
    drawn = lanes  # are taken from here on as room for other orders
    mass, _ = _sums(own, regret)
    _areas(own, lasts[0], regret, risk, mass, found)
    out[0], out[2], out[5], out[4] = found[0], found[1], found[2], found[3]
    _calibrations(own, lasts[0], parts, gap, mass, 10, out[8])
    # The other orders are of the points as this one has sorted them.
    _place(own, orders[1], drawn)
    _areas(drawn, lasts[1], regret_by_aleatoric, regret_by_aleatoric, mass, found)
    out[10] = found[0]
    bb = _rank(drawn, orders[1], lasts[1], mass, ranks, 0) if further else mass
    _place(own, orders[2], drawn)
    _areas(drawn, lasts[2], sorted_regret, sorted_regret, mass, found)
    out[1] = found[0]
    cc = _rank(drawn, orders[2], lasts[2], mass, ranks, 8) if further else mass
    _place(own, orders[3], drawn)
    _areas(drawn, lasts[3], risk_by_total, regret_by_total, mass, found)
    out[3], out[9] = found[0], found[1]
    if further:
        _place(own, orders[4], drawn)
        dd = _rank(drawn, orders[4], lasts[4], mass, ranks, 16)
        _correlate(own, lasts[0], plain, mass, ranks, (bb, cc, dd), out)


@kernel(vectors=True)
def measure_all(key, first, clusters, rankings, values, further, points, room, weights, out):
    """Draw and measure the replicates from ``first`` on, and write weights unless they are none.

    ``weights`` is (n_points, n_eights) or (0, 0), ``out`` (n_eights, N_COLUMNS, 8).
    """
    weight, lanes = room[0], room[1]
    rows = _bytes(lanes)
    of_clusters = np.empty(count_clusters(clusters), np.uint8)
    for k in range(out.shape[0]):
        for b in range(8):
            draw_points(key, first + 8 * k + b, clusters, of_clusters, weight)
            rows[:, b] = weight
        for i in range(weights.shape[0]):
            weights[i, k] = lanes[points[i]]
        measure(lanes, rankings, values, further, room[2:], out[k])


@kernel(vectors=True)
def teams(lanes, order, last, excess, asked, rounding, scale, out):
    """Write parity with a person, the least cost of a team and its coverage of weighted samples."""
    n_points = order.shape[0]
    n_tiles = (n_points + _TILE - 1) // _TILE
    drawn, zero = np.empty(n_points, np.uint64), _all(0.0)
    weights = _bytes(drawn)
    # Before each part of the curve: the points drawn and the cost; and its rise, and its way up and
    # down. Most parts cannot hold what is looked for.
    covered, cost = np.zeros((n_tiles + 1, 8)), np.zeros((n_tiles + 1, 8))
    rises, lengths, asking = np.empty((n_tiles, 8)), np.empty((n_tiles, 8)), np.empty((1, 8))
    for k in range(lanes.shape[1]):
        _place(lanes[:, k], order, drawn)
        mass, height, person = zero, zero, zero
        for t in range(n_tiles):
            count, rise, length, part = zero, zero, zero, zero
            for i in range(t * _TILE, min((t + 1) * _TILE, n_points)):
                w = _read(weights, i, 0)
                count = _plus(count, w)
                rise = _plus(rise, _times(w, _all(excess[i])))
                length = _plus(length, _times(w, _all(abs(excess[i]))))
                part = _plus(part, _times(w, _all(asked[i])))
            mass, height, person = _plus(mass, count), _plus(height, rise), _plus(person, part)
            _write(mass, covered, t + 1, 0)
            _write(height, cost, t + 1, 0)
            _write(rise, rises, t, 0)
            _write(length, lengths, t, 0)
        _write(person, asking, 0, 0)
        for b in range(8):
            _team(
                *(weights[:, b], last, excess, asking[0, b]),
                *(covered[:, b], cost[:, b], rises[:, b], lengths[:, b]),
                *(rounding, scale, out[8 * k + b]),
            )


@kernel
def _team(weight, last, excess, asked, covered, cost, rises, lengths, rounding, scale, out):
    """Write parity with a person, the least cost of a team and its coverage of one sample."""
    n_tiles, size, least = rises.shape[0], 0.0, 0.0
    mass, floor = covered[n_tiles], np.empty(n_tiles)  # the least that the cost may be in a part
    for t in range(n_tiles):
        size += lengths[t]
        floor[t] = cost[t] - (0.5 * (lengths[t] - rises[t]) + 1e-15 * size)
    for t in range(n_tiles):
        if floor[t] < least:
            height = cost[t]
            for i in range(t * _TILE, min((t + 1) * _TILE, last.shape[0])):
                height += weight[i] * excess[i]
                if last[i]:
                    least = min(least, height)
    close = rounding * max(size, mass * scale)
    even, even_covered, even_cost = _last_corner(weight, last, excess, covered, cost, floor, close)
    out[0] = 1.0
    if even_covered < mass:
        width, climb, at, is_open = 0.0, 0.0, even, True
        while is_open:  # to the corner after it
            width += weight[at]
            climb += weight[at] * excess[at]
            is_open = not last[at]
            at += 1
        share = max(-even_cost, 0.0) / climb if climb > 0.0 else 0.0
        out[0] = (even_covered + share * width) / mass
    out[1] = (asked + least) / mass
    within = least + close
    out[2] = _last_corner(weight, last, excess, covered, cost, floor, within)[1] / mass


@kernel
def _last_corner(weight, last, excess, covered, cost, floor, limit):
    """Return the end, the points drawn and the cost of the last corner within a limit, or 0."""
    for t in range(floor.shape[0] - 1, -1, -1):
        if floor[t] > limit:
            continue
        end, end_mass, end_cost = 0, 0.0, 0.0
        mass, height = covered[t], cost[t]
        for i in range(t * _TILE, min((t + 1) * _TILE, last.shape[0])):
            mass += weight[i]
            height += weight[i] * excess[i]
            if last[i] and height <= limit:
                end, end_mass, end_cost = i + 1, mass, height
        if end > 0:
            return end, end_mass, end_cost
    return 0, 0.0, 0.0
