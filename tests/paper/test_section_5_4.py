"""Section 5.4: rank correlation is not utility.

Two estimates that rank all points alike (r_s = 1) can still be all that the best selectors need,
and two uncorrelated ones can be worth nothing.
"""

import numpy as np
import pytest

from rue import Components, pareto_gap, spearman

N = 400


def components(aleatoric, epistemic):
    return Components(aleatoric + epistemic, aleatoric, epistemic)


@pytest.fixture
def uncorrelated(rng):
    noise = components(rng.random(N), rng.random(N))
    assert abs(spearman(noise.aleatoric, noise.epistemic)) < 0.15
    return noise


def test_entangled_estimates_of_an_entangled_truth_are_perfect(uncorrelated, rng):
    # The realised components rise together, so a high correlation is right, not a failure.
    t = rng.random(N)
    star = components(t, t**3)
    hat = components(np.exp(t), np.log(t))
    assert spearman(star.aleatoric, star.epistemic) == pytest.approx(1)
    assert spearman(hat.aleatoric, hat.epistemic) == pytest.approx(1)
    assert pareto_gap(star, hat) == pytest.approx(0, abs=1e-12)
    assert pareto_gap(star, uncorrelated) > 0.01


def test_estimates_of_the_same_ranking_hold_more_than_their_ranking(uncorrelated, rng):
    # Errors are high for t near 0 and near 1. t and t^2 rank all points alike, so neither finds
    # them by itself; but t^2 - t = (t - 1/2)^2 - 1/4 does.
    t = rng.random(N)
    error = (t - 0.5) ** 2
    star = components(error, 2 * error)
    hat = components(t, t**2)
    assert spearman(hat.aleatoric, hat.epistemic) == pytest.approx(1)
    assert pareto_gap(star, hat) == pytest.approx(0, abs=1e-12)
    alone = pareto_gap(star, components(t, np.zeros(N)))
    assert alone > 0.01
    assert pareto_gap(star, uncorrelated) > 0.01


def test_a_smaller_gap_at_correlation_1_than_at_correlation_0(uncorrelated, rng):
    # Nothing is perfect here: both components of the truth matter, and the estimates, which rank
    # all points alike, follow the total only, with noise.
    star = components(rng.random(N), rng.gamma(0.5, size=N))
    t = star.total + 0.3 * rng.random(N)
    hat = components(t, np.sqrt(t))
    assert spearman(hat.aleatoric, hat.epistemic) == pytest.approx(1)
    assert 0 < pareto_gap(star, hat) < 0.5 * pareto_gap(star, uncorrelated)
