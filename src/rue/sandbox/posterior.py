"""Bayesian linear regression with known noise: its components, and the parts of its regret.

With prior w ~ N(0, prior_sd^2 I) and labels y_i ~ N(phi_i' w, sigma_i^2) the posterior is
N(mean, covariance) with

    covariance = (I / prior_sd^2 + sum_i phi_i phi_i' / sigma_i^2)^-1
    mean       = covariance sum_i phi_i y_i / sigma_i^2

so f(x) | D ~ N(phi(x)' mean, phi(x)' covariance phi(x)), and y | x, D adds sigma(x)^2.

The regret of a model class that is too small has two parts. The paper does not split it: measured
against the unrestricted oracle, regret "contains both estimation and approximation error". Here
both are known. Let mu be the posterior mean in the small model class, and g the function of that
class that is closest to f* under p, that is g = argmin sum_x p(x) (g(x) - f*(x))^2. Then, under
squared loss,

    (mu - f*)^2 = (g - f*)^2   + (mu - g)^2  + 2 (mu - g)(g - f*)
    regret      = approximation + estimation + cross

at every x. Since g is a projection and mu - g lies in the class, the integral of cross under p
is 0, so the integrated regret is exactly approximation plus estimation. Over a part of the
inputs, for example after rejection, cross need not be 0, so it is reported separately.

Definition 1 has a closed form. The outcome is y ~ N(f, sigma^2), and the belief about f is
N(mu, v); s^2 = sigma^2 + v. The action is mu under squared and absolute loss (mean and median
agree), and the whole predictive distribution N(mu, s^2) under log loss. With c = sqrt(2 / pi) and
d = mu - f:

========  ======================  =====================  ==================================
loss      aleatoric               epistemic, expected    epistemic under f (the regret)
========  ======================  =====================  ==================================
squared   sigma^2                 v                      d^2
absolute  c sigma                 c (s - sigma)          c sigma (e^(-z^2/2) - 1) + d erf(z/sqrt 2)
log       log(2 pi e sigma^2)/2   log(s^2 / sigma^2)/2   KL(N(f, sigma^2), N(mu, s^2))
========  ======================  =====================  ==================================

where z = d / sigma. The total is the sum. The mean of the last column over f ~ N(mu, v) is the
column before it. Under log loss the aleatoric part is a differential entropy and may be negative.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray, as_seed
from rue.components import Components
from rue.sandbox.world import Features, World, noise, project

SandboxLoss = Literal["squared", "absolute", "log"]
"""The losses under which the sandbox is exact."""

_C = float(np.sqrt(2.0 / np.pi))  # E|z| of a standard normal

# About the root mean square of the weights of f*, so that f* is plausible under the prior.
PRIOR_SD = 1.5


@dataclass(frozen=True, eq=False)
class Posterior:
    """The Gaussian posterior over the weights.

    Attributes
    ----------
    features : Features
        The feature map.
    mean : array of shape (n_features,)
        The mean of the weights.
    covariance : array of shape (n_features, n_features)
        Their covariance.
    """

    features: Features
    mean: FloatArray
    covariance: FloatArray

    def predict(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of f(x), each of shape (n_points,)."""
        phi = self.features(x)
        return phi @ self.mean, ((phi @ self.covariance) * phi).sum(axis=1)

    def covariances(self, x: FloatArray) -> FloatArray:
        """Return the covariance of f between all inputs, shape (n_points, n_points)."""
        phi = self.features(x)
        return phi @ self.covariance @ phi.T

    def draw(self, n_draws: int, *, seed: int) -> FloatArray:
        """Return random weights, shape (n_draws, n_features)."""
        factor = np.linalg.cholesky(self.covariance)
        normal = np.random.default_rng(as_seed(seed)).standard_normal((n_draws, len(self.mean)))
        return self.mean + normal @ factor.T


