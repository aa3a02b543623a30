"""The Gauss-Newton matrix, the prior's precision, and a posterior known by long sampling."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax

from rue.errors import InputError
from rue.methods import laplace
from rue.methods.laplace import Posterior, fit_posterior
from rue.methods.training import cross_entropy


@pytest.fixture
def layer(rng):
    return rng.normal(size=(40, 2)), rng.normal(size=(3, 3))


def dense(posterior):
    """The Hessian, from its eigenvalues and vectors."""
    basis = posterior.bases[0] if len(posterior.bases) == 1 else np.kron(*posterior.bases)
    return (basis * posterior.curvature.ravel()) @ basis.T


def test_the_hessian_is_that_of_the_log_loss(layer):
    """In the last layer's weights Gauss-Newton is the Hessian itself, whatever the labels."""
    z, mode = layer
    phi = torch.tensor(np.column_stack([z, np.ones(40)]))
    targets = torch.tensor(np.random.default_rng(0).dirichlet(np.ones(3), 40))

    def loss(w):
        return cross_entropy(phi @ w.reshape(3, 3).T, targets).sum()

    exact = torch.autograd.functional.hessian(loss, torch.tensor(mode.ravel()))
    np.testing.assert_allclose(dense(fit_posterior(z, mode)), exact, atol=1e-10)


def test_kronecker_is_exact_when_all_points_are_alike(layer):
    z, mode = layer
    z = np.repeat(z[:1], 30, axis=0)
    full, kron = (fit_posterior(z, mode, hessian=h) for h in ("full", "kronecker"))
    np.testing.assert_allclose(dense(kron), dense(full), atol=1e-10)
    assert kron.precision == pytest.approx(full.precision, rel=1e-4)


def test_full_below_3000_parameters_else_kronecker(rng, monkeypatch):
    assert laplace._FULL_BELOW == 3000
    monkeypatch.setattr(laplace, "_FULL_BELOW", 300)
    assert len(fit_posterior(rng.normal(size=(9, 9)), rng.normal(size=(29, 10))).bases) == 1
    assert len(fit_posterior(rng.normal(size=(9, 9)), rng.normal(size=(30, 10))).bases) == 2


def test_precision_maximises_the_marginal_likelihood(layer):
    """At the optimum delta |w|^2 = sum h / (h + delta), MacKay's fixed point."""
    posterior = fit_posterior(*layer)
    h, delta = posterior.curvature, posterior.precision
    assert delta * (posterior.mode**2).sum() == pytest.approx((h / (h + delta)).sum(), rel=1e-3)


@pytest.mark.parametrize("hessian", ["full", "kronecker"])
def test_signs_of_eigenvectors_do_not_change_the_draws(layer, hessian):
    features, mode = layer
    posterior = fit_posterior(features, mode, hessian=hessian)
    turned = dataclasses.replace(posterior, bases=tuple(-basis for basis in posterior.bases))
    turned.bases[0][:, 0] *= -1
    ours, theirs = (p.sample(np.random.default_rng(0), 5) for p in (posterior, turned))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("hessian", ["full", "kronecker"])
def test_samples_have_the_covariance(layer, hessian):
    """100,000 draws of 9 weights: entries of the covariance to 3 % of its norm."""
    posterior = fit_posterior(*layer, hessian=hessian)
    draws = posterior.sample(np.random.default_rng(0), 100_000).reshape(-1, 9)
    covariance = np.linalg.inv(dense(posterior) + posterior.precision * np.eye(9))
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mode.ravel(), atol=0.02)
    gap = np.linalg.norm(np.cov(draws.T) - covariance) / np.linalg.norm(covariance)
    assert gap < 0.03


def test_it_comes_close_to_the_posterior():
    """Softmax regression, 1,000 points, prior N(0, I): Laplace against 30,000 Metropolis steps.

    Stated tolerances at 25 points: mean probabilities to 0.01, standard deviations to 0.005 (the
    largest is above 0.02).
    """
    rng = np.random.default_rng(5)
    z, truth = rng.normal(size=(1000, 2)), rng.normal(size=(3, 3))
    phi = np.column_stack([z, np.ones(1000)])
    label = np.array([rng.choice(3, p=p) for p in softmax(phi @ truth.T, axis=1)])

    def log_posterior(w):
        logs = log_softmax(phi @ w.T, axis=1)
        return logs[np.arange(1000), label].sum() - (w**2).sum() / 2

    mode = np.zeros((3, 3))
    for _ in range(500):  # the log posterior is concave: gradient ascent finds its mode
        residual = np.eye(3)[label] - softmax(phi @ mode.T, axis=1)
        mode += 0.003 * (residual.T @ phi - mode)
    fitted = fit_posterior(z, mode)
    posterior = Posterior(mode, fitted.bases, fitted.curvature, 1.0)
    proposals = 0.7 * (posterior.sample(rng, 30_000) - mode)
    w, height, chain = mode, log_posterior(mode), []
    for step in proposals:
        candidate = log_posterior(w + step)
        if np.log(rng.random()) < candidate - height:
            w, height = w + step, candidate
        chain.append(w)
    new = np.column_stack([rng.normal(size=(25, 2)), np.ones(25)])
    exact = softmax(new @ np.array(chain[2000::7]).transpose(0, 2, 1), axis=2)
    ours = softmax(new @ posterior.sample(rng, 4000).transpose(0, 2, 1), axis=2)
    np.testing.assert_allclose(ours.mean(axis=0), exact.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(ours.std(axis=0), exact.std(axis=0), atol=0.005)
    assert exact.std(axis=0).max() > 0.02


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="hessian"):
        laplace.Config(hessian="diagonal")
    with pytest.raises(InputError, match="n_draws"):
        laplace.Config(n_draws=0)
