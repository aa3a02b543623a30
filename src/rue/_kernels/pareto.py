"""Running sums along a ranking, their Pareto fronts at each coverage, and IGD+ to the fronts.

The rotational sweep: every ranking that a linear combination of two components attains.

Blocks (distinct points) are numbered in the order of (x, y). The score of block b in direction
phi is x cos(phi) + y sin(phi). Coordinates are whole numbers up to 1e12, so differences are exact
and the sign of a difference of scores is known in every open arc. Blocks on one line change
places at one angle: their differences lie along it. ``points`` are the coordinates and lines.

Lines have to be found, as rounding moves a point off its line by up to one unit of the grid. So
the direction between two points at distance d may be wrong by up to 2 / d, which for close points
is more than the tolerance for equal angles. Three collinear points may be a coincidence; four or
more, within rounding, are treated as a line. Lines parallel to an axis stay exact, and so do two
points that share a coordinate.
"""

import numpy as np

from rue._kernels import kernel
from rue._kernels.sorting import ROW, sort_words

# Equal sums that were added up in different orders differ by less than this; the sums of a front
# are about 1 at full coverage.
SAME_SUM = 1e-14

# So few rows of fronts are looked at one by one, which the processor does many at a time.
FEW_ROWS = 64

# The number of directions along which the distance of a front is known, and of fronts for which it
# is known at most, about: a nested front is no farther than those above it.
N_SUPPORTS = 48
MANY_LEVELS = 1 << 16

# Critical angles that differ by at most this count as equal.
SAME_ANGLE = 1e-9

# The largest distance of a rounded point from the line through two other rounded points of it.
OFF = 1.5

# Only pairs closer than CLOSE may have a wrong direction. For pairs closer than BLURRED no
# direction can be determined at all.
CLOSE = 4e9
BLURRED = 100.0

# A line has at least LEAST points, of which two are at least FARTHER times as far apart as a close
# pair.
LEAST = 4
FARTHER = 10.0

# The largest number of lines that is stored for a point.
MOST = 4


@kernel
def accumulate(order, score, slack, losses, risk_sums, regret_sums):
    """Write the N+1 running sums of the two columns of ``losses`` in the order of ``score``."""
    n_points = order.shape[0]
    first, last = 0, score[order[0]]
    for stop in range(1, n_points + 1):
        before, last = last, score[order[stop]] if stop < n_points else np.inf
        if last - before > slack:
            if stop - first > 1:
                order[first:stop].sort()
            first = stop
    total, avoidable = 0.0, 0.0
    risk_sums[0] = regret_sums[0] = 0.0
    for k in range(n_points):
        total += losses[order[k], 0]
        avoidable += losses[order[k], 1]
        risk_sums[k + 1], regret_sums[k + 1] = total, avoidable


@kernel
def accumulate_directions(x, y, angles, losses, risk_sums, regret_sums, score, room):
    """Write the running sums (see :func:`accumulate`) of the rankings by some directions."""
    n_points = x.shape[0]
    for d in range(angles.shape[0]):
        cosine, sine = np.cos(angles[d]), np.sin(angles[d])
        for i in range(n_points):
            score[i] = x[i] * cosine + y[i] * sine
        words = sort_words(score, room)
        total, avoidable = 0.0, 0.0
        risk_sums[d, 0] = regret_sums[d, 0] = 0.0
        for k in range(n_points):
            row = words[k] & ROW
            total += losses[row, 0]
            avoidable += losses[row, 1]
            risk_sums[d, k + 1], regret_sums[d, k + 1] = total, avoidable


@kernel
def insert(fronts, sizes, level, risk, regret, angle):
    """Insert a point into the front of its level, unless a point there is at least as good."""
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
            for j in range(fronts.shape[2]):
                fronts[level, i + 1, j] = fronts[level, i, j]
    elif shift < 0:
        for i in range(stop, size):
            for j in range(fronts.shape[2]):
                fronts[level, i + shift, j] = fronts[level, i, j]
    fronts[level, low, 0], fronts[level, low, 1] = risk, regret
    if fronts.shape[2] > 2:
        fronts[level, low, 2] = angle
    sizes[level] = size + shift
    return True


