"""The Gauss-Newton matrix, the prior's precision, and a posterior known by long sampling."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.special import softmax

import hmc
from rue.errors import InputError
from rue.methods import laplace
from rue.methods._training.objectives import cross_entropy
from rue.methods.laplace import LastLayerPosterior, fit_last_layer


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
    np.testing.assert_allclose(dense(fit_last_layer(z, mode)), exact, atol=1e-10)


def test_kronecker_is_exact_when_all_points_are_alike(layer):
    z, mode = layer
    z = np.repeat(z[:1], 30, axis=0)
    full, kron = (fit_last_layer(z, mode, hessian=h) for h in ("full", "kronecker"))
    np.testing.assert_allclose(dense(kron), dense(full), atol=1e-10)
    assert kron.precision == pytest.approx(full.precision, rel=1e-4)


def test_kronecker_factors_are_the_means_of_both(layer):
    z, mode = layer
    phi = np.column_stack([z, np.ones(40)])
    probs = softmax(phi @ mode.T, axis=1)
    a = np.mean([np.diag(p) - np.outer(p, p) for p in probs], axis=0)
    b = np.mean([np.outer(f, f) for f in phi], axis=0)
    kron = fit_last_layer(z, mode, hessian="kronecker")
    np.testing.assert_allclose(dense(kron), 40 * np.kron(a, b), atol=1e-12)


def test_full_below_3000_parameters_else_kronecker(rng, monkeypatch):
    assert laplace._FULL_BELOW == 3000
    monkeypatch.setattr(laplace, "_FULL_BELOW", 300)
    assert len(fit_last_layer(rng.normal(size=(9, 9)), rng.normal(size=(29, 10))).bases) == 1
    assert len(fit_last_layer(rng.normal(size=(9, 9)), rng.normal(size=(30, 10))).bases) == 2


@pytest.mark.parametrize("hessian", ["full", "kronecker"])
def test_precision_maximises_the_marginal_likelihood(layer, hessian):
    """At the optimum delta |w|^2 = sum h / (h + delta), MacKay's fixed point."""
    posterior = fit_last_layer(*layer, hessian=hessian)
    h, delta = posterior.curvature, posterior.precision
    assert delta * (posterior.mode**2).sum() == pytest.approx((h / (h + delta)).sum(), rel=1e-3)
    size = (posterior.mode**2).sum()
    others = np.exp(np.linspace(-12, 16, 1000))
    likelihood = 4.5 * np.log(others) - others * size / 2
    likelihood -= np.log(h.ravel() + others[:, None]).sum(axis=1) / 2
    assert others[likelihood.argmax()] == pytest.approx(delta, rel=0.03)


@pytest.mark.parametrize("hessian", ["full", "kronecker"])
def test_signs_of_eigenvectors_do_not_change_the_draws(layer, hessian):
    features, mode = layer
    posterior = fit_last_layer(features, mode, hessian=hessian)
    turned = dataclasses.replace(posterior, bases=tuple(-basis for basis in posterior.bases))
    turned.bases[0][:, 0] *= -1
    ours, theirs = (p.sample(np.random.default_rng(0), 5) for p in (posterior, turned))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("hessian", ["full", "kronecker"])
def test_samples_have_the_covariance(layer, hessian):
    """100,000 draws of 9 weights: entries of the covariance to 3 % of its norm."""
    posterior = fit_last_layer(*layer, hessian=hessian)
    draws = posterior.sample(np.random.default_rng(0), 100_000).reshape(-1, 9)
    covariance = np.linalg.inv(dense(posterior) + posterior.precision * np.eye(9))
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mode.ravel(), atol=0.02)
    gap = np.linalg.norm(np.cov(draws.T) - covariance) / np.linalg.norm(covariance)
    assert gap < 0.03


def softmax_regression(n):
    """Three classes, two features and a bias; the posterior under N(0, I) and its mode."""
    rng = np.random.default_rng(5)
    phi, truth = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)]), rng.normal(size=(3, 3))
    label = np.eye(3)[[rng.choice(3, p=p) for p in softmax(phi @ truth.T, axis=1)]]

    def density(w):
        logits = w.reshape(-1, 3, 3) @ phi.T
        log_sum = np.log(np.exp(logits).sum(axis=1, keepdims=True))  # none is far from 0 here
        residual = label.T - np.exp(logits - log_sum)
        height = (label.T * logits).sum(axis=(1, 2)) - log_sum.sum(axis=(1, 2))
        return height - (w**2).sum(axis=1) / 2, (residual @ phi).reshape(-1, 9) - w

    mode = np.zeros((1, 9))
    for _ in range(20):  # the log posterior is concave: Newton's method finds its mode
        hessian = dense(fit_last_layer(phi[:, :2], mode.reshape(3, 3))) + np.eye(9)
        mode = mode + np.linalg.solve(hessian, density(mode)[1][0])
    assert np.abs(density(mode)[1]).max() < 1e-9
    return phi, density, mode.reshape(3, 3)


