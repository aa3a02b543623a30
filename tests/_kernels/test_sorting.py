"""The radix sort against numpy's stable argsort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rue._kernels.sorting import argsort

WORLDS = {
    "uniform": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(0, 5, n) / 5,
    "equal": lambda rng, n: np.ones(n),
    "mostly 0": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.random(n)),
    # Most scores become the same 32-bit number, so runs are sorted by the scores themselves.
    "skewed": lambda rng, n: np.exp(30 * rng.normal(size=n)),
    "tiny": lambda rng, n: 1e-310 * rng.normal(size=n),
    "huge": lambda rng, n: 1.7e308 * (2 * rng.random(n) - 1),  # the range is infinite
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n_points", [0, 1, 2, 3, 100, 20_000, 300_001])
def test_it_is_the_stable_order(world, n_points):
    score = WORLDS[world](np.random.default_rng(n_points), n_points)
    assert np.array_equal(argsort(score), np.argsort(score, kind="stable"))


@given(arrays(np.float64, st.integers(0, 40), elements=st.floats(allow_nan=False)))
def test_any_scores_that_are_not_nan(score):
    assert np.array_equal(argsort(score), np.argsort(score, kind="stable"))
