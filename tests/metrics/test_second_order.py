"""Pairs of answers: by hand, against a naive twin, and by their laws."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rue import Annotations, Dirichlet, Draws, Gaussians, Ratings, Run, Scored, compare, evaluate
from rue.errors import AlignmentError, InputError
from rue.inference.intervals import intervals
from rue.metrics import evaluate_run, format_rows
from rue.metrics.second_order import pair_scores

NAMES = ("pair_log_loss", "pair_gain", "agreement_hat", "agreement_star")


def naive(truth, moments, means):
    """Each point on its own, with whole K x K matrices."""
    rows = []
    for c, p, j, m in zip(truth.counts, truth.probs, moments, means, strict=True):
        n = c.sum()
        o = (np.outer(c, c) - np.diag(c)) / (n * (n - 1))
        loss = -(o * np.log(j)).sum()
        rows.append((loss, -2 * (p * np.log(m)).sum() - loss, np.trace(j), np.trace(o)))
    return np.array(rows).T


def columns(scores):
    return np.array([getattr(scores, name) for name in NAMES])


@pytest.fixture
def truth(rng):
    m = rng.integers(2, 9, 40)
    return Annotations(np.array([rng.multinomial(k, rng.dirichlet(np.ones(4))) for k in m]))


def test_by_hand():
    # Answers a, a, b: O = ((4 - 2, 2), (2, 1 - 1)) / 6. Draws (1/2, 1/2) and (3/4, 1/4):
    # J_aa = (1/4 + 9/16) / 2 = 13/32, J_ab = (1/4 + 3/16) / 2 = 7/32, J_bb = 5/32.
    scores = pair_scores(Annotations([[2, 1]]), Draws([[[0.5, 0.5], [0.75, 0.25]]]))
    loss = -(np.log(13 / 32) / 3 + 2 * np.log(7 / 32) / 3)
    risk = -(2 * np.log(5 / 8) + np.log(3 / 8)) / 3
    assert columns(scores)[:, 0] == pytest.approx([loss, 2 * risk - loss, 18 / 32, 1 / 3])


def test_the_naive_twin_of_draws(truth, rng):
    probs = rng.dirichlet(np.ones(4), (40, 5))
    moments = np.einsum("nsa,nsb->nab", probs, probs) / 5
    expected = naive(truth, moments, probs.mean(axis=1))
    assert columns(pair_scores(truth, Draws(probs))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(400, 4), (3, 60)])
def test_many_points_and_many_pairs(n, k, rng):
    probs = rng.integers(0, 3, (n, 5, k)) + np.eye(k)[0]  # zeros and ties, and sums above 1
    truth = Annotations(rng.integers(0, 3, (n, k)) + 2 * np.eye(k, dtype=int)[0])
    rows = np.maximum(probs / probs.sum(axis=2, keepdims=True), 1e-12)
    moments = np.einsum("nsa,nsb->nab", rows, rows) / 5
    expected = naive(truth, moments, rows.mean(axis=1))
    assert columns(pair_scores(truth, Draws(rows))) == pytest.approx(expected, abs=1e-10)


def test_the_naive_twin_of_a_dirichlet(truth, rng):
    alpha = rng.gamma(1.0, 2.0, (40, 4)) + 0.01
    whole = alpha.sum(axis=1)[:, None, None]
    diagonal = alpha[:, :, None] * np.eye(4)
    moments = (alpha[:, :, None] * alpha[:, None] + diagonal) / (whole * (whole + 1))
    expected = naive(truth, moments, alpha / whole[:, 0])
    assert columns(pair_scores(truth, Dirichlet(alpha))) == pytest.approx(expected, abs=1e-12)


def test_one_draw_adds_nothing_over_independent_answers(truth, rng):
    probs = rng.dirichlet(np.ones(4), 40)
    probs[:10] = np.eye(4)[rng.integers(0, 4, 10)]  # zeros, too
    one, scored = Draws(probs[:, None]), Scored(probs, rng.normal(size=40))
    assert columns(pair_scores(truth, one)) == pytest.approx(columns(pair_scores(truth, scored)))
    loss = pair_scores(truth, one).pair_log_loss
    assert np.abs(pair_scores(truth, one).pair_gain).max() < 1e-13 * loss.max() + 1e-12


def test_two_answers_are_enough_and_one_is_not():
    scores = pair_scores(Annotations([[1, 1], [1, 0]]), Draws([[[0.5, 0.5]]] * 2))
    assert scores.pair_log_loss[0] == pytest.approx(2 * np.log(2))
    assert scores.agreement_star[0] == 0
    assert np.isnan(scores.pair_log_loss[1])
    assert np.isnan(scores.pair_gain[1])
    assert np.isnan(scores.agreement_star[1])
    assert scores.agreement_hat.tolist() == [0.5, 0.5]


def test_a_known_distribution_is_many_answers(rng):
    p, probs = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(3), (6, 4))
    exact = pair_scores(Annotations.from_probs(p), Draws(probs))
    many = pair_scores(Annotations(np.rint(p * 1e9)), Draws(probs))
    assert columns(exact) == pytest.approx(columns(many), abs=1e-6)


def test_the_true_law_has_the_least_loss_and_the_largest_gain_of_its_mean(rng):
    n, alpha = 20_000, np.array([1.0, 0.5, 0.5])
    counts = rng.multinomial(2, rng.dirichlet(alpha, n))
    truth = Annotations(counts)

    def scores(strength):
        return pair_scores(truth, Dirichlet(np.tile(alpha * strength, (n, 1))))

    right = scores(1.0)
    for strength in (0.3, 3.0, 1e9):
        wrong = scores(strength)
        difference = wrong.pair_log_loss - right.pair_log_loss
        assert difference.mean() > 3 * difference.std() / np.sqrt(n)
        assert wrong.pair_gain.mean() < right.pair_gain.mean()


def test_a_wrong_mean_may_have_a_large_gain():
    truth = Annotations([[2, 0]])
    right = pair_scores(truth, Draws([[[0.9, 0.1]]]))
    wrong = pair_scores(truth, Draws([[[0.9, 0.1], [0.01, 0.99]]]))
    assert wrong.pair_gain[0] > right.pair_gain[0] + 0.1
    assert wrong.pair_log_loss[0] > right.pair_log_loss[0]


def test_sides_must_match():
    with pytest.raises(AlignmentError, match="3 classes"):
        pair_scores(Annotations([[1, 1]]), Dirichlet([[1.0, 1.0, 1.0]]))


def test_numbers_have_no_classes_to_agree_on():
    with pytest.raises(InputError, match="classes"):
        pair_scores(Ratings([[1.0, 2.0]]), Gaussians([[0.0]], [[1.0]]))


@pytest.mark.parametrize("loss", ["log", "zero_one", "squared"])
def test_a_row_has_the_means_under_every_loss(truth, rng, loss):
    belief = Draws(rng.dirichlet(np.ones(4), (40, 3)))
    row = evaluate(truth, belief, loss, gap=False)
    expected = columns(pair_scores(truth, belief)).mean(axis=1)
    assert [getattr(row, name) for name in NAMES] == pytest.approx(expected)
    assert [row.to_dict()[name] for name in NAMES] == pytest.approx(expected)
    for format in ("csv", "latex", "markdown"):
        assert f"{expected[0]:.4f}"[:5] in format_rows([row], format, columns=NAMES)


def test_rows_and_classes_are_matched_by_name(truth, rng):
    probs = rng.dirichlet(np.ones(4), (40, 3))
    ids, names = np.array([f"p{i}" for i in range(40)]), np.array(list("abcd"))
    named = Annotations(truth.counts, ids=ids, classes=list(names))
    rows, order = rng.permutation(40), rng.permutation(4)
    moved = Draws(probs[rows][:, :, order], ids=ids[rows], classes=list(names[order]))
    plain, scores = pair_scores(truth, Draws(probs)), pair_scores(named, moved)
    assert columns(scores) == pytest.approx(columns(plain)[:, rows])
    one, other = evaluate(truth, Draws(probs), gap=False), evaluate(named, moved, gap=False)
    assert [getattr(one, n) for n in NAMES] == pytest.approx([getattr(other, n) for n in NAMES])


def test_the_order_of_annotators_does_not_matter(rng):
    answers = [rng.integers(0, 3, m) for m in (2, 5, 9)]
    belief = Draws(rng.dirichlet(np.ones(3), (3, 4)))
    one, other = (
        pair_scores(Annotations.from_ratings(a, values=range(3)), belief)
        for a in (answers, [rng.permutation(row) for row in answers])
    )
    assert columns(one).tolist() == columns(other).tolist()


def test_a_row_says_why_it_has_no_pairs(rng):
    belief = Draws(rng.dirichlet(np.ones(2), (3, 2)))
    row = evaluate(Annotations([[1, 0], [3, 1], [0, 1]]), belief, gap=False)
    assert [math.isnan(getattr(row, name)) for name in NAMES] == [True, True, False, True]
    assert row.to_dict()["pair_log_loss"] is None
    notes = [note for note in row.notes if "pairs of answers are needed" in note]
    assert len(notes) == 1
    assert "pair log loss, pair gain, agreement star" in notes[0]
    assert "empty: 2 of 3 points have one answer" in notes[0]
    two = evaluate(Annotations([[1, 1], [2, 0], [0, 2]]), belief, gap=False)
    assert math.isfinite(two.pair_log_loss)
    assert not any("empty" in note for note in two.notes)


def test_intervals_and_paired_tests_of_the_loss(rng):
    p = rng.dirichlet(np.ones(3) * 0.7, 300)
    truth = Annotations(rng.multinomial(3, p))
    right = Dirichlet(np.full((300, 3), 0.7))
    wrong = Dirichlet(np.full((300, 3), 70.0))
    runs = [Run.from_belief(truth, b, method=m) for m, b in (("right", right), ("wrong", wrong))]
    ends = intervals(runs[0], gap=False, n_replicates=200)
    assert ends.method["pair_log_loss"] == "bca"
    for name in ("pair_log_loss", "pair_gain", "agreement_star"):
        assert ends.low[name] < ends.estimate[name] < ends.high[name]
    ranking = compare(runs, criteria=["pair_log_loss"], n_replicates=200)["pair_log_loss"]
    assert list(ranking.best) == ["right"]
    assert ranking.estimate["right"] < ranking.estimate["wrong"]


def test_a_run_without_its_belief_has_no_pairs(truth, rng):
    run = Run.from_belief(truth, Draws(rng.dirichlet(np.ones(4), (40, 3))))
    row = evaluate_run(replace(run, belief=None), gap=False)
    assert all(math.isnan(getattr(row, name)) for name in NAMES)
    assert evaluate_run(run[:7], gap=False).agreement_star == pytest.approx(
        pair_scores(truth[:7], run.belief[:7]).agreement_star.mean()
    )
