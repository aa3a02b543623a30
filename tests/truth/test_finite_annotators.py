"""Finite annotators: leave-one-out against a loop over single answers, bounds, and refusals."""

import itertools
import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_annotators
from rue import Annotations, CostMatrix, Draws, aurec, decompose, evaluate, realize
from rue.data import simulate_annotators
from rue.errors import InputError
from rue.losses import Loss, get_loss
from rue.truth.realized import ESTIMATORS, estimate_bayes_risk

COSTS = np.array([[0, 1, 5, 2], [1, 0, 1, 2], [2, 2, 0, 2], [0.7, 0.7, 0.7, 2.0]])
VALUES = [-2.0, 0.0, 0.5, 4.0]
SCALED = ("squared", "absolute", "rps", "pinball:0.8", "pinball:0.3")
NAMES = ["brier", "zero_one", *SCALED, "cost"]
ALL = ["log", *NAMES]
UNBIASED = ("brier", "squared", "rps")


def tables(n_classes=4):
    """Counts of unequal numbers of annotators, ties and unanimity included."""
    row = hnp.arrays(np.int64, n_classes, elements=st.integers(0, 5)).filter(lambda r: r.sum() > 1)
    return st.lists(row, min_size=1, max_size=8).map(np.array)


def options(loss):
    if loss == "cost":
        return CostMatrix(COSTS), {"costs": COSTS.tolist()}
    more = {"values": VALUES} if loss in SCALED else {}
    return get_loss(loss, **more), more


@pytest.mark.parametrize("name", NAMES)
@given(counts=tables())
def test_leave_one_out_is_a_loop_over_single_answers(name, counts):
    loss, more = options(name)
    found = estimate_bayes_risk(Annotations(counts), loss, "leave_one_out")
    looped = [naive_annotators.leave_one_out(name, row, **more) for row in counts.tolist()]
    assert found == pytest.approx(looped, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "zero_one"])  # it draws ties
def test_a_loss_without_a_closed_form_is_taken_class_by_class(name, rng):
    loss, _ = options(name)
    counts = rng.multinomial(rng.integers(2, 9, 30), [0.4, 0.3, 0.2, 0.1]).astype(float)
    closed = estimate_bayes_risk(Annotations(counts), loss, "leave_one_out")
    assert Loss.leave_one_out(loss, counts) == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_log_leave_one_out_is_a_loop_over_single_answers(seed):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(rng.integers(2, 12, 14), rng.dirichlet([0.5, 0.5, 0.5], 14))
    counts = np.unique(counts, axis=0)[rng.permutation(len(np.unique(counts, axis=0)))]
    found = estimate_bayes_risk(Annotations(counts), get_loss("log"), "leave_one_out")
    assert found == pytest.approx(naive_annotators.log_leave_one_out(counts.tolist()), abs=1e-12)


def test_a_loss_without_an_unbiased_estimate_says_so_before_it_asks_for_answers():
    single, several = Annotations([[1, 0]]), Annotations([[3, 1]])
    for annotations in (single, several):
        with pytest.raises(InputError, match=r"no unbiased estimate .* under log loss"):
            realize(annotations, Draws([[[0.5, 0.5]]]), "log", estimator="unbiased")
    with pytest.raises(InputError, match="needs at least 2 annotators"):
        realize(single, Draws([[[0.5, 0.5]]]), "brier", estimator="unbiased")


