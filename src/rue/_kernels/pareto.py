"""Running sums along a ranking, their Pareto fronts at each coverage, and IGD+ to the fronts."""

import numpy as np

from rue._kernels import kernel
from rue._kernels.sorting import sort_rows

# Equal sums that were added up in different orders differ by less than this; the sums of a front
# are about 1 at full coverage.
SAME_SUM = 1e-14

# So few rows of fronts are looked at one by one, which the processor does many at a time.
FEW_ROWS = 64

# The number of directions along which the distance of a front is known.
N_SUPPORTS = 48


@kernel
def accumulate(order, score, slack, risk, regret, risk_sums, regret_sums):
    """Write the N+1 running sums of ``risk`` and ``regret`` in the order of ``score``.

    ``order`` sorts ``score``. Neighbours whose scores differ by at most ``slack`` are equal, and
    equal scores are ordered by row.
    """
    n_points = order.shape[0]
    risk_sums[0] = regret_sums[0] = 0.0
    first = 0
    while first < n_points:
        stop = first + 1
        while stop < n_points and score[order[stop]] - score[order[stop - 1]] <= slack:
            stop += 1
        if stop - first > 1:
            order[first:stop].sort()
        for k in range(first, stop):
            risk_sums[k + 1] = risk_sums[k] + risk[order[k]]
            regret_sums[k + 1] = regret_sums[k] + regret[order[k]]
        first = stop


@kernel
def accumulate_directions(x, y, angles, risk, regret, risk_sums, regret_sums):
    """Write the running sums (see :func:`accumulate`) of the rankings by some directions.

    Direction phi ranks by x cos(phi) + y sin(phi); the sums have shape (directions, N + 1).
    """
    n_points = x.shape[0]
    score, order = np.empty(n_points), np.empty(n_points, np.int64)
    room = np.empty((2, n_points), np.uint64)
    for d in range(angles.shape[0]):
        cosine, sine = np.cos(angles[d]), np.sin(angles[d])
        for i in range(n_points):
            score[i] = x[i] * cosine + y[i] * sine
        sort_rows(score, order, room)
        total, avoidable = 0.0, 0.0
        risk_sums[d, 0] = regret_sums[d, 0] = 0.0
        for k in range(n_points):
            total += risk[order[k]]
            avoidable += regret[order[k]]
            risk_sums[d, k + 1], regret_sums[d, k + 1] = total, avoidable


@kernel
def insert(fronts, sizes, level, risk, regret, angle):
    """Insert a point into the front of its level, unless a point there is at least as good.

    ``fronts`` has shape (levels, room, 3); a front's ``sizes[level]`` rows (risk, regret, angle)
    have rising risk and falling regret. There must be room for one more. Tells if it was put in.
    """
    size = sizes[level]
    low, high = 0, size
    while low < high:  # the first row of larger risk
        middle = (low + high) // 2
        if fronts[level, middle, 0] > risk + SAME_SUM:
            high = middle
        elif fronts[level, middle, 1] > regret + SAME_SUM:
            low = middle + 1
        else:
            return False
    stop = low
    while stop < size and fronts[level, stop, 1] >= regret - SAME_SUM:
        stop += 1
    while low > 0 and fronts[level, low - 1, 0] >= risk - SAME_SUM:
        low -= 1
    # The point takes the place of the rows from low to stop, which it dominates.
    shift = low + 1 - stop
    if shift > 0:
        for i in range(size - 1, stop - 1, -1):
            for j in range(3):
                fronts[level, i + 1, j] = fronts[level, i, j]
    elif shift < 0:
        for i in range(stop, size):
            for j in range(3):
                fronts[level, i + shift, j] = fronts[level, i, j]
    fronts[level, low, 0], fronts[level, low, 1], fronts[level, low, 2] = risk, regret, angle
    sizes[level] = size + shift
    return True


@kernel
def widened(fronts):
    """Return the fronts with twice as much room."""
    room = fronts.shape[1]
    wider = np.empty((fronts.shape[0], 2 * room, 3))
    wider[:, :room] = fronts
    return wider


