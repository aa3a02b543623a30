"""The Pareto-gap of a weighted sample, from rankings that were sorted once."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.bootstrap import count_clusters, draw_points
from rue._kernels.pareto import flatten, insert_rankings, least_deficits, nest


@kernel(nogil=True)
def gaps(key, first, clusters, rankings, n_levels, out):
    """Draw the replicates ``first`` to ``first + len(out)`` and write the gap of each."""
    weight = np.empty(rankings[0].shape[0], np.uint8)
    drawn = np.empty(count_clusters(clusters), np.uint8)
    sums = np.empty((2, rankings[4].shape[0], n_levels + 1))
    for b in range(out.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        out[b] = gap(weight, rankings, sums)


@kernel(nogil=True)
def gap(weight, rankings, sums):
    """Pareto-gap of a sample that contains each point ``weight`` times, at n_levels + 1 coverages.

    ``rankings`` are the block of equal estimates of each point, the number of blocks, its risk
    and its regret; the directions and the orders of the blocks by each, shape (directions,
    blocks); and the orders of the points by each lambda, shape (lambdas, points). ``sums`` has
    shape (2, directions, n_levels + 1) and is overwritten.
    """
    block, n_blocks, risk, regret, angles, orders, star_orders = rankings
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
    # Fronts are compared up to rounding errors of sums that are 1 at full coverage.
    risk_unit, regret_unit = np.abs(blocks[1]).sum(), np.abs(blocks[2]).sum()
    blocks[1] /= risk_unit if risk_unit > 0.0 else 1.0
    blocks[2] /= regret_unit if regret_unit > 0.0 else 1.0
    level_of = _level_of(np.int64(mass), n_levels)
    running = np.zeros((max(n_blocks, n_points) + 1, 2))
    copies, rises = _by_row(blocks)
    for d in range(angles.shape[0]):
        _prefix_sums(copies, rises, orders[d], level_of, running, sums[0, d], sums[1, d])
    fronts, sizes = np.empty((n_levels + 1, 16, 3)), np.zeros(n_levels + 1, np.int64)
    champions = np.full((2, n_levels + 1), np.inf)
    fronts = insert_rankings(fronts, sizes, champions, 0, sums[0], sums[1], angles)
    starts = np.zeros(n_levels + 2, np.int64)
    starts[1:] = np.cumsum(sizes)
    rows = np.empty((3, starts[-1]))
    flatten(fronts, sizes, rows[0], rows[1], rows[2])
    coverage = np.arange(n_levels + 1) / n_levels
    levels, begins, ends, row_coverage, row_risk, row_regret = nest(
        starts, coverage, rows[0] * risk_unit, rows[1] * regret_unit
    )
    # The optimal surface, point by point.
    reference, distance = np.empty((n_levels + 1, 3)), np.empty(n_levels + 1)
    reference[:, 0] = coverage
    total = 0.0
    copies, rises = _by_row(points)
    for order in star_orders:
        _prefix_sums(copies, rises, order, level_of, running, reference[:, 1], reference[:, 2])
        least_deficits(
            reference, levels, begins, ends, row_coverage, row_risk, row_regret, distance
        )
        total += distance.sum()
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
def _by_row(rows):
    """Return the copies of each row as whole numbers, and its risk and regret side by side."""
    return rows[0].astype(np.uint64), np.ascontiguousarray(rows[1:].T)


@kernel
def _prefix_sums(copies, rises, order, level_of, running, risk_sums, regret_sums):
    """Write the sums of the first j M / n_levels of M copies, j = 0..n_levels, straight in a row.

    ``rises`` are the risk and the regret of each row, shape (n, 2). ``running`` has shape
    (n + 1, 2) or more, is 0 in its first row, and is overwritten. Nothing in the loop over the
    rows depends on a condition, which the processor would often guess wrong: every row that ends
    below a level overwrites the last one. Unsigned numbers are never counted from the end.
    """
    n_levels = risk_sums.shape[0] - 1
    # The number of rows that end below each level, and of their copies.
    before, covered = np.zeros(n_levels + 1, np.int64), np.zeros(n_levels + 1, np.uint64)
    c, r, e = np.uint64(0), 0.0, 0.0
    for p in range(order.shape[0]):
        row = order[p]
        c += copies[row]
        r += rises[row, 0]
        e += rises[row, 1]
        running[p + 1, 0], running[p + 1, 1] = r, e
        level = level_of[c]
        before[level], covered[level] = p + 1, c
    risk_sums[0] = regret_sums[0] = 0.0
    p, below = 0, np.uint64(0)
    whole = np.float64(c)
    for j in range(1, n_levels + 1):
        p, below = max(p, before[j - 1]), max(below, covered[j - 1])
        share = (j * whole / n_levels - below) / copies[order[p]]
        risk_sums[j] = running[p, 0] + share * (running[p + 1, 0] - running[p, 0])
        regret_sums[j] = running[p, 1] + share * (running[p + 1, 1] - running[p, 1])
