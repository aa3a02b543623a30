"""What a number is measured against: unbiased regret from two answers."""

import math

import numpy as np
import pytest

from rue import (
    Annotations,
    Components,
    Dirichlet,
    Draws,
    Gaussians,
    Ratings,
    Run,
    compare,
    decompose,
    evaluate,
    evaluate_components,
    evaluate_run,
    realize,
)
from rue.inference.intervals import intervals
from rue.metrics.columns import UNBIASED_LOSSES
from rue.metrics.measures import aurc
from rue.metrics.table import format_rows

UNBIASED = ("aurec_unbiased", "regret_unbiased", "r_aurec", "r_aurec_total")
OTHER_LOSSES = ("log", "zero_one", "absolute", "pinball:0.8")


def numbers(row):
    return tuple(getattr(row, key) for key in UNBIASED)


def world(rng, n_points, n_answers, n_classes=4):
    truth = rng.dirichlet(np.ones(n_classes), n_points)
    probs = 0.6 * truth[:, None] + 0.4 * rng.dirichlet(np.ones(n_classes), (n_points, 5))
    return truth, rng.multinomial(n_answers, truth), Draws(probs)


def test_three_points_worked_by_hand():
    # Brier, prediction (1/2, 1/2), two answers each. (2, 0): total 1/2, Bayes risk 0, regret 1/2.
    # (1, 1): total 1/2, Bayes risk 1/2, twice that is 1, regret -1/2. (0, 2): regret 1/2.
    # Mean 1/6. The second is accepted first, then the others, which tie: the curve goes from
    # 0 to -1/6 to 1/6, so the area is 1/3 (-1/12) + 2/3 (0) = -1/36, and r = -1/36 / (1/12).
    belief = Draws([[[0.6, 0.4], [0.4, 0.6]], [[0.5, 0.5]] * 2, [[0.6, 0.4], [0.4, 0.6]]])
    row = evaluate(Annotations([[2, 0], [1, 1], [0, 2]]), belief, "brier", gap=False)
    assert numbers(row)[:3] == pytest.approx((-1 / 36, 1 / 6, -1 / 3), abs=1e-12)
    assert row.r_aurec_total == pytest.approx(1.0)  # all totals are equal


@pytest.mark.parametrize("loss", ["squared", "brier", "rps"])
def test_they_are_areas_of_the_unbiased_regret(loss, rng):
    _, counts, belief = world(rng, 60, 1)
    counts += rng.multinomial(3, [0.4, 0.3, 0.2, 0.1], 60) + np.eye(4, dtype=int)[0]
    truth = Annotations(counts, [1.0, 2.0, 4.0, 8.0])
    row = evaluate(truth, belief, loss, gap=False)
    regret = realize(truth, belief, loss, estimator="unbiased").epistemic
    hat = decompose(belief, loss, values=truth.values)
    by_epistemic, by_total = aurc(regret, hat.epistemic), aurc(regret, hat.total)
    half = regret.mean() / 2
    found = (by_epistemic, 2 * half, by_epistemic / half, by_total / half)
    assert numbers(row) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "crps"])
def test_ratings_have_them_too(loss, rng):
    truth = Ratings([rng.normal(size=m) for m in rng.integers(2, 6, 50)])
    belief = Gaussians(rng.normal(size=(50, 4)), rng.gamma(2.0, 0.5, (50, 4)))
    row = evaluate(truth, belief, loss, gap=False)
    regret = realize(truth, belief, loss, estimator="unbiased").epistemic
    hat = decompose(belief, loss)
    assert row.regret_unbiased == pytest.approx(regret.mean(), rel=1e-9)
    assert row.r_aurec == pytest.approx(2 * aurc(regret, hat.epistemic) / regret.mean(), rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "brier", "rps"])
def test_two_answers_are_unbiased_where_the_plug_in_is_not(loss, rng):
    truth, _, belief = world(rng, 300, 2)
    exact = evaluate(Annotations.from_probs(truth), belief, loss, gap=False)
    rows = [
        evaluate(Annotations(rng.multinomial(2, truth)), belief, loss, gap=False)
        for _ in range(200)
    ]
    for key, plain in (("aurec_unbiased", "aurec"), ("regret_unbiased", "regret")):
        values = np.array([getattr(row, key) for row in rows])
        error = values.std(ddof=1) / math.sqrt(len(rows))
        assert abs(values.mean() - getattr(exact, plain)) < 4 * error
        assert np.mean([getattr(row, plain) for row in rows]) > getattr(exact, plain) + 20 * error


@pytest.mark.parametrize("loss", ["squared", "brier", "rps"])
def test_the_ratio_is_consistent_where_that_of_the_plug_in_is_not(loss, rng):
    truth, counts, _ = world(rng, 20_000, 5)
    spread = rng.uniform(0.0, 0.8, (20_000, 1, 1))  # where members disagree more, they err more
    belief = Draws((1 - spread) * truth[:, None] + spread * rng.dirichlet(np.ones(4), (20_000, 2)))
    exact = evaluate(Annotations.from_probs(truth), belief, loss, gap=False)
    row = evaluate(Annotations(counts), belief, loss, gap=False)
    assert row.r_aurec == pytest.approx(exact.r_aurec, abs=0.05)
    assert 2 * row.aurec / row.regret > exact.r_aurec + 0.1


