"""Brier loss: the action is a distribution a, its loss sum (a - onehot(y))^2."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, row_sums
from rue.losses.base import Expectation, check_distributions
from rue.losses.squared import SquaresLoss


@final
class Brier(SquaresLoss):
    """Brier loss; its regret is the squared distance between two distributions.

    Examples
    --------
    >>> from rue import Brier
    >>> import numpy as np
    >>> Brier().regret(np.array([[0.7, 0.3]]), np.array([[0.5, 0.5]]))
    array([0.08])
    """

    name = "brier"
    only_for_classes = "it compares the probabilities of classes"

    def scale(self, n_classes: int) -> float:
        """Return 1, which no Bayes risk exceeds."""
        return 1.0

    def bound(self, n_classes: int) -> float:
        """Return 2, the loss of a certain prediction of a wrong class."""
        return 2.0

    def action(self, probs: FloatArray) -> FloatArray:
        """Return p itself."""
        return probs

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sum_k a_k^2 - 2 \sum_k p_k a_k + 1`."""
        return np.asarray((action * (action - 2 * probs)).sum(axis=-1) + 1)

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        r"""Return :math:`\sum_j a_j^2 - 2 a_k + 1`."""
        return np.asarray((action**2).sum(axis=-1, keepdims=True) - 2 * action + 1)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        r"""Return :math:`1 - \sum_k p_k^2`."""
        return np.asarray((probs * (1 - probs)).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sum_k (a_k - p_k)^2`."""
        return np.asarray(((action - probs) ** 2).sum(axis=-1))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean Bayes risk, and the variance of the draws summed over classes."""
        from rue._kernels.draws import brier

        return Expectation(*brier(probs))

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        """Return the mean loss of each answer under the frequencies of the other answers."""
        m, squares = row_sums(counts), np.einsum("ij,ij->i", counts, counts, dtype=np.float64)
        others = (squares - 2 * squares / m + 1) / (m - 1) ** 2  # mean of sum a^2
        return np.asarray(others - 2 * (squares / m - 1) / (m - 1) + 1)

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Return distributions, shape (n_points, n_classes)."""
        return check_distributions(actions, n_points, n_classes)
