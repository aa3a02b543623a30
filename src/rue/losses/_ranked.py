"""The ranked probability score of classes on a scale."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import Expectation, check_distributions, shrunk_risk, spread_of_counts


class RankedProbability(Valued):
    r"""The loss :math:`\sum_j w_j (A_j - 1[y \le j])^2`, with A the action's cumulative."""

    def scale(self, n_classes: int) -> float:
        """Return the range of the values."""
        return float(self.offsets(n_classes)[-1])

    def action(self, probs: FloatArray) -> FloatArray:
        """Return p itself."""
        return probs

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sum_j w_j (A_j^2 - 2 A_j F_j + F_j)`."""
        return self.bayes_risk(probs) + self.regret(probs, action)

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        r"""Return :math:`\sum_{j<k} w_j A_j^2 + \sum_{j \ge k} w_j (1 - A_j)^2`."""
        A, losses = np.cumsum(action, axis=-1)[:, :-1], np.zeros((len(action), n_classes))
        losses[:, 1:] = np.cumsum(A**2 * self._steps(action), axis=-1)
        losses[:, :-1] += np.cumsum(((1 - A) ** 2 * self._steps(action))[:, ::-1], axis=-1)[:, ::-1]
        return losses

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_j w_j F_j (1 - F_j)`."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        return np.asarray(np.maximum(F * (1 - F), 0.0) @ self._steps(probs))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sum_j w_j (A_j - F_j)^2`."""
        above = np.cumsum(action - probs, axis=-1)[..., :-1]
        return np.asarray(above**2 @ self._steps(probs))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean Bayes risk, and the variance of :math:`F_j` over draws, summed over j."""
        from rue._kernels.numbers import rps

        return Expectation(*rps(probs, self._steps(probs)))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return the exact mean under a Dirichlet distribution.

        With :math:`m_j = E F_j` the variance of :math:`F_j` is
        :math:`m_j (1 - m_j) / (\alpha_0 + 1)`. The regret is the weighted sum of these variances,
        the Bayes risk the remainder of :math:`\sum_j w_j m_j (1 - m_j)`.
        """
        alpha_0 = alpha.sum(axis=-1)
        whole = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(whole * (alpha_0 / (alpha_0 + 1)), whole / (alpha_0 + 1))

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return (1 - 1/m) times the Bayes risk."""
        return shrunk_risk(self, probs, n_answers)

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        r"""Return the Bayes risk of the frequencies of m answers, times :math:`(m / (m - 1))^2`."""
        return spread_of_counts(self, counts, 2)

    def unbiased(self, counts: FloatArray) -> FloatArray:
        """Return the Bayes risk of the frequencies of m answers, times m / (m - 1)."""
        return spread_of_counts(self, counts, 1)

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Return distributions, shape (n_points, n_classes)."""
        return check_distributions(actions, n_points, n_classes)

    def _steps(self, probs: NDArray[Any]) -> FloatArray:
        return np.diff(self.offsets(probs.shape[-1]))