def test_a_known_truth_has_no_bias_to_remove(rng):
    truth, _, belief = world(rng, 80, 5)
    row = evaluate(Annotations.from_probs(truth), belief, "brier", gap=False)
    assert (row.aurec_unbiased, row.regret_unbiased) == (row.aurec, row.regret)
    assert row.r_aurec == pytest.approx(2 * row.aurec / row.regret)
    assert row.r_aurec_total == pytest.approx(2 * row.aurec_total / row.regret)


@pytest.mark.parametrize("loss", OTHER_LOSSES)
def test_other_losses_have_none(loss, rng):
    _, counts, belief = world(rng, 30, 5)
    row = evaluate(Annotations(counts), belief, loss, gap=False)
    assert all(math.isnan(number) for number in numbers(row))
    assert row.to_dict()["r_aurec"] is None


def test_a_point_with_one_answer_empties_them_with_a_note(rng):
    _, counts, belief = world(rng, 30, 5)
    counts[3] = [0, 1, 0, 0]
    row = evaluate(Annotations(counts), belief, "brier", gap=False)
    assert all(math.isnan(number) for number in numbers(row))
    assert "1 of 30 points have one annotator: the bracket has no lower end and there is no " in (
        "\n".join(row.notes)
    )


def test_the_ratio_is_null_without_regret_to_divide_by():
    # Every prediction equals the frequencies of the answers, so its unbiased regret is negative.
    belief = Draws([[[0.5, 0.5]], [[0.5, 0.5]]])
    row = evaluate(Annotations([[1, 1], [2, 2]]), belief, "brier", gap=False)
    assert row.regret_unbiased < 0
    assert math.isnan(row.r_aurec)
    assert math.isnan(row.r_aurec_total)
    assert any(note.startswith("r-AuReC is empty: the unbiased regret is -") for note in row.notes)


def test_components_that_are_not_the_plug_in_are_not_corrected_again(rng):
    _, counts, belief = world(rng, 30, 5)
    for estimator in ("unbiased", "leave_one_out"):
        star = realize(Annotations(counts), belief, "brier", estimator=estimator)
        row = evaluate_components(star, decompose(belief, "brier"), loss="brier", gap=False)
        assert math.isnan(row.r_aurec)
    star = realize(Annotations(counts), belief, "brier")
    row = evaluate_components(star, decompose(belief, "brier"), loss="brier", gap=False)
    assert row.r_aurec == evaluate(Annotations(counts), belief, "brier", gap=False).r_aurec


def test_a_bootstrap_interval_is_that_of_drawn_points(rng):
    _, counts, _ = world(rng, 40, 3)
    belief = Dirichlet(rng.gamma(1.0, size=(40, 4)) + 0.1)
    run = Run.from_belief(Annotations(counts), belief, "rps")
    found = intervals(run, gap=False, n_replicates=500)
    for key in UNBIASED:
        assert found.method[key] == "bca"
        assert found.low[key] < getattr(evaluate_run(run, gap=False), key) < found.high[key]
    drawn = [evaluate_run(run[rng.integers(0, 40, 40)], gap=False).r_aurec for _ in range(500)]
    assert np.nanstd(found.replicates["r_aurec"]) == pytest.approx(np.nanstd(drawn), rel=0.2)


def test_methods_can_be_compared_by_them(rng):
    _, counts, belief = world(rng, 400, 2)
    noise = Dirichlet(rng.gamma(1.0, size=(400, 4)) + 0.1)
    runs = [
        Run.from_belief(Annotations(counts), b, "brier", method=name)
        for b, name in ((belief, "near"), (noise, "noise"))
    ]
    ranking = compare(runs, criteria=["aurec_unbiased", "r_aurec"], n_replicates=300)
    assert ranking["aurec_unbiased"].best == ("near",)
    assert set(ranking.rankings) == {"aurec_unbiased", "r_aurec"}


def test_tables_show_them_if_asked(rng):
    _, counts, belief = world(rng, 30, 5)
    row = evaluate(Annotations(counts), belief, "brier", gap=False)
    for format in ("table", "latex", "markdown", "csv", "json"):
        assert f"{row.r_aurec:.3f}" in format_rows([row], format, columns=["r_aurec"]).replace(
            str(row.r_aurec), f"{row.r_aurec:.3f}"
        )


def test_the_losses_are_those_with_an_unbiased_bayes_risk():
    assert UNBIASED_LOSSES == ("squared", "brier", "rps", "crps")
    parts = Components([0.5], [0.25], [0.25])
    assert math.isnan(evaluate_components(parts, parts, loss="brier", gap=False).r_aurec)
