"""Snapshots: any method's mean, with a strength learnt afterwards (Ahdritz et al. 2024).

A snapshot is the counts c of several answers about one input. A fitted method's mean m(x) becomes
the Dirichlet s(x) m(x), whose strength s maximises the Dirichlet-multinomial likelihood of the
snapshots of validation inputs, which the method has not learnt from:

    log Gamma(s) - log Gamma(n + s) + sum_k log Gamma(c_k + s m_k) - log Gamma(s m_k) + const.

s is a function of what the method says about x, so that it is calibrated among the inputs of which
the method says the same: log s is a quadratic function of its total and epistemic uncertainty under
log loss, each as the normal quantile of its rank among the validation inputs, with a standard
normal prior on all coefficients but the constant. The derivative by log s is

    s (psi(s) - psi(n + s) + sum_k m_k (psi(c_k + s m_k) - psi(s m_k))).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.beliefs import ClassBelief, Dirichlet
from rue.components import decompose
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError
from rue.methods._training.fitting import one_for_each, whole_seeds
from rue.methods._training.models import Folder
from rue.methods._training.regimes import hold_out
from rue.methods._training.second_moments import clipped
from rue.methods._training.settings import Training

__all__ = ["Config", "Fitted", "Strength", "clipped", "fit", "fit_strength", "predict"]

_LOG_STRENGTHS = (np.log(1e-3), np.log(1e6))
_LEAST = 1e-9  # of a mean probability: a Dirichlet has none that are 0


@dataclass(frozen=True, kw_only=True)
class Config:
    """Which method gives the mean (by its name, with its own defaults), and how it is trained."""

    base: str = "ensemble"
    training: Training | None = None

    def __post_init__(self) -> None:
        if self.base == "snapshots":
            raise InputError("base must be a method of its own, got 'snapshots'")


@dataclass(frozen=True, eq=False)
class Fitted:
    """The fitted base method, and the strengths of its means."""

    base: Any
    strength: "Strength"

    @property
    def model(self) -> Any:
        """The base method's networks."""
        return getattr(self.base, "model", None)

    def predict(self, inputs: Inputs | ArrayLike) -> Dirichlet:
        """See :func:`predict`."""
        return predict(self, inputs)


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[Fitted]:
    """Fit the base method on the training split, and a strength on the validation split's answers.

    Parameters
    ----------
    data
        What the base method takes, with several answers per validation input; one data set for
        all seeds, or one for each. Without a validation split a tenth of the training points is
        held out.
    config
        Settings; None is an ensemble.
    seeds
        The result of a seed does not depend on the other seeds.
    checkpoints
        The base method's.
    progress
        Show a bar.

    Raises
    ------
    InputError
        If the validation points have one label or answer each.
    """
    from rue.methods import METHODS

    config = config or Config()
    if config.base not in METHODS:
        raise InputError(f"base must be one of {', '.join(METHODS)}, got {config.base!r}")
    base = METHODS[config.base]
    each = one_for_each(data, whole_seeds(seeds))
    made = {id(one): hold_out(one) for one in each}
    held = [made[id(one)] for one in each]
    parts = {key: one.part("validation") for key, one in made.items()}
    counts = {key: part.counts() for key, part in parts.items()}
    fitted = base.fit(
        held,
        base.Config(training=config.training),
        seeds=seeds,
        checkpoints=checkpoints,
        progress=progress,
    )
    return [
        Fitted(state, fit_strength(state.predict(parts[id(one)].inputs), counts[id(one)]))
        for state, one in zip(fitted, each, strict=True)
    ]


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Dirichlet:
    """Return the base method's means with their strengths."""
    belief = fitted.base.predict(inputs)
    return Dirichlet(fitted.strength(belief)[:, None] * _mean(belief))


@dataclass(frozen=True, eq=False)
class Strength:
    """log s as a quadratic function of two normal scores.

    Attributes
    ----------
    coefficients
        Of 1, t, e, :math:`t^2`, :math:`e^2` and t e, with t and e the scores of total and of
        epistemic.
    total, epistemic
        The validation points' components, sorted, by which scores are found.
    """

    coefficients: FloatArray
    total: FloatArray
    epistemic: FloatArray

    def __call__(self, belief: ClassBelief) -> FloatArray:
        """Return the strengths of a belief's points, shape (n_points,), from 1e-3 to 1e6."""
        design = _design(belief, self.total, self.epistemic)
        return np.exp(np.clip(design @ self.coefficients, *_LOG_STRENGTHS))


def fit_strength(belief: ClassBelief, counts: FloatArray) -> Strength:
    """Return the strength that maximises the likelihood of counts (n_points, n_classes)."""
    from scipy.optimize import minimize
    from scipy.special import gammaln, psi

    hat = decompose(belief, "log")
    total, epistemic = np.sort(hat.total), np.sort(hat.epistemic)
    design, mean = _design(belief, total, epistemic), _mean(belief)
    n = counts.sum(axis=1)
    penalty = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        s = np.exp(np.clip(design @ coefficients, *_LOG_STRENGTHS))
        alpha = s[:, None] * mean
        likelihood = gammaln(s) - gammaln(n + s)
        likelihood += (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
        slope = psi(s) - psi(n + s) + (mean * (psi(counts + alpha) - psi(alpha))).sum(axis=1)
        gradient = penalty * coefficients - design.T @ (s * slope)
        return float((penalty * coefficients**2).sum() / 2 - likelihood.sum()), gradient

    start = np.array([np.log(mean.shape[1]), 0.0, 0.0, 0.0, 0.0, 0.0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return Strength(np.asarray(found.x), total, epistemic)


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
