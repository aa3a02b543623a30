"""Selective prediction: the standard and the generalised areas, by hand and by their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_proxies
import rue
from rue.errors import InputError, ShapeError
from rue.proxies.selective import SCORES, correctness, evaluate_selective, score

pairs = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=25)


def one(correct, score):
    return evaluate_selective(correct, {"total": score})[0]


def test_by_hand():
    # Accepted one by one: right, wrong, right, wrong.
    row = one([1, 0, 1, 0], [1, 2, 3, 4])
    assert row.auac == pytest.approx((1 + 1 / 2 + 2 / 3 + 2 / 4) / 4)
    assert row.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)
    # The share of wrong accepted points is 0, 0, 1/4, 1/4, 1/2 at coverages 0, 1/4, ..., 1.
    assert row.generalized_aurc == pytest.approx((0 + 1 / 8 + 1 / 4 + 3 / 8) / 4)
    # That of right ones 0, 1/4, 1/4, 1/2, 1/2.
    assert row.generalized_auac == pytest.approx((1 / 8 + 1 / 4 + 3 / 8 + 1 / 2) / 4)
    assert (row.score, row.n_points, row.accuracy) == ("total", 4, 0.5)


@pytest.mark.parametrize("n_wrong", [0, 1, 7, 20, 100])
def test_a_perfect_ranking_has_the_generalised_area_of_half_the_squared_error_rate(n_wrong):
    correct = np.arange(100) >= n_wrong
    row = one(correct, ~correct)
    assert row.generalized_aurc == pytest.approx((n_wrong / 100) ** 2 / 2, abs=1e-15)


def test_a_constant_score_has_the_accuracy_everywhere():
    row = one([1, 0, 1, 1], np.zeros(4))
    assert row.auac == pytest.approx(0.75)
    assert row.generalized_aurc == pytest.approx(0.25 / 2)


@given(pairs)
def test_auac_equals_its_naive_twin_and_the_areas_add_up(points):
    correct, score = (list(column) for column in zip(*points, strict=True))
    row = one(correct, score)
    assert row.auac == pytest.approx(naive_proxies.auac(correct, score), abs=1e-12)
    assert row.auac + row.aurc == pytest.approx(1)
    assert row.generalized_auac + row.generalized_aurc == pytest.approx(0.5)
    assert row.generalized_aurc == rue.aurc(1.0 - np.array(correct), score)
    flipped = one(correct[::-1], score[::-1])
    assert flipped.auac == pytest.approx(row.auac, abs=1e-12)


@given(pairs)
def test_no_ranking_is_better_than_that_by_correctness(points):
    correct, score = (np.array(column, float) for column in zip(*points, strict=True))
    ours, best = one(correct, score), one(correct, -correct)
    assert best.auac >= ours.auac - 1e-12
    assert best.generalized_aurc <= ours.generalized_aurc + 1e-12
    assert best.generalized_aurc == pytest.approx((1 - ours.accuracy) ** 2 / 2, abs=1e-12)


def test_each_component_is_a_score(rng):
    belief = rue.Draws(rng.dirichlet(np.ones(3), size=(40, 5)))
    truth = rue.Annotations(rng.multinomial(10, [0.5, 0.3, 0.2], size=40))
    hat = rue.decompose(belief, "log")
    correct = correctness(truth, belief)
    rows = evaluate_selective(correct, hat)
    assert [row.score for row in rows] == list(SCORES)
    for row in rows:
        np.testing.assert_array_equal(score(belief, row.score), getattr(hat, row.score))
        assert row == evaluate_selective(correct, {row.score: getattr(hat, row.score)})[0]
        assert row.to_dict()["auac"] == row.auac
    # The probability that the class with the highest mean is what somebody said.
    chosen = belief.probs.mean(axis=1).argmax(axis=1)
    np.testing.assert_allclose(correct, truth.probs[np.arange(40), chosen], atol=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="correct must be from 0 to 1, got 2 at row 1"):
        one([0, 2], [1, 2])
    with pytest.raises(ShapeError, match="score total must have 2 points, got 1"):
        one([0, 1], [1])
    with pytest.raises(InputError, match="score must be one of total, aleatoric, epistemic"):
        score(rue.Dirichlet([[1.0, 1.0]]), "entropy")
