"""Squared loss of real-valued outcomes: means and variances."""

from typing import Any, final

import numpy as np

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.losses.base import Expectation
from rue.losses.real.base import Mixture, Ragged, RealLoss


@final
class RealSquared(RealLoss):
    """(y - a)^2, a number a."""

    name = "squared"

    def bound(self, low: float, high: float) -> float:
        """Return the squared range."""
        return (high - low) ** 2

    def action(self, belief: Mixture) -> FloatArray:
        """Return the mean."""
        return belief.mixture_mean()

    def losses(self, answers: Ragged, action: Any) -> FloatArray:
        """Return (y - a)^2."""
        return np.asarray((answers.values - answers.repeat(action)) ** 2)

    def bayes_risk(self, answers: Ragged) -> FloatArray:
        """Return the variance of the answers."""
        above = answers.values - answers.repeat(_center(answers))
        # What rounding leaves of the mean is taken away again.
        return np.asarray(answers.means(above**2) - answers.means(above) ** 2)

    def regret(self, answers: Ragged, action: Any, risk: FloatArray) -> FloatArray:
        """Return (a - mean)^2."""
        return np.asarray((action - _center(answers)) ** 2)

    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return (m/(m - 1))^2 times the plug-in: y - mean of the others = (y - mean) m/(m - 1)."""
        m = answers.lengths
        return np.asarray(self.bayes_risk(answers) * (m / (m - 1)) ** 2)

    def unbiased(self, answers: Ragged) -> FloatArray:
        """Return the sample variance."""
        m = answers.lengths
        return np.asarray(self.bayes_risk(answers) * (m / (m - 1)))

    def expect_gaussians(self, mean: FloatArray, sd: FloatArray) -> Expectation:
        """Return the mean variance, and the variance of the means."""
        near = mean - mean[:, :1]
        return Expectation((sd**2).mean(axis=1), near.var(axis=1))

    def expect_samples(self, values: FloatArray) -> Expectation:
        """Return the mean variance, and the variance of the means."""
        near = values.astype(np.float64)
        near -= near[:, :1, :1]
        return Expectation(near.var(axis=2).mean(axis=1), near.mean(axis=2).var(axis=1))

    def expect_normal_inverse_gamma(
        self, nu: FloatArray, alpha: FloatArray, beta: FloatArray
    ) -> Expectation:
        """Return E sigma^2 = beta/(alpha - 1), and Var mean = E sigma^2 / nu."""
        if alpha.min() <= 1:
            row = int(np.argmax(alpha <= 1))
            raise InputError(
                "squared loss needs alpha above 1, or the variance is infinite (absolute, pinball "
                f"and crps need only 0.5), got {alpha[row]:g} at row {row}"
            )
        variance = beta / (alpha - 1)
        return Expectation(variance, variance / nu)


def _center(answers: Ragged) -> FloatArray:
    """Return the mean of each point, summed over the distances to its lowest answer."""
    lowest, _ = answers.ends()
    return np.asarray(lowest + answers.means(answers.values - answers.repeat(lowest)))
