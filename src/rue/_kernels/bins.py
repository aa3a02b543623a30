"""Sums of columns over bins of a score, for many scores at once, without sorting."""

import numpy as np

from rue._kernels import kernel


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