def test_by_hand():
    people = Annotations([[3, 1]])
    # 0/1: without one of the three: 2 against 1, right; without the one: 3 to 0, wrong: 1/4.
    assert estimate_bayes_risk(people, get_loss("zero_one"), "leave_one_out") == [0.25]
    # Without one of two against one it is 1 to 1, and one of both is drawn: (2 * 1/2 + 1)/3.
    close = Annotations([[2, 1], [1, 2]])
    loo = estimate_bayes_risk(close, get_loss("zero_one"), "leave_one_out")
    assert loo == pytest.approx([2 / 3, 2 / 3])
    # Squared: means of the others are 1/3 (three times) and 0: (3 * 1/9 + 1)/4 = 1/3.
    assert estimate_bayes_risk(people, get_loss("squared"), "leave_one_out") == pytest.approx(1 / 3)
    # Absolute: medians of the others are 0, 0, 0 and 0: 1/4.
    assert estimate_bayes_risk(people, get_loss("absolute"), "leave_one_out") == [0.25]
    # Brier: others (2, 1)/3 for a 0: 2 * (1/3)^2 = 2/9, three times; (1, 0) for a 1: 2.
    loo = estimate_bayes_risk(people, get_loss("brier"), "leave_one_out")
    assert loo == pytest.approx((3 * 2 / 9 + 2) / 4)
    # Rps: others (2, 1)/3 for a 0: (1/3)^2, three times; (1, 0) for a 1: 1. That is 1/3 as well.
    assert estimate_bayes_risk(people, get_loss("rps"), "leave_one_out") == pytest.approx(1 / 3)
    # Pinball at 0.8: the others' quantile is 1 without a 0, which costs 0.2, and 0 without the 1,
    # which costs 0.8: (3 * 0.2 + 0.8)/4 = 0.35.
    loo = estimate_bayes_risk(people, get_loss("pinball:0.8"), "leave_one_out")
    assert loo == pytest.approx(0.35)
    # Log, one point: q = 1/2 and s = K/2 = 1, so (2 + 1/2)/4 for a 0 and (0 + 1/2)/4 for the 1.
    loo = estimate_bayes_risk(people, get_loss("log"), "leave_one_out")
    assert loo == pytest.approx(-(3 * math.log(2.5 / 4) + math.log(0.5 / 4)) / 4)


def test_log_of_two_points_by_hand():
    # Each q is from the other point and a uniform one: (2, 1) has its majority alone, so for a 0
    # left out the others are 1 to 1: q = (1/2 + (0 + 1/2)/1)/2 with (0, 4) under majority 1; and
    # so on. The weight s that is best for the other point is the grid's end in either case.
    people = Annotations([[2, 1], [0, 4]])
    found = estimate_bayes_risk(people, get_loss("log"), "leave_one_out")
    # Point 0 with s of point 1: all of its answers agree, others 3 of 3, and its q for majority 1
    # is 1/2, so its loss is least with the least weight, 2^-10 * 2^-1.
    s = 2.0**-11
    q = ((0 + 1 / 2) / 1 + (0 + 1 / 2) / 2) / 2  # of a 0: under majorities 0 and 1
    first = -2 / 3 * math.log((1 + s * q) / (2 + s))
    q = (0 + 1 / 2) / 1  # of the 1: the others are 2 to 0
    first -= 1 / 3 * math.log((0 + s * q) / (2 + s))
    assert found[0] == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize("name", ["log", "zero_one", "brier"])
@given(counts=tables(), data=st.data())
def test_neither_rows_nor_classes_have_an_order(name, counts, data):
    loss, _ = options(name)
    rows = data.draw(st.permutations(range(len(counts))))
    classes = data.draw(st.permutations(range(4)))
    found = estimate_bayes_risk(Annotations(counts), loss, "leave_one_out")
    turned = estimate_bayes_risk(Annotations(counts[rows][:, classes]), loss, "leave_one_out")
    assert turned == pytest.approx(found[rows], abs=1e-12)


@pytest.mark.parametrize("name", ["log", "zero_one"])
def test_the_bracket_of_aurec_does_not_depend_on_the_order_of_classes(name):
    rng = np.random.default_rng(7)
    counts = rng.multinomial(5, rng.dirichlet(np.full(5, 0.5), 50))
    probs = rng.dirichlet(np.ones(5), (50, 4))
    lows = set()
    for _ in range(6):
        order = rng.permutation(5)
        row = evaluate(Annotations(counts[:, order]), Draws(probs[..., order]), name, gap=False)
        lows.add(round(row.aurec_low, 12))
    assert len(lows) == 1


