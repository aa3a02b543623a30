"""The Pareto-gap of a weighted sample, from rankings that were sorted once."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.bootstrap import count_clusters, draw_points


@kernel
def gaps(key, first, clusters, rankings, n_levels, out):
    """Draw the replicates ``first`` to ``first + len(out)`` and write the gap of each."""
    weight = np.empty(rankings[0].shape[0], np.uint8)
    drawn = np.empty(count_clusters(clusters), np.uint8)
    sums = np.empty((2, rankings[4].shape[0], n_levels + 1))
    for b in range(out.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        out[b] = gap(weight, rankings, sums)


@kernel
def gap(weight, rankings, sums):
    """Return the Pareto-gap of a sample with ``weight`` copies of each point."""
    block, n_blocks, risk, regret, orders, star_orders = rankings
    n_points, n_levels = block.shape[0], sums.shape[2] - 1
    # Copies, risk and regret of each block and of each point.
    blocks, points = np.zeros((3, n_blocks)), np.empty((3, n_points))
    mass = 0.0
    for i in range(n_points):
        mass += weight[i]
    for i in range(n_points):
        w = np.float64(weight[i])
        points[0, i], points[1, i], points[2, i] = w, w * risk[i] / mass, w * regret[i] / mass
        b = block[i]
        blocks[0, b] += w
        blocks[1, b] += points[1, i]
        blocks[2, b] += points[2, i]
    level_of = _level_of(np.int64(mass), n_levels)
    _prefix_sums(blocks, orders, level_of, sums)
    reference = np.empty((2, star_orders.shape[0], n_levels + 1))
    _prefix_sums(points, star_orders, level_of, reference)
    surface, least = _by_level(sums)
    # Sums never fall along a ranking, unless a point has a negative risk or regret.
    top = n_levels if blocks[1:].min() < 0.0 else 0
    total = 0.0
    for i in range(star_orders.shape[0]):
        total += _sum_of_distances(reference[:, i], surface, least, top)
    return total / (star_orders.shape[0] * (n_levels + 1))


@kernel
def _level_of(n_copies, n_levels):
    """Return how many of the levels j n_copies / n_levels each number of copies has reached."""
    level_of, level = np.empty(n_copies + 1, np.uint32), 0
    for c in range(n_copies + 1):
        while c * n_levels >= (level + 1) * n_copies:
            level += 1
        level_of[c] = level
    return level_of


@kernel
def _prefix_sums(rows, orders, level_of, sums):
    """Write the sums of the first j M / n_levels of M copies, j = 0..n_levels."""
    n_levels = sums.shape[2] - 1
    copies, rises = rows[0].astype(np.uint64), np.ascontiguousarray(rows[1:].T)
    # For each level the number of rows that end below it, the number of their copies, and sums.
    counts, ends = np.empty((n_levels + 1, 2), np.uint64), np.empty((n_levels + 1, 2))
    for d in range(orders.shape[0]):
        order = orders[d]
        counts[:], ends[:] = 0, 0.0
        c, r, e = np.uint64(0), 0.0, 0.0
        for p in range(order.shape[0]):
            row = order[p]
            c += copies[row]
            r += rises[row, 0]
            e += rises[row, 1]
            level = level_of[c]
            counts[level, 0], counts[level, 1] = p + 1, c
            ends[level, 0], ends[level, 1] = r, e
        # Each level cuts the row that reaches it.
        sums[0, d, 0] = sums[1, d, 0] = 0.0
        p, below, r, e, whole = np.uint64(0), np.uint64(0), 0.0, 0.0, np.float64(c)
        for j in range(1, n_levels + 1):
            if counts[j - 1, 0] > p:
                p, below = counts[j - 1, 0], counts[j - 1, 1]
                r, e = ends[j - 1, 0], ends[j - 1, 1]
            row = order[p]
            share = (j * whole / n_levels - below) / copies[row]
            sums[0, d, j], sums[1, d, j] = r + share * rises[row, 0], e + share * rises[row, 1]


@kernel
def _by_level(sums):
    """Return the points of all rankings and their reverses level by level, and their least sums."""
    n_rankings, n_levels = sums.shape[1], sums.shape[2] - 1
    points = np.empty((2, n_levels + 1, 2 * n_rankings))
    least = np.full((2, n_levels + 1), np.inf)
    for k in range(2):
        for d in range(0, n_rankings, 8):  # a few at a time stay in the cache
            for j in range(n_levels + 1):
                for i in range(d, min(d + 8, n_rankings)):
                    # The reversed ranking accepts what the ranking rejects.
                    rest = sums[k, i, n_levels] - sums[k, i, n_levels - j]
                    points[k, j, i], points[k, j, n_rankings + i] = sums[k, i, j], rest
                    least[k, j] = min(least[k, j], sums[k, i, j], rest)
    return points, least


@kernel
def _sum_of_distances(reference, points, least, top):
    """Return the sum over the levels of the least d+ from the reference point to the points."""
    n_levels = reference.shape[1] - 1
    total, drop = 0.0, 0
    for level in range(n_levels + 1):
        r, e = reference[0, level], reference[1, level]
        at = max(level - drop, 0)
        best = ((level - at) / n_levels) ** 2 + _excess(points[0, at], points[1, at], r, e)
        for other in range(max(level, top), -1, -1):
            short = max(level - other, 0) / n_levels
            short *= short
            if short >= best:  # and so do all lower levels
                break
            if short + _above(least[0, other], least[1, other], r, e) >= best:
                continue
            found = short + _excess(points[0, other], points[1, other], r, e)
            if found < best:
                best, at = found, other
        drop = max(level - at, 0)
        total += np.sqrt(best)
    return total


@kernel
def _excess(risk, regret, r, e):
    """Return the least squared d+ from (r, e) to the points of a level, coverage aside."""
    least = np.float64(np.inf).view(np.int64)
    for i in range(risk.shape[0]):
        least = min(least, np.float64(_above(risk[i], regret[i], r, e)).view(np.int64))
    return np.int64(least).view(np.float64)


@kernel
def _above(risk, regret, r, e):
    """Return the squared d+ from (r, e) to one point of the same coverage."""
    worse, more = max(risk - r, 0.0), max(regret - e, 0.0)
    return worse * worse + more * more
