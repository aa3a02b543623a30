"""Plans: widths in closed form, the number of points by its formula, and by trying it out."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rue import Annotations, Components, Draws, Run, aurc, realize
from rue.errors import InputError, ShapeError
from rue.inference.comparison import compare
from rue.inference.intervals import influence
from rue.inference.power import plan
from rue.truth.answer_losses import answers


@pytest.fixture(scope="module")
def pilot():
    rng = np.random.default_rng(0)
    people = Annotations(rng.multinomial(20, rng.dirichlet(np.ones(3), 200)))
    runs = []
    for name, noise in (("a", 0.3), ("b", 1.0)):
        belief = Draws(
            noise * rng.dirichlet(np.ones(3), (200, 4)) + (1 - noise) * people.probs[:, None]
        )
        run = Run.from_belief(people, belief, "squared", method=name, with_answers=True)
        runs.append(run)
    return people, runs


def test_squared_widths_are_those_of_the_closed_form(pilot):
    people, runs = pilot
    # With U the unbiased variance the bracket at m people is, on average over subsamples,
    # the area of (m/(m-1))^2 - 1 times U (m-1)/m: U (2m - 1) / (m (m - 1)).
    b = runs[1]
    unbiased = realize(people, None, "squared", actions=np.zeros(200), estimator="unbiased")
    whole = aurc(unbiased.aleatoric, b.hat.epistemic)
    found = plan([b], annotators=[2, 5, 10, 20, 40, 200], width=0.01)
    for row in found.rows:
        m = row.n_annotators
        exact = whole * (2 * m - 1) / (m * (m - 1))
        tolerance = 0.08 if m <= 5 else 0.05
        assert row.bracket_width == pytest.approx(exact, rel=tolerance), m
        assert row.extrapolated == (m > 20)
        assert math.isnan(row.n_points)
    assert found.annotators_needed == pytest.approx(2 * whole / 0.01, rel=0.06)
    assert plan([b], width=10.0).annotators_needed == 2
    inside = plan([b], width=found.rows[1].bracket_width * 1.001).annotators_needed
    assert inside == 5
    assert plan([b], width=1e-9).annotators_needed is None


def test_points_follow_the_formula(pilot):
    _, runs = pilot
    found = plan(runs, annotators=[20], level=0.95, power=0.8)
    (row,) = found.rows
    plugin = [Run(Components(*run.answers.realized()), run.hat) for run in runs]
    swing = [influence(run)["aurec"] for run in plugin]
    deviation = np.std(swing[0] - swing[1])
    # 1.959964 + 0.841621 are the quantiles of 97.5 % and 80 %.
    assert row.n_points == math.ceil((2.801585 * deviation / row.difference) ** 2)
    assert row.n_answers == 20 * row.n_points
    assert (found.pilot_points, found.pilot_annotators) == (200, 20)
    more = plan(runs, annotators=[20], power=0.95).rows[0]
    assert more.n_points > row.n_points
    assert plan(runs, annotators=[2, 40]).to_dict()["rows"][1]["extrapolated"] is True


def test_the_plan_is_kept():
    # Of samples of as many points as planned, about 80 % tell the methods apart.
    rng = np.random.default_rng(1)
    n = 4000
    people = Annotations(rng.multinomial(10, rng.dirichlet(np.ones(3), n)))
    belief = Draws(rng.dirichlet(np.ones(3), (n, 2)))
    first = Run.from_belief(people, belief, "brier", method="a", with_answers=True)
    score = first.star.epistemic + rng.normal(size=n)
    noisy = replace(first, hat=Components(score, np.zeros(n), score), method="b")
    needed = int(plan([first, noisy], annotators=[10]).rows[0].n_points)
    assert 20 < needed < n / 4
    told = 0
    for seed in range(120):
        rows = np.random.default_rng(seed).integers(0, n, needed)
        runs = [first[rows], noisy[rows]]
        difference = compare(runs, criteria=["aurec"], n_replicates=400)["aurec"].differences[0]
        told += difference.p_value < 0.05
    assert 0.65 < told / 120 < 0.92


def test_no_difference_takes_forever(pilot):
    _, runs = pilot
    same = [runs[0], replace(runs[0], method="b")]
    found = plan(same, annotators=[5])
    assert found.rows[0].n_points == math.inf
    assert found.to_dict()["rows"][0]["n_points"] is None


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_a_difference_by_rounding_takes_forever(seed):
    """Ties among neighbours of equal regret change no area, only how it is summed."""
    rng = np.random.default_rng(seed)
    kind, zero = rng.integers(0, 3, 200), np.zeros(200)
    people = Annotations(np.array([[6, 1], [1, 6], [2, 5]])[kind])
    said = answers(people, None, "squared", actions=zero)
    order = rng.permutation(200)
    score, tied = np.empty(200), np.empty(200)
    score[order] = np.arange(200)
    tied[order] = np.cumsum(np.append(True, np.diff(kind[order]) != 0))
    star = Components(*said.realized())
    runs = [
        Run(star, Components(e, zero, e), method=n, answers=said)
        for n, e in (("a", score), ("b", tied))
    ]
    (row,) = plan(runs, annotators=[7]).rows
    assert (row.difference, row.n_points) == (0, math.inf)


def test_broken_calls(pilot):
    _, runs = pilot
    for wrong, words in (
        ({"criterion": "pareto_gap"}, "criterion must be one of"),
        ({"level": 2}, "level must be"),
        ({"power": 0}, "power must be"),
        ({"width": -1.0}, "width must be above 0"),
        ({"width": math.inf}, "width must be above 0 and finite, got inf"),
        ({"annotators": [1, 5]}, "whole numbers from 2, got 1"),
        ({"annotators": []}, "got none"),
    ):
        with pytest.raises(InputError, match=words):
            plan(runs, **wrong)
    with pytest.raises(InputError, match="one or two methods, got 3"):
        plan([*runs, replace(runs[0], method="c")])
    with pytest.raises(InputError, match="a name of its own, got two of 'a'"):
        plan([runs[0], runs[0]])
    with pytest.raises(ShapeError, match="same points, got a 200, b 9"):
        plan([runs[0], runs[1][:9]])
    with pytest.raises(InputError, match=r"a plan needs runs with answers.*with_answers=True"):
        plan([replace(runs[0], answers=None)])
    single = answers(Annotations([[1, 0], [2, 3]]), None, "zero_one", actions=[0, 0])
    with pytest.raises(InputError, match="at least 2 annotators per point, 1 of 2 points have one"):
        plan([Run(runs[0].star[:2], runs[0].hat[:2], answers=single)])


def test_a_variance_that_extrapolates_to_none_plans_no_points():
    """Under log loss the variance falls faster than 1/m among few people: the line crosses 0."""
    rng = np.random.default_rng(1)
    truth = rng.dirichlet(np.full(3, 0.6), 400)
    people = Annotations([rng.multinomial(12, p) for p in truth])
    probs = np.array([rng.dirichlet(0.3 + 8 * p, 4) for p in truth])
    beliefs = {"four": Draws(probs), "two": Draws(probs[:, :2])}
    runs = [
        Run.from_belief(people, belief, "log", method=name, with_answers=True)
        for name, belief in beliefs.items()
    ]
    few, many = plan(runs, annotators=[10, 100]).rows
    assert few.n_points >= 1
    assert math.isnan(many.n_points)
    assert math.isnan(many.n_answers)


@pytest.mark.parametrize("large", [10**9, 10**15])
def test_counts_too_large_to_draw_from_are_one_line(pilot, large):
    people, _ = pilot
    counts = people.counts.copy()
    counts[7, 1] = large
    belief = Draws(np.full((200, 1, 3), 1 / 3))
    run = Run.from_belief(Annotations(counts), belief, "log", with_answers=True)
    with pytest.raises(InputError, match=r"fewer than 1,000,000,000 answers .* at row 7$"):
        plan([run])