@pytest.mark.parametrize("name", UNBIASED)
@given(counts=tables())
def test_unbiased_is_the_u_statistic(name, counts):
    loss, more = options(name)
    found = estimate_bayes_risk(Annotations(counts), loss, "unbiased")
    values = more.get("values")
    assert found == pytest.approx(
        [naive_annotators.pairs(name, row, values) for row in counts.tolist()], abs=1e-12
    )


@pytest.mark.parametrize("name", ALL)
@given(counts=tables())
def test_plug_in_is_never_above_leave_one_out(name, counts):
    loss, _ = options(name)
    people = Annotations(counts)
    plugin = estimate_bayes_risk(people, loss)
    assert (plugin <= estimate_bayes_risk(people, loss, "leave_one_out") + 1e-12).all()


def multinomials(m, p):
    """Every table of m answers, with its probability."""
    if len(p) == 1:
        return [((m,), p[0] ** m)]
    return [
        ((k, *rest), math.comb(m, k) * p[0] ** k * weight)
        for k in range(m + 1)
        for rest, weight in multinomials(m - k, p[1:])
    ]


@pytest.mark.parametrize("m", [2, 3, 6])
@pytest.mark.parametrize("name", NAMES)
def test_the_bracket_holds_exactly_over_all_answers(name, m):
    loss, more = options(name)
    for p in ([0.4, 0.3, 0.2, 0.1], [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]):
        tables, weights = zip(*multinomials(m, p), strict=True)
        people, weights = Annotations(tables), np.array(weights)
        true = naive.bayes_risk(name, p, **more)
        assert weights @ estimate_bayes_risk(people, loss) <= true + 1e-12
        assert weights @ estimate_bayes_risk(people, loss, "leave_one_out") >= true - 1e-12
        if name in UNBIASED:
            unbiased = weights @ estimate_bayes_risk(people, loss, "unbiased")
            assert unbiased == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize(("n_points", "m"), [(2, 2), (2, 4), (3, 3)])
def test_the_log_bracket_holds_exactly_over_all_answers_to_few_points(n_points, m):
    # The weight of a point is fitted on losses whose q has that point's answers in it, which the
    # proof does not have. It matters most where there are few points: all answers, exactly.
    log, shares = get_loss("log"), (0.02, 0.3, 0.5)
    for chosen in itertools.combinations_with_replacement(shares, n_points):
        worlds = [multinomials(m, [p, 1 - p]) for p in chosen]
        expected = sum(
            math.prod(weight for _, weight in world)
            * estimate_bayes_risk(Annotations([r for r, _ in world]), log, "leave_one_out").mean()
            for world in itertools.product(*worlds)
        )
        true = np.mean([naive.bayes_risk("log", [p, 1 - p]) for p in chosen])
        assert expected > true


@pytest.mark.parametrize("m", [2, 5, 20])
def test_the_log_bracket_holds_on_average(m):
    # The same where there are many points: a world of known entropy.
    rng = np.random.default_rng(0)
    known = Annotations.from_probs(rng.dirichlet([0.4, 0.3, 0.2], 400))
    entropy = get_loss("log").bayes_risk(known.probs).mean()
    sides = np.array(
        [
            [estimate_bayes_risk(people, get_loss("log"), e).mean() for e in ESTIMATORS[:2]]
            for people in (simulate_annotators(known, m, seed=seed) for seed in range(40))
        ]
    )
    error = 3 * sides.std(axis=0) / math.sqrt(40)
    assert sides[:, 0].mean() < entropy + error[0]
    assert sides[:, 1].mean() > entropy - error[1]


def test_log_uses_what_points_share():
    # Plain smoothing is useless where most points are nearly unanimous.
    rng = np.random.default_rng(1)
    probs = np.full((2000, 10), 0.002)
    probs[np.arange(2000), rng.integers(0, 10, 2000)] = 0.982
    people = simulate_annotators(Annotations.from_probs(probs), 50)
    entropy = get_loss("log").bayes_risk(probs).mean()
    found = estimate_bayes_risk(people, get_loss("log"), "leave_one_out").mean()
    n = people.counts
    smoothed = -(n / 50 * np.log((n - 0.5).clip(0.5) / (49 + 5))).sum(axis=1).mean()
    assert entropy - 0.01 < found < entropy + 0.01
    assert smoothed > entropy + 0.05


