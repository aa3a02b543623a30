"""Which estimated component follows which realised one: rank correlations, against scipy."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from rue import Annotations, Components, Draws, evaluate, evaluate_components


def test_they_are_the_correlations_of_scipy_with_tie_ranks(rng):
    star, hat = (Components(*rng.integers(0, 6, (3, 200)) / 4) for _ in range(2))
    row = evaluate_components(star, hat, gap=False)
    epistemic = spearmanr(hat.epistemic, star.epistemic).statistic
    aleatoric = spearmanr(hat.aleatoric, star.aleatoric).statistic
    assert row.spearman_epistemic == pytest.approx(epistemic, abs=1e-12)
    assert row.spearman_aleatoric == pytest.approx(aleatoric, abs=1e-12)
    assert abs(epistemic - aleatoric) > 1e-6


def test_a_perfect_and_a_reversed_ranking():
    star = Components([1.0, 3.0, 5.0], [1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    hat = Components([3.0, 2.5, 2.0], [3.0, 2.0, 1.0], [0.0, 0.5, 1.0])
    row = evaluate_components(star, hat, gap=False)
    assert (row.spearman_epistemic, row.spearman_aleatoric) == pytest.approx((1.0, -1.0))


def test_they_are_null_where_one_side_is_constant(rng):
    truth = Annotations(rng.multinomial(5, [0.5, 0.3, 0.2], 30))
    row = evaluate(truth, Draws(rng.dirichlet(np.ones(3), (30, 1))), "brier", gap=False)
    assert math.isnan(row.spearman_epistemic)  # one draw has no epistemic part
    assert row.to_dict()["spearman_epistemic"] is None
    assert math.isfinite(row.spearman_aleatoric)
