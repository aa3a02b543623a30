"""Correction by halving: a slow twin, a value by hand, and less bias where p* is known."""

import math

import numpy as np
import pytest

from rue import Annotations, Draws, decompose, excess_aurec, n_aurec, realize, spearman
from rue.errors import InputError, ShapeError
from rue.metrics.corrected import CORRECTED, corrected_columns
from rue.truth.answer_losses import answers


def world(rng, n_points=400, n_classes=3, n_draws=4):
    p = rng.dirichlet(np.full(n_classes, 0.7), n_points)
    draws = np.stack([rng.dirichlet(8 * row + 0.3, n_draws) for row in p])
    return p, Draws(draws)


def test_halves_are_a_partition(rng):
    p, belief = world(rng, 50)
    said = answers(Annotations(rng.multinomial(7, p)), belief)
    first, second = said.halves(rng)
    assert (first.counts + second.counts == said.counts).all()
    assert set(first.counts.sum(axis=1)) == {3}
    assert set(second.counts.sum(axis=1)) == {4}


def test_the_same_splits_by_a_slow_twin(rng):
    p, belief = world(rng, 30)
    truth = Annotations(rng.multinomial(6, p))
    said, hat = answers(truth, belief, "brier"), decompose(belief, "brier")
    found = corrected_columns(said, hat, n_splits=3, seed=5)
    splits, halves = np.random.default_rng(5), []
    for _ in range(3):
        for half in said.halves(splits):
            star = realize(Annotations(half.counts), belief, "brier")
            halves.append(
                [
                    n_aurec(star.epistemic, hat.epistemic),
                    spearman(star.aleatoric, star.epistemic),
                ]
            )
    star = realize(truth, belief, "brier")
    for name, value, half in zip(
        ("n_aurec", "spearman_star"),
        (n_aurec(star.epistemic, hat.epistemic), spearman(star.aleatoric, star.epistemic)),
        np.mean(halves, axis=0),
        strict=True,
    ):
        assert found[f"{name}_corrected"] == pytest.approx(2 * value - half, abs=1e-9)


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
    assert left[0] < bias[0] / 5
    assert (left < 0.7 * bias).all()  # a ratio and a rank correlation bend more in 1/m


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
