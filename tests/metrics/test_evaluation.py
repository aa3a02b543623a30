"""evaluate: one row of the paper's table, by hand and by its laws."""

import json

import numpy as np
import pytest

import rue
from rue import Annotations, Components, Dirichlet, Draws, Scored, decompose, evaluate
from rue.errors import AlignmentError, ShapeError
from rue.losses import LOSSES
from rue.metrics.evaluation import evaluate_components


@pytest.fixture
def people(rng):
    return Annotations(rng.multinomial(20, rng.dirichlet(np.ones(4), 60)))


@pytest.fixture
def draws(rng):
    return Draws(rng.dirichlet(np.ones(4), (60, 5)))


def test_by_hand():
    # Regrets under 0/1 loss: point 0 is right (0), point 1 wrong (0.8 - 0.2 = 0.6), point 2
    # wrong (0.6 - 0.4 = 0.2); epistemic 0, 0.5 and 0: point 1 is rejected first.
    people = Annotations([[10, 0], [8, 2], [4, 6]])
    belief = Draws([[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[1, 0], [1, 0]]])
    row = evaluate(people, belief, "zero_one", actions=[0, 1, 0], gap=False)
    # Curve: (0, 0), (2/3, 0.2/3), (1, 0.8/3); area 2/3 * 0.1/3 + 1/3 * 0.5/3 = 0.7/9
    assert row.aurec == pytest.approx(0.7 / 9)
    # Oracle: heights 0, 0.2/3, 0.8/3 at thirds: (0.1 + 0.5)/9 = 0.6/9; random 0.4/3
    assert row.excess_aurec == pytest.approx(0.1 / 9)
    assert row.n_aurec == pytest.approx((0.1 / 9) / (0.4 / 3 - 0.6 / 9))
    # Totals 0, 0.8, 0.6: (0, 0), (2/3, 0.2), (1, 1.4/3): 2/3 * 0.1 + 1/3 * 1/3
    assert row.aurc == pytest.approx(2 / 3 * 0.1 + 1 / 9)
    assert row.risk == pytest.approx(1.4 / 3)
    assert row.regret == pytest.approx(0.8 / 3)
    assert np.isnan(row.spearman_hat)  # every draw is sure: aleatoric is constant
    assert np.isnan(row.pareto_gap)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_row_is_made_of_the_parts(people, draws, loss):
    row = evaluate(people, draws, loss)
    star, hat = rue.realize(people, draws, loss), rue.decompose(draws, loss)
    assert row.aurec == rue.aurec(star.epistemic, hat.epistemic)
    assert row.aurc == rue.aurc(star.total, hat.epistemic)
    assert row.aurc_total == rue.aurc(star.total, hat.total)
    assert row.pareto_gap == rue.pareto_gap(star, hat)
    assert row.spearman_hat == rue.spearman(hat.aleatoric, hat.epistemic)
    assert row.spearman_star == rue.spearman(star.aleatoric, star.epistemic)
    assert (row.loss, row.n_points) == (loss, 60)


@pytest.mark.parametrize("loss", LOSSES)
def test_row_order_does_not_matter(people, draws, loss, rng):
    order = rng.permutation(60)
    moved = evaluate(Annotations(people.counts[order]), Draws(draws.probs[order]), loss).to_dict()
    for key, value in evaluate(people, draws, loss).to_dict().items():
        if isinstance(value, float):
            assert moved[key] == pytest.approx(value, abs=1e-12), key


def test_a_perfect_model_is_told_in_words(people):
    row = evaluate(people, Draws(people.probs[:, None]), "log")
    assert row.regret == row.aurec == 0
    assert np.isnan(row.n_aurec)
    assert any("n-AuReC is undefined" in note for note in row.notes)
    assert row.to_dict()["n_aurec"] is None
    assert "all regrets are 0" in str(row)


def test_one_draw_ranks_nothing(people, draws):
    row = evaluate(people, Draws(draws.probs[:, :1]), "zero_one")
    assert row.n_aurec == 1
    assert any("ranking is random" in note for note in row.notes)


def test_an_outside_score_has_no_calibration(people, draws):
    scored = Scored(draws.mean(), np.arange(60.0))
    assert np.isnan(evaluate(people, scored, gap=False).regret_calibration)
    assert evaluate(people, draws, gap=False).regret_calibration > 0


@pytest.mark.parametrize("loss", ["log", "brier", "zero_one", "squared", "absolute", "rps"])
def test_an_outside_score_is_no_part_of_the_total(people, draws, rng, loss):
    """Worked by hand: the total of a distribution is its Bayes risk, whatever the score."""
    low, high = (
        evaluate(people, Scored(draws.mean(), s * rng.normal(size=60)), loss, gap=False)
        for s in (1, 1e6)
    )
    hat = decompose(Scored(draws.mean(), np.arange(60.0)), loss)
    assert hat.total.tolist() == decompose(Draws(draws.mean()[:, None]), loss).total.tolist()
    assert low.aurc_total == high.aurc_total
    assert low.aurec_total == low.aurec_aleatoric == high.aurec_total
    assert low.n_aurec_total == low.n_aurec_aleatoric


def test_floored_points_are_reported():
    row = evaluate(Annotations([[1, 1], [1, 0]]), Draws([[[1, 0]], [[1, 0]]]), "log", gap=False)
    assert row.n_floored == 1
    assert any("1 of 2 points" in note for note in row.notes)


def test_json_and_text(people):
    row = evaluate(people, Dirichlet(people.counts + 0.5), "brier", method="evidential")
    values = json.loads(json.dumps(row.to_dict(), allow_nan=False))
    assert values["method"] == "evidential"
    text = str(row)
    assert text.startswith("evidential · brier loss · 60 points")
    assert f"{row.aurec:.4f}" in text or f"{row.aurec:.2e}" in text


def test_sides_must_match(people, draws):
    with pytest.raises(AlignmentError, match="59 points but the truth has 60"):
        evaluate(people, Draws(draws.probs[1:]), "log")
    with pytest.raises(ShapeError, match=r"actions must have 59 points, got shape \(60,\)"):
        evaluate(people, Draws(draws.probs[1:]), "zero_one", actions=np.zeros(60, int))
    one, two = Components([1], [1], [0]), Components([1, 1], [1, 1], [0, 0])
    with pytest.raises(ShapeError, match="same points"):
        evaluate_components(one, two)


def test_type_checkers_know_the_columns_of_the_registry():
    from rue.metrics.columns import EVALUATED
    from rue.metrics.evaluation import _Columns

    assert tuple(_Columns.__annotations__) == EVALUATED
