"""Ranked probability score: the action is a distribution, compared by cumulative sums."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import Expectation, check_distributions


@final
class RPS(Valued):
    """Ranked probability score on the scale of ``values``.

    The loss is sum_j w_j (A_j - 1[y <= j])^2 with w_j = v[j+1] - v[j] and A the cumulative
    distribution of the action. It is the continuous ranked probability score (CRPS) for classes
    on a scale. Unlike the Brier score, it penalises probability more if it is farther from the
    answer. For two classes with distance 1 it is half the Brier score.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> import numpy as np
    >>> RPS().risk(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]]))
    array([2.])
    """

    name = "rps"

    def scale(self, n_classes: int) -> float:
        """Return the range of the values."""
        return float(self.offsets(n_classes)[-1])

    def action(self, probs: FloatArray) -> FloatArray:
        """Return p itself."""
        return probs

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return sum_j w_j (A_j^2 - 2 A_j F_j + F_j)."""
        return self.bayes_risk(probs) + self.regret(probs, action)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return sum_j w_j F_j (1 - F_j)."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        return np.asarray(np.maximum(F * (1 - F), 0.0) @ self._steps(probs))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return sum_j w_j (A_j - F_j)^2."""
        above = np.cumsum(action - probs, axis=-1)[..., :-1]
        return np.asarray(above**2 @ self._steps(probs))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean Bayes risk, and the variance of F_j over the draws, summed over j."""
        from rue._kernels.draws import rps

        return Expectation(*rps(probs, self._steps(probs)))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """Return the exact mean: Var F_j = m (1 - m) / (alpha_0 + 1) with m = E F_j.

        The regret is the weighted sum of these variances, the Bayes risk the remainder of
        sum_j w_j m (1 - m).
        """
        alpha_0 = alpha.sum(axis=-1)
        whole = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(whole * (alpha_0 / (alpha_0 + 1)), whole / (alpha_0 + 1))

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Return distributions, shape (n_points, n_classes)."""
        return check_distributions(actions, n_points, n_classes)

    def _steps(self, probs: NDArray[Any]) -> FloatArray:
        return np.diff(self.offsets(probs.shape[-1]))
