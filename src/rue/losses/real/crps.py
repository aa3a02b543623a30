"""Continuous ranked probability score: the action is a distribution of real numbers."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_array, require_finite
from rue.errors import ShapeError
from rue.losses.base import Expectation
from rue.losses.real._student import expected_sd, student_scale, student_spread
from rue.losses.real.base import Mixture, Ragged, RealLoss


@final
class RealCRPS(RealLoss):
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

    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return (m/(m - 1))^2 times the plug-in, as for squared loss at each threshold."""
        m = answers.lengths
        return np.asarray(self.bayes_risk(answers) * (m / (m - 1)) ** 2)

    def unbiased(self, answers: Ragged) -> FloatArray:
        """Return the mean of |y - y'|/2 over pairs of different answers."""
        m = answers.lengths
        return np.asarray(self.bayes_risk(answers) * (m / (m - 1)))

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

        within, between = crps(self.values)
        return np.asarray(within + between)

    def mixture_distances(self, answers: Ragged) -> FloatArray:
        from rue._kernels.samples import distances

        return np.asarray(distances(self.values, answers.values, answers.starts))