@pytest.mark.parametrize("name", ALL)
def test_known_probabilities_have_no_width(name, rng):
    loss, _ = options(name)
    known = Annotations.from_probs(rng.dirichlet(np.ones(4), 20))
    belief = Draws(rng.dirichlet(np.ones(4), (20, 3)))
    for estimator in ESTIMATORS:
        assert (estimate_bayes_risk(known, loss, estimator) == loss.bayes_risk(known.probs)).all()
    row = evaluate(known, belief, loss, gap=False)
    assert row.aurec_low == row.aurec == row.aurec_high
    assert row.annotators_min == math.inf
    assert row.to_dict()["annotators_mean"] is None


@pytest.mark.parametrize("name", ALL)
def test_realize_and_evaluate_agree(name, rng):
    loss, _ = options(name)
    people = Annotations(rng.multinomial(rng.integers(2, 9, 50), rng.dirichlet(np.ones(4), 50)))
    belief = Draws(rng.dirichlet(np.ones(4), (50, 3)))
    hat, star = decompose(belief, loss), realize(people, belief, loss)
    low = realize(people, belief, loss, estimator="leave_one_out")
    assert (low.total == star.total).all()
    assert low.epistemic == pytest.approx(low.total - low.aleatoric, abs=1e-10)
    row = evaluate(people, belief, loss, gap=False)
    assert row.aurec_low == pytest.approx(aurec(low.epistemic, hat.epistemic), abs=1e-10)
    assert row.aurec_high == row.aurec
    assert (row.annotators_min, row.annotators_max) == (
        people.n_annotators.min(),
        people.n_annotators.max(),
    )
    assert row.annotators_mean == people.n_annotators.mean()
    if name in UNBIASED:
        middle = realize(people, belief, loss, estimator="unbiased")
        assert row.aurec_low <= aurec(middle.epistemic, hat.epistemic) <= row.aurec_high
    else:
        with pytest.raises(InputError, match=r"no unbiased estimate.*leave_one_out"):
            realize(people, belief, loss, estimator="unbiased")


def test_one_annotator_is_refused_by_count():
    people = Annotations([[2, 0], [1, 0], [0, 1]])
    for estimator in ESTIMATORS[1:]:
        with pytest.raises(InputError, match="2 of 3 points have one, first at row 1"):
            realize(people, None, "brier", actions=[[1, 0]] * 3, estimator=estimator)
    row = evaluate(people, Draws([[[1, 0], [0, 1]]] * 3), "brier", gap=False)
    assert math.isnan(row.aurec_low)
    assert row.aurec_high == row.aurec
    assert any("2 of 3 points have one annotator" in note for note in row.notes)
    with pytest.raises(InputError, match="estimator must be one of"):
        realize(people, None, "brier", actions=[[1, 0]] * 3, estimator="jackknife")


def test_cifar10h(cifar10h):
    # The plug-in entropy and what add-1/2 smoothing makes of it are those of an independent
    # calculation; pooling must do clearly better than smoothing.
    people = Annotations(np.load(cifar10h))
    log = get_loss("log")
    assert estimate_bayes_risk(people, log).mean() == pytest.approx(0.154, abs=5e-4)
    n, m = people.counts, people.n_annotators[:, None]
    smoothed = -(n / m * np.log((n - 0.5).clip(0.5) / (m + 4))).sum(axis=1).mean()
    assert smoothed == pytest.approx(0.252, abs=1e-3)
    assert 0.154 < estimate_bayes_risk(people, log, "leave_one_out").mean() < 0.205


def test_every_row_of_counts_is_checked():
    for row in (0, 1, 8191, 8192):
        counts = np.ones((8194, 2))
        counts[row, 0] = 0.5
        with pytest.raises(InputError, match=f"row {row}"):
            Annotations(counts)
