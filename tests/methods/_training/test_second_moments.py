"""Dirichlets from their mean and trace; what members say together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rue.beliefs import Dirichlet
from rue.methods.dirichlet_multinomial import (
    clipped,
    dirichlet_joint,
    dirichlet_traces,
    match,
)

ALPHAS = arrays(float, (3, 4), elements=st.floats(0.05, 50))


def moments(alpha):
    return alpha / alpha.sum(axis=-1, keepdims=True), dirichlet_traces(alpha)


def test_by_hand():
    """Dirichlet(1, 3): E[p p^T] = [[2, 3], [3, 12]] / 20, its trace 14 / 20."""
    alpha = np.array([[1.0, 3.0]])
    np.testing.assert_allclose(dirichlet_joint(alpha)[0], np.array([[2, 3], [3, 12]]) / 20)
    np.testing.assert_allclose(dirichlet_traces(alpha), [0.7])
    # tr Cov = 0.7 - (0.25^2 + 0.75^2) = 0.075; (1 - 0.625) / 0.075 - 1 = 4 = 1 + 3.
    np.testing.assert_allclose(match(np.array([[0.25, 0.75]]), np.array([0.7])), [[1, 3]])


def test_the_joint_is_the_mean_of_p_times_p(rng):
    alpha = np.array([0.5, 2.0, 1.0])
    draws = rng.dirichlet(alpha, size=200_000)
    sampled = draws.T @ draws / len(draws)
    np.testing.assert_allclose(dirichlet_joint(alpha), sampled, atol=0.003)


@given(ALPHAS)
def test_a_dirichlet_is_matched_by_itself(alpha):
    np.testing.assert_allclose(match(*moments(alpha)), alpha, rtol=1e-6)


@given(ALPHAS, ALPHAS)
def test_members_that_disagree_are_weaker_together(a, b):
    """The mixture's covariance is the mean of theirs plus that of their means."""
    joint = (dirichlet_joint(a) + dirichlet_joint(b)) / 2
    mean = joint.sum(axis=2)
    means = np.stack([moments(alpha)[0] for alpha in (a, b)])
    np.testing.assert_allclose(mean, means.mean(axis=0), atol=1e-12)
    within = (np.einsum("nkk->n", joint)) - (means**2).sum(axis=2).mean(axis=0)
    between = means.var(axis=0).sum(axis=1)
    together = match(mean, np.einsum("nkk->n", joint))
    covariance = (1 - (mean**2).sum(axis=1)) / (together.sum(axis=1) + 1)
    np.testing.assert_allclose(covariance, within + between, rtol=1e-6)


def test_what_no_dirichlet_has_is_clipped_and_told():
    mean = np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    alpha = match(mean, np.array([0.4, 0.5, 1.0, 0.75]))
    np.testing.assert_allclose(alpha.sum(axis=1), [1e6, 1e6, 1e-3, 1.0])
    assert clipped(Dirichlet(alpha)).tolist() == [True, True, True, False]


def test_variance_of_the_mean_rating(rng):
    alpha, values = np.array([[0.5, 2.0, 1.0]]), np.array([-1.0, 0.0, 4.0])
    said = rng.dirichlet(alpha[0], size=200_000) @ values
    joint = dirichlet_joint(alpha)[0]
    variance = values @ joint @ values - (joint.sum(axis=1) @ values) ** 2
    assert variance == pytest.approx(said.var(), rel=0.02)