@kernel
def widened(fronts):
    """Return the fronts with a quarter more room."""
    room = fronts.shape[1]
    wider = np.empty((fronts.shape[0], room + max(room // 4, 1), fronts.shape[2]))
    wider[:, :room] = fronts
    return wider


@kernel
def insert_rankings(fronts, sizes, champions, first, risk_sums, regret_sums, angles):
    """Insert the running sums of some rankings, and of their reverses, at a range of levels."""
    n_points, n_levels = risk_sums.shape[1] - 1, sizes.shape[0]
    risk, regret = np.empty(n_levels), np.empty(n_levels)
    is_open = np.zeros(8 * (n_levels // 8 + 1), np.uint8)
    levels = np.empty(is_open.shape[0] + 1, np.uint32)
    opposite = np.uint64(n_points - first)
    for d in range(angles.shape[0]):
        risks, regrets = risk_sums[d], regret_sums[d]
        fronts = _insert_ranking(
            *(fronts, sizes, champions, is_open, levels),
            *(risks[first : first + n_levels], regrets[first : first + n_levels], angles[d]),
        )
        # The reversed ranking accepts what the ranking rejects.
        _complements(risks, opposite, risk)
        _complements(regrets, opposite, regret)
        fronts = _insert_ranking(
            *(fronts, sizes, champions, is_open, levels, risk, regret, angles[d] + np.pi)
        )
    return fronts


@kernel
def _complements(sums, last, out):
    """Write the last of the running sums minus those that end at place ``last``, backwards."""
    whole = sums[sums.shape[0] - 1]
    for i in range(out.shape[0]):
        out[i] = whole - sums[last - np.uint64(i)]  # unsigned, so that loops vectorise


@kernel
def _insert_ranking(fronts, sizes, champions, is_open, levels, risk, regret, angle):
    """Insert one point per level; returns the fronts."""
    least_risk, least_regret = champions[0], champions[1]
    for level in range(sizes.shape[0]):
        is_open[level] = (least_risk[level] > risk[level] + SAME_SUM) | (
            least_regret[level] > regret[level] + SAME_SUM
        )
    eights, n_listed = is_open.view(np.uint64), 0
    for eight in range(eights.shape[0]):
        if eights[eight] != 0:
            for level in range(8 * eight, 8 * eight + 8):
                levels[n_listed] = level
                n_listed += is_open[level]
    for level in levels[:n_listed]:
        fronts = _challenge(fronts, sizes, champions, level, risk[level], regret[level], angle)
    return fronts


@kernel
def _challenge(fronts, sizes, champions, level, risk, regret, angle):
    """Insert a point that its level's champion does not dominate; returns the fronts."""
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
    """Write the rows of all fronts, one front after the other, with angles where they have some."""
    row = 0
    for level in range(sizes.shape[0]):
        for i in range(sizes[level]):
            risk[row], regret[row] = fronts[level, i, 0], fronts[level, i, 1]
            if fronts.shape[2] > 2:
                angle[row] = fronts[level, i, 2]
            row += 1


@kernel
def nest(level_starts, coverage, risk, regret):
    """Return, for each level, the front of all points at this level or above."""
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
    """Return directions, and how far every 2^shift-th front (see :func:`nest`) is along them."""
    n_levels, shift = begins.shape[0], 0
    while n_levels >> shift > 2 * MANY_LEVELS:
        shift += 1
    risk_range, regret_range = risk.max() - risk.min(), regret.max() - regret.min()
    weights, heights = (
        np.empty((2, N_SUPPORTS)),
        np.empty((N_SUPPORTS, ((n_levels - 1) >> shift) + 1)),
    )
    for k in range(N_SUPPORTS):
        angle = np.pi / 2 * k / (N_SUPPORTS - 1)
        x, y = np.cos(angle) * regret_range, np.sin(angle) * risk_range
        length = np.hypot(x, y)
        weights[0, k] = x / length if length > 0.0 else np.cos(angle)
        weights[1, k] = y / length if length > 0.0 else np.sin(angle)
    size = np.abs(risk).max() + np.abs(regret).max()
    least = np.empty(N_SUPPORTS)
    for at in range(heights.shape[1]):
        level = at << shift
        least[:] = np.inf
        for row in range(begins[level], ends[level]):
            for k in range(N_SUPPORTS):
                along = weights[0, k] * risk[row] + weights[1, k] * regret[row]
                least[k] = along if along < least[k] else least[k]
        for k in range(N_SUPPORTS):
            heights[k, at] = least[k] - 1e-13 * size
    return weights, heights, shift


@kernel
def least_deficits(
    reference, coverage, begins, ends, row_coverage, risk, regret, weights, heights, shift, out
):
    """Write the least d+ from each reference point to nested fronts (see :func:`nest`)."""
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
        at = best_level >> shift
        height = heights[k, at] - along
        for step in (1, -1):
            while 0 <= k + step < n_supports:
                other = weights[0, k + step] * r + weights[1, k + step] * e
                if heights[k + step, at] - other <= height:
                    break
                k += step
                along, height = other, heights[k, at] - other
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
            far = max(0.0, heights[k, low >> shift] - along)
            if short * short + far * far >= best:
                continue
            if low == high or ends[low] - begins[high] <= FEW_ROWS:
                rows = slice(begins[high], ends[low])
                if low == high:
                    rows = _trim(risk, regret, begins[low], ends[low], r, e, short * short, best)
                least = _least(row_coverage[rows], risk[rows], regret[rows], c, r, e)
                if least < best:
                    best, best_level = least, high
                    place = _place(row_coverage[rows], risk[rows], regret[rows], c, r, e, least)
                    while rows.start + place >= ends[best_level]:
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
    """Return the rows of a front that may be nearer to (r, e) than ``best``, and a few more."""
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
    """Return a number's bits as an integer: those of numbers from 0 on have the same order."""
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


@kernel
def critical_angle(points, i, j):
    """Return the angle in (0, pi] at which blocks i and j have the same score."""
    dx, dy = difference(points, min(i, j), max(i, j))
    return np.arctan2(dx, -dy)


@kernel
def certify(order, angle, points):
    """Sort the nearly sorted ``order`` by score; return whether ``angle`` is in an open arc."""
    cosine, sine = np.cos(angle), np.sin(angle)
    _sort(order, 0, order.shape[0], cosine, sine, points)
    before, after = -np.inf, np.inf
    for p in range(order.shape[0] - 1):
        i, j = order[p], order[p + 1]
        dx, dy = difference(points, i, j)
        if dx * cosine + dy * sine <= 0.0:
            return False
        ahead = (critical_angle(points, i, j) - angle) % np.pi
        after = min(after, ahead)
        before = max(before, ahead - np.pi)
    return after - before > SAME_ANGLE


@kernel
def _sort(order, first, stop, cosine, sine, points):
    """Sort by score with insertion sort, which takes one step per pair in the wrong order."""
    for p in range(first + 1, stop):
        block, q = order[p], p
        while q > first:
            other = order[q - 1]
            dx, dy = difference(points, other, block)
            if dx * cosine + dy * sine >= 0.0:
                break
            order[q] = other
            q -= 1
        order[q] = block


@kernel
def _settle(order, first, stop, cosine, sine, points):
    """Widen a sorted run until it is in order with its neighbours, and return its ends."""
    while True:
        if first > 0 and _are_reversed(order, first, cosine, sine, points):
            first -= 1
        elif stop < order.shape[0] and _are_reversed(order, stop, cosine, sine, points):
            stop += 1
        else:
            return first, stop
        _sort(order, first, stop, cosine, sine, points)


@kernel
def _are_reversed(order, p, cosine, sine, points):
    """Return whether the block at a place should come before its predecessor."""
    dx, dy = difference(points, order[p - 1], order[p])
    return dx * cosine + dy * sine < 0.0


@kernel
def crossings(start, end, origin, points):
    """Return the pairs of blocks that change places between two rankings, and their angles."""
    n_blocks = start.shape[0]
    rank = np.empty(n_blocks, np.int64)
    for p in range(n_blocks):
        rank[start[p]] = p
    count = 0
    first, second, angle = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    for fill in (False, True):
        if fill:
            first, second = np.empty(count, np.int32), np.empty(count, np.int32)
            angle = np.empty(count)
            count = 0
        sorted_ = end.copy()
        for p in range(1, n_blocks):
            block, q = sorted_[p], p
            while q > 0 and rank[sorted_[q - 1]] > rank[block]:
                if fill:
                    other = sorted_[q - 1]
                    at = critical_angle(points, block, other)
                    first[count], second[count] = other, block
                    angle[count] = at if at > origin else at + np.pi
                count += 1
                sorted_[q] = sorted_[q - 1]
                q -= 1
            sorted_[q] = block
    return first, second, angle


@kernel
def sweep(
    ranking, start, first, second, angle, by_angle, points, counts, risk, regret, fronts, sizes
):
    """Insert all prefixes of all open arcs from ``start`` up to the last critical angle."""
    n_blocks, n_lines = ranking.shape[0], points[3].shape[0]
    ranking = ranking.copy()
    place = np.empty(n_blocks, np.int64)
    for p in range(n_blocks):
        place[ranking[p]] = p
    # The number of points and the sums before the block at each place.
    covered = np.zeros(n_blocks + 1, np.int64)
    sums = np.zeros((n_blocks + 1, 2))
    fronts = _emit(ranking, 0, n_blocks, start, counts, risk, regret, covered, sums, fronts, sizes)
    opened = np.zeros(n_blocks + 1, np.int64)
    runs = np.empty((n_blocks, 2), np.int64)
    n_events, begin = angle.shape[0], 0
    while begin < n_events:
        stop = begin + 1
        while stop < n_events and angle[by_angle[stop]] - angle[by_angle[stop - 1]] <= SAME_ANGLE:
            stop += 1
        if stop == n_events:
            break  # the arc that follows is the next sweep's first
        towards = 0.5 * (angle[by_angle[stop - 1]] + angle[by_angle[stop]])
        cosine, sine = np.cos(towards), np.sin(towards)
        # Pairs that share a block, or whose places overlap, form one run of places.
        low, high = n_blocks, 0
        for event in by_angle[begin:stop]:
            p, q = place[first[event]], place[second[event]]
            opened[min(p, q)] += 1
            opened[max(p, q)] -= 1
            low, high = min(low, p, q), max(high, p, q)
        depth, run, n_runs = 0, low, 0
        for p in range(low, high + 1):
            if depth == 0:
                run = p
            depth += opened[p]
            opened[p] = 0
            if depth == 0 and p > run:
                _sort(ranking, run, p + 1, cosine, sine, points)
                runs[n_runs] = run, p + 1
                n_runs += 1
        for r in range(n_runs if n_lines > 0 else 0):
            runs[r] = _settle(ranking, runs[r, 0], runs[r, 1], cosine, sine, points)
        for low, high in runs[:n_runs]:
            for p in range(low, high):
                place[ranking[p]] = p
            fronts = _emit(
                ranking, low, high, towards, counts, risk, regret, covered, sums, fronts, sizes
            )
        begin = stop
    return fronts


@kernel
def _emit(ranking, first, stop, angle, counts, risk, regret, covered, sums, fronts, sizes):
    """Insert the prefixes that end within a run of places, linear within a block."""
    n_points = sizes.shape[0] - 1
    n_blocks = ranking.shape[0]
    for p in range(first, stop):
        block = ranking[p]
        covered[p + 1] = covered[p] + counts[block]
        sums[p + 1, 0] = sums[p, 0] + risk[block]
        sums[p + 1, 1] = sums[p, 1] + regret[block]
    all_risk, all_regret = sums[n_blocks, 0], sums[n_blocks, 1]
    for p in range(first, stop):
        block = ranking[p]
        # The prefix that ends where the run begins is unchanged; the empty one is new at first.
        for i in range(1 if p == first > 0 else 0, counts[block]):
            share = i / counts[block]
            k = covered[p] + i
            prefix_risk = sums[p, 0] + share * risk[block]
            prefix_regret = sums[p, 1] + share * regret[block]
            if max(sizes[k], sizes[n_points - k]) + 2 > fronts.shape[1]:
                fronts = widened(fronts)
            insert(fronts, sizes, k, prefix_risk, prefix_regret, angle)
            # The reversed ranking accepts what the ranking rejects.
            prefix_risk, prefix_regret = all_risk - prefix_risk, all_regret - prefix_regret
            insert(fronts, sizes, n_points - k, prefix_risk, prefix_regret, angle + np.pi)
    return fronts


@kernel
def find_lines(x, y):
    """Return the lines of each point, filled up with -1, and the direction of each line."""
    n_points = x.shape[0]
    lines, n_lines = np.full((n_points, MOST), -1), 0
    directions = np.empty((16, 2))
    for i in range(n_points):
        order, angles = np.empty(0, np.int64), np.empty(0)
        for j in range(i + 1, n_points):
            if x[j] - x[i] >= CLOSE or lines[i, MOST - 1] >= 0:
                break
            if lines[j, MOST - 1] >= 0 or common_line(lines, i, j) >= 0:
                continue
            if not _may_be_bent(x[j] - x[i], y[j] - y[i]):
                continue
            if order.shape[0] == 0:
                angles = np.arctan2(y - y[i], x - x[i]) % np.pi
                order = np.argsort(angles)
                angles = angles[order]
            far = _farthest(i, j, x, y, order, angles)
            if far < 0:
                continue
            start, stop = _ends(i, far, x, y)
            dx, dy = x[stop] - x[start], y[stop] - y[start]
            if dx == 0.0 or dy == 0.0 or not _join(n_lines, start, stop, x, y, lines):
                continue
            if n_lines == directions.shape[0]:
                directions = np.concatenate((directions, directions))
            directions[n_lines] = dx / np.hypot(dx, dy), dy / np.hypot(dx, dy)
            n_lines += 1
    return lines, directions[:n_lines]


@kernel
def common_line(lines, i, j):
    """Return the line that two points have in common, or -1."""
    for a in range(MOST):
        if lines[i, a] < 0:
            break
        for b in range(MOST):
            if lines[i, a] == lines[j, b]:
                return lines[i, a]
    return -1


@kernel
def difference(points, i, j):
    """Return the vector from point i to point j, along their line if they have one."""
    x, y, lines, directions = points
    dx, dy = x[j] - x[i], y[j] - y[i]
    line = common_line(lines, i, j)
    if line >= 0 and dx != 0.0 and dy != 0.0:
        along = dx * directions[line, 0] + dy * directions[line, 1]
        if along * dx > 0.0:
            dx, dy = along * directions[line, 0], along * directions[line, 1]
    return dx, dy


@kernel
def _may_be_bent(dx, dy):
    """Return whether the direction between two points may be wrong by rounding."""
    return dx != 0.0 and dy != 0.0 and BLURRED < np.hypot(dx, dy) < CLOSE


@kernel
def _off(i, start, stop, x, y):
    """Return the distance of point i from the line through two others."""
    dx, dy = x[stop] - x[start], y[stop] - y[start]
    return abs(dx * (y[i] - y[start]) - dy * (x[i] - x[start])) / np.hypot(dx, dy)


@kernel
def _farthest(i, j, x, y, order, angles):
    """Return the farthest point on a line with i and j, or -1 if there is none."""
    n_points = x.shape[0]
    apart = np.hypot(x[j] - x[i], y[j] - y[i])
    towards = np.arctan2(y[j] - y[i], x[j] - x[i]) % np.pi
    middle = np.searchsorted(angles, towards)
    found, far, reach = 0, -1, 0.0
    for step in (-1, 1):
        place = middle - 1 if step < 0 else middle
        for _ in range(n_points):
            k = order[place % n_points]
            turn = abs(angles[place % n_points] - towards)
            if min(turn, np.pi - turn) > 2.0 * OFF / apart:
                break
            distance = np.hypot(x[k] - x[i], y[k] - y[i])
            if distance > FARTHER * apart and _off(j, i, k, x, y) <= OFF:
                found += 1
                if distance > reach:
                    far, reach = k, distance
            place += step
    return far if found >= LEAST - 2 else -1


@kernel
def _ends(i, j, x, y):
    """Return the first and the last point of the line through two points."""
    start, stop = min(i, j), max(i, j)
    for k in range(x.shape[0]):
        if _off(k, i, j, x, y) <= OFF:
            start, stop = min(start, k), max(stop, k)
    return start, stop


@kernel
def _join(line, start, stop, x, y, lines):
    """Store a line for its points, and return whether there are enough of them."""
    members = [k for k in range(x.shape[0]) if _off(k, start, stop, x, y) <= OFF]
    if len(members) < LEAST:
        return False
    for k in members:
        for a in range(MOST):
            if lines[k, a] < 0:
                lines[k, a] = line
                break
    return True
