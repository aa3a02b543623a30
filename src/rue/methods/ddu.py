"""Deep deterministic uncertainty (Mukhoti et al. 2023): a density of the network's features.

Hidden layers are kept at a spectral norm of at most 3 (:mod:`rue.methods._training.networks`) and
activations leak, so that inputs far apart have features far apart. A Gaussian for each class is
fitted to the features before the last layer; epistemic is minus the log of their mixture:

    - log sum_k pi_k N(z; mu_k, Sigma_k).

With soft labels each point counts for class k by its weight p_k: pi_k = mean p_k, mu_k and
Sigma_k the weighted mean and covariance. One-hot labels give the usual fit.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._schema import AboveZero
from rue.beliefs import Scored
from rue.errors import InputError
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, Trained, networks

__all__ = ["Config", "Mixture", "fit", "fit_mixture", "predict"]

_SLOPE = 0.01
_JITTERS = (0.0, *(10.0**exponent for exponent in range(-15, 1)))


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """The largest spectral norm of a hidden layer, and how to train."""

    coefficient: AboveZero = 3.0
    temperature: bool = False
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    return Recipe(method="ddu", slope=_SLOPE, coefficient=config.coefficient)


def _state(config: Config, result: Trained) -> "Mixture":  # noqa: ARG001
    return fit_mixture(result.model.training_features(result.pool), result.pool.training_targets())


def _belief(fitted: Fitted, inputs: AnyInputs) -> Scored:
    return Scored(*fitted.model.scored(inputs, lambda z: -fitted.state.log_density(z)))


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian for each class that has any weight, in float64.

    Attributes
    ----------
    priors, means
        Shapes (n_components,) and (n_components, n_features).
    factors
        Lower Cholesky factors of the covariances, the jitter in them.
    jitter
        What was added to every variance so that all covariances factorise.
    """

    priors: FloatArray
    means: FloatArray
    factors: FloatArray
    jitter: float

    def log_density(self, features: FloatArray) -> FloatArray:
        r""":math:`\log \sum_k \pi_k N(z; \mu_k, \Sigma_k)` of each row, by logsumexp."""
        from scipy.linalg import solve_triangular
        from scipy.special import logsumexp

        n_features = features.shape[1]
        logs = np.empty((len(features), len(self.priors)))
        for k, (prior, mean, factor) in enumerate(
            zip(self.priors, self.means, self.factors, strict=True)
        ):
            whitened = solve_triangular(factor, (features - mean).T, lower=True)
            log_det = 2 * np.log(np.diag(factor)).sum()
            distance = (whitened**2).sum(axis=0)
            logs[:, k] = np.log(prior) - (n_features * np.log(2 * np.pi) + log_det + distance) / 2
        return np.asarray(logsumexp(logs, axis=1))


def fit_mixture(features: FloatArray, weights: FloatArray) -> Mixture:
    """Fit one Gaussian a class to ``features`` (n, n_features) weighted by (n, n_classes)."""
    n_k = weights.sum(axis=0)
    there = n_k > 0
    weights, n_k = weights[:, there], n_k[there]
    means = weights.T @ features / n_k[:, None]
    covariances = np.stack(
        [
            (centred * weight[:, None]).T @ centred / n
            for weight, mean, n in zip(weights.T, means, n_k, strict=True)
            for centred in [features - mean]
        ]
    )
    unit = float(features.var(axis=0).mean()) or 1.0
    for jitter in _JITTERS:
        factors = _factorise(covariances, jitter * unit)
        if factors is not None:
            return Mixture(n_k / n_k.sum(), means, factors, jitter * unit)
    raise InputError("the features' covariances do not factorise, even with their variance added")


def _factorise(covariances: FloatArray, jitter: float) -> FloatArray | None:
    n_features = covariances.shape[-1]
    try:
        factors = np.asarray(np.linalg.cholesky(covariances + jitter * np.eye(n_features)))
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factors, axis1=1, axis2=2) ** 2
    rounding = n_features * np.finfo(np.float64).eps * pivots.max(axis=1)
    return factors if (pivots.min(axis=1) > rounding).all() else None


learner = Learner("ddu", Config, networks(_recipe, _state), _belief)
fit = learner.fit
predict = learner.predict
