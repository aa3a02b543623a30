"""Agreement of annotators: by hand, against a slow twin, and its laws."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue.data.own.answers import alpha_of_counts, alpha_of_ratings, pairwise_agreement

counts = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8)


def answers(table):
    return [np.repeat(np.arange(len(row)), row) for row in table]


def naive_alpha(rows, distance):
    """Krippendorff's alpha by every ordered pair of answers."""
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        return None
    flat = list(itertools.chain(*rows))
    observed = sum(
        distance(a, b) / (len(row) - 1) for row in rows for a, b in itertools.permutations(row, 2)
    ) / len(flat)
    pairs = list(itertools.permutations(flat, 2))
    expected = sum(distance(a, b) for a, b in pairs) / len(pairs)
    return None if expected == 0 else 1 - observed / expected


def test_by_hand():
    # Point 1: aab, of three pairs one agrees; point 2: bb, its pair agrees.
    table = [[2, 1], [0, 2]]
    assert pairwise_agreement(table) == pytest.approx((1 / 3 + 1) / 2)
    # n = 5. Observed: point 1 has 2 + 2 ordered unequal pairs, each 1/2, so 2 / 5. Expected: two a
    # and three b, 12 of 20 ordered pairs differ.
    assert alpha_of_counts(table) == pytest.approx(1 - (2 / 5) / (12 / 20))


def test_nothing_to_compare():
    assert pairwise_agreement([[1, 0], [0, 1]]) is None
    assert alpha_of_counts([[1, 0], [0, 1]]) is None
    assert alpha_of_counts([[3, 0], [2, 0]]) is None  # all say the same
    assert alpha_of_ratings([np.array([1.0])]) is None
    assert alpha_of_ratings([np.array([1.0, 1.0])]) is None


@given(counts)
def test_alpha_is_the_slow_one(table):
    table = np.array(table)
    nominal = naive_alpha(answers(table), lambda a, b: float(a != b))
    assert alpha_of_counts(table) == (None if nominal is None else pytest.approx(nominal))
    values = np.array([-2.0, 0.0, 5.0])
    rows = [values[row] for row in answers(table)]
    interval = naive_alpha(rows, lambda a, b: (a - b) ** 2)
    expected = None if interval is None else pytest.approx(interval, abs=1e-12)
    assert alpha_of_counts(table, values) == expected
    assert alpha_of_ratings(rows) == expected


@given(counts, st.randoms())
def test_order_does_not_matter(table, random):
    shuffled = list(table)
    random.shuffle(shuffled)
    for function in (pairwise_agreement, alpha_of_counts):
        before = function(table)
        assert function(shuffled) == (None if before is None else pytest.approx(before))


@given(counts)
def test_bounds(table):
    agreement, alpha = pairwise_agreement(table), alpha_of_counts(table)
    assert agreement is None or 0 <= agreement <= 1
    assert alpha is None or alpha <= 1 + 1e-12
    if agreement == 1 and alpha is not None:
        assert alpha == pytest.approx(1)


def test_alpha_has_no_table_of_all_pairs_of_classes():
    counts = np.eye(2, 30_000)[[0, 1, 0]] * 2
    tracemalloc.start()
    try:
        assert alpha_of_counts(counts) == pytest.approx(1)
        assert alpha_of_counts(counts, np.arange(30_000)) == pytest.approx(1)
        assert tracemalloc.get_traced_memory()[1] < 100 * counts.nbytes / 3
    finally:
        tracemalloc.stop()