@kernel
def insert_rankings(fronts, sizes, champions, first, risk_sums, regret_sums, angles):
    """Insert the running sums of some rankings, and of their reverses, at a range of levels.

    ``risk_sums`` and ``regret_sums`` have shape (rankings, N + 1); ``fronts[0]`` is the level of
    ``first`` accepted points. ``champions`` has shape (2, levels): risk and regret of the row of
    each front with the least sum of both, infinite at first; most points are worse than that in
    both. Returns the fronts, which may have moved.
    """
    n_points, n_levels = risk_sums.shape[1] - 1, sizes.shape[0]
    stop = n_points - first + 1
    for d in range(angles.shape[0]):
        risks, regrets = risk_sums[d], regret_sums[d]
        fronts = _insert_ranking(
            *(fronts, sizes, champions),
            *(risks[first : first + n_levels], regrets[first : first + n_levels], angles[d]),
        )
        # The reversed ranking accepts what the ranking rejects.
        risk = risks[n_points] - risks[stop - n_levels : stop][::-1]
        regret = regrets[n_points] - regrets[stop - n_levels : stop][::-1]
        fronts = _insert_ranking(fronts, sizes, champions, risk, regret, angles[d] + np.pi)
    return fronts


@kernel
def _insert_ranking(fronts, sizes, champions, risk, regret, angle):
    """Insert one point per level; returns the fronts.

    The levels whose champion does not dominate the point are few: they are listed without a
    branch for each level, which the processor would often guess wrong.
    """
    n_levels = sizes.shape[0]
    least_risk, least_regret = champions[0], champions[1]
    found, n_found = np.empty(n_levels, np.uint32), 0
    for level in range(n_levels):
        found[n_found] = level
        n_found += (least_risk[level] > risk[level] + SAME_SUM) | (
            least_regret[level] > regret[level] + SAME_SUM
        )
    for level in found[:n_found]:
        fronts = _challenge(fronts, sizes, champions, level, risk[level], regret[level], angle)
    return fronts


@kernel
def _challenge(fronts, sizes, champions, level, risk, regret, angle):
    """Insert a point that its level's champion does not dominate; returns the fronts.

    A row that takes the champion's place on the front is the next one: its sum is no larger, up
    to rounding.
    """
    if sizes[level] == fronts.shape[1]:
        fronts = widened(fronts)
    inserted = insert(fronts, sizes, level, risk, regret, angle)
    if inserted and risk + regret <= champions[0, level] + champions[1, level] + 4 * SAME_SUM:
        champions[0, level], champions[1, level] = risk, regret
    return fronts


@kernel
def insert_fronts(fronts, sizes, others, other_sizes):
    """Insert other fronts of the same levels; returns the fronts, which may have moved."""
    for level in range(sizes.shape[0]):
        for i in range(other_sizes[level]):
            if sizes[level] == fronts.shape[1]:
                fronts = widened(fronts)
            risk, regret, angle = others[level, i]
            insert(fronts, sizes, level, risk, regret, angle)
    return fronts


@kernel
def flatten(fronts, sizes, risk, regret, angle):
    """Write the rows of all fronts, one front after the other."""
    row = 0
    for level in range(sizes.shape[0]):
        for i in range(sizes[level]):
            risk[row], regret[row], angle[row] = fronts[level, i]
            row += 1


@kernel
def nest(level_starts, coverage, risk, regret):
    """Return, for each level, the front of all points at this level or above.

    Rows are sorted by level, then risk; level l has the rows ``level_starts[l]`` up to
    ``level_starts[l + 1]``. Returns the ``coverage`` of each level, where its front begins and
    ends, and the level's coverage, the risk and the regret of the rows of all fronts. Higher
    levels come first, so that the fronts of neighbouring levels are neighbours.
    """
    n_levels = level_starts.shape[0] - 1
    begins, ends = np.empty(n_levels, np.int64), np.empty(n_levels, np.int64)
    out_risk, out_regret = np.empty(2 * risk.shape[0]), np.empty(2 * risk.shape[0])
    above_begin, above_end = 0, 0
    for level in range(n_levels - 1, -1, -1):
        i, stop = level_starts[level], level_starts[level + 1]
        room = above_end + (stop - i) + (above_end - above_begin)
        if room > out_risk.shape[0]:
            out_risk, out_regret = _widen(out_risk, 2 * room), _widen(out_regret, 2 * room)
        j, size, least = above_begin, above_end, np.inf
        while i < stop or j < above_end:
            if j == above_end or (i < stop and risk[i] <= out_risk[j]):
                r, e = risk[i], regret[i]
                i += 1
            else:
                r, e = out_risk[j], out_regret[j]
                j += 1
            if e < least:
                if size > above_end and out_risk[size - 1] == r:
                    size -= 1
                out_risk[size], out_regret[size], least = r, e, e
                size += 1
        begins[level], ends[level] = above_end, size
        above_begin, above_end = above_end, size
    out_coverage = np.empty(above_end)
    for level in range(n_levels):
        out_coverage[begins[level] : ends[level]] = coverage[level]
    return coverage, begins, ends, out_coverage, out_risk[:above_end], out_regret[:above_end]


