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

    Predicted probabilities are floored at 1e-12; how many points that touched is reported. A
    higher ``floor`` bounds the loss by -log floor.
    """

    name = "log"

    def __init__(self, floor: float | None = None) -> None:
        if floor is not None and not FLOOR <= floor < 1:
            raise InputError(f"floor must be from {FLOOR:g} to below 1, got {floor}")
        self.given = floor is not None
        self.floor = FLOOR if floor is None else float(floor)

    def scale(self, n_classes: int) -> float:
        """Entropy of the uniform distribution."""
        return math.log(n_classes)

    def bound(self, n_classes: int) -> float:
        """-log floor, where a floor was asked for."""
        return -math.log(self.floor) if self.given else math.inf

    def action(self, probs: FloatArray) -> FloatArray:
        """p itself."""
        return probs

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """-sum p log a."""
        return np.asarray(-(probs * np.log(np.maximum(action, self.floor))).sum(axis=-1))

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """-sum p log p."""
        return np.asarray(-(probs * _log(probs)).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum p log(p/a), which the floor may bring below 0: clipped."""
        divergence = (probs * (_log(probs) - np.log(np.maximum(action, self.floor)))).sum(axis=-1)
        return np.asarray(np.maximum(divergence, 0.0))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean entropy, and mean divergence from the mean (the mutual information)."""
        from rue._kernels.draws import log_loss

        return Expectation(*log_loss(probs, self.floor))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """E[p log p] = m (psi(alpha + 1) - psi(alpha_0 + 1)) for each class."""
        from scipy.special import digamma

        alpha_0 = alpha.sum(axis=-1, keepdims=True)
        m = alpha / alpha_0
        logs = digamma(alpha + 1) - digamma(alpha_0 + 1)  # E log p, weighted by p
        regret = (m * (logs - np.log(np.maximum(m, self.floor)))).sum(axis=-1)
        return Expectation(-(m * logs).sum(axis=-1), np.maximum(regret, 0.0))

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Distributions."""
        return check_distributions(actions, n_points, n_classes)

    def floored(self, probs: FloatArray, action: NDArray[Any]) -> NDArray[np.bool]:
        """Which points the floor touched: a < floor for a class that does occur."""
        return np.asarray(((action < self.floor) & (probs > 0)).any(axis=-1))


def _log(probs: FloatArray) -> FloatArray:
    """Logarithm where p > 0, else 0: 0 log 0 = 0."""
    return np.log(np.where(probs > 0, probs, 1.0))
