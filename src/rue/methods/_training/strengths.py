"""Strengths: how far a Dirichlet around any method's mean spreads, fitted to validation answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.beliefs import ClassBelief, Dirichlet
from rue.components import decompose
from rue.data.dataset import Inputs
from rue.errors import InputError
from rue.methods._training.settings import Training, hold_out
from rue.methods.learner import FitRequest, Fitted, Trained

_LOG_STRENGTHS = (np.log(1e-3), np.log(1e6))
_LEAST = 1e-9  # of a mean probability: a Dirichlet has none that are 0


@dataclass(frozen=True, kw_only=True)
class PostHocConfig:
    """Which method gives the mean (by its name, with its own defaults), and how it is trained."""

    base: str = "ensemble"
    training: Training | None = None

    def __post_init__(self) -> None:
        if self.base in ("snapshots", "strength"):
            raise InputError(f"base must be a method of its own, got {self.base!r}")


def post_hoc(
    *, constant: bool = False
) -> tuple[
    Callable[[Any, FitRequest], Sequence[Trained]],
    Callable[[Fitted, Inputs | ArrayLike], Dirichlet],
]:
    """Return how a base method and a strength of its means are fitted, and their belief."""

    def train(config: Any, request: FitRequest) -> list[Trained]:
        from rue.methods import METHODS

        if config.base not in METHODS:
            raise InputError(f"base must be one of {', '.join(METHODS)}, got {config.base!r}")
        base = METHODS[config.base]
        data_of = {id(data): hold_out(data) for data in request.data}
        parts = {key: data.part("validation") for key, data in data_of.items()}
        counts = {key: part.counts() for key, part in parts.items()}
        fitted = base.fit(
            [data_of[id(data)] for data in request.data],
            base.Config(training=config.training),
            seeds=request.seeds,
            checkpoints=request.checkpoints,
            progress=request.progress,
        )
        trained = []
        for state, data in zip(fitted, request.data, strict=True):
            key = id(data)
            belief = state.predict(parts[key].inputs)
            strength = fit_strength(belief, counts[key], constant=constant)
            model = getattr(state, "model", None)
            trained.append(Trained(data_of[key], model, state=(state, strength)))
        return trained

    def belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Dirichlet:
        base, strength = fitted.state
        mean = base.predict(inputs)
        return Dirichlet(strength(mean)[:, None] * _mean(mean))

    return train, belief


@dataclass(frozen=True, eq=False)
class Strength:
    """log s as a constant, or as a quadratic function of two normal scores."""

    coefficients: FloatArray
    total: FloatArray
    epistemic: FloatArray

    def __call__(self, belief: ClassBelief) -> FloatArray:
        """Return the strengths of a belief's points, shape (n_points,), from 1e-3 to 1e6."""
        design = np.ones((len(belief), 1))
        if len(self.coefficients) > 1:
            design = _design(belief, self.total, self.epistemic)
        return np.exp(np.clip(design @ self.coefficients, *_LOG_STRENGTHS))


def fit_strength(belief: ClassBelief, counts: FloatArray, *, constant: bool = False) -> Strength:
    """Return the strength that maximises the likelihood of counts (n_points, n_classes)."""
    from scipy.optimize import minimize
    from scipy.special import gammaln, psi

    hat = decompose(belief, "log")
    total, epistemic = np.sort(hat.total), np.sort(hat.epistemic)
    mean, n = _mean(belief), counts.sum(axis=1)
    design = np.ones((len(n), 1)) if constant else _design(belief, total, epistemic)
    penalty = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])[: design.shape[1]]

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        s = np.exp(np.clip(design @ coefficients, *_LOG_STRENGTHS))
        alpha = s[:, None] * mean
        likelihood = gammaln(s) - gammaln(n + s)
        likelihood += (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
        slope = psi(s) - psi(n + s) + (mean * (psi(counts + alpha) - psi(alpha))).sum(axis=1)
        gradient = penalty * coefficients - design.T @ (s * slope)
        return float((penalty * coefficients**2).sum() / 2 - likelihood.sum()), gradient

    start = np.zeros(design.shape[1])
    start[0] = np.log(mean.shape[1])
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return Strength(np.asarray(optimum.x), total, epistemic)


def _design(belief: ClassBelief, total: FloatArray, epistemic: FloatArray) -> FloatArray:
    hat = decompose(belief, "log")
    t, e = _score(hat.total, total), _score(hat.epistemic, epistemic)
    return np.stack([np.ones_like(t), t, e, t**2, e**2, t * e], axis=1)


def _score(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the normal quantile of each value's mid-rank in a sorted reference."""
    from scipy.special import ndtri

    ranks = sum(np.searchsorted(reference, values, side=side) for side in ("left", "right"))
    return np.asarray(ndtri((ranks / 2 + 0.5) / (len(reference) + 1)))


def _mean(belief: ClassBelief) -> FloatArray:
    mean = np.maximum(belief.mean(), _LEAST)
    return np.asarray(mean / mean.sum(axis=1, keepdims=True))
