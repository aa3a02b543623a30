"""Correction by halving: a slow twin, a value by hand, and less bias where p* is known."""

import math

import numpy as np
import pytest

from rue import (
    Annotations,
    Draws,
    Ratings,
    Squared,
    decompose,
    evaluate,
    excess_aurec,
    n_aurec,
    pareto_gap,
    realize,
    spearman,
)
from rue.errors import InputError, ShapeError
from rue.metrics.corrected import CORRECTED, corrected_columns
from rue.metrics.measures import oracle_aurec
from rue.truth.answer_losses import answers


def world(rng, n_points=400, n_classes=3, n_draws=4):
    p = rng.dirichlet(np.full(n_classes, 0.7), n_points)
    draws = np.stack([rng.dirichlet(8 * row + 0.3, n_draws) for row in p])
    return p, Draws(draws)


@pytest.mark.parametrize(("m", "first"), [(2, 1), (4, 2), (6, 2), (7, 3), (10, 4), (12, 6)])
def test_halves_are_a_partition_and_even_if_the_whole_is(rng, m, first):
    p, belief = world(rng, 50)
    said = answers(Annotations(rng.multinomial(m, p)), belief)
    one, other = said.halves(rng)
    assert (one.counts + other.counts == said.counts).all()
    assert set(one.n_answers) == {first}
    ratings = answers(Ratings(rng.random((20, m))), None, Squared(), actions=np.zeros(20))
    assert {tuple(half.n_answers) for half in ratings.halves(rng)} == {
        (first,) * 20,
        (m - first,) * 20,
    }


def test_the_same_splits_by_a_slow_twin(rng):
    p, belief = world(rng, 30)
    truth = Annotations(rng.multinomial(6, p))
    said, hat = answers(truth, belief, "brier"), decompose(belief, "brier")
    found = corrected_columns(said, hat, n_splits=3, seed=5)
    rows = np.lexsort((*said.keys(), hat.aleatoric, hat.epistemic, hat.total))
    truth, belief, said, hat = truth[rows], belief[rows], said[rows], hat[rows]

    def values(counts):
        star = realize(Annotations(counts), belief, "brier")
        return np.array(
            [
                excess_aurec(star.epistemic, hat.epistemic),
                star.epistemic.mean() / 2 - oracle_aurec(star.epistemic),
                spearman(star.aleatoric, star.epistemic),
                pareto_gap(star, hat),
            ]
        )

    splits, fewer = np.random.default_rng(5), 0
    for _ in range(3):
        two, four = said.halves(splits)  # 2 and 4 of the 6 answers
        fewer += (values(two.counts) / 3 + values(four.counts) * 2 / 3) / 3
    excess, span, rank, gap = 2 * values(truth.counts) - fewer
    assert found["excess_aurec_corrected"] == pytest.approx(excess, abs=1e-9)
    assert found["n_aurec_corrected"] == pytest.approx(excess / span, abs=1e-9)
    assert found["spearman_star_corrected"] == pytest.approx(rank, abs=1e-9)
    assert found["pareto_gap_corrected"] == pytest.approx(gap, abs=1e-9)


@pytest.mark.parametrize("m", [5, 6, 10])
def test_a_bias_of_c_over_m_is_removed_whatever_the_halves_are(rng, m):
    # Squared loss, p* = (1/2, 1/2) and the action its mean: the true regret is 0 and the variance
    # 1/4, so the plug-in regret of k answers is the variance of their mean, 1/4k, and the halves
    # have (k/m) / 4k + (1 - k/m) / 4(m - k) = 2/4m on average.
    n = 40_000
    half = np.full((n, 2), 0.5)
    belief = Draws(half[:, None])
    said = answers(Annotations(rng.multinomial(m, half)), belief, "squared")
    whole = said.realized().epistemic.mean()
    parts = [(part.realized().epistemic.mean(), part.n_answers[0]) for part in said.halves(rng)]
    fewer = sum(value * k for value, k in parts) / m
    assert whole == pytest.approx(0.25 / m, rel=0.05)
    assert 2 * whole - fewer == pytest.approx(0.0, abs=0.002)


def test_answers_that_all_agree_need_no_correction():
    # Halves say the same as the whole, so every value is corrected to itself.
    truth = Annotations([[4, 0], [0, 4], [4, 0]])
    belief = Draws([[[0.9, 0.1]], [[0.8, 0.2]], [[0.4, 0.6]]])
    hat = decompose(Draws([[[0.9, 0.1], [0.8, 0.2]]] * 3), "brier")
    star = realize(truth, belief, "brier")
    found = corrected_columns(answers(truth, belief, "brier"), hat)
    assert found["n_aurec_corrected"] == pytest.approx(n_aurec(star.epistemic, hat.epistemic))
    assert math.isnan(found["spearman_star_corrected"])  # aleatoric is 0 everywhere


