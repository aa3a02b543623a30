"""A person who is asked: by hand, by brute force under every loss, and by their laws."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import rue
from rue import (
    Annotations,
    Components,
    CostMatrix,
    Dirichlet,
    Draws,
    Gaussians,
    Ratings,
    Run,
    Samples,
    Scored,
    evaluate,
    evaluate_run,
)
from rue.errors import InputError
from rue.inference.intervals import intervals
from rue.losses import get_loss
from rue.metrics.person import team_curve
from rue.truth.realized import person_kind, person_risk, predicted_person

COSTS = CostMatrix([[0, 3, 5], [1, 0.5, 2], [4, 1, 0], [1.5, 1.5, 1.5]])
SINGLE = ("zero_one", "squared", "absolute", COSTS)
PANEL = ("log", "brier", "rps", "pinball:0.8")


def by_pairs(counts, loss):
    """The mean over ordered pairs of answers, one at a time."""
    sure, n_classes = np.eye(len(counts)), len(counts)
    answers = np.repeat(np.arange(n_classes), counts)
    paid = [loss.risk(sure[judge], loss.action(sure[k])) for k, judge in permutations(answers, 2)]
    return np.mean(paid)


def by_panel(counts, loss):
    """The mean loss of the action for all answers but one, under that one."""
    sure = np.eye(len(counts))
    paid = 0.0
    for k in np.flatnonzero(counts):
        others = (counts - sure[k]) / (counts.sum() - 1)
        paid += counts[k] * loss.risk(sure[k], loss.action(others))
    return paid / counts.sum()


@pytest.fixture
def truth(rng):
    m = rng.integers(2, 9, 60)
    return Annotations(np.array([rng.multinomial(k, rng.dirichlet(np.ones(3))) for k in m]))


@pytest.mark.parametrize("loss", [*SINGLE, *PANEL[1:]], ids=lambda loss: get_loss(loss).name)
def test_the_risk_of_a_person_or_a_panel(truth, loss):
    loss = get_loss(loss)
    naive = by_pairs if person_kind(loss) == "person" else by_panel
    expected = [naive(counts.astype(int), loss) for counts in truth.counts]
    np.testing.assert_allclose(person_risk(truth, loss), expected, atol=1e-12)
    assert person_kind(loss) == ("person" if loss.name in ("cost", *SINGLE[:3]) else "panel")


def test_a_panel_is_the_leave_one_out_bayes_risk(truth, rng):
    belief = Draws(rng.dirichlet(np.ones(3), (60, 4)))
    for loss in PANEL:
        star = rue.realize(truth, belief, loss)
        np.testing.assert_array_equal(star.person, star.aleatoric_high)
        assert evaluate(truth, belief, loss, gap=False).person_kind == "panel"


def test_values_are_the_scale_of_a_person():
    truth = Annotations([[1, 0, 1], [0, 2, 1]], values=[0, 1, 5])
    squared = rue.realize(truth, Draws([[[1.0, 0, 0]]] * 2), "squared").person
    assert squared == pytest.approx([25, 2 * (4 * 4) / 3])  # pairs (1, 1), (1, 5), (1, 5), twice
    absolute = rue.realize(truth, Draws([[[1.0, 0, 0]]] * 2), "absolute").person
    assert absolute == pytest.approx([5, 2 * 4 / 3])


def test_numbers(rng):
    rows = [rng.normal(size=m).round(1) for m in (2, 3, 7)]
    truth = Ratings(rows)
    belief = Gaussians(rng.normal(size=(3, 4)), np.ones((3, 4)))
    pairs = [list(permutations(row, 2)) for row in rows]
    for loss, paid in (
        ("squared", lambda a, b: (a - b) ** 2),
        ("absolute", lambda a, b: abs(a - b)),
    ):
        expected = [np.mean([paid(a, b) for a, b in row]) for row in pairs]
        star = rue.realize(truth, belief, loss)
        np.testing.assert_allclose(star.person, expected, rtol=1e-10)
    for loss in ("crps", "pinball:0.3"):
        star = rue.realize(truth, belief, loss)
        np.testing.assert_array_equal(star.person, star.aleatoric_high)


def test_a_known_distribution_is_many_answers(rng):
    p, belief = rng.dirichlet(np.ones(3), 6), Draws(rng.dirichlet(np.ones(3), (6, 4)))
    for loss in (*SINGLE, *PANEL):
        exact = rue.realize(Annotations.from_probs(p), belief, loss).person
        many = rue.realize(Annotations(np.rint(p * 1e9)), belief, loss).person
        np.testing.assert_allclose(exact, many, atol=1e-6)


THREE = Annotations([[4, 0], [3, 1], [2, 2]])
BELIEF = Draws([[[0.9, 0.1]], [[0.2, 0.8]], [[0.6, 0.4]]])


def test_three_points_by_hand():
    # 0/1 loss. A person at the points: 0; 1 - 3*2/(4*3) = 1/2; 1 - (2 + 2)/12 = 2/3.
    # The model chooses a, b, a and costs 0, 3/4, 1/2; its totals 0.1, 0.2, 0.4 are the order.
    # Beyond a person the accepted points cost 0, 1/4, 1/12 in sum: never again at most 0, so parity
    # is at one point. The team costs (7/6, 7/6, 17/12, 15/12) / 3: least if one point is accepted.
    row = evaluate(THREE, BELIEF, "zero_one", gap=False)
    assert row.person_risk == pytest.approx(7 / 18)
    assert row.person_parity == pytest.approx(1 / 3)
    assert row.team_risk == pytest.approx(7 / 18)
    assert row.team_coverage == pytest.approx(1 / 3)
    assert row.person_kind == "person"
    # A fee of 1/8 makes it (37, 34, 37, 30) / 72: now accepting all is best; parity has no fee.
    fee = evaluate(THREE, BELIEF, "zero_one", gap=False, defer_fee=0.125)
    assert (fee.team_risk, fee.team_coverage) == pytest.approx((30 / 72, 1))
    assert fee.person_parity == pytest.approx(1 / 3)
    assert fee.to_dict()["defer_fee"] == 0.125


def test_parity_is_reached_within_a_tie():
    # Two points of equal total: the block costs 1/4 more than a person, and 1/8 less before it.
    star = Components([0.0, 0.5, 0.75], [0.0] * 3, [0.0] * 3, person=np.array([0.125, 0.5, 0.5]))
    hat = Components([1.0, 2.0, 2.0], [1.0, 2.0, 2.0], [0.0] * 3)
    assert evaluate_run(Run(star, hat), gap=False).person_parity == pytest.approx(2 / 3)


def brute_force(run, fee):
    """Try 600 coverages, of a randomised selector within ties."""
    n, order = len(run), np.argsort(run.hat.total, kind="stable")
    total, person, score = run.star.total[order], run.star.person[order], run.hat.total[order]
    parity, team = 0.0, []
    for coverage in np.linspace(0, 1, 6 * n + 1):
        left, accept = coverage * n, np.zeros(n)
        for value in np.unique(score):
            block = score == value
            accept[block] = min(left / block.sum(), 1.0)
            left -= accept[block].sum()
        if (accept * (total - person)).sum() <= 1e-9:
            parity = coverage
        team.append((accept * total + (1 - accept) * (person + fee)).mean())
    return parity, min(team)


@pytest.mark.parametrize("loss", [*SINGLE, *PANEL], ids=lambda loss: get_loss(loss).name)
@pytest.mark.parametrize("fee", [0.0, 0.07])
def test_parity_and_team_by_brute_force(truth, rng, loss, fee):
    belief = Draws(rng.multinomial(4, rng.dirichlet(np.ones(3), (60, 2))) / 4)  # with ties
    run = Run.from_belief(truth, belief, loss)
    row = evaluate(truth, belief, loss, gap=False, defer_fee=fee)
    parity, team = brute_force(run, fee)
    assert parity <= row.person_parity + 1e-9
    assert row.person_parity == pytest.approx(parity, abs=1 / 360 + 1e-9)
    assert row.team_risk == pytest.approx(team)
    curve = team_curve(run.star, run.hat, defer_fee=fee)
    assert curve.value.min() == pytest.approx(row.team_risk)
    assert np.interp(row.team_coverage, curve.coverage, curve.value) == pytest.approx(row.team_risk)
    assert curve.value[[0, -1]] == pytest.approx([row.person_risk + fee, row.risk])


@pytest.mark.parametrize("shift", [-0.2, 0.0, 0.3])
def test_a_curve_of_many_parts_by_brute_force(rng, shift):
    person = rng.random(3_000)
    total = person + np.linspace(-0.3, 0.4, 3_000) + rng.normal(shift, 0.5, 3_000)
    total -= total.min()
    star = replace(Components(total, np.zeros(3_000), total), person=person)
    score = np.sort(rng.integers(0, 700, 3_000) / 700)  # with ties
    hat = Components(score, score, np.zeros(3_000))
    row = evaluate_run(Run(star, hat), gap=False)
    ends = np.flatnonzero(np.append(np.diff(score) != 0, True)) + 1
    cost = np.append(0, np.cumsum(total - person)[ends - 1])
    corners = np.append(0, ends) / 3_000
    last = np.flatnonzero(cost <= 0)[-1]
    parity = corners[last]
    if last < len(ends):
        parity += np.diff(corners)[last] * -cost[last] / np.diff(cost)[last]
    assert row.person_parity == pytest.approx(parity, rel=1e-9)
    assert row.team_risk == pytest.approx(person.mean() + cost.min() / 3_000)
    assert row.team_coverage == corners[np.flatnonzero(cost == cost.min())[-1]]


def test_laws(truth, rng):
    belief = Draws(rng.dirichlet(np.ones(3), (60, 3)))
    row = evaluate(truth, belief, "zero_one", gap=False)
    assert row.team_risk <= min(row.risk, row.person_risk) + 1e-12
    dear = evaluate(truth, belief, "zero_one", gap=False, defer_fee=5.0)
    assert (dear.team_risk, dear.team_coverage) == pytest.approx((row.risk, 1.0))
    rows = rng.permutation(60)
    moved = evaluate(truth[rows], belief[rows], "zero_one", gap=False)
    for key in ("person_risk", "person_parity", "team_risk", "team_coverage"):
        assert getattr(moved, key) == pytest.approx(getattr(row, key))
    right = evaluate(truth, Draws(truth.probs[:, None]), "squared", gap=False)
    assert (right.person_parity, right.team_coverage) == (1.0, 1.0)  # as good as p* everywhere


def test_one_answer_says_why_there_is_no_person():
    row = evaluate(Annotations([[1, 0], [3, 1]]), Draws([[[0.5, 0.5]]] * 2), "zero_one", gap=False)
    assert math.isnan(row.person_risk)
    assert math.isnan(row.person_parity)
    assert row.person_kind == ""
    note = next(note for note in row.notes if "pairs of answers" in note)
    assert "person, parity, team, team coverage are empty: 1 of 2 points" in note
    with pytest.raises(InputError, match="two answers per point"):
        team_curve(Components([1.0], [1.0], [0.0]), Components([1.0], [1.0], [0.0]))


@pytest.mark.parametrize("fee", [-0.1, math.nan, math.inf])
def test_a_fee_is_a_number_from_0_on(truth, rng, fee):
    with pytest.raises(InputError, match="defer_fee must be a number from 0 on"):
        evaluate(truth, Draws(rng.dirichlet(np.ones(3), (60, 1))), "zero_one", defer_fee=fee)


def test_a_panel_of_some_points_is_of_their_answers(truth, rng):
    run = Run.from_belief(truth, Draws(rng.dirichlet(np.ones(3), (60, 2))), "log")
    part = Run.from_belief(truth[:20], run.belief[:20], "log")
    np.testing.assert_array_equal(run[:20].star.person, part.star.person)


def test_intervals(truth, rng):
    run = Run.from_belief(truth, Draws(rng.dirichlet(np.ones(3), (60, 2))), "zero_one")
    ends = intervals(run, gap=False, n_replicates=200)
    for key in ("person_risk", "team_risk", "person_parity"):
        assert ends.low[key] <= ends.estimate[key] <= ends.high[key]
    assert (ends.method["person_risk"], ends.method["team_risk"]) == ("bca", "percentile")
    dear = intervals(replace(run, defer_fee=0.3), gap=False, n_replicates=200)
    assert dear.low["team_risk"] > ends.low["team_risk"]


def second_moments(belief):
    if isinstance(belief, Draws):
        return np.einsum("nsk,nsj->nkj", belief.probs, belief.probs) / belief.n_draws
    alpha = belief.alpha
    whole = alpha.sum(axis=1)[:, None, None]
    product = alpha[:, :, None] * alpha[:, None] + alpha[:, :, None] * np.eye(alpha.shape[1])
    return product / (whole * (whole + 1))


@pytest.mark.parametrize("kind", ["draws", "dirichlet"])
@pytest.mark.parametrize("loss", SINGLE, ids=lambda loss: get_loss(loss).name)
def test_the_predicted_person_is_the_mean_over_pairs_of_answers(rng, loss, kind):
    probs = rng.dirichlet(np.ones(3), (20, 4))
    belief = Draws(probs) if kind == "draws" else Dirichlet(5 * probs[:, 0] + 0.1)
    loss, sure = get_loss(loss), np.eye(3)
    paid = np.array(
        [[loss.risk(sure[j], loss.action(sure[k])) for j in range(3)] for k in range(3)]
    )
    expected = (second_moments(belief) * paid).sum(axis=(1, 2))
    np.testing.assert_allclose(predicted_person(belief, loss), expected, atol=1e-11)


def test_nothing_is_predicted_for_panels_and_outside_scores(rng):
    probs = rng.dirichlet(np.ones(3), (5, 2))
    assert all(predicted_person(Draws(probs), get_loss(loss)) is None for loss in PANEL)
    assert predicted_person(Scored(probs[:, 0], np.arange(5)), get_loss("zero_one")) is None


def test_the_predicted_person_of_numbers(rng):
    belief = Samples(rng.normal(size=(4, 3, 5)))
    distance = np.abs(belief.values[..., :, None] - belief.values[..., None, :])
    for loss, power in (("absolute", 1), ("squared", 2)):
        expected = (distance**power).mean(axis=(1, 2, 3))
        np.testing.assert_allclose(predicted_person(belief, get_loss(loss)), expected, rtol=1e-9)
    assert predicted_person(belief, get_loss("crps")) is None


def test_rounded_components_do_not_break_parity():
    # The costs beyond a person's are 0, 26/15, then -26/15 in all for the four ties: equal at 1.
    probs = np.array([[1, 1, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 1, 1]]) + 1e-9
    counts = [[2, 1, 0], [1, 1, 1], [1, 0, 2], [1, 1, 1], [0, 3, 0], [1, 2, 0]]
    truth = Annotations(counts, values=[0, 1, 5])
    belief = Draws((probs / probs.sum(axis=1, keepdims=True))[:, None])
    assert evaluate(truth, belief, "pinball:0.2", gap=False).person_parity == 1.0


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e9])
def test_parity_has_no_unit(unit):
    # Answers 0 and 1: a person risks 1 under absolute loss (the other answer), a model that says
    # 0 as often 1/2, one that says 3 risks 5/2; the excesses are -1/2 and 3/2: even at 2/3.
    truth = Ratings(np.array([[0.0, 1.0], [0.0, 1.0]]) * unit)
    belief = Gaussians(np.array([[0.0], [3.0]]) * unit, np.array([[1.0], [2.0]]) * unit)
    row = evaluate(truth, belief, "absolute", gap=False)
    assert row.person_parity == pytest.approx(2 / 3)
    assert row.team_risk / unit == pytest.approx(3 / 4)
    assert row.team_coverage == 0.5
