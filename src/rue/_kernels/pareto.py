"""Running sums along a ranking, their Pareto fronts at each coverage, and IGD+ to the fronts.

These kernels release the interpreter's lock and run on plain threads, which, unlike numba's own
threads, can be started from any thread and survive a fork.
"""

import numpy as np

from rue._kernels import kernel

# Equal sums that were added up in different orders differ by less than this; the sums of a front
# are about 1 at full coverage.
SAME_SUM = 1e-14


@kernel(nogil=True)
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


@kernel(nogil=True)
def insert(fronts, sizes, level, risk, regret, angle):
    """Insert a point into the front of its level, unless a point there is at least as good.

    ``fronts`` has shape (levels, room, 3); a front's ``sizes[level]`` rows (risk, regret, angle)
    have rising risk and falling regret. There must be room for one more.
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
            return
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


@kernel(nogil=True)
def widened(fronts):
    """Return the fronts with twice as much room."""
    room = fronts.shape[1]
    wider = np.empty((fronts.shape[0], 2 * room, 3))
    wider[:, :room] = fronts
    return wider


@kernel(nogil=True)
def insert_rankings(fronts, sizes, first, risk_sums, regret_sums, angles):
    """Insert the running sums of some rankings, and of their reverses, at a range of levels.

    ``risk_sums`` and ``regret_sums`` have shape (rankings, N + 1); ``fronts[0]`` is the level of
    ``first`` accepted points. Returns the fronts, which may have moved.
    """
    n_points = risk_sums.shape[1] - 1
    for level in range(sizes.shape[0]):
        k = first + level
        for d in range(angles.shape[0]):
            if sizes[level] + 2 > fronts.shape[1]:
                fronts = widened(fronts)
            insert(fronts, sizes, level, risk_sums[d, k], regret_sums[d, k], angles[d])
            # The reversed ranking accepts what the ranking rejects.
            risk = risk_sums[d, n_points] - risk_sums[d, n_points - k]
            regret = regret_sums[d, n_points] - regret_sums[d, n_points - k]
            insert(fronts, sizes, level, risk, regret, angles[d] + np.pi)
    return fronts


@kernel(nogil=True)
def insert_fronts(fronts, sizes, others, other_sizes):
    """Insert other fronts of the same levels; returns the fronts, which may have moved."""
    for level in range(sizes.shape[0]):
        for i in range(other_sizes[level]):
            if sizes[level] == fronts.shape[1]:
                fronts = widened(fronts)
            risk, regret, angle = others[level, i]
            insert(fronts, sizes, level, risk, regret, angle)
    return fronts


@kernel(nogil=True)
def flatten(fronts, sizes, risk, regret, angle):
    """Write the rows of all fronts, one front after the other."""
    row = 0
    for level in range(sizes.shape[0]):
        for i in range(sizes[level]):
            risk[row], regret[row], angle[row] = fronts[level, i]
            row += 1


@kernel(nogil=True)
def nest(level_starts, risk, regret):
    """Return, for each level, the front of all points at this level or above.

    Rows are sorted by level, then risk; level l has the rows ``level_starts[l]`` up to
    ``level_starts[l + 1]``. Returns where each level's front begins and ends, and the risk and
    regret of the rows of all fronts. Higher levels come first.
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
    return begins, ends, out_risk, out_regret


@kernel
def _widen(values, room):
    wider = np.empty(room)
    wider[: values.shape[0]] = values
    return wider


@kernel(nogil=True)
def least_deficits(reference, coverage, begins, ends, risk, regret, out):
    """Write the least d+ from each reference point to nested fronts (see :func:`nest`).

    ``coverage`` is that of each level, rising. The higher the level, the fewer points its front
    has to choose from, so the deficit in risk and regret rises with the level while the one in
    coverage falls: an interval of levels can do no better than the former at its low end with
    the latter at its high end. Intervals are halved until this bound rules them out. The best
    level of a reference point is a good guess for the next one.
    """
    n_levels = coverage.shape[0]
    lows, highs = np.empty(128, np.int64), np.empty(128, np.int64)
    bounds = np.empty(128)
    drop = 0
    for row in range(reference.shape[0]):
        c, r, e = reference[row, 0], reference[row, 1], reference[row, 2]
        top = min(np.searchsorted(coverage, c), n_levels - 1)  # the first that covers enough
        short = max(0.0, c - coverage[top])
        best = short * short + _deficit(risk, regret, begins[top], ends[top], r, e, np.inf)
        best_level = top
        guess = max(top - drop, 0)
        if best > 0.0 and guess < top:
            short = c - coverage[guess]
            deficit = _deficit(risk, regret, begins[guess], ends[guess], r, e, best)
            if short * short + deficit < best:
                best, best_level = short * short + deficit, guess
        # Only levels that lose less than the best in coverage alone.
        lows[0] = np.searchsorted(coverage, c - np.sqrt(best))
        highs[0], bounds[0] = top - 1, 0.0
        n_open = 1
        while n_open > 0:
            n_open -= 1
            low, high, bound = lows[n_open], highs[n_open], bounds[n_open]
            if low > high:
                continue
            short = c - coverage[high]
            if short * short + bound >= best:
                continue
            middle = (low + high) // 2
            short = c - coverage[middle]
            deficit = _deficit(risk, regret, begins[middle], ends[middle], r, e, best)
            if short * short + deficit < best:
                best, best_level = short * short + deficit, middle
            lows[n_open], highs[n_open], bounds[n_open] = low, middle - 1, bound
            n_open += 1
            if deficit < best:
                lows[n_open], highs[n_open], bounds[n_open] = middle + 1, high, deficit
                n_open += 1
        drop = top - best_level
        out[row] = np.sqrt(best)


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
