"""Squared loss: the action is a number a, its loss (v[y] - a)^2."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import Expectation


@final
class Squared(Valued):
    """Squared loss on the scale of ``values`` (default 0..K-1): mean and variance."""

    name = "squared"

    def scale(self, n_classes: int) -> float:
        """The squared range of the values."""
        return float(self.offsets(n_classes)[-1] ** 2)

    def action(self, probs: FloatArray) -> FloatArray:
        """Mean of the values."""
        return np.asarray(self.origin() + probs @ self.offsets(probs.shape[-1]))

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Variance + (a - mean)^2."""
        return self.bayes_risk(probs) + self.regret(probs, action)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Variance."""
        v = self.offsets(probs.shape[-1])
        return np.asarray((probs * (v - (probs @ v)[..., None]) ** 2).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """(a - mean)^2."""
        above = action - self.origin()
        return np.asarray((above - probs @ self.offsets(probs.shape[-1])) ** 2)

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean variance, and variance of the means."""
        from rue._kernels.draws import squared

        return Expectation(*squared(probs, self.offsets(probs.shape[-1])))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """The mean has variance Var_m(v) / (alpha_0 + 1); the rest is the mean variance."""
        alpha_0 = alpha.sum(axis=-1)
        variance = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(variance * (alpha_0 / (alpha_0 + 1)), variance / (alpha_0 + 1))
