"""Laplace approximation of the last layer (Daxberger et al. 2021): draws of its weights.

Around the trained weights w the posterior is taken as Gaussian, with precision H + delta I. H is
the generalised Gauss-Newton matrix of the log loss, with features phi and a 1 for the bias,

    H = sum_n (diag(p_n) - p_n p_n') (x) phi_n phi_n',

full below 3,000 parameters, else as a Kronecker product n A (x) B of the two factors' means. The
prior precision delta maximises the Laplace marginal likelihood

    P/2 log delta - delta |w|^2 / 2 - 1/2 log det(H + delta I).

Both are diagonalised once, exactly, so a delta costs nothing and draws need no further solve.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray
from rue._schema import Positive
from rue.beliefs import Draws
from rue.data.splits import stream
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, Trained, least_of, networks

__all__ = ["Config", "LastLayerPosterior", "fit", "fit_last_layer", "predict"]

_FULL_BELOW = 3_000
_LOG_PRECISION = (-12.0, 16.0)  # natural logarithms that delta is searched between


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How many draws, the shape of the Hessian, and how to train.

    ``hessian`` None is ``full`` below 3,000 parameters of the last layer, else ``kronecker``.
    """

    n_draws: Positive = 100
    hessian: Literal["full", "kronecker"] | None = None
    temperature: bool = False
    training: Training | None = None


def _state(config: Config, result: Trained) -> "LastLayerPosterior":
    weight, bias = result.model.last_layer()
    mode = np.concatenate([weight, bias.T], axis=1)
    features = result.model.training_features(result.pool)
    return fit_last_layer(features, mode, hessian=config.hessian)


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws:
    from scipy.special import softmax

    rng = stream("laplace", fitted.model.seed, "draws")
    layers = fitted.state.sample(rng, fitted.config.n_draws)
    parts = [
        softmax(_with_one(z[0].cpu().double().numpy()) @ layers.transpose(0, 2, 1), axis=-1)
        for z in fitted.model.features(inputs)
    ]
    return Draws(np.concatenate([part.transpose(1, 0, 2).astype(np.float32) for part in parts]))


@dataclass(frozen=True, eq=False)
class LastLayerPosterior:
    """A Gaussian over the last layer, in the eigenbasis of its precision."""

    mode: FloatArray
    bases: tuple[FloatArray, ...]
    curvature: FloatArray
    precision: float

    def sample(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw layers, shape (n_draws, n_classes, n_features + 1)."""
        normal = rng.standard_normal((n_draws, *self.curvature.shape))
        std = 1 / np.sqrt(self.curvature + self.precision)
        if len(self.bases) == 1:
            scaled = (normal @ self.bases[0] * std) @ self.bases[0].T
            return self.mode + scaled.reshape(n_draws, *self.mode.shape)
        rows, columns = self.bases
        return np.asarray(self.mode + rows @ (rows.T @ normal @ columns * std) @ columns.T)


def fit_last_layer(
    features: FloatArray,
    mode: FloatArray,
    *,
    hessian: Literal["full", "kronecker"] | None = None,
) -> LastLayerPosterior:
    """Fit the Gaussian around the layer ``mode``, (K, d + 1), from features (n, d)."""
    from scipy.special import softmax

    phi = _with_one(features)
    probs = softmax(phi @ mode.T, axis=-1)
    hessian = hessian or ("full" if mode.size < _FULL_BELOW else "kronecker")
    if hessian == "full":
        curvature, basis = np.linalg.eigh(_gauss_newton(phi, probs))
        bases: tuple[FloatArray, ...] = (basis,)
    else:
        n = len(phi)
        a, basis_a = np.linalg.eigh(np.diag(probs.mean(axis=0)) - probs.T @ probs / n)
        b, basis_b = np.linalg.eigh(phi.T @ phi / n)
        curvature, bases = n * np.outer(a, b), (basis_a, basis_b)
    curvature = np.maximum(curvature, 0.0)
    return LastLayerPosterior(mode, bases, curvature, _prior_precision(mode, curvature))


def _gauss_newton(phi: FloatArray, probs: FloatArray) -> FloatArray:
    n_classes, width = probs.shape[1], phi.shape[1]
    blocks = np.empty((n_classes, width, n_classes, width))
    for j in range(n_classes):
        for k in range(j, n_classes):
            weight = probs[:, j] * ((j == k) - probs[:, k])
            blocks[j, :, k] = (phi * weight[:, None]).T @ phi
            blocks[k, :, j] = blocks[j, :, k]
    return blocks.reshape(n_classes * width, n_classes * width)


def _prior_precision(mode: FloatArray, curvature: FloatArray) -> float:
    """Return the precision of the largest marginal likelihood."""

    def loss(log_precision: float) -> float:
        precision = np.exp(log_precision)
        log_det = np.log1p(curvature / precision).sum()
        return float((precision * (mode**2).sum() + log_det) / 2)

    return float(np.exp(least_of(loss, *_LOG_PRECISION, 57)))


def _with_one(features: FloatArray) -> FloatArray:
    return np.concatenate([features, np.ones((len(features), 1))], axis=1)


learner = Learner("laplace", Config, networks(Recipe(method="laplace"), _state), _belief)
fit = learner.fit
predict = learner.predict
