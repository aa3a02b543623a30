"""Spectral-normalised neural Gaussian process (Liu et al. 2020): draws of a GP on the features.

Hidden layers keep a spectral norm of at most ``coefficient`` and activations leak, as in
:mod:`~rue.methods.ddu`, so that inputs far apart have features far apart. On the features follow
random Fourier features phi (:mod:`rue.methods._training.networks`) and a linear layer, trained by
cross-entropy. Under the prior beta_k ~ N(0, I) of its weights, logit k is a Gaussian process with
the kernel exp(-|h - h'|^2 / (2 l^2)). Around the trained weights the posterior is taken as
Gaussian, with the Laplace precision of each class by itself,

    S_k^-1 = I + sum_n p_nk (1 - p_nk) phi_n phi_n'.

A draw of logit k at x is phi . beta_k + sqrt(phi' S_k phi) z_k with z standard normal; far from the
training points phi' S_k phi grows to the prior's 1.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._schema import AboveZero, Positive
from rue.beliefs import Draws
from rue.data.splits import stream
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, Trained, networks

__all__ = ["Config", "fit", "fit_factors", "predict"]

_SLOPE = 0.01


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """Draws, the largest spectral norm, the Fourier features, and how to train.

    ``length_scale`` is l in units of the square root of the number of features below. The number
    of Fourier features is best a multiple of 32.
    """

    n_draws: Positive = 100
    coefficient: AboveZero = 3.0
    n_fourier: Positive = 128
    length_scale: AboveZero = 1.0
    temperature: bool = False
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    from rue.methods._training.networks import on_top

    return Recipe(
        method="sngp",
        settings=(config.n_fourier, config.length_scale),
        slope=_SLOPE,
        coefficient=config.coefficient,
        wrap=on_top(config.n_fourier, config.length_scale),
    )


def _state(config: Config, result: Trained) -> FloatArray:  # noqa: ARG001
    """Return the Cholesky factors of the classes' precisions, (K, D, D)."""
    weight, bias = result.model.last_layer()
    phi = result.model.training_features(result.pool)
    probs = _softmax(phi @ weight.T + bias)
    return fit_factors(phi, probs * (1 - probs))


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws:
    weight, bias = fitted.model.last_layer()
    rng = stream("sngp", fitted.model.seed, "draws")
    normal = rng.standard_normal((fitted.config.n_draws, len(weight)))
    parts = []
    for z in fitted.model.features(inputs):
        phi = z[0].cpu().double().numpy()
        sd = np.sqrt(variances(phi, fitted.state))
        logits = (phi @ weight.T + bias)[:, None] + sd[:, None] * normal
        parts.append(_softmax(logits).astype(np.float32))
    return Draws(np.concatenate(parts))


def fit_factors(phi: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Return Cholesky factors of :math:`I + \sum_n w_{nk} \phi_n \phi_n^T`, shape (K, D, D)."""
    identity = np.eye(phi.shape[1])
    return np.stack([np.linalg.cholesky(identity + (phi * w[:, None]).T @ phi) for w in weights.T])


def variances(phi: FloatArray, factors: FloatArray) -> FloatArray:
    """Return phi' S_k phi of features (n_points, D), shape (n_points, K)."""
    from scipy.linalg import solve_triangular

    return np.stack(
        [(solve_triangular(factor, phi.T, lower=True) ** 2).sum(axis=0) for factor in factors],
        axis=1,
    )


def _softmax(logits: FloatArray) -> FloatArray:
    from torch import from_numpy

    return from_numpy(logits).softmax(-1).numpy()


learner = Learner("sngp", Config, networks(_recipe, _state), _belief)
fit = learner.fit
predict = learner.predict
