"""The published Pareto-gap and areas: slow twins, values by hand, and laws they break."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_published as naive
from pareto_worlds import components, continuous
from rue import aurec, excess_aurec, n_aurec, pareto_gap
from rue.errors import InputError


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9))
def test_the_gap_is_that_of_the_twin(seed, n):
    star, hat = continuous(n, seed)
    rows = np.random.default_rng(seed).integers(0, n, n)  # whole points repeat
    star, hat = star[rows], hat[rows]
    assert pareto_gap(star, hat, convention="published") == pytest.approx(
        naive.gap(star, hat), abs=1e-12
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_areas_are_those_of_the_twin(rows):
    value, score = ([float(x) for x in column] for column in zip(*rows, strict=True))
    assert aurec(value, score, rule="row_order") == pytest.approx(naive.area(value, score))
    excess = naive.area(value, score) - naive.area(value, value)
    assert excess_aurec(value, score, rule="row_order") == pytest.approx(excess, abs=1e-12)
    if len(set(value)) > 1:
        found = n_aurec(value, score, rule="row_order")
        assert found == pytest.approx(naive.n_area(value, score))


def test_by_hand():
    # Equal scores: in row order regret comes first or last. Heights 0, 1/2, 1/2: area 3/8.
    assert aurec([1.0, 0.0], [0, 0], rule="row_order") == 0.375
    assert aurec([0.0, 1.0], [0, 0], rule="row_order") == 0.125
    assert aurec([0.0, 1.0], [0, 0]) == 0.25  # ours is their mean


def test_ours_is_the_mean_over_row_orders(rng):
    value, score = rng.random(40), rng.integers(0, 3, 40)
    orders = [rng.permutation(40) for _ in range(2000)]
    theirs = [aurec(value[o], score[o], rule="row_order") for o in orders]
    error = np.std(theirs) / np.sqrt(len(theirs))
    assert abs(np.mean(theirs) - aurec(value, score)) < 4 * error
    assert np.ptp(theirs) > 0.01  # they change with the order of the rows


def test_raw_angles_change_with_the_unit_of_a_score():
    star, hat = continuous(60)
    scaled = components(hat.aleatoric, 1000 * hat.epistemic)
    a, b = (pareto_gap(star, h, convention="published") for h in (hat, scaled))
    assert abs(a - b) > 1e-6
    assert pareto_gap(star, hat) == pytest.approx(pareto_gap(star, scaled), abs=1e-9)
    # Few raw directions attain no more than all of them.
    assert min(a, b) >= pareto_gap(star, hat) - 1e-12


def test_options_that_have_no_meaning_are_refused():
    star, hat = continuous(5)
    for wrong in ({"normalize": True}, {"directions": "exact"}):
        with pytest.raises(InputError, match="its own directions and units"):
            pareto_gap(star, hat, convention="published", **wrong)
    with pytest.raises(InputError, match=r"row_order.*cannot be used with"):
        aurec([1.0], [1.0], rule="row_order", sample_weight=[1.0])
