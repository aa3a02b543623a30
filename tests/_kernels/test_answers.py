"""The table of different answers behind the leave-one-out log loss."""

import numpy as np

from rue._kernels.draws import _number, _pool


def test_each_answer_has_its_entry_and_no_entry_is_there_twice():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(rng.integers(2, 300, 6_000), rng.dirichlet(np.ones(4), 6_000))
    totals, starts, pool = _pool(counts.astype(float))
    entry = np.empty(starts[-1], np.uint32)
    same, q, rest = _number(counts.astype(float), totals, pool, entry)
    assert len(same) > 3 * 4096  # the table has grown more than once
    assert len(same) < len(entry)
    points, classes = np.nonzero(counts)
    assert np.array_equal(same[entry], counts[points, classes] - 1)
    assert np.array_equal(rest[entry], counts.sum(axis=1)[points] - 1)
    assert len(set(zip(same, q, rest, strict=True))) == len(same)
    assert np.array_equal(np.unique(entry), np.arange(len(same)))


def test_equal_points_have_equal_entries():
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0], [3.0, 1.0, 0.0]])
    totals, starts, pool = _pool(counts)
    entry = np.empty(starts[-1], np.uint32)
    same, _, _ = _number(counts, totals, pool, entry)
    assert list(starts) == [0, 2, 4, 6]
    assert list(entry) == [0, 1, 2, 2, 0, 1]  # both answers to the second point are alike
    assert list(same) == [2, 0, 1]
