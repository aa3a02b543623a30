"""Ratings: how they are given, and what finitely many of them tell of the Bayes risk."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_real as naive
from rue import (
    Annotations,
    Gaussians,
    Ratings,
    Run,
    Samples,
    aurec,
    compare,
    decompose,
    evaluate,
    plan,
    realize,
)
from rue.errors import InputError, ShapeError
from rue.inference.intervals import intervals
from rue.losses import get_loss
from rue.losses.real import round_to_digits
from rue.metrics.corrected import corrected_columns
from rue.truth.answer_losses import answers, smaller_half
from rue.truth.realized import ESTIMATORS, estimate_bayes_risk

NAMES = ["squared", "absolute", "crps", "pinball:0.8", "pinball:0.3"]

rows = st.lists(
    st.lists(st.integers(-4, 4).map(lambda n: n / 2), min_size=2, max_size=7),
    min_size=1,
    max_size=6,
)


def lists(ratings):
    return [own.tolist() for own in np.split(ratings.answers.values, ratings.answers.starts[1:-1])]


def test_every_way_to_give_them():
    expected = [[3.0, 4.5], [1.0, 2.0, 2.5]]
    assert lists(Ratings([[4.5, 3.0], [2.0, 1.0, 2.5]])) == expected
    long = Ratings.from_long(["b", "a", "b", "a", "a"], [3.0, 2.5, 4.5, 1.0, 2.0])
    assert lists(long) == expected
    assert long.ids.tolist() == ["b", "a"]
    assert lists(Ratings(np.array([[2, 1], [5, 4]]))) == [[1, 2], [4, 5]]
    assert lists(Ratings(np.array([2.0, 1.0]))) == lists(Ratings([2.0, 1.0])) == [[2], [1]]
    assert lists(Ratings(iter([[1], (2, 3)]))) == [[1], [2, 3]]
    counted = Ratings.from_counts([[0, 2, 1], [1, 0, 0]], [-1, 0.5, 3])
    assert lists(counted) == [[0.5, 0.5, 3], [-1]]
    assert counted.range == (-1, 3)
    assert lists(Ratings.from_counts([[0, 2, 1]])) == [[1, 1, 2]]


def test_some_of_the_points():
    people = Ratings.from_long([7, 8, 9, 7], [1.0, 2.0, 3.0, 0.0], range=(0, 3))
    assert len(people) == people.n_points == 3
    assert people.n_annotators.tolist() == [2, 1, 1]
    assert repr(people) == "Ratings(3 points, 1 to 2 answers each)"
    for part, points in (
        (people[1:], [1, 2]),
        (people[-1], [2]),
        (people[np.array([True, False, True])], [0, 2]),
        (people[np.array([2, 0, 2])], [2, 0, 2]),
    ):
        assert lists(part) == [lists(people)[i] for i in points]
        assert part.ids.tolist() == [["7", "8", "9"][i] for i in points]
        assert part.range == (0, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ratings([]), "at least one point"),
        (lambda: Ratings([[1.0], []]), "at least one answer, point 1 has none"),
        (lambda: Ratings([[1.0], [2.0, np.nan]]), "finite, got nan at point 1"),
        (lambda: Ratings([[1.0, 1e200]]), "below 1e50 in size"),
        (lambda: Ratings([[1.0], [7.0]], range=(0, 5)), "range 0 to 5, got 7 at point 1"),
        (lambda: Ratings([[1.0]], range=(5, 0)), "two increasing finite numbers"),
        (lambda: Ratings([[1.0]], range=(0, np.inf)), "two increasing finite numbers"),
        (lambda: Ratings([["high"]]), "ratings of point 0 must hold real numbers"),
        (lambda: Ratings(3.0), "must hold the answers of each point, got float"),
        (lambda: Ratings(np.zeros((1, 1, 1))), "shape"),
        (lambda: Ratings(np.zeros((0, 2))), "at least one point"),
        (lambda: Ratings.from_long([1, 2], [1.0]), "one entry per answer"),
        (lambda: Ratings.from_counts([[0, 0]]), "at least one annotator"),
        (lambda: Ratings.from_counts([[1, 0]], [1, 0]), "values must increase"),
    ],
)
def test_broken_ratings_are_refused(make, words):
    with pytest.raises((InputError, ShapeError), match=words):
        make()


@pytest.mark.parametrize("name", NAMES)
@given(answers=rows)
def test_leave_one_out_is_a_loop_over_single_answers(name, answers):
    found = estimate_bayes_risk(Ratings(answers), get_loss(name), "leave_one_out")
    looped = [naive.leave_one_out(name, own) for own in answers]
    assert found == pytest.approx(looped, abs=1e-11)
    plugin = estimate_bayes_risk(Ratings(answers), get_loss(name))
    assert (plugin <= found + 1e-12).all()


@pytest.mark.parametrize("name", ["squared", "crps"])
@given(answers=rows)
def test_unbiased_is_the_mean_over_pairs(name, answers):
    found = estimate_bayes_risk(Ratings(answers), get_loss(name), "unbiased")
    assert found == pytest.approx([naive.pairs(name, own) for own in answers], abs=1e-12)
    if name == "squared":
        assert found == pytest.approx([np.var(own, ddof=1) for own in answers], abs=1e-12)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_the_bracket_holds_exactly_over_all_answers(name, m):
    # Every series of m answers from three values with unequal odds.
    values, odds = [-1.0, 0.5, 4.0], [0.5, 0.2, 0.3]
    series = list(itertools.product(range(3), repeat=m))
    weights = np.array([np.prod([odds[k] for k in each]) for each in series])
    people = Ratings([[values[k] for k in each] for each in series])
    # The true Bayes risk: that of ten answers in just those odds.
    true = estimate_bayes_risk(Ratings([[-1.0] * 5 + [0.5] * 2 + [4.0] * 3]), get_loss(name))[0]
    assert weights @ estimate_bayes_risk(people, get_loss(name)) <= true + 1e-12
    assert weights @ estimate_bayes_risk(people, get_loss(name), "leave_one_out") >= true - 1e-12
    if name in ("squared", "crps"):
        unbiased = weights @ estimate_bayes_risk(people, get_loss(name), "unbiased")
        assert unbiased == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_realize_and_evaluate_agree(name, rng):
    people = Ratings([rng.normal(0, 1, m) for m in rng.integers(2, 9, 50)])
    belief = Gaussians(rng.normal(0, 1, (50, 3)), rng.gamma(2, 1, (50, 3)))
    hat, star = decompose(belief, name), realize(people, belief, name)
    low = realize(people, belief, name, estimator="leave_one_out")
    assert (low.total == star.total).all()
    assert low.aleatoric == pytest.approx(star.aleatoric_high, rel=1e-12)
    row = evaluate(people, belief, name, gap=False)
    assert row.aurec_low == pytest.approx(aurec(low.epistemic, hat.epistemic), abs=1e-9)
    assert (row.annotators_min, row.annotators_max) == (
        people.n_annotators.min(),
        people.n_annotators.max(),
    )
    if name in ("squared", "crps"):
        middle = realize(people, belief, name, estimator="unbiased")
        assert row.aurec_low <= aurec(middle.epistemic, hat.epistemic) <= row.aurec_high
    else:
        with pytest.raises(InputError, match=r"no unbiased estimate.*leave_one_out"):
            realize(people, belief, name, estimator="unbiased")


def test_one_answer_is_refused_where_two_are_needed():
    people, belief = Ratings([[1.0, 2.0], [3.0]]), Samples(np.zeros((2, 1, 1)))
    for estimator in ESTIMATORS[1:]:
        with pytest.raises(InputError, match="1 of 2 points have one, first at row 1"):
            realize(people, belief, "squared", estimator=estimator)
    assert realize(people, belief, "squared").aleatoric_high is None


@pytest.mark.parametrize("size", [1e-120, 1e-7, 1.0, 3.0, 1e30, 1e140])
def test_rounding_is_to_12_digits_of_the_total(size):
    total = np.full(4, size)
    x = size * np.array([0.3, 0.3 + 1e-14, 0.3 + 4e-11, -1e-15])
    rounded = round_to_digits(x, total)
    assert rounded[0] == rounded[1] != rounded[2]
    assert np.abs(rounded - x).max() <= 0.5e-11 * size * (1 + 1e-3)
    assert rounded[3] == 0
    assert not np.signbit(rounded[3])
    assert (round_to_digits(np.array([0.0]), np.array([0.0])) == 0).all()


def told(rng, n=60, name="crps"):
    people = Ratings([rng.normal(0, 1, m) for m in rng.integers(2, 9, n)])
    belief = Gaussians(rng.normal(0, 1, (n, 3)), rng.gamma(2, 1, (n, 3)))
    return people, belief, answers(people, belief, name)


@pytest.mark.parametrize("name", NAMES)
def test_what_answers_cost_gives_the_realised_components(name, rng):
    people, belief, said = told(rng, name=name)
    star, found = realize(people, belief, name), said.realized()
    for part in ("total", "aleatoric", "epistemic"):
        assert getattr(found, part) == pytest.approx(getattr(star, part), abs=1e-10)
    assert said.leave_one_out() == pytest.approx(star.aleatoric_high, abs=1e-10)
    some = rng.permutation(60)[:7]
    assert (said[some].realized().total == found.total[some]).all()


def test_annotators_are_drawn_from_those_of_the_point(rng):
    people, _, said = told(rng)
    one, other = said.halves(rng)
    assert (one.n_answers == smaller_half(people.n_annotators)).all()
    assert (other.n_answers - one.n_answers <= 2).all()
    together = [sorted(a + b) for a, b in zip(lists(one), lists(other), strict=True)]
    assert together == lists(people)
    fewer = said.subsampled(3, rng)
    assert (fewer.n_answers == np.minimum(people.n_annotators, 3)).all()
    for own, some in zip(lists(people), lists(fewer), strict=True):
        assert set(some) <= set(own)
        assert some == sorted(some)
    # The loss of an answer goes with it.
    costs = dict(zip(said.answers.values, said.losses, strict=True))
    assert fewer.losses.tolist() == [costs[y] for y in fewer.answers.values]


def test_each_answer_is_as_likely_as_the_others(rng):
    said = answers(Ratings([[0.0, 1.0, 2.0, 3.0]] * 4000), None, "squared", actions=np.zeros(4000))
    for drawn in (said.subsampled(1, rng), said.halves(rng)[0]):
        shares = np.bincount(drawn.answers.values.astype(int)) / len(drawn.losses)
        assert shares == pytest.approx(np.full(4, 0.25), abs=0.03)
    # With replacement: the mean of 4 draws of 0, 1, 4, 9 is 3.5, with the variance 12.25 / 4.
    total = said.redrawn(rng).total
    assert total.mean() == pytest.approx(3.5, abs=0.12)
    assert total.var() == pytest.approx(12.25 / 4, rel=0.1)


@pytest.mark.parametrize("name", ["crps", "absolute"])
def test_intervals_comparison_plan_and_correction_take_ratings(name, rng):
    people, belief, _ = told(rng, n=80)
    other = Gaussians(belief.mean * 0.3, belief.sd)
    runs = [
        Run.from_belief(people, each, name, method=method, with_answers=True)
        for method, each in (("one", belief), ("other", other))
    ]
    found = intervals(runs[0], resample_annotators=True, n_replicates=20, gap=False)
    order = rng.permutation(80)
    again = intervals(runs[0][order], resample_annotators=True, n_replicates=20, gap=False)
    assert found.to_dict() == pytest.approx(again.to_dict())
    estimate = compare(runs, n_replicates=50)["aurec"].estimate
    assert estimate["one"] == pytest.approx(evaluate(people, belief, name).aurec)
    assert plan(runs, n_subsamples=2).rows
    fixed = corrected_columns(runs[0].answers, runs[0].hat, gap=False, n_splits=2)
    assert np.isfinite(fixed["n_aurec_corrected"])
    # A part of a run keeps its own bracket.
    part = runs[0][order[:9]]
    assert (part.star.aleatoric_high == runs[0].star.aleatoric_high[order[:9]]).all()


def test_where_answers_differ_is_told():
    one = Ratings([[1.0, 2.0], [3.0]])
    assert one.first_difference(Ratings([[2.0, 1.0], [3.0]])) is None
    assert one.first_difference(Ratings([[2.0, 1.0], [4.0]])) == 1
    assert one.first_difference(Ratings([[2.0], [4.0]])) == 0
    assert one.first_difference(Annotations([[1, 1], [1, 1]])) == 0
    assert Annotations([[1, 1], [1, 1]]).first_difference(one) == 0
