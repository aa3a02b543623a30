"""Lines that rounding has bent, and how two of their points differ."""

from itertools import pairwise

import numpy as np
import pytest

from rue._kernels.pareto import BLURRED, MOST, common_line, difference, find_lines

GRID = 1e12


def sorted_points(x, y):
    x, y = np.rint(np.asarray(x, float) * GRID), np.rint(np.asarray(y, float) * GRID)
    order = np.lexsort((y, x))
    return x[order], y[order]


def on_a_line(x):
    """Points of y = 0.3 x + 0.1, and a twentieth as many anywhere."""
    rng = np.random.default_rng(0)
    other = rng.random((2, len(x) // 20))
    return sorted_points(np.append(x, other[0]), np.append(0.3 * x + 0.1, other[1]))


def test_a_bent_line_is_found_with_just_its_points():
    x, y = on_a_line(np.random.default_rng(1).random(200))
    lines, directions = find_lines(x, y)
    assert len(directions) == 1
    assert directions[0] == pytest.approx(np.array([1, 0.3]) / np.hypot(1, 0.3), abs=1e-11)
    is_on = np.abs(y - 0.3 * x - 0.1 * GRID) < 2
    assert is_on.sum() == 200
    assert np.array_equal(lines[:, 0] == 0, is_on)
    assert (lines[:, 1:] == -1).all()


def test_all_pairs_of_a_line_have_one_angle():
    x, y = on_a_line(np.random.default_rng(1).random(200) ** 3)
    lines, directions = find_lines(x, y)
    members = np.flatnonzero(lines[:, 0] == 0)
    points = (x, y, lines, directions)
    bent, straight = [], []
    for i, j in pairwise(members):
        if x[j] > x[i] and y[j] > y[i]:
            bent.append(np.arctan2(y[j] - y[i], x[j] - x[i]))
            dx, dy = difference(points, i, j)
            straight.append(np.arctan2(dy, dx))
            assert np.hypot(dx - x[j] + x[i], dy - y[j] + y[i]) < 2
    assert np.ptp(bent) > 1e-9
    assert np.ptp(straight) < 1e-15


def test_points_of_two_lines_differ_along_the_one_they_share():
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 100))
    x, y = sorted_points(
        np.concatenate([first, second, [0.5]]),
        np.concatenate([0.3 * first + 0.1, 0.9 - 1.3 * second * 0.5, [0.25]]),
    )
    lines, directions = find_lines(x, y)
    assert len(directions) == 2
    slopes = directions[:, 1] / directions[:, 0]
    assert sorted(slopes) == pytest.approx([-0.65, 0.3], abs=1e-11)
    one, other = np.flatnonzero(lines[:, 0] == 0), np.flatnonzero(lines[:, 0] == 1)
    assert common_line(lines, one[0], one[1]) == 0
    assert common_line(lines, other[0], other[1]) == 1
    assert common_line(lines, one[0], other[0]) == -1
    points = (x, y, lines, directions)
    i, j = one[0], other[0]
    assert difference(points, i, j) == (x[j] - x[i], y[j] - y[i])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        pytest.param(np.random.default_rng(3).random(300), np.zeros(300), id="on an axis"),
        pytest.param(*np.random.default_rng(3).random((2, 300)), id="anywhere"),
        pytest.param([0, 1e-3, 1], [0, 1e-3 / 3, 1 / 3], id="three points"),
        pytest.param(np.arange(9) / 8, np.arange(9) / 24, id="not close"),
        pytest.param([0, 1e-11, 0.4, 1], [0, 1e-11 / 3, 0.4 / 3, 1 / 3], id="too close to tell"),
        pytest.param([0.0], [0.0], id="one point"),
    ],
)
def test_there_is_no_line(x, y):
    lines, directions = find_lines(*sorted_points(x, y))
    assert len(directions) == 0
    assert (lines == -1).all()


def test_four_points_are_a_line():
    x = np.array([0, 1e-4, 0.4, 1])
    lines, directions = find_lines(*sorted_points(x, x / 3))
    assert len(directions) == 1
    assert (lines[:, 0] == 0).all()
    assert 1e-4 * GRID > BLURRED


def test_points_side_by_side_on_a_line_differ_as_they_are():
    # Along the diagonal the second and the third differ by nothing.
    x = np.array([0, 1e-3 + 1e-6, 1e-3 + 1e-6 + 1e-12, 1e-3 + 2e-6, 0.5, 1])
    y = np.array([0, 1e-3 + 1e-6 + 1e-12, 1e-3 + 1e-6, 1e-3 + 2e-6, 0.5, 1])
    x, y = sorted_points(x, y)
    points = (x, y, *find_lines(x, y))
    assert (points[2][:, 0] == 0).all()
    assert difference(points, 1, 2) == (1, -1)
    assert difference(points, 2, 1) == (-1, 1)


def test_a_point_looks_for_no_more_lines_than_it_can_know():
    # In a cluster of a thousandth of a millionth every other pair is on a line with two far away.
    rng = np.random.default_rng(4)
    cluster, angles = 1e-9 * rng.random((2, 300)), np.repeat(np.linspace(0.1, 1.4, 20), 2)
    far = rng.random(40)
    x, y = sorted_points(
        np.append(cluster[0], far * np.cos(angles)), np.append(cluster[1], far * np.sin(angles))
    )
    lines, directions = find_lines(x, y)
    assert (lines[:, MOST - 1] >= 0).sum() > 100
    assert np.array_equal(np.unique(lines[lines >= 0]), np.arange(len(directions)))
