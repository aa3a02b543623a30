"""The mixture of Dirichlets: likelihood by a naive twin, posteriors in closed form, recovery."""

import math

import numpy as np
import pytest

from rue.inference.answer_mixture import FLEXIBLE, SMOOTH, AnswerMixture, fit_answer_mixture


def naive_log_probability(counts, alpha):
    """The probability of the answers one after the other (Polya's urn)."""
    total, seen = 0.0, np.zeros(len(alpha))
    for k, n in enumerate(counts):
        for _ in range(int(n)):
            total += math.log((alpha[k] + seen[k]) / (sum(alpha) + seen.sum()))
            seen[k] += 1
    return total


def test_posterior_shares_are_those_of_the_urn(rng):
    weights = np.array([0.2, 0.8])
    alpha = rng.gamma(1.0, size=(2, 3)) + 0.1
    counts = rng.multinomial(6, [0.5, 0.3, 0.2], 7).astype(float)
    shares = AnswerMixture(weights, alpha).posterior(counts).shares
    for row, share in zip(counts, shares, strict=True):
        found = [math.exp(naive_log_probability(row, each)) for each in alpha]
        each = weights * found
        np.testing.assert_allclose(share, each / each.sum())


def test_draws_have_the_posterior_mean(rng):
    # One component, Dirichlet(1, 1), and 3 of 4 answers: the posterior mean is (3 + 1) / (4 + 2).
    posterior = AnswerMixture(np.ones(1), np.ones((1, 2))).posterior(np.tile([3.0, 1.0], (4000, 1)))
    drawn = posterior.draw(rng)
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    assert drawn[:, 0].mean() == pytest.approx(4 / 6, abs=0.01)


def test_finds_the_moments_of_the_world(rng):
    truth = np.where(
        rng.random((3000, 1)) < 0.6,
        rng.dirichlet([18.0, 1.0, 1.0], 3000),
        rng.dirichlet([1.0, 2.0, 3.0], 3000),
    )
    mixture = fit_answer_mixture(rng.multinomial(10, truth).astype(float), rng)
    whole = mixture.alpha.sum(axis=1)
    means = mixture.alpha / whole[:, None]
    seconds = means * (mixture.alpha + 1) / (whole[:, None] + 1)
    np.testing.assert_allclose(mixture.weights @ means, truth.mean(axis=0), atol=0.015)
    np.testing.assert_allclose(mixture.weights @ seconds, (truth**2).mean(axis=0), atol=0.015)
    assert mixture.weights.sum() == pytest.approx(1)


def test_a_component_for_each_majority_and_concentration(rng):
    counts = rng.multinomial(10, rng.dirichlet(np.ones(3), 200)).astype(float)
    assert fit_answer_mixture(counts, rng, SMOOTH).alpha.shape == (3, 3)
    assert fit_answer_mixture(counts, rng, FLEXIBLE).alpha.shape == (12, 3)
