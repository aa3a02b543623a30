"""Collinear points after rounding: find the lines, and measure differences along them.

Rounding moves a point off its line by up to one unit of the grid. So the direction between two
points at distance d may be wrong by up to 2 / d, which for close points is more than the tolerance
for equal angles. Three collinear points may be a coincidence; four or more, within rounding, are
treated as a line. Lines parallel to an axis stay exact, and so do two points that share a
coordinate.
"""

import numpy as np

from rue._kernels import kernel

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


@kernel(nogil=True)
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
