"""Absolute loss: the action is a number a, its loss abs(v[y] - a)."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_values, as_vector
from rue.losses.base import TOLERANCE, Expectation, Loss

HALF = 0.5 - TOLERANCE
"""The median is the smallest value v with F(v) >= 1/2, up to rounding."""


@final
class Absolute(Loss):
    """Absolute loss on the scale of ``values`` (default 0..K-1): the lower median.

    Everything is a sum over the steps between neighbouring values, weighted by
    F_j = P(v <= v[j]): abs(v - a) counts the steps between v and a.
    """

    name = "absolute"

    def __init__(self, values: ArrayLike | None = None) -> None:
        self.values = None if values is None else as_values(values)

    def scale(self, n_classes: int) -> float:
        """The range of the values."""
        return float(np.ptp(self._values(n_classes)))

    def action(self, probs: FloatArray) -> FloatArray:
        """Lower median."""
        return self._values(probs.shape[-1])[_median(probs)]

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum p abs(v - a)."""
        v = self._values(probs.shape[-1])
        return np.asarray((probs * np.abs(v - np.asarray(action)[..., None])).sum(axis=-1))

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Sum_j (v[j+1] - v[j]) min(F_j, 1 - F_j)."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        return np.asarray(np.minimum(F, 1 - F) @ np.diff(self._values(probs.shape[-1])))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum over the steps between the median and a of abs(2 F_j - 1), a in between pro rata.

        Outside the range of the values each unit costs 1.
        """
        v = self._values(probs.shape[-1])
        F = np.cumsum(probs, axis=-1)[..., :-1]
        a = np.asarray(action)[..., None]
        left = np.clip(a - v[:-1], 0, np.diff(v))  # the part of each step that a has passed
        right = np.diff(v) - left
        inside = left * np.maximum(2 * F - 1, 0) + right * np.maximum(1 - 2 * F, 0)
        outside = np.maximum(a - v[-1], 0) + np.maximum(v[0] - a, 0)
        return np.asarray(inside.sum(axis=-1) + outside[..., 0])

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean over draws, step by step."""
        from rue._kernels.draws import absolute

        return Expectation(*absolute(probs, np.diff(self._values(probs.shape[-1])), HALF))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """F_j ~ Beta(a, b) with a = sum_{i<=j} alpha_i, b the rest; I is the incomplete beta.

        E min(F, 1-F) = m I(a+1, b) + (1-m) I(b+1, a) at 1/2, m = a/(a+b);
        E (1-2F)+ = I(a, b) - 2 m I(a+1, b), and E (2F-1)+ likewise with a and b exchanged.
        """
        from scipy.special import betainc

        steps = np.diff(self._values(alpha.shape[-1]))
        a = np.cumsum(alpha, axis=-1)[..., :-1]
        b = np.cumsum(alpha[..., ::-1], axis=-1)[..., ::-1][..., 1:]
        m = a / (a + b)
        below, above = m * betainc(a + 1, b, 0.5), (1 - m) * betainc(b + 1, a, 0.5)
        short = betainc(a, b, 0.5) - 2 * below
        over = betainc(b, a, 0.5) - 2 * above
        passed = np.arange(len(steps)) < _median(alpha / alpha.sum(axis=-1, keepdims=True))[:, None]
        return Expectation((below + above) @ steps, np.where(passed, over, short) @ steps)

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Any numbers."""
        return as_vector("actions", actions, n_points)

    def _values(self, n_classes: int) -> FloatArray:
        if self.values is None:
            return np.arange(n_classes, dtype=np.float64)
        return as_values(self.values, n_classes)


def _median(probs: FloatArray) -> NDArray[np.int64]:
    below = np.cumsum(probs, axis=-1)
    below[..., -1] = 1.0
    return np.asarray(np.argmax(below >= HALF, axis=-1))
