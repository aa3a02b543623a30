"""The rotational sweep: every ranking that a linear combination of two components attains.

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
from rue._kernels.pareto import insert, widened

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
def critical_angle(points, i, j):
    """Return the angle in (0, pi] at which blocks i and j have the same score."""
    dx, dy = difference(points, min(i, j), max(i, j))
    return np.arctan2(dx, -dy)


@kernel
def certify(order, angle, points):
    """Sort the nearly sorted ``order`` by score; return whether ``angle`` is in an open arc.

    It is enough to look at neighbours: the next pair to change places is one of them, and so was
    the last pair.
    """
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
    """Widen a sorted run until it is in order with its neighbours, and return its ends.

    Usually nothing has to be done. But differences along lines do not add up, so that three points
    within rounding may be in a cycle.
    """
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
    """Return the pairs of blocks that change places between two rankings, and their angles.

    Angles are in (origin, origin + pi]. The pairs are the inversions of the one ranking with
    respect to the other.
    """
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
    """Insert all prefixes of all open arcs from ``start`` up to the last critical angle.

    ``ranking`` is that of the arc of ``start``; ``first``, ``second`` and ``angle`` are from
    :func:`crossings` and ``by_angle`` sorts the latter. ``counts``, ``risk`` and ``regret`` are
    the blocks' numbers of points and sums.
    """
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
    """Return the lines of each point, filled up with -1, and the direction of each line.

    Points are sorted by (x, y). The direction is the unit vector from the first to the last point
    of a line.
    """
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
    """Return the vector from point i to point j, along their line if they have one.

    ``points`` are x, y and the result of :func:`find_lines`. If rounding reversed the order of two
    close points on their line, the plain difference is returned.
    """
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
    """Return the farthest distant point on a line with i and j, or -1 if there are fewer than two.

    ``order`` sorts the points by their angle as seen from i; ``angles`` are these angles, in
    [0, pi).
    """
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
