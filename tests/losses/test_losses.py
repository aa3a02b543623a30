"""Every loss: hand-worked values, naive twins, laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from rue.errors import InputError, ShapeError
from rue.losses import LOSSES, Absolute, CostMatrix, Log, Squared, ZeroOne, get_loss

COSTS = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [5.0, 2.0, 0.0], [0.9, 0.9, 0.9]]
VALUES = [-1.0, 0.5, 4.0]

CASES = [(name, {"values": VALUES} if name in ("squared", "absolute") else {}) for name in LOSSES]
CASES.append(("cost", {"costs": COSTS}))


def make(name, more):
    return CostMatrix(COSTS) if name == "cost" else get_loss(name, **more)


def simplex(n_classes):
    weights = st.lists(st.integers(0, 20), min_size=n_classes, max_size=n_classes)
    return weights.filter(any).map(lambda w: [x / sum(w) for x in w])


def test_values_worked_by_hand():
    p = np.array([[0.5, 0.25, 0.25]])
    # log: 0.5 log 2 + 2 * 0.25 log 4 = 1.5 log 2
    assert get_loss("log").bayes_risk(p) == pytest.approx(1.5 * math.log(2))
    # brier: 1 - (1/4 + 1/16 + 1/16) = 5/8; action (1, 0, 0): 1 - 2 * 0.5 + 1 = 1
    assert get_loss("brier").bayes_risk(p) == pytest.approx(0.625)
    assert get_loss("brier").risk(p, np.array([[1.0, 0, 0]])) == pytest.approx(1.0)
    # zero_one: argmax is class 0, risk 1/2; class 1 costs 3/4
    assert get_loss("zero_one").action(p) == 0
    assert get_loss("zero_one").regret(p, np.array([1])) == pytest.approx(0.25)
    # squared, values 0 1 2: mean 3/4, variance (0 + 1 + 4)/4 - 9/16 = 11/16
    assert Squared().action(p) == pytest.approx(0.75)
    assert Squared().bayes_risk(p) == pytest.approx(11 / 16)
    # absolute: F = 1/2, 3/4; lower median 0; risk 1/4 + 2/4 = 3/4 = min(1/2, 1/2) + min(3/4, 1/4)
    assert Absolute().action(p) == 0
    assert Absolute().bayes_risk(p) == pytest.approx(0.75)
    # cost: C p = (1.25, 0.75, 3.0, 0.9): action 1
    assert CostMatrix(COSTS).action(p) == 1
    assert CostMatrix(COSTS).bayes_risk(p) == pytest.approx(0.75)


@pytest.mark.parametrize(("name", "more"), CASES)
@given(p=simplex(3), q=simplex(3))
def test_equals_the_naive_twin(name, more, p, q):
    loss = make(name, more)
    P, Q = np.array([p]), np.array([q])
    a = loss.action(Q)
    assert np.allclose(a[0], naive.action(name, q, **more))
    assert loss.risk(P, a)[0] == pytest.approx(naive.risk(name, p, a[0], **more), abs=1e-9)
    assert loss.bayes_risk(P)[0] == pytest.approx(naive.bayes_risk(name, p, **more), abs=1e-9)


@pytest.mark.parametrize(("name", "more"), CASES)
@given(p=simplex(3), q=simplex(3))
def test_bayes_action_is_best_and_regret_is_the_difference(name, more, p, q):
    loss = make(name, more)
    P, a = np.array([p]), loss.action(np.array([q]))
    regret = loss.regret(P, a)[0]
    assert regret >= 0
    assert regret == pytest.approx((loss.risk(P, a) - loss.bayes_risk(P))[0], abs=1e-10)
    assert loss.regret(P, loss.action(P))[0] == pytest.approx(0, abs=1e-11)
    assert loss.risk(P, loss.action(P)) == pytest.approx(loss.bayes_risk(P), abs=1e-10)


@given(p=simplex(4), a=st.floats(-3, 8))
def test_absolute_regret_of_any_number(p, a):
    P, action = np.array([p]), np.array([a])
    expected = (Absolute().risk(P, action) - Absolute().bayes_risk(P))[0]
    assert Absolute().regret(P, action)[0] == pytest.approx(expected, abs=1e-10)


def test_ties_go_to_the_lowest_index_and_the_lower_median():
    assert ZeroOne().action(np.array([[0.2, 0.4, 0.4]])) == 1
    # 0.1 + 0.2 is not 0.3 in floating point; a tie all the same
    assert ZeroOne().action(np.array([[0.3, 0.1 + 0.2, 0.4 - 1e-17]]))[0] == 2
    assert ZeroOne().action(np.array([[0.3, 0.1 + 0.2, 0.3]])) == 0
    assert Absolute().action(np.array([[0.1 + 0.2 + 0.1 + 0.1, 0.5]])) == 0
    assert Absolute().action(np.array([[0.5 - 1e-9, 0.5 + 1e-9]])) == 1


def test_the_floor_of_the_log_loss():
    p, a = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    assert Log().risk(p, a) == pytest.approx(-0.5 * math.log(1e-12))
    assert Log().floored(p, a).tolist() == [True]
    assert not Log().floored(np.array([[1.0, 0.0]]), a).any()  # no one chose the class


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_rounding_is_to_1e_12_of_the_scale(scale):
    loss = Absolute(np.array([0.0, 1.0, 2.0]) * scale)
    x = np.array([0.3, 0.3 + 1e-13, 0.3 + 4e-12]) * scale
    rounded = loss.round(x, 3)
    assert rounded[0] == rounded[1] != rounded[2]
    assert np.abs(rounded - x).max() <= 1e-12 * 2 * scale
    assert not np.signbit(loss.round(np.array([-1e-15 * scale]), 3)).any()


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        (lambda: get_loss("hinge"), "loss must be one of"),
        (lambda: Squared([0, 0]), "values must increase"),
        (lambda: Squared([0, np.nan]), "values must be finite"),
        (lambda: Squared([0, 1]).action(np.ones((1, 3)) / 3), "one number per class"),
        (lambda: CostMatrix([[0, -1], [1, 0]]), "no negative cost"),
        (lambda: CostMatrix([[0, 0], [0, 0]]), "no negative cost"),
        (lambda: CostMatrix([0, 1]), "shape"),
        (lambda: CostMatrix(COSTS).action(np.ones((1, 4)) / 4), "columns"),
        (lambda: ZeroOne().check_actions([0, 3], 2, 3), "whole numbers from 0 to 2"),
        (lambda: ZeroOne().check_actions([0.5, 0], 2, 3), "whole numbers"),
        (lambda: Log().check_actions([0, 1], 2, 3), "distributions of shape"),
    ],
)
def test_broken_arguments_are_named(broken, word):
    with pytest.raises((InputError, ShapeError), match=word):
        broken()