def test_less_bias_where_p_star_is_known(rng):
    p = rng.dirichlet(np.ones(3), 1500)
    belief = Draws(np.stack([rng.dirichlet(rng.gamma(1.0, 6) * row + 1, 4) for row in p]))
    hat, true = decompose(belief), realize(Annotations.from_probs(p), belief)

    def columns(star):
        return (
            excess_aurec(star.epistemic, hat.epistemic),
            n_aurec(star.epistemic, hat.epistemic),
            spearman(star.aleatoric, star.epistemic),
        )

    plain, better = [], []
    for _ in range(8):
        said = Annotations(rng.multinomial(20, p))
        plain.append(columns(realize(said, belief)))
        found = corrected_columns(answers(said, belief), hat, gap=False, n_splits=4)
        better.append(
            [found[f"{n}_corrected"] for n in ("excess_aurec", "n_aurec", "spearman_star")]
        )
    bias = np.abs(np.mean(plain, axis=0) - columns(true))
    left = np.abs(np.mean(better, axis=0) - columns(true))
    assert (left[:2] < bias[:2] / 5).all()
    assert left[2] < 0.7 * bias[2]  # a rank correlation bends more in 1/m


def test_votes_that_can_tie_are_compared_with_votes_that_can_tie(rng):
    # Ten votes of two classes can tie, five cannot: with 0/1 loss odd halves would differ from the
    # whole by more than their size, and the correction would add to the bias of Spearman star.
    p = rng.dirichlet(np.ones(2), 2000)
    belief = Draws(np.stack([rng.dirichlet(6 * row + 0.3, 4) for row in p]))
    hat = decompose(belief, "zero_one")
    true = realize(Annotations.from_probs(p), belief, "zero_one")
    truth = spearman(true.aleatoric, true.epistemic)
    plain, better = [], []
    for _ in range(6):
        said = answers(Annotations(rng.multinomial(10, p)), belief, "zero_one")
        star = said.realized()
        plain.append(spearman(star.aleatoric, star.epistemic) - truth)
        found = corrected_columns(said, hat, gap=False, n_splits=4)
        better.append(found["spearman_star_corrected"] - truth)
    assert abs(np.mean(better)) < abs(np.mean(plain)) / 2


@pytest.mark.parametrize("ratings", [False, True])
def test_the_order_of_the_points_does_not_matter(rng, ratings):
    p, belief = world(rng, 40)
    hat = decompose(belief, "brier")
    if ratings:
        lists = [rng.integers(0, 4, rng.integers(2, 7)).astype(float) for _ in range(40)]
        said = answers(Ratings(lists), None, Squared(), actions=np.zeros(40))
    else:
        said = answers(Annotations(rng.multinomial(rng.integers(2, 12, 40), p)), belief, "brier")
    found = corrected_columns(said, hat, n_splits=3)
    for order in (np.arange(40)[::-1], rng.permutation(40)):
        again = corrected_columns(said[order], hat[order], n_splits=3)
        assert np.array_equal([*again.values()], [*found.values()], equal_nan=True)


def test_what_is_empty_or_unreliable_has_a_note(rng):
    # Certain beliefs near p*: nearly all the measured span is noise of the answers.
    p = rng.dirichlet(np.ones(3), 60)
    belief = Draws(np.stack([rng.dirichlet(200 * row + 0.3, 4) for row in p]))
    small, negative = 0, 0
    for _ in range(12):
        row = evaluate(
            Annotations(rng.multinomial(6, p)), belief, "brier", corrected=True, gap=False
        )
        said = [note for note in row.notes if note.startswith("n-AuReC corr.")]
        (note,) = said  # its span is always small here
        if math.isnan(row.n_aurec_corrected):
            negative += "is empty" in note and "not above 0" in note
        else:
            small += "is unreliable" in note and " % of the plain one" in note
    assert small + negative == 12
    assert small
    assert negative
    # A good pilot has no such note, and two answers leave no half with a Bayes risk.
    fine, far = world(rng, 300)[0], Draws(rng.dirichlet(np.ones(3), (300, 4)))
    row = evaluate(Annotations(rng.multinomial(40, fine)), far, "brier", corrected=True, gap=False)
    assert not [note for note in row.notes if "corr." in note]
    two = evaluate(Annotations(rng.multinomial(2, fine)), far, "brier", corrected=True, gap=False)
    assert not math.isnan(two.spearman_star)
    assert math.isnan(two.spearman_star_corrected)
    assert any(
        note.startswith("r_s star corr. is empty: with half of the answers") for note in two.notes
    )


def test_an_exact_truth_has_nothing_to_correct(rng):
    p, belief = world(rng, 20)
    row = evaluate(Annotations.from_probs(p), belief, corrected=True, gap=False)
    assert math.isnan(row.excess_aurec_corrected)
    assert any(
        n.startswith("p* is known exactly, so there is nothing to correct") for n in row.notes
    )


def test_one_answer_cannot_be_halved(rng):
    p, belief = world(rng, 20)
    counts = rng.multinomial(5, p)
    counts[3] = [1, 0, 0]
    found = corrected_columns(answers(Annotations(counts), belief), decompose(belief))
    assert set(found) == {f"{name}_corrected" for name in CORRECTED}
    assert all(math.isnan(value) for value in found.values())