@kernel
def _widen(values, room):
    wider = np.empty(room)
    wider[: values.shape[0]] = values
    return wider


@kernel
def supports(begins, ends, risk, regret):
    """Return some directions, and how far each front (see :func:`nest`) is along each of them.

    A direction is a pair of weights of risk and regret, none negative, of length 1; directions
    are equally spaced if both ranges are 1. What a front has at least, less some rounding errors,
    has shape (directions, levels) and rises with the level.
    """
    n_levels = begins.shape[0]
    risk_range, regret_range = risk.max() - risk.min(), regret.max() - regret.min()
    weights, heights = np.empty((2, N_SUPPORTS)), np.empty((N_SUPPORTS, n_levels))
    for k in range(N_SUPPORTS):
        angle = np.pi / 2 * k / (N_SUPPORTS - 1)
        x, y = np.cos(angle) * regret_range, np.sin(angle) * risk_range
        length = np.hypot(x, y)
        weights[0, k] = x / length if length > 0.0 else np.cos(angle)
        weights[1, k] = y / length if length > 0.0 else np.sin(angle)
    size = np.abs(risk).max() + np.abs(regret).max()
    least = np.empty(N_SUPPORTS)
    for level in range(n_levels):
        least[:] = np.inf
        for row in range(begins[level], ends[level]):
            for k in range(N_SUPPORTS):
                along = weights[0, k] * risk[row] + weights[1, k] * regret[row]
                least[k] = along if along < least[k] else least[k]
        for k in range(N_SUPPORTS):
            heights[k, level] = least[k] - 1e-13 * size
    return weights, heights


@kernel
def least_deficits(
    reference, coverage, begins, ends, row_coverage, risk, regret, weights, heights, out
):
    """Write the least d+ from each reference point to nested fronts (see :func:`nest`).

    ``coverage`` is that of each level, rising. The higher the level, the fewer points its front
    has to choose from, so the deficit in risk and regret rises with the level while the one in
    coverage falls: an interval of levels can do no better than the former at its low end with
    the latter at its high end. The former is at least the distance along any direction (see
    :func:`supports`). Intervals are halved until this bound rules them out, or until they have
    few rows, all of which are then looked at. The best level and direction of a reference point
    are good guesses for the next one.
    """
    n_levels, n_supports = coverage.shape[0], heights.shape[0]
    lows, highs = np.empty(128, np.int64), np.empty(128, np.int64)
    top = bottom = drop = k = 0
    for row in range(reference.shape[0]):
        c, r, e = reference[row, 0], reference[row, 1], reference[row, 2]
        top = min(_walk(coverage, top, c), n_levels - 1)  # the first that covers enough
        best_level = max(top - drop, 0)
        short = max(0.0, c - coverage[best_level])
        best = short * short + _deficit(
            risk, regret, begins[best_level], ends[best_level], r, e, np.inf
        )
        # The direction in which this level is farthest.
        along = weights[0, k] * r + weights[1, k] * e
        height = heights[k, best_level] - along
        for step in (1, -1):
            while 0 <= k + step < n_supports:
                other = weights[0, k + step] * r + weights[1, k + step] * e
                if heights[k + step, best_level] - other <= height:
                    break
                k += step
                along, height = other, heights[k, best_level] - other
        # Only levels that lose less than the best in coverage alone.
        bottom = _walk(coverage, bottom, c - np.sqrt(best))
        lows[0], highs[0] = bottom, top
        n_open = 1
        while n_open > 0:
            n_open -= 1
            low, high = lows[n_open], highs[n_open]
            if low > high:
                continue
            short = max(0.0, c - coverage[high])
            far = max(0.0, heights[k, low] - along)
            if short * short + far * far >= best:
                continue
            if low == high or ends[low] - begins[high] <= FEW_ROWS:
                rows = slice(begins[high], ends[low])
                if low == high:
                    rows = _trim(risk, regret, begins[low], ends[low], r, e, short * short, best)
                least = _least(row_coverage[rows], risk[rows], regret[rows], c, r, e)
                if least < best:
                    best, best_level = least, high
                    at = _place(row_coverage[rows], risk[rows], regret[rows], c, r, e, least)
                    while rows.start + at >= ends[best_level]:
                        best_level -= 1
                continue
            middle = (low + high) // 2
            lows[n_open], highs[n_open] = low, middle
            lows[n_open + 1], highs[n_open + 1] = middle + 1, high
            n_open += 2
        drop = top - best_level
        out[row] = np.sqrt(best)


