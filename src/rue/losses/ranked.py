"""Ranked probability scores: the action is a distribution, compared by cumulative sums.

The score of classes on a scale is :class:`RPS`, that of real numbers :class:`CRPS`.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_array, require_finite
from rue.errors import ShapeError
from rue.losses._student import expected_sd, student_scale, student_spread
from rue.losses.base import Expectation, Valued, check_distributions
from rue.losses.real import Mixture, Ragged, RealLoss
from rue.losses.squared import RealSquaresLoss, SquaresLoss


class RankedProbability(SquaresLoss, Valued):
    r"""The loss :math:`\sum_j w_j (A_j - 1[y \le j])^2`, with A the action's cumulative."""

    def scale(self, n_classes: int) -> float:
        """Return the range of the values."""
        return float(self.offsets(n_classes)[-1])

    def action(self, probs: FloatArray) -> FloatArray:
        """Return p itself."""
        return probs

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

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Return distributions, shape (n_points, n_classes)."""
        return check_distributions(actions, n_points, n_classes)

    def _steps(self, probs: NDArray[Any]) -> FloatArray:
        return np.diff(self.offsets(probs.shape[-1]))


@final
class RPS(RankedProbability):
    r"""Ranked probability score on the scale of ``values``.

    The loss is :math:`\sum_j w_j (A_j - 1[y \le j])^2` with :math:`w_j = v_{j+1} - v_j` and A the
    cumulative distribution of the action. It is the continuous ranked probability score (CRPS) for
    classes on a scale. Unlike the Brier score, it penalises probability more if it is farther from
    the answer. For two classes with distance 1 it is half the Brier score.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> from rue import RPS
    >>> import numpy as np
    >>> RPS().risk(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]]))
    array([2.])
    """

    name = "rps"
    only_for_classes = "its twin for real numbers is crps"


@final
class CRPS(RankedProbability):
    r"""Continuous ranked probability score of real-valued outcomes.

    For X and X' drawn from the action F, the loss is

    .. math:: \int (F(x) - 1[y \le x])^2\, dx = E|X - y| - \tfrac12 E|X - X'|.

    Its Bayes risk is :math:`\tfrac12 E|Y - Y'|` and its regret the integral of the squared
    difference of the two cumulative distributions. Of classes on a scale of ``values`` it is the
    ranked probability score (:class:`~rue.RPS`).

    Examples
    --------
    >>> import rue
    >>> rue.decompose(rue.Gaussians([[0.0, 0.0]], [[1.0, 1.0]]), rue.CRPS()).epistemic
    array([0.])
    """

    name = "crps"

    def real(self) -> RealLoss:
        """Return the loss for real-valued outcomes."""
        self.require_no_values()
        return RealCRPS()


@final
class RealCRPS(RealSquaresLoss):
    """E|X - y| - E|X - X'|/2 for X from the action: the integral of (F(x) - 1[y <= x])^2 dx."""

    name = "crps"

    def bound(self, low: float, high: float) -> float:
        """Return the range."""
        return high - low

    def action(self, belief: Mixture) -> Mixture:
        """Return the mixture itself."""
        return belief

    def losses(self, answers: Ragged, action: Any) -> FloatArray:
        """Return E|X - y| - E|X - X'|/2."""
        distances = action.mixture_distances(answers)
        return np.asarray(distances - answers.repeat(action.mixture_spread()))

    def bayes_risk(self, answers: Ragged) -> FloatArray:
        """Return E|Y - Y'|/2, the sum over the steps between answers of F (1 - F)."""
        F = answers.below()
        return answers.sums(F * (1 - F) * answers.steps())

    def regret(self, answers: Ragged, action: Any, risk: FloatArray) -> FloatArray:
        """Return the integral of the squared difference of the cumulative distributions."""
        return np.maximum(risk - self.bayes_risk(answers), 0.0)

    def expect_gaussians(self, mean: FloatArray, sd: FloatArray) -> Expectation:
        """Return closed forms by E|X - Y| of normals."""
        from rue._kernels.gaussians import crps

        return Expectation(*crps(mean, sd))

    def expect_samples(self, values: FloatArray) -> Expectation:
        """Return exact sums over the steps between values."""
        from rue._kernels.samples import crps

        return Expectation(*crps(values))

    def expect_normal_inverse_gamma(
        self, nu: FloatArray, alpha: FloatArray, beta: FloatArray
    ) -> Expectation:
        """Return E sigma/sqrt(pi), and the rest of E|T - T'|/2 of the mixture, Student's t."""
        aleatoric = expected_sd(alpha, beta) / np.sqrt(np.pi)
        total = student_spread(alpha) * student_scale(nu, alpha, beta)
        return Expectation(aleatoric, np.maximum(total - aleatoric, 0.0))

    def check_actions(self, actions: ArrayLike, n_points: int) -> Any:
        """Return point masses (n_points,) or equally likely values (n_points, n_values)."""
        array = as_array("actions", actions)
        if array.ndim not in (1, 2) or len(array) != n_points or array.size == 0:
            raise ShapeError(
                "actions under crps must be numbers of shape (n_points,) or equally likely values "
                f"of shape (n_points, n_values) for {n_points} points, got {array.shape}"
            )
        require_finite("actions", array)
        return _Values(array.astype(np.float64).reshape(n_points, 1, -1))


class _Values:
    """Equally likely values as the mixture of an action."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values

    def mixture_spread(self) -> FloatArray:
        from rue._kernels.samples import crps

        return np.asarray(np.add(*crps(self.values)))

    def mixture_distances(self, answers: Ragged) -> FloatArray:
        from rue._kernels.samples import distances

        return distances(self.values, answers.values, answers.starts)
