"""The Pareto-gap of a weighted sample, from rankings that were sorted once."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.bootstrap import count_clusters, draw_points
from rue._kernels.pareto import SAME_SUM, insert


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
    # Sums are compared up to rounding errors, as sums that are 1 at full coverage.
    units = np.abs(blocks[1]).sum(), np.abs(blocks[2]).sum()
    for k in range(2):
        blocks[k + 1] /= units[k] if units[k] > 0.0 else 1.0
    level_of = _level_of(np.int64(mass), n_levels)
    _prefix_sums(blocks, orders, level_of, sums)
    reference = np.empty((2, star_orders.shape[0], n_levels + 1))
    _prefix_sums(points, star_orders, level_of, reference)
    distance = np.empty(n_levels + 1)
    surface = _by_level(sums, units)
    total = 0.0
    for i in range(star_orders.shape[0]):
        _distances(reference[0, i], reference[1, i], sums, units, surface, distance)
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
def _prefix_sums(rows, orders, level_of, sums):
    """Write the sums of the first j M / n_levels of M copies, j = 0..n_levels, straight in a row.

    ``rows`` are the copies, the risk and the regret of each row, shape (3, n); ``orders`` has
    shape (rankings, n) and ``sums`` (2, rankings, n_levels + 1). Nothing in the loop over the
    rows depends on a condition, which the processor would often guess wrong: every row that ends
    below a level overwrites the last one. Two rankings are summed at a time, so that one does not
    wait for the other's sums. Unsigned numbers are never counted from the end.
    """
    n_rankings, n_levels = orders.shape[0], sums.shape[2] - 1
    copies, rises = rows[0].astype(np.uint64), np.ascontiguousarray(rows[1:].T)
    # For each level the number of rows that end below it, the number of their copies, and sums.
    counts, others = np.empty((2, n_levels + 1, 2), np.uint64)
    ends, other_ends = np.empty((2, n_levels + 1, 2))
    for d in range(0, n_rankings, 2):
        order, other = orders[d], orders[min(d + 1, n_rankings - 1)]
        counts[:], others[:] = 0, 0
        ends[:], other_ends[:] = 0.0, 0.0
        c, r, e, k, s, f = np.uint64(0), 0.0, 0.0, np.uint64(0), 0.0, 0.0
        for p in range(order.shape[0]):
            row, row_ = order[p], other[p]
            c += copies[row]
            k += copies[row_]
            r += rises[row, 0]
            e += rises[row, 1]
            s += rises[row_, 0]
            f += rises[row_, 1]
            level, level_ = level_of[c], level_of[k]
            counts[level, 0], counts[level, 1] = p + 1, c
            ends[level, 0], ends[level, 1] = r, e
            others[level_, 0], others[level_, 1] = p + 1, k
            other_ends[level_, 0], other_ends[level_, 1] = s, f
        _cut(copies, rises, order, counts, ends, sums[0, d], sums[1, d])
        if d + 1 < n_rankings:
            _cut(copies, rises, other, others, other_ends, sums[0, d + 1], sums[1, d + 1])


@kernel
def _cut(copies, rises, order, counts, ends, risk_sums, regret_sums):
    """Write the sums at the levels, see :func:`_prefix_sums`; each cuts the row that reaches it."""
    n_levels = risk_sums.shape[0] - 1
    risk_sums[0] = regret_sums[0] = 0.0
    whole = np.float64(counts[n_levels, 1])
    p, below, r, e = np.uint64(0), np.uint64(0), 0.0, 0.0
    for j in range(1, n_levels + 1):
        if counts[j - 1, 0] > p:
            p, below = counts[j - 1, 0], counts[j - 1, 1]
            r, e = ends[j - 1, 0], ends[j - 1, 1]
        row = order[p]
        share = (j * whole / n_levels - below) / copies[row]
        risk_sums[j] = r + share * ((r + rises[row, 0]) - r)
        regret_sums[j] = e + share * ((e + rises[row, 1]) - e)


@kernel
def _by_level(sums, units):
    """Return the points of all rankings and their reverses level by level, with bounds.

    The points are risk and regret, shape (2, n_levels + 1, 2 rankings). The bounds have shape
    (2, n_levels + 2): the least risk and the least regret of each level; and those of all levels
    from there on, but only of points that have less risk or regret than the same ranking at a
    lower level, which happens by rounding and where regret is negative. No other point is of use
    to a lower level.
    """
    n_rankings, n_levels = sums.shape[1], sums.shape[2] - 1
    points = np.empty((2, n_levels + 1, 2 * n_rankings))
    least = np.full((2, n_levels + 2), np.inf)
    later = np.full((2, n_levels + 2), np.inf)
    for k in range(2):
        for d in range(0, n_rankings, 8):
            for j in range(n_levels + 1):
                for i in range(d, min(d + 8, n_rankings)):
                    points[k, j, i] = sums[k, i, j] * units[k]
                    # The reversed ranking accepts what the ranking rejects.
                    rest = sums[k, i, n_levels] - sums[k, i, n_levels - j]
                    points[k, j, n_rankings + i] = rest * units[k]
    peaks = points[:, 0].copy()
    for j in range(n_levels + 1):
        least[0, j], least[1, j], later[0, j], later[1, j] = _bounds(points[0, j], points[1, j], peaks[0], peaks[1])
    for j in range(n_levels - 1, -1, -1):
        for k in range(2):
            later[k, j] = min(later[k, j], later[k, j + 1])
    return points, least, later


@kernel
def _bounds(risk, regret, risk_peak, regret_peak):
    """Return the least risk and regret of a level, and of its points below earlier peaks."""
    least_risk = least_regret = low_risk = low_regret = _bits(np.inf)
    for i in range(risk.shape[0]):
        r, e = risk[i], regret[i]
        below = (r < risk_peak[i]) | (e < regret_peak[i])
        least_risk, least_regret = min(least_risk, _bits(r)), min(least_regret, _bits(e))
        low_risk = min(low_risk, _bits(r if below else np.inf))
        low_regret = min(low_regret, _bits(e if below else np.inf))
        risk_peak[i] = r if r > risk_peak[i] else risk_peak[i]
        regret_peak[i] = e if e > regret_peak[i] else regret_peak[i]
    return _bound(least_risk), _bound(least_regret), _bound(low_risk), _bound(low_regret)


@kernel
def _bits(number):
    """Return a number's bits as an integer; those of numbers from 0 on have the same order.

    The minimum of integers is vectorised, that of numbers is not.
    """
    return np.float64(number).view(np.int64)


@kernel
def _bound(bits):
    """Return the number of these bits, or minus infinity if it is negative."""
    return np.int64(bits).view(np.float64) if bits >= 0 else -np.inf


@kernel
def _distances(risk, regret, sums, units, surface, out):
    """Write the least d+ from the reference point of each level to the surface.

    Of points of a level that are equal up to rounding, only the first counts. So unless the
    nearest point is clearly on the front of its level, the others are dropped from that level, and
    the search is repeated.
    """
    drop = 0
    for level in range(out.shape[0]):
        r, e = risk[level], regret[level]
        while True:
            best, at, excess = _nearest(r, e, level, max(level - drop, 0), surface)
            if not _drop_copies(at, r, e, excess, sums, units, surface):
                break
        drop = max(level - at, 0)
        out[level] = np.sqrt(best)


@kernel
def _nearest(r, e, level, guess, surface):
    """Return the least squared d+ from (r, e) at a level to the surface, where, and its excess.

    The search starts at a ``guess``, at most ``level``. The excess is d+ without the coverage.
    """
    points, least, later = surface
    n_levels = points.shape[1] - 1
    excess, at = _excess(points[0, guess], points[1, guess], r, e), guess
    short = level / n_levels - guess / n_levels
    best = short * short + excess
    for other in range(level, -1, -1):
        short = level / n_levels - other / n_levels
        short *= short
        if short >= best:  # and so do all lower levels
            break
        if other == guess or short + _above(least[0, other], least[1, other], r, e) >= best:
            continue
        found = _excess(points[0, other], points[1, other], r, e)
        if short + found < best:
            best, at, excess = short + found, other, found
    for other in range(level + 1, n_levels + 1):
        if _above(later[0, other], later[1, other], r, e) >= best:
            break
        found = _excess(points[0, other], points[1, other], r, e)
        if found < best:
            best, at, excess = found, other, found
    return best, at, excess


@kernel
def _above(risk, regret, r, e):
    """Return the squared d+ from (r, e) to one point of the same coverage."""
    worse, more = max(risk - r, 0.0), max(regret - e, 0.0)
    return worse * worse + more * more


@kernel
def _excess(risk, regret, r, e):
    """Return the least squared d+ from (r, e) to the points of a level, coverage aside."""
    least = _bits(np.inf)
    for i in range(risk.shape[0]):
        least = min(least, _bits(_above(risk[i], regret[i], r, e)))
    return np.int64(least).view(np.float64)


@kernel
def _drop_copies(level, r, e, excess, sums, units, surface):
    """Drop points of a level that equal the nearest to (r, e), or lose to it, only by rounding.

    Of points that are as good as the nearest one, up to rounding, those on their own front are
    kept, and of equal ones the first. Returns whether there were others.
    """
    points, _, later = surface
    n_rankings, n_levels = sums.shape[1], sums.shape[2] - 1
    risk, regret = points[0, level], points[1, level]
    slack = 16 * SAME_SUM * max(units[0], units[1])
    nearest = _only_near(risk, regret, r, e, excess, slack)
    if nearest < 0:
        return False
    good = np.empty(2 * n_rankings, np.int64)
    n_good = 0
    for i in range(2 * n_rankings):
        k = i // 2 + i % 2 * n_rankings  # a ranking comes before its reverse
        good[n_good] = k
        n_good += (risk[k] <= risk[nearest] + slack) & (regret[k] <= regret[nearest] + slack)
    if n_good == 1:
        return False
    front, size = np.empty((1, n_good, 3)), np.zeros(1, np.int64)
    rest = n_levels - level
    for i in range(n_good):
        row = sums[:, good[i] % n_rankings]
        if good[i] < n_rankings:
            insert(front, size, 0, row[0, level], row[1, level], np.float64(i))
        else:
            insert(
                *(front, size, 0),
                *(row[0, n_levels] - row[0, rest], row[1, n_levels] - row[1, rest]),
                np.float64(i),
            )
    for row in range(size[0]):
        good[np.int64(front[0, row, 2])] = -1
    for k in good[:n_good]:
        if k >= 0:
            _drop(level, k, points, later)
    return size[0] < n_good


@kernel
def _only_near(risk, regret, r, e, excess, slack):
    """Return -1 if one point only is near (r, e), up to ``slack``; else the best of the nearest."""
    # An error of slack in risk and regret changes the squared d+ by less than this.
    reach = excess + 2.0 * slack * (np.sqrt(2.0 * excess) + slack)
    n_near = 0
    for i in range(risk.shape[0]):
        n_near += _above(risk[i], regret[i], r, e) <= reach
    nearest = -1
    if n_near > 1:
        for i in range(risk.shape[0]):
            if _above(risk[i], regret[i], r, e) == excess and (
                nearest < 0 or risk[i] + regret[i] < risk[nearest] + regret[nearest]
            ):
                nearest = i
    return nearest


@kernel
def _drop(level, k, points, later):
    """Drop a point, which then no longer rules out the same ranking at the next level."""
    for i in range(2):
        points[i, level, k] = np.inf
        if level + 1 < points.shape[1]:
            for j in range(level + 1, -1, -1):
                if later[i, j] <= points[i, level + 1, k]:
                    break
                later[i, j] = points[i, level + 1, k]
