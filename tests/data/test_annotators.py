"""Simulated annotators answer from p*."""

import numpy as np
import pytest

from rue.data import simulate_annotators
from rue.errors import InputError, ShapeError
from rue.truth.annotations import Annotations

KNOWN = Annotations.from_probs([[0.7, 0.2, 0.1], [0.0, 0.0, 1.0]], [-1, 0, 1])


def test_many_answers_come_near_p_star():
    drawn = simulate_annotators(KNOWN, 1_000_000, seed=3)
    # A share has standard deviation at most 1/2 / sqrt(10^6) = 0.0005.
    assert drawn.probs == pytest.approx(KNOWN.probs, abs=0.0025)
    assert drawn.values.tolist() == [-1, 0, 1]


def test_numbers_of_answers():
    assert simulate_annotators(KNOWN, 7).n_annotators.tolist() == [7, 7]
    assert simulate_annotators(KNOWN, [1, 50]).n_annotators.tolist() == [1, 50]


def test_seed():
    first, again, other = (simulate_annotators(KNOWN, 1000, seed=s).counts for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_each_point_is_drawn_for_itself():
    same = Annotations.from_probs(np.full((50, 2), 0.5))
    assert len(np.unique(simulate_annotators(same, 1000).counts[:, 0])) > 10


@pytest.mark.parametrize("n", [0, -1, 1.5, [3, 0], np.inf, np.nan, 1e20])
def test_bad_numbers(n):
    with pytest.raises(InputError, match="whole numbers from 1"):
        simulate_annotators(KNOWN, n)


@pytest.mark.parametrize("n", [[1, 2, 3], [[1], [2]]])
def test_bad_shapes(n):
    with pytest.raises(ShapeError, match="one number or 2"):
        simulate_annotators(KNOWN, n)