@kernel
def _least(coverage, risk, regret, c, r, e):
    """Return the least squared d+ from (c, r, e) to some rows."""
    least = bits_of(np.inf)
    for i in range(coverage.shape[0]):
        least = min(least, bits_of(_squared(coverage[i], risk[i], regret[i], c, r, e)))
    return np.int64(least).view(np.float64)


@kernel
def _trim(risk, regret, begin, end, r, e, short, best):
    """Return the rows of a front that may be nearer to (r, e) than ``best``, and a few more.

    ``short`` is the squared deficit in coverage. Risk rises and regret falls with the row.
    """
    low, high = begin, end
    while high - low > FEW_ROWS:  # the first row that does not have too much regret
        middle = (low + high) // 2
        more = max(regret[middle] - e, 0.0)
        if short + more * more >= best:
            low = middle + 1
        else:
            high = middle
    begin, high = low, end
    while high - low > FEW_ROWS:  # the last row that does not have too much risk
        middle = (low + high) // 2
        worse = max(risk[middle] - r, 0.0)
        if short + worse * worse >= best:
            high = middle
        else:
            low = middle
    return slice(begin, high)


@kernel
def _place(coverage, risk, regret, c, r, e, least):
    """Return the first row with this squared d+ from (c, r, e)."""
    at = 0
    while _squared(coverage[at], risk[at], regret[at], c, r, e) != least:
        at += 1
    return at


@kernel
def _squared(coverage, risk, regret, c, r, e):
    """Return the squared d+ from (c, r, e) to a row."""
    short, worse, more = max(c - coverage, 0.0), max(risk - r, 0.0), max(regret - e, 0.0)
    return short * short + (worse * worse + more * more)


@kernel
def bits_of(number):
    """Return a number's bits as an integer: those of numbers from 0 on have the same order.

    The minimum of integers is vectorised, that of numbers is not.
    """
    return np.float64(number).view(np.int64)


@kernel
def _walk(values, at, bound):
    """First place, from ``at`` on or before it, whose value is at least ``bound``; they rise."""
    while at > 0 and values[at - 1] >= bound:
        at -= 1
    while at < values.shape[0] and values[at] < bound:
        at += 1
    return at


@kernel
def _deficit(risk, regret, begin, end, r, e, limit):
    """Return the least squared d+ from (r, e) to the rows of a front; exact below ``limit``."""
    low, high = begin, end
    while low < high:  # the first row of larger risk
        middle = (low + high) // 2
        if risk[middle] <= r:
            low = middle + 1
        else:
            high = middle
    least = np.inf
    if low > begin:
        more = regret[low - 1] - e
        if more <= 0.0:
            return 0.0
        least = more * more
    for i in range(low, end):
        worse = risk[i] - r
        worse *= worse
        if worse >= least or worse >= limit:
            break
        more = regret[i] - e
        if more <= 0.0:
            return worse
        least = min(least, worse + more * more)
    return least