def test_hmc_draws_from_a_known_density():
    """A Gaussian, correlation 0.9: 4,000 draws, so moments to 0.1 (over four standard errors)."""
    covariance = np.array([[1.0, 1.8], [1.8, 4.0]])
    precision = np.linalg.inv(covariance)

    def density(x):
        return -np.einsum("ni,ij,nj->n", x, precision, x) / 2, -x @ precision

    rng = np.random.default_rng(0)
    factor = np.linalg.cholesky(np.diag([0.5, 3.0]))  # not the covariance: a walk that must turn
    draws, acceptance = hmc.sample(density, 3 * rng.normal(size=(8, 2)), factor, rng, n_draws=2000)
    assert 0.5 < acceptance < 1
    assert (hmc.r_hat(draws[:, 200:]) < 1.02).all()
    size = hmc.effective(draws[:, 200:])
    assert (size > 4000).all()
    pooled = draws[:, 200:].reshape(-1, 2)
    np.testing.assert_allclose(pooled.mean(axis=0), 0, atol=0.1)
    np.testing.assert_allclose(np.cov(pooled.T), covariance, atol=0.1 * 4)
    # Chains that stay apart are seen, and a walk of 10,000 small steps is worth few draws.
    assert hmc.r_hat(draws + 10 * np.arange(8)[:, None, None]).min() > 2
    walk = rng.normal(size=(4, 10_000, 1)).cumsum(axis=1)
    assert hmc.effective(walk)[0] < 40


@pytest.mark.parametrize("n_draws", [150, pytest.param(8000, marks=pytest.mark.slow)])
def test_it_comes_close_to_the_posterior(n_draws):
    """Softmax regression, 1,000 points, 9 weights, prior N(0, I): Laplace against long HMC.

    Stated tolerances, at 25 new points. A Gaussian at the mode misses the posterior's skewness,
    of order sqrt(9 / 1000) = 0.1, which moves means by that many standard deviations: 0.2 is
    allowed. Widths of the logits (centred), which are linear in the weights, it misses by terms
    of order 9 / 1000: 0.02 is allowed. Widths of probabilities also move with the mean, as
    p (1 - p) does: by up to 0.2 standard deviations of a logit more. To both comes the sampling
    error: a width from m draws is known to 1 / sqrt(2 m), and four of these, of both samples,
    are allowed. A curvature off by a fifth would show in the logits.
    """
    phi, density, mode = softmax_regression(1000)
    fitted = fit_last_layer(phi[:, :2], mode)
    posterior = LastLayerPosterior(mode, fitted.bases, fitted.curvature, 1.0)
    rng = np.random.default_rng(6)
    start = mode.ravel() + 1.5 * (posterior.sample(rng, 16) - mode).reshape(16, 9)
    factor = np.linalg.cholesky(np.linalg.inv(dense(posterior) + np.eye(9)))
    chains, acceptance = hmc.sample(density, start, factor, rng, n_draws=n_draws)
    chains = chains[:, n_draws // 10 :]
    size = hmc.effective(chains).min()
    print(f"acceptance {acceptance:.3f}, R-hat {hmc.r_hat(chains).max():.4f}, effective {size:.0f}")
    assert 0.8 < acceptance < 1
    assert hmc.r_hat(chains).max() < (1.01 if n_draws > 1000 else 1.05)
    assert size > 5 * n_draws
    new = np.column_stack([rng.normal(size=(25, 2)), np.ones(25)])
    logits = [
        new @ (w - w.mean(axis=1, keepdims=True)).transpose(0, 2, 1)
        for w in (chains[:, ::2].reshape(-1, 3, 3), posterior.sample(rng, 8 * n_draws))
    ]
    # Neighbours repel each other, which helps means but not widths.
    n_exact = min(size, chains.shape[0] * chains.shape[1] / 2)
    sampling = 4 * np.sqrt(1 / (2 * n_exact) + 1 / (16 * n_draws))
    probs = [softmax(z, axis=2) for z in logits]
    move = 0.2 * logits[0].std(axis=0).max()
    for name, (exact, ours), allowed in (
        ("logits", logits, 0.02),
        ("probabilities", probs, 0.02 + move),
    ):
        means = np.abs(ours.mean(axis=0) - exact.mean(axis=0)) / exact.std(axis=0)
        widths = np.abs(ours.std(axis=0) / exact.std(axis=0) - 1)
        print(f"{name}: means off by {means.max():.3f} sd, widths by {widths.max():.4f}", end=" ")
        print(f"(allowed {allowed:.3f} + {sampling:.3f})")
        assert means.max() < 0.2 + np.sqrt(2) * sampling
        assert widths.max() < allowed + sampling
    assert probs[0].std(axis=0).max() > 0.02


def test_it_is_fitted_to_all_training_points(features, short):
    fitted = laplace.fit(features, laplace.Config(training=short))[0]
    (z,) = (z[0].double().numpy() for z in fitted.model.features(features.part("train").inputs))
    weight, bias = (part[0].double().numpy() for part in fitted.model.head())
    by_hand = fit_last_layer(z, np.column_stack([weight, bias[0]]))
    np.testing.assert_allclose(fitted.state.mode, by_hand.mode)
    np.testing.assert_allclose(dense(fitted.state), dense(by_hand), atol=1e-3)
    assert fitted.state.precision == pytest.approx(by_hand.precision, rel=1e-3)


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="hessian"):
        laplace.Config(hessian="diagonal")
    with pytest.raises(InputError, match="n_draws"):
        laplace.Config(n_draws=0)
