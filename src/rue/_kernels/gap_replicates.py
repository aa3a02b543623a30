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
    for b in range(out.shape[0]):
        draw_points(key, first + b, clusters, drawn, weight)
        out[b] = gap(weight, rankings, n_levels)


@kernel(nogil=True)
def gap(weight, rankings, n_levels):
    """Pareto-gap of a sample that contains each point ``weight`` times, at n_levels + 1 coverages.

    ``rankings`` are the block of equal estimates of each point, the number of blocks, its risk
    and its regret; the directions and the orders of the blocks by each, shape (directions,
    blocks); and the orders of the points by each lambda, shape (lambdas, points).
    """
    block, n_blocks, risk, regret, angles, orders, star_orders = rankings
    n_points = block.shape[0]
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
    running = np.zeros((3, max(n_blocks, n_points) + 1))
    sums = np.empty((2, angles.shape[0], n_levels + 1))
    for d in range(angles.shape[0]):
        _prefix_sums(blocks, orders[d], running, sums[0, d], sums[1, d])
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
    for d in range(star_orders.shape[0]):
        _prefix_sums(points, star_orders[d], running, reference[:, 1], reference[:, 2])
        least_deficits(
            reference, levels, begins, ends, row_coverage, row_risk, row_regret, distance
        )
        total += distance.sum()
    return total / (star_orders.shape[0] * (n_levels + 1))


@kernel
def _prefix_sums(rows, order, running, risk_sums, regret_sums):
    """Write the sums of the first j M / n_levels of M copies, j = 0..n_levels, straight in a row.

    ``rows`` has shape (3, n): copies, risk and regret of each row. ``running`` has shape
    (3, n + 1) or more, is 0 at the first place, and is overwritten.
    """
    copies, risk, regret = rows[0], rows[1], rows[2]
    covered, risen, climbed = running[0], running[1], running[2]
    n_rows = order.shape[0]
    c, r, e = 0.0, 0.0, 0.0
    for p in range(n_rows):
        row = order[p]
        c += copies[row]
        r += risk[row]
        e += regret[row]
        covered[p + 1], risen[p + 1], climbed[p + 1] = c, r, e
    n_levels = risk_sums.shape[0] - 1
    p = 0
    for j in range(n_levels + 1):
        while covered[p + 1] * n_levels < j * c:
            p += 1
        width = covered[p + 1] - covered[p]
        share = (j * c / n_levels - covered[p]) / width if width > 0.0 else 0.0
        risk_sums[j] = risen[p] + share * (risen[p + 1] - risen[p])
        regret_sums[j] = climbed[p] + share * (climbed[p + 1] - climbed[p])
