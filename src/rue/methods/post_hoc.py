"""What is fitted to a trained method, to the answers about validation inputs.

**Snapshots** (Ahdritz et al. 2024). A snapshot is the counts c of several answers about one input.
A fitted method's mean m(x) becomes the Dirichlet s(x) m(x), whose strength s maximises the
Dirichlet-multinomial likelihood of the snapshots of validation inputs, which the method has not
learnt from:

    log Gamma(s) - log Gamma(n + s) + sum_k log Gamma(c_k + s m_k) - log Gamma(s m_k) + const.

s is a function of what the method says about x, so that it is calibrated among the inputs of which
the method says the same: log s is a quadratic function of its total and epistemic uncertainty under
log loss, each as the normal quantile of its rank among the validation inputs, with a standard
normal prior on all coefficients but the constant. The derivative by log s is

    s (psi(s) - psi(n + s) + sum_k m_k (psi(c_k + s m_k) - psi(s m_k))).

**Strength**: one s for all points, the baseline of methods that learn from replicates. With it the
epistemic component ranks points as the mean alone would, and its size is that of the annotators'
disagreement with the mean.

**Temperature scaling** (Guo et al. 2017): p becomes p^(1/T) / sum_k p_k^(1/T), which divides logits
by T. T minimises the log loss of the mean distribution on the points held out; of draws, each is
scaled and then their mean is taken.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeVar

import numpy as np

from rue._arrays import FloatArray, require_one_of
from rue._schema import Constraint
from rue.beliefs import ClassBelief, Dirichlet, Draws, Scored
from rue.components import decompose
from rue.data.splits import hold_out
from rue.methods._training.settings import Settings, Training
from rue.methods.dirichlet_multinomial import clipped
from rue.methods.learner import AnyInputs, FitRequest, Fitted, Learner, Trained, least_of

__all__ = ["PostHocConfig", "snapshots", "strength"]

_LOG_STRENGTHS = (np.log(1e-3), np.log(1e6))
_LEAST_MEAN = 1e-9  # of a mean probability: a Dirichlet has none that are 0
_LEAST = 1e-12  # of a probability: that of the log loss
_LOG_TEMPERATURES = (-3.0, 3.0)  # natural logarithms that T is searched between
_Tempered = TypeVar("_Tempered", Draws, Scored)


_OF_ITS_OWN = Constraint("a method of its own", lambda b: b not in ("snapshots", "strength"))


@dataclass(frozen=True, kw_only=True)
class PostHocConfig(Settings):
    """Which method gives the mean (by its name, with its own defaults), and how it is trained."""

    base: Annotated[str, _OF_ITS_OWN] = "ensemble"
    training: Training | None = None


def _train(config: PostHocConfig, request: FitRequest, *, constant: bool) -> list[Trained]:
    """Fit the base method to points of which some are held out, and a strength to those."""
    from rue.methods import METHODS

    require_one_of("base", config.base, METHODS)
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
    for state, key in zip(fitted, map(id, request.data), strict=True):
        strength = fit_strength(state.predict(parts[key].inputs), counts[key], constant=constant)
        model = getattr(state, "model", None)  # a method of a plugin may have none
        trained.append(Trained(data_of[key], model, state=(state, strength)))
    return trained


def _belief(fitted: Fitted, inputs: AnyInputs) -> Dirichlet:
    base, strength = fitted.state
    mean = base.predict(inputs)
    return Dirichlet(strength(mean)[:, None] * _mean(mean))


snapshots = Learner("snapshots", PostHocConfig, partial(_train, constant=False), _belief, clipped)
"""Any method's mean, with a strength for each point that is learnt afterwards."""
strength = Learner("strength", PostHocConfig, partial(_train, constant=True), _belief, clipped)
"""Any method's mean, with one strength for all points."""


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
    mean = np.maximum(belief.mean(), _LEAST_MEAN)
    return np.asarray(mean / mean.sum(axis=1, keepdims=True))


def fit_temperature(belief: _Tempered, targets: FloatArray) -> float:
    """Return the temperature with the lowest log loss, from 0.05 to 20."""

    def loss(log_temperature: float) -> float:
        mean = np.maximum(temper(belief, float(np.exp(log_temperature))).mean(), _LEAST)
        return float(-(targets * np.log(mean)).sum(axis=1).mean())

    # With draws the loss may have two minima, which the grid tells apart.
    return float(np.exp(least_of(loss, *_LOG_TEMPERATURES, 13, tolerance=1e-4)))


def temper(belief: _Tempered, temperature: float) -> _Tempered:
    """Return the belief with its distributions scaled; an epistemic score stays as it is."""
    if temperature == 1.0:
        return belief
    probs = np.asarray(belief.probs, dtype=np.float64)
    # Divided by the largest, so that no power of it underflows.
    scaled = (probs / probs.max(axis=-1, keepdims=True)) ** (1 / temperature)
    probs = scaled / scaled.sum(axis=-1, keepdims=True)
    return belief._with(probs=probs)
