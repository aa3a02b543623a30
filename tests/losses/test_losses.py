"""Every loss: hand-worked values, naive twins, laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from rue._arrays import round_to_scale
from rue.errors import InputError, ShapeError
from rue.losses import (
    LOSSES,
    RPS,
    Absolute,
    Brier,
    Classes,
    CostMatrix,
    Log,
    Pinball,
    Squared,
    ZeroOne,
    get_loss,
)
from rue.losses.base import mean_over_counts

COSTS = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [5.0, 2.0, 0.0], [0.9, 0.9, 0.9]]
VALUES = [-1.0, 0.5, 4.0]

SCALED = ("squared", "absolute", "rps", "pinball:0.8", "pinball:0.1")
CASES = [(name, {}) for name in LOSSES if name not in SCALED]
CASES += [(name, {"values": VALUES}) for name in SCALED]
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
    # rps: F = 1/2, 3/4: 1/2 * 1/2 + 3/4 * 1/4 = 7/16; action (0, 0, 1) adds 1/4 + 9/16
    assert RPS().bayes_risk(p) == pytest.approx(7 / 16)
    assert RPS().risk(p, np.array([[0.0, 0, 1]])) == pytest.approx(7 / 16 + 13 / 16)
    # pinball at 0.8: the quantile is 2; below it 0.2 a unit: 0.2 (2/2 + 1/4) = 1/4;
    # action 1: 0.2 / 2 + 0.8 / 4 = 0.3; action 3: 0.2 (3/2 + 2/4 + 1/4) = 0.45
    assert Pinball(0.8).action(p) == 2
    assert Pinball(0.8).bayes_risk(p) == pytest.approx(0.25)
    assert Pinball(0.8).risk(p, np.array([1.0])) == pytest.approx(0.3)
    assert Pinball(0.8).regret(p, np.array([3.0])) == pytest.approx(0.2)
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


@pytest.mark.parametrize("loss", [Absolute(), Pinball(0.8), Pinball(0.1)], ids=lambda x: x.name)
@given(p=simplex(4), a=st.floats(-3, 8))
def test_quantile_regret_of_any_number(loss, p, a):
    P, action = np.array([p]), np.array([a])
    expected = (loss.risk(P, action) - loss.bayes_risk(P))[0]
    assert loss.regret(P, action)[0] == pytest.approx(expected, abs=1e-10)


@given(p=simplex(4), q=simplex(4), a=st.floats(-3, 8))
def test_pinball_at_a_half_is_half_the_absolute_loss_to_the_bit(p, q, a):
    P, action = np.array([p]), np.array([a])
    draws = np.array([[p, q]])
    for of in (
        lambda loss: loss.risk(P, action),
        lambda loss: loss.regret(P, action),
        lambda loss: loss.bayes_risk(P),
        lambda loss: loss.expect_draws(draws).bayes_risk,
        lambda loss: loss.expect_draws(draws).regret,
        lambda loss: loss.expect_dirichlet(P + 0.1).regret,
    ):
        assert (2 * of(Pinball(0.5)) == of(Absolute())).all()
    assert Pinball(0.5).action(P) == Absolute().action(P)


@given(p=simplex(2), q=simplex(2))
def test_rps_of_two_classes_one_apart_is_half_the_brier_score(p, q):
    P, Q = np.array([p]), np.array([q])
    assert 2 * RPS().risk(P, Q) == pytest.approx(Brier().risk(P, Q), abs=1e-12)
    assert 2 * RPS().bayes_risk(P) == pytest.approx(Brier().bayes_risk(P), abs=1e-12)
    assert 2 * RPS().regret(P, Q) == pytest.approx(Brier().regret(P, Q), abs=1e-12)


@pytest.mark.parametrize(("name", "more"), [case for case in CASES if case[0] in SCALED])
@given(p=simplex(3), q=simplex(3))
def test_a_scale_that_is_stretched_and_moved_stretches_the_loss(name, more, p, q):
    P, Q = np.array([p]), np.array([q])
    loss = get_loss(name, values=VALUES)
    moved = get_loss(name, values=[4 * v - 7 for v in VALUES])
    factor = 16 if name == "squared" else 4
    assert moved.bayes_risk(P) == pytest.approx(factor * loss.bayes_risk(P), abs=1e-10)
    regret = moved.regret(P, moved.action(Q))
    assert regret == pytest.approx(factor * loss.regret(P, loss.action(Q)), abs=1e-10)


@pytest.mark.parametrize("text", ["pinball:0.8", "pinball:0.05", "pinball:0.3333333333333333"])
def test_the_name_of_a_pinball_loss_is_read_back(text):
    loss = get_loss(text, values=VALUES)
    assert loss.name == text
    assert loss.q == float(text.split(":")[1])
    assert get_loss(Pinball(loss.q), values=VALUES).values.tolist() == VALUES
    assert loss.bound(3) == max(loss.q, 1 - loss.q) * 5


@pytest.mark.parametrize("name", ["squared", "absolute", "rps", "pinball:0.8", "pinball:0.1"])
def test_no_belief_s_action_loses_more_than_the_bound(name, rng):
    loss = get_loss(name, values=VALUES)
    sure = np.eye(3)
    paid = [loss.risk(sure, loss.action(np.tile(p, (3, 1)))).max() for p in sure]
    assert max(paid) == pytest.approx(loss.bound(3))


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "more"), CASES)
def test_draws_of_many_points_are_those_of_each(name, more, dtype, rng):
    # More points than are decomposed together, with zeros, ties and sums that are not 1.
    draws = rng.integers(0, 4, (1501, 2, 3)).astype(dtype)
    draws[draws.sum(axis=2) == 0] = 1
    loss = make(name, more)
    whole = np.stack(loss.expect_draws(draws)[:2])
    each = [loss.expect_draws(draws[i : i + 1])[:2] for i in range(len(draws))]
    assert whole.T.tolist() == np.squeeze(each).tolist()
    for i in range(0, 1501, 25):
        twin = naive.decompose(name, draws[i].tolist(), **more)
        assert whole[:, i] == pytest.approx(twin[1:], abs=1e-9)


def test_a_stated_floor_mixes_the_action_of_draws():
    # One member is sure of each class, so m = (1/2, 1/2) is the action with any floor, and the
    # regret of each is log 2. Both members sure of the first class: the action is (0.9, 0.1).
    draws = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
    expected = Log(floor=0.1).expect_draws(draws)
    assert expected.bayes_risk == pytest.approx([0, 0])
    assert expected.regret == pytest.approx([math.log(2), -math.log(0.9)])
    assert Log().expect_draws(draws).regret == pytest.approx([math.log(2), 0])


def test_classes_are_described_with_their_numbers():
    assert Classes(("low", "mid", "high")).describe() == "low = 0, mid = 1, high = 2"
    assert Classes(3).describe(np.array([0.0, 2.0, 5.0])) == "0, 2, 5"
    assert Classes(("1", "2")).describe() == "1, 2"


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_rounding_is_to_1e_12_of_the_scale(scale):
    largest = Absolute(np.array([0.0, 1.0, 2.0]) * scale).scale(3)
    x = np.array([0.3, 0.3 + 1e-13, 0.3 + 4e-12]) * scale
    rounded = round_to_scale(x, largest)
    assert rounded[0] == rounded[1] != rounded[2]
    assert np.abs(rounded - x).max() <= 1e-12 * 2 * scale
    assert not np.signbit(round_to_scale(np.array([-1e-15 * scale]), largest)).any()


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        (lambda: get_loss("hinge"), "loss must be one of"),
        (lambda: get_loss("pinball"), "pinball:Q as in pinball:0.8"),
        (lambda: get_loss("pinball:high"), "needs a level between 0 and 1.*'pinball:high'"),
        (lambda: get_loss("pinball:1"), "between 0 and 1, got 1.0"),
        (lambda: Pinball(0), "between 0 and 1, got 0"),
        (lambda: Pinball(float("nan")), "between 0 and 1, got nan"),
        (lambda: Pinball("high"), "between 0 and 1, got 'high'"),
        (lambda: RPS().check_actions([0, 1], 2, 3), "distributions of shape"),
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


@pytest.mark.parametrize(("name", "more"), CASES)
def test_a_stack_of_distributions_is_its_rows(name, more, rng):
    loss, probs = make(name, more), rng.dirichlet(np.ones(3), (2, 5))
    actions = loss.action(probs)
    risks, bayes = loss.risk(probs, actions), loss.bayes_risk(probs)
    for i, j in np.ndindex(2, 5):
        assert actions[i, j] == pytest.approx(loss.action(probs[i, j]))
        assert risks[i, j] == pytest.approx(loss.risk(probs[i, j], actions[i, j]))
        assert bayes[i, j] == pytest.approx(loss.bayes_risk(probs[i, j]))


def test_the_mean_over_counts_by_its_moments(rng):
    # Of c ~ Binomial(m, s): E c/m = s, and E (c/m)(1 - c/m) = s (1 - s) (1 - 1/m).
    share, m = rng.random((4, 3, 6)), np.array([1, 7, 40])
    spread = share * (1 - share) * (1 - 1 / m[:, None])
    assert mean_over_counts(lambda x: x, share, m) == pytest.approx(share, abs=1e-9)
    assert mean_over_counts(lambda x: x * (1 - x), share, m) == pytest.approx(spread, abs=1e-6)


def test_columns_without_names_take_all_the_names_that_are_stated():
    classes, columns = Classes(3).reordered(["a", "b", "c"])
    assert classes.names == ("a", "b", "c")
    assert columns.tolist() == [0, 1, 2]
    with pytest.raises(ShapeError, match="all 3 classes, got 2"):
        Classes(3).reordered(["a", "b"])


def test_the_floor_touches_a_point_if_a_class_that_occurs_has_no_probability():
    probs = np.array([[0.5, 0.5, 0], [1, 0, 0]])
    action = np.array([[0.5, 0, 0.5], [0.5, 0, 0.5]])
    assert Log().floored(probs, action).tolist() == [True, False]
    assert Log().floored(probs, np.full((2, 3), 1 / 3)).tolist() == [False, False]


def test_actions_under_crps_are_numbers_or_values_of_each_point():
    crps = get_loss("crps").real()
    # E|X - X'|/2 of a point mass is 0, and of 1 and 3, equally likely, 1/2.
    assert crps.check_actions([1.0, 3.0], 2).mixture_spread().tolist() == [0, 0]
    assert crps.check_actions([[1, 3], [2, 2]], 2).mixture_spread().tolist() == [0.5, 0]
    for shape in ((3,), (3, 2), (2, 1, 1), (2, 0)):
        with pytest.raises(ShapeError, match="actions under crps must be numbers of shape"):
            crps.check_actions(np.ones(shape), 2)


def test_classes_are_equal_whether_or_not_others_may_exist():
    assert Classes(["a", "b"], complete=False) == Classes(["a", "b"])
    assert Classes(["a", "b"]) != Classes(["b", "a"])
