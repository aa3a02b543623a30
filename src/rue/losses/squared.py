"""Squared loss: the action is a number a, its loss (v[y] - a)^2."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_values, as_vector
from rue.losses.base import Expectation, Loss


@final
class Squared(Loss):
    """Squared loss on the scale of ``values`` (default 0..K-1): mean and variance."""

    name = "squared"

    def __init__(self, values: ArrayLike | None = None) -> None:
        self.values = None if values is None else as_values(values)

    def scale(self, n_classes: int) -> float:
        """The squared range of the values."""
        return float(np.ptp(self._values(n_classes)) ** 2)

    def action(self, probs: FloatArray) -> FloatArray:
        """Mean of the values."""
        return np.asarray(probs @ self._values(probs.shape[-1]))

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Variance + (a - mean)^2."""
        return self.bayes_risk(probs) + self.regret(probs, action)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Variance."""
        v = self._values(probs.shape[-1])
        return np.asarray((probs * (v - self.action(probs)[..., None]) ** 2).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """(a - mean)^2."""
        return np.asarray((action - self.action(probs)) ** 2)

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean variance, and variance of the means."""
        from rue._kernels.draws import squared

        return Expectation(*squared(probs, self._values(probs.shape[-1])))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """The mean has variance Var_m(v) / (alpha_0 + 1); the rest is the mean variance."""
        alpha_0 = alpha.sum(axis=-1)
        variance = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(variance * (alpha_0 / (alpha_0 + 1)), variance / (alpha_0 + 1))

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Any numbers."""
        return as_vector("actions", actions, n_points)

    def _values(self, n_classes: int) -> FloatArray:
        if self.values is None:
            return np.arange(n_classes, dtype=np.float64)
        return as_values(self.values, n_classes)
