"""Log loss: the action is a distribution a, its loss -log a[y]."""

import math
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.losses.base import Expectation, Loss, check_distributions

FLOOR = 1e-12
"""Predicted probabilities below it count as it; nothing is renormalised."""


@final
class Log(Loss):
    """Log loss in nats; its Bayes risk is the entropy, its regret the Kullback-Leibler divergence.

    Predicted probabilities are floored at 1e-12; how many points that touched is reported.

    With ``floor`` the action is not p but p mixed with the uniform distribution, floor + (1 - K
    floor) p, in which no probability is lower. It is a distribution, and its loss is at most
    -log floor.
    """

    name = "log"

    def __init__(self, floor: float | None = None) -> None:
        if floor is not None and not FLOOR <= floor < 1:
            raise InputError(f"floor must be from {FLOOR:g} to below 1, got {floor}")
        self.floor = None if floor is None else float(floor)

    def scale(self, n_classes: int) -> float:
        """Entropy of the uniform distribution."""
        return math.log(n_classes)

    def bound(self, n_classes: int) -> float:
        """-log floor, where there is one."""
        return math.inf if self.floor is None else -math.log(self.floor)

    def action(self, probs: FloatArray) -> FloatArray:
        """p itself, mixed with the uniform distribution if there is a floor."""
        if self.floor is None:
            return probs
        n_classes = probs.shape[-1]
        if self.floor * n_classes >= 1:
            raise InputError(f"floor must be below 1/{n_classes} (classes), got {self.floor:g}")
        return np.asarray(self.floor + (1 - n_classes * self.floor) * probs)

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """-sum p log a."""
        return np.asarray(-(probs * np.log(np.maximum(action, FLOOR))).sum(axis=-1))

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """-sum p log p."""
        return np.asarray(-(probs * _log(probs)).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum p log(p/a), which the floor may bring below 0: clipped."""
        divergence = (probs * (_log(probs) - np.log(np.maximum(action, FLOOR)))).sum(axis=-1)
        return np.asarray(np.maximum(divergence, 0.0))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean entropy, and mean divergence from the mean (the mutual information)."""
        from rue._kernels.draws import log_loss, mean

        entropy, divergence = log_loss(probs, FLOOR)
        if self.floor is not None:
            divergence = divergence + self._mixing(mean(probs))
        return Expectation(entropy, divergence)

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """E[p log p] = m (psi(alpha + 1) - psi(alpha_0 + 1)) for each class."""
        from scipy.special import digamma

        alpha_0 = alpha.sum(axis=-1, keepdims=True)
        m = alpha / alpha_0
        logs = digamma(alpha + 1) - digamma(alpha_0 + 1)  # E log p, weighted by p
        regret = (m * (logs - np.log(np.maximum(m, FLOOR)))).sum(axis=-1)
        if self.floor is not None:
            regret = regret + self._mixing(m)
        return Expectation(-(m * logs).sum(axis=-1), np.maximum(regret, 0.0))

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Distributions."""
        return self.action(check_distributions(actions, n_points, n_classes))

    def floored(self, probs: FloatArray, action: NDArray[Any]) -> NDArray[np.bool]:
        """Which points the floor touched: a < 1e-12 for a class that does occur."""
        return np.asarray(((action < FLOOR) & (probs > 0)).any(axis=-1))

    def _mixing(self, m: FloatArray) -> FloatArray:
        """What it costs to act on the mixed m when m is true: the divergence of both."""
        return self.regret(m, self.action(m))


def _log(probs: FloatArray) -> FloatArray:
    """Logarithm where p > 0, else 0: 0 log 0 = 0."""
    return np.log(np.where(probs > 0, probs, 1.0))
