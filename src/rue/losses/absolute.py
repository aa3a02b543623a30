"""Absolute loss: the action is a number a, its loss abs(v[y] - a)."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import TOLERANCE, Expectation

HALF = 0.5 - TOLERANCE
"""The median is the smallest value v with F(v) >= 1/2, up to rounding."""


@final
class Absolute(Valued):
    """Absolute loss on the scale of ``values`` (default 0..K-1): the lower median.

    Everything is a sum over the steps between neighbouring values, weighted by
    F_j = P(v <= v[j]): abs(v - a) counts the steps between v and a.
    """

    name = "absolute"

    def scale(self, n_classes: int) -> float:
        """The range of the values."""
        return float(self.offsets(n_classes)[-1])

    def action(self, probs: FloatArray) -> FloatArray:
        """Lower median."""
        return np.asarray(self.origin() + self.offsets(probs.shape[-1])[_median(probs)])

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum p abs(v - a)."""
        v, a = self.offsets(probs.shape[-1]), np.asarray(action)[..., None] - self.origin()
        return np.asarray((probs * np.abs(v - a)).sum(axis=-1))

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Sum_j (v[j+1] - v[j]) min(F_j, 1 - F_j)."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        return np.asarray(np.minimum(F, 1 - F) @ np.diff(self.offsets(probs.shape[-1])))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Sum over the steps between the median and a of abs(2 F_j - 1), a in between pro rata.

        Outside the range of the values each unit costs 1.
        """
        v, a = self.offsets(probs.shape[-1]), np.asarray(action)[..., None] - self.origin()
        F = np.cumsum(probs, axis=-1)[..., :-1]
        left = np.clip(a - v[:-1], 0, np.diff(v))  # the part of each step that a has passed
        right = np.diff(v) - left
        inside = left * np.maximum(2 * F - 1, 0) + right * np.maximum(1 - 2 * F, 0)
        outside = np.maximum(a - v[-1], 0) + np.maximum(v[0] - a, 0)
        return np.asarray(inside.sum(axis=-1) + outside[..., 0])

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean over draws, step by step."""
        from rue._kernels.draws import absolute

        return Expectation(*absolute(probs, np.diff(self.offsets(probs.shape[-1])), HALF))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """F_j ~ Beta(a, b) with a = sum_{i<=j} alpha_i, b the rest; I is the incomplete beta.

        E min(F, 1-F) = m I(a+1, b) + (1-m) I(b+1, a) at 1/2, m = a/(a+b);
        E (1-2F)+ = I(a, b) - 2 m I(a+1, b), and E (2F-1)+ likewise with a and b exchanged.
        """
        from scipy.special import betainc

        steps = np.diff(self.offsets(alpha.shape[-1]))
        a = np.cumsum(alpha, axis=-1)[..., :-1]
        b = np.cumsum(alpha[..., ::-1], axis=-1)[..., ::-1][..., 1:]
        m = a / (a + b)
        below, above = m * betainc(a + 1, b, 0.5), (1 - m) * betainc(b + 1, a, 0.5)
        short = betainc(a, b, 0.5) - 2 * below
        over = betainc(b, a, 0.5) - 2 * above
        passed = np.arange(len(steps)) < _median(alpha / alpha.sum(axis=-1, keepdims=True))[:, None]
        return Expectation((below + above) @ steps, np.where(passed, over, short) @ steps)


def _median(probs: FloatArray) -> NDArray[np.int64]:
    below = np.cumsum(probs, axis=-1)
    below[..., -1] = 1.0
    return np.asarray(np.argmax(below >= HALF, axis=-1))
