"""Sorted scores: their order, and the areas and ranks that follow from it.

The order is found by a radix sort, several times faster than comparing scores: they become whole
numbers of 32 bits, which are sorted by 11 bits at a time together with their rows (by 9 if they are
so many that they leave the cache, which 2,048 places in memory would not share). Scores that
differ by less than 2^-32 of the range may become the same number; such runs are sorted by the
scores themselves. So the order is exact, and equal scores keep that of their rows.

A curve over sorted scores has one corner per distinct score and is linear in between. Sums over
bins of a score need no order.
"""

import numpy as np

from rue._kernels import kernel

_MANY, _WORD = 300_000, np.uint64(32)
ROW = np.uint64(0xFFFFFFFF)
"""The half of a number that holds a row, see :func:`sort_words`."""

# A run of this many scores is sorted by insertion.
_SHORT = 24


@kernel
def argsort(score):
    """Return the rows in the order of their scores; equal scores keep the order of rows."""
    order = np.empty(score.shape[0], np.int64)
    sort_rows(score, order, np.empty((2, score.shape[0]), np.uint64))
    return order


@kernel
def sort_rows(score, order, room):
    """Write the order of the scores, see :func:`argsort`; ``room`` has shape (2, n_points)."""
    words = sort_words(score, room)
    for i in range(words.shape[0]):
        order[i] = np.int64(words[i] & ROW)


@kernel
def sort_words(score, room):
    """Return numbers, in ``room``, whose low halves are the rows in the order of their scores."""
    n_points = score.shape[0]
    if n_points == 0:
        return room[0]
    low = high = score[0]
    for i in range(n_points):
        s = score[i]
        low = s if s < low else low
        high = s if s > high else high
    scale = 4294967295.0 / (high - low)
    spread = 0.0 < scale < np.inf  # else all are equal, or their range is no finite number
    n_digits = 4 if n_points > _MANY else 3
    width = np.uint64(9 if n_digits == 4 else 11)
    n_places = 1 << width
    low_bits = np.uint64(n_places - 1)
    starts = np.zeros((4, n_places), np.int64)
    given, sorted_ = room[0], room[1]
    for i in range(n_points):
        # Rounding may lift the largest score to 2^32, which has one bit too many.
        key = min(np.uint64((score[i] - low) * scale), ROW) if spread else np.uint64(0)
        given[i] = (key << _WORD) | np.uint64(i)
        starts[0, key & low_bits] += 1
        starts[1, (key >> width) & low_bits] += 1
        starts[2, (key >> (width + width)) & low_bits] += 1
        if n_digits == 4:
            starts[3, key >> (width + width + width)] += 1
    for digit in range(n_digits):
        shift, place = _WORD + np.uint64(digit) * width, starts[digit]
        before = 0
        for k in range(n_places):
            before, place[k] = before + place[k], before
        for i in range(n_points):
            word = given[i]
            k = (word >> shift) & low_bits
            sorted_[place[k]] = word
            place[k] += 1
        given, sorted_ = sorted_, given
    first = 0
    while first < n_points:
        key = given[first] >> _WORD
        stop = first + 1
        while stop < n_points and given[stop] >> _WORD == key:
            stop += 1
        if stop - first > 1:
            _sort_run(score, given, first, stop)
        first = stop
    return given


@kernel
def _sort_run(score, words, first, stop):
    """Sort a run of rows, which are in their own order, by score."""
    at = first + 1
    while at < stop and score[words[at - 1] & ROW] <= score[words[at] & ROW]:
        at += 1
    if at == stop:
        return
    if stop - first > _SHORT:
        run = words[first:stop].copy()
        words[first:stop] = run[np.argsort(score[run & ROW], kind="mergesort")]
        return
    for p in range(at, stop):
        word, q = words[p], p
        while q > first and score[words[q - 1] & ROW] > score[word & ROW]:
            words[q] = words[q - 1]
            q -= 1
        words[q] = word


@kernel
def areas(value, score, weight, order, normalized):
    """Return the exact integral of the piecewise-linear coverage curve, and its last value."""
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
def binned_sums(first, second, weights, edges, columns, parts, n_parts):
    """Return counts and sums of columns in each bin, for each direction and part of the points."""
    n_directions, n_edges = edges.shape
    n_points, n_columns = columns.shape
    sums = np.zeros((n_directions, n_parts, n_edges + 1, n_columns + 1))
    guide = np.empty(4 * n_edges + 2, np.int64)  # the first edge in each of many equal cells
    n_cells = guide.shape[0] - 1
    for d in range(n_directions):
        w1, w2 = weights[d]
        of = edges[d]
        lowest = of[0]
        width = (of[n_edges - 1] - lowest) / n_cells
        scale = 1.0 / width if width > 0.0 else 0.0
        for c in range(n_cells + 1):
            guide[c] = np.searchsorted(of, lowest + c * width)
        guide[n_cells] = n_edges
        for i in range(n_points):
            score = w1 * first[i] + w2 * second[i]
            cell = int(min(max((score - lowest) * scale, 0.0), n_cells - 1.0))
            low, high = guide[cell], guide[cell + 1]
            while low > 0 and of[low - 1] >= score:  # rounding chose the wrong cell
                low -= 1
            while high < n_edges and of[high] < score:
                high += 1
            while low < high:
                middle = (low + high) >> 1
                if of[middle] < score:
                    low = middle + 1
                else:
                    high = middle
            bins = sums[d, parts[i], low]
            bins[0] += 1.0
            for c in range(n_columns):
                bins[c + 1] += columns[i, c]
    return sums
