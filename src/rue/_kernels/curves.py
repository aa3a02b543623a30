"""Coverage curves over sorted scores: one corner per distinct score, linear in between."""

import numpy as np

from rue._kernels import kernel


@kernel
def _add(total, carry, term):
    """Add to a compensated sum (Neumaier): the value is total + carry."""
    fresh = total + term
    if abs(total) >= abs(term):
        carry += (total - fresh) + term
    else:
        carry += (term - fresh) + total
    return fresh, carry


@kernel
def areas(value, score, weight, order, normalized):
    """Return the exact integral of the piecewise-linear coverage curve, and its last value.

    ``weight`` of length 0 means equal weights. Sums are compensated, so that the result does not
    depend on the order of rows.
    """
    n_points = order.shape[0]
    weighted = weight.shape[0] > 0
    mass = np.float64(n_points)
    if weighted:
        mass = 0.0
        for i in range(n_points):
            mass += weight[order[i]]
    covered, height, height_carry, area, area_carry = 0.0, 0.0, 0.0, 0.0, 0.0
    i = 0
    while i < n_points:
        threshold = score[order[i]]
        before_covered, before = covered, height + height_carry
        while i < n_points and score[order[i]] == threshold:
            j = order[i]
            w = weight[j] if weighted else 1.0
            covered += w
            height, height_carry = _add(height, height_carry, w * value[j])
            i += 1
        width = covered - before_covered
        after = height + height_carry
        if not normalized:
            term = width / mass * (before + after) * 0.5  # one block: exactly half its height
        elif before_covered == 0.0:
            term = after  # the curve is flat until the first block ends
        else:
            # V = before + slope (c - before_covered), divided by c and integrated.
            slope = (after - before) / width
            term = slope * width
            term += (before - slope * before_covered) * np.log(covered / before_covered)
        area, area_carry = _add(area, area_carry, term)
    return (area + area_carry) / mass, (height + height_carry) / mass


@kernel
def steps(value, score, order, normalized):
    """Return the mean of the curve at 0..N-1 (plain) or 1..N (normalised) accepted points."""
    n_points = order.shape[0]
    height, total = 0.0, 0.0
    i = 0
    while i < n_points:
        stop, rise = i, 0.0
        while stop < n_points and score[order[stop]] == score[order[i]]:
            rise += value[order[stop]]
            stop += 1
        slope = rise / (stop - i)
        for k in range(i, stop):
            if normalized:
                total += (height + slope * (k + 1 - i)) / (k + 1)
            else:
                total += height + slope * (k - i)
        height += rise
        i = stop
    return total / n_points if normalized else total / n_points / n_points


@kernel
def curve(value, score, weight, order):
    """Return coverage, height and threshold at the end of each block of equal scores."""
    n_points = order.shape[0]
    coverage, height, threshold = np.empty(n_points), np.empty(n_points), np.empty(n_points)
    covered, risen = 0.0, 0.0
    n_blocks = 0
    for i in range(n_points):
        j = order[i]
        covered += weight[j]
        risen += weight[j] * value[j]
        if i + 1 == n_points or score[order[i + 1]] != score[j]:
            coverage[n_blocks], height[n_blocks] = covered, risen
            threshold[n_blocks] = score[j]
            n_blocks += 1
    return coverage[:n_blocks] / covered, height[:n_blocks] / covered, threshold[:n_blocks]


@kernel
def mid_ranks(score, order):
    """Return the rank of each point, 1..N; equal scores share their mean rank."""
    n_points = order.shape[0]
    ranks = np.empty(n_points)
    i = 0
    while i < n_points:
        stop = i
        while stop < n_points and score[order[stop]] == score[order[i]]:
            stop += 1
        for k in range(i, stop):
            ranks[order[k]] = 0.5 * (i + 1 + stop)
        i = stop
    return ranks