def fit_posterior(features: Features, x: FloatArray, y: FloatArray) -> Posterior:
    """Return the posterior given labels y at inputs x, each of shape (n_train,); may be empty."""
    weighted = features(x) / noise(x)[:, None]
    precision = np.eye(features.n_features) / PRIOR_SD**2 + weighted.T @ weighted
    # With precision = L L', the covariance R' R with R = L^-1 is exactly symmetric.
    root = np.linalg.inv(np.linalg.cholesky(precision))
    covariance = root.T @ root
    return Posterior(features, covariance @ (weighted.T @ (y / noise(x))), covariance)


@dataclass(frozen=True, eq=False)
class RegretSplit:
    """The regret of a model class at every cell of the grid, split into its parts.

    Attributes
    ----------
    n_features : int
        The number of features of the class.
    regret, approximation, estimation, cross : array of shape (n_grid,)
        The regret, and the three parts whose sum it is.
    epistemic : array of shape (n_grid,)
        The regret that the model expects: its posterior variance, which covers estimation error
        only.
    """

    n_features: int
    regret: FloatArray
    approximation: FloatArray
    estimation: FloatArray
    cross: FloatArray
    epistemic: FloatArray


def split_regret(world: World, n_features: int) -> RegretSplit:
    """Fit the sample of a world with ``n_features`` features and split the regret under f*.

    With the world's own number of features, the class contains f* and approximation is 0.

    Parameters
    ----------
    world : World
        The world.
    n_features : int
        The number of features of the class, at least 2.

    Returns
    -------
    RegretSplit
        Arrays of shape (n_grid,).

    Examples
    --------
    >>> from rue.sandbox import make_world, split_regret
    >>> world = make_world()
    >>> split = split_regret(world, 12)
    >>> bool(world.mass @ split.approximation > world.mass @ split.estimation)
    True
    """
    features = Features(n_features)
    mean, variance = fit_posterior(features, world.x_train, world.y_train).predict(world.x)
    phi = features(world.x)
    nearest = phi @ project(phi, world.f_star, world.mass)
    return RegretSplit(
        n_features=n_features,
        regret=(mean - world.f_star) ** 2,
        approximation=(nearest - world.f_star) ** 2,
        estimation=(mean - nearest) ** 2,
        cross=2.0 * (mean - nearest) * (nearest - world.f_star),
        epistemic=variance,
    )


def expected_components(loss: SandboxLoss, sigma: FloatArray, variance: FloatArray) -> Components:
    """Return the components expected under the belief, each of shape (n_points,)."""
    aleatoric, epistemic = _aleatoric(loss, sigma), expected_regret(loss, sigma, variance)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


def realized_components(
    loss: SandboxLoss, sigma: FloatArray, variance: FloatArray, error: FloatArray
) -> Components:
    """Return the components under one true function f, where ``error`` is mu - f."""
    aleatoric, regret = _aleatoric(loss, sigma), _realized_regret(loss, sigma, variance, error)
    return Components(aleatoric + regret, aleatoric, regret)


def expected_regret(loss: SandboxLoss, sigma: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the expected regret, elementwise, with broadcasting."""
    if loss == "squared":
        return variance
    if loss == "absolute":  # c (s - sigma), written without cancellation
        return _C * variance / (np.sqrt(sigma**2 + variance) + sigma)
    regret: FloatArray = 0.5 * np.log1p(variance / sigma**2)
    return regret


def _aleatoric(loss: SandboxLoss, sigma: FloatArray) -> FloatArray:
    if loss == "squared":
        return sigma**2
    if loss == "absolute":
        return _C * sigma
    entropy: FloatArray = 0.5 * np.log(2.0 * np.pi * np.e * sigma**2)
    return entropy


def _realized_regret(
    loss: SandboxLoss, sigma: FloatArray, variance: FloatArray, error: FloatArray
) -> FloatArray:
    if loss == "squared":
        return error**2
    if loss == "absolute":
        from scipy.special import erf

        z = error / sigma
        regret: FloatArray = _C * sigma * np.expm1(-0.5 * z**2) + error * erf(z / np.sqrt(2.0))
    else:
        regret = 0.5 * (
            np.log1p(variance / sigma**2) + (error**2 - variance) / (sigma**2 + variance)
        )
    return np.maximum(regret, 0.0)  # rounding may bring it below 0
