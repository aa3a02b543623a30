"""Bayesian linear regression with known noise: the conjugate posterior over the weights.

With prior w ~ N(0, prior_sd^2 I) and labels y_i ~ N(phi_i' w, sigma_i^2) the posterior is
N(mean, covariance) with

    covariance = (I / prior_sd^2 + sum_i phi_i phi_i' / sigma_i^2)^-1
    mean       = covariance sum_i phi_i y_i / sigma_i^2

so f(x) | D ~ N(phi(x)' mean, phi(x)' covariance phi(x)), and y | x, D adds sigma(x)^2.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, as_seed
from rue.sandbox.world import Features, noise

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
