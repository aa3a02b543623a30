"""Agreement of annotators: the share of equal pairs of answers, and Krippendorff's alpha."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_array

__all__ = ["alpha_of_counts", "alpha_of_ratings", "pairwise_agreement"]


def pairwise_agreement(counts: ArrayLike) -> float | None:
    """Return the mean probability that two annotators of a point give the same answer."""
    c, m = _pairable(counts)
    if len(c) == 0:
        return None
    return float(np.mean((c * (c - 1)).sum(axis=1) / (m * (m - 1))))


def alpha_of_counts(counts: ArrayLike, values: ArrayLike | None = None) -> float | None:
    """Return Krippendorff's alpha of classes: 1 is perfect agreement, 0 is that of chance."""
    c, m = _pairable(counts)
    if len(c) == 0:
        return None
    k = c.shape[1]
    v = None if values is None else as_array("values", values).astype(np.float64)
    distance = 1.0 - np.eye(k) if v is None else (v[:, None] - v[None, :]) ** 2
    n, totals = m.sum(), c.sum(axis=0)
    # Each ordered pair of answers about a point has weight 1 / (m - 1), so a point has weight m.
    observed = (((c @ distance) * c).sum(axis=1) / (m - 1)).sum() / n
    expected = totals @ distance @ totals / (n * (n - 1))
    return None if expected == 0 else float(1 - observed / expected)


def alpha_of_ratings(ratings: Sequence[FloatArray]) -> float | None:
    """Return Krippendorff's alpha of real-valued answers (interval), or None as above."""
    rows = [np.asarray(row, dtype=np.float64) for row in ratings if len(row) > 1]
    if not rows:
        return None
    answers = np.concatenate(rows)
    n = len(answers)
    # The sum of squared differences of all ordered pairs is 2 m times the sum of squares.
    observed = sum(2 * len(row) * row.var() * len(row) / (len(row) - 1) for row in rows) / n
    expected = 2 * n * answers.var() * n / (n * (n - 1))
    return None if expected == 0 else float(1 - observed / expected)


def _pairable(counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the counts of points with two answers or more, and how many each has."""
    table = as_array("counts", counts).astype(np.float64)
    n_answers = table.sum(axis=1)
    return table[n_answers > 1], n_answers[n_answers > 1]