def test_broken_calls(rng):
    p, belief = world(rng, 20)
    said, hat = answers(Annotations(rng.multinomial(5, p)), belief), decompose(belief)
    with pytest.raises(ShapeError, match="same points, got 20 and 10"):
        corrected_columns(said, hat[:10])
    with pytest.raises(InputError, match="n_splits must be a whole number"):
        corrected_columns(said, hat, n_splits=0)


@pytest.mark.parametrize("loss", ["log", "brier", "squared"])
@pytest.mark.parametrize("m", [5, 10, 20])
def test_both_rankings_are_corrected_by_default_and_nearer_to_the_truth(loss, m, rng):
    p = rng.dirichlet(np.ones(3), 1_000)
    spread = rng.uniform(0.3, 1.0, (1_000, 1, 1))
    belief = Draws((1 - spread) * p[:, None] + spread * rng.dirichlet(np.ones(3), (1_000, 3)))
    exact = evaluate(Annotations.from_probs(p), belief, loss, gap=False)
    rows = [evaluate(Annotations(rng.multinomial(m, p)), belief, loss, gap=False) for _ in range(6)]
    assert not any("unreliable" in note for row in rows for note in row.notes)
    rough = [
        note for row in rows for note in row.notes if note.startswith("n-AuReC total corr. is")
    ]
    assert len(rough) == (6 if m < 8 else 0)  # with 5 answers it may be worse, and says so
    for key in ("n_aurec", "n_aurec_total") if m >= 8 else ("n_aurec",):
        bias, rest = (
            abs(np.mean([getattr(row, name) for row in rows]) - getattr(exact, key))
            for name in (key, f"{key}_corrected")
        )
        assert rest < max(bias, 0.025), key
    for row in rows:
        assert math.isnan(row.excess_aurec_corrected)
        assert math.isnan(row.pareto_gap_corrected)


def test_fewer_than_four_answers_are_corrected_on_request_only(rng):
    p, belief = world(rng, 60)
    truth = Annotations(rng.multinomial(3, p))
    assert math.isnan(evaluate(truth, belief, "brier", gap=False).n_aurec_corrected)
    row = evaluate(truth, belief, "brier", gap=False, corrected=True)
    assert math.isfinite(row.excess_aurec_corrected)


def test_ratings_are_corrected_by_default_too(rng):
    from rue import Gaussians

    truth = Ratings(rng.normal(size=(80, 6)))
    belief = Gaussians(rng.normal(size=(80, 3)), np.ones((80, 3)))
    row = evaluate(truth, belief, "squared", gap=False)
    again = evaluate(truth, belief, "squared", gap=False, corrected=True)
    assert row.n_aurec_corrected == again.n_aurec_corrected
    assert row.n_aurec_total_corrected == again.n_aurec_total_corrected


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 74, 368])  # the last two only by their errors
def test_a_note_says_that_the_span_is_within_two_errors(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 3)
    belief = Draws(np.stack([rng.dirichlet(10 * row + 0.3, 4) for row in p]))
    truth = Annotations(rng.multinomial(4, p))
    said, hat = answers(truth, belief, "brier"), decompose(belief, "brier")
    rows = np.lexsort((*said.keys(), hat.aleatoric, hat.epistemic, hat.total))

    def span(one):
        star = one.realized()
        return star.epistemic.mean() / 2 - oracle_aurec(star.epistemic)

    said, splits = said[rows], np.random.default_rng(0)
    halves = [said.halves(splits) for _ in range(16)]
    fewer = [(span(one) + span(other)) / 2 for one, other in halves]
    plain, mean = span(said), np.mean(fewer)
    corrected, error = 2 * plain - mean, np.std(fewer, ddof=1) / 4
    row = evaluate(truth, belief, "brier", gap=False)
    noted = any("corr. is empty" in note or "corr. is unreliable" in note for note in row.notes)
    assert noted == (corrected < plain / 2 or corrected < 2 * error)


def test_a_span_of_0_leaves_the_corrected_ratio_empty_and_says_so():
    # Everybody says what the model says: all regrets are 0, in the halves, too.
    row = evaluate(
        Annotations([[6, 0], [0, 6]]),
        Draws([[[1, 0], [0.8, 0.2]], [[0, 1], [0.3, 0.7]]]),
        "zero_one",
    )
    assert math.isnan(row.n_aurec_corrected)
    assert any("corr. is empty" in note and "is 0 and not above 0" in note for note in row.notes)


@pytest.mark.parametrize(("m", "few"), [(3, True), (4, False)])
def test_a_note_explains_that_a_half_may_have_one_answer(m, few):
    # All points have the same answers, so there is no rank correlation in any half of them.
    truth = Annotations([[m - 1, 1]] * 5 + [[m, 0]])
    belief = Draws(np.random.default_rng(0).dirichlet(np.ones(2), (6, 3)))
    row = evaluate(truth, belief, "zero_one", corrected=True, gap=False)
    (note,) = [note for note in row.notes if note.startswith("r_s star corr. is empty")]
    assert ("a half of 2 or 3 answers may have one" in note) == few
