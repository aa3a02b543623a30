"""Random Fourier features and their posterior, against exact Gaussian processes."""

import dataclasses

import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from rue.errors import InputError
from rue.methods import SMALL_IMAGES, Training, sngp
from rue.methods._training.networks import Fourier, Probe, norms
from rue.methods.sngp import fit_factors, variances


def fourier_features(h, n_fourier, length, seed=0):
    inner = Probe.initial(1, 1, [0], width=h.shape[1], slope=0.01)
    inner.features = lambda x: x
    network = Fourier.initial(inner, [seed], n_outputs=3, n_fourier=n_fourier, length=length)
    return network.features(torch.tensor(h).float()[None])[0].double().numpy()


def kernel(a, b, length):
    return np.exp(-((a[:, None] - b) ** 2).sum(-1) / (2 * length**2))


def test_products_of_features_are_the_kernel(rng):
    """D = 4,096 features: the standard error of a product is below 1 / sqrt(D) = 0.016."""
    h = rng.normal(size=(30, 4))
    phi = fourier_features(h, 4_096, 1.5)
    np.testing.assert_allclose(phi @ phi.T, kernel(h, h, 1.5), atol=0.07)


def test_the_posterior_is_that_of_an_exact_gaussian_process(rng):
    """Regression with noise 0.2: weights 1 / 0.04. Against scikit-learn's, to 0.1 of the prior."""
    h, new = rng.uniform(-2, 2, size=(25, 2)), rng.uniform(-4, 4, size=(60, 2))
    phi = fourier_features(np.concatenate([h, new]), 1_024, 1.0)
    factors = fit_factors(phi[:25], np.full((25, 1), 1 / 0.04))
    exact = GaussianProcessRegressor(RBF(1.0), alpha=0.04, optimizer=None).fit(h, np.zeros(25))
    sd = exact.predict(new, return_std=True)[1]
    np.testing.assert_allclose(variances(phi[25:], factors)[:, 0], sd**2, atol=0.1)
    assert sd.min() < 0.3
    assert sd.max() > 0.95


def test_the_laplace_posterior_is_that_of_an_exact_one(rng):
    """Classification: k** - k' (K + W^-1)^-1 k with W = p (1 - p) (Rasmussen and Williams 3.24)."""
    h, new = rng.normal(size=(40, 2)), rng.normal(scale=2, size=(50, 2))
    probs = rng.dirichlet(np.ones(3), 40)
    weights = probs * (1 - probs)
    phi = fourier_features(np.concatenate([h, new]), 1_024, 1.0)
    ours = variances(phi[40:], fit_factors(phi[:40], weights))
    across = kernel(new, h, 1.0)
    for k in range(3):
        inner = np.linalg.inv(kernel(h, h, 1.0) + np.diag(1 / weights[:, k]))
        exact = 1 - np.einsum("ni,ij,nj->n", across, inner, across)
        np.testing.assert_allclose(ours[:, k], exact, atol=0.1)


def test_variance_grows_to_the_priors_far_away(features):
    config = sngp.Config(n_fourier=512, training=Training(width=32, epochs=5, batch_size=64))
    fitted = sngp.fit(features, config)[0]
    near = features.inputs[:200]
    far = 5 + 60 * (near - 5)
    sds = []
    for x in (near, far):
        (chunk,) = fitted.model.features(x)
        sds.append(variances(chunk[0].double().numpy(), fitted.state).mean())
    assert sds[0] < 0.5 * sds[1]
    assert sds[1] == pytest.approx(1, abs=0.15)
    draws = fitted.predict(near)
    assert draws.n_draws == 100
    norm = norms(fitted.model.networks[0].hidden())[0]
    assert norm.max() <= 3


def test_directions_and_phases_stay_as_they_were_drawn(features):
    short = Training(width=32, epochs=1, batch_size=64)
    a, b = (
        sngp.fit(features, sngp.Config(training=dataclasses.replace(short, epochs=e)))[0]
        for e in (1, 3)
    )
    (one,), (three,) = a.model.networks, b.model.networks
    assert torch.equal(one.directions, three.directions)
    assert torch.equal(one.phases, three.phases)
    assert not torch.equal(one.weight, three.weight)


def test_bad_settings_are_refused():
    for name, value in (
        ("n_draws", 0),
        ("n_fourier", 0),
        ("coefficient", 0.0),
        ("length_scale", float("inf")),
    ):
        with pytest.raises(InputError, match=name):
            sngp.Config(**{name: value})
    assert not SMALL_IMAGES.is_probe
