"""Absolute and pinball loss of real-valued outcomes: quantiles."""

from typing import Any, final

import numpy as np

from rue._arrays import FloatArray
from rue.losses.base import TOLERANCE, Expectation
from rue.losses.real._student import expected_sd, student_density, student_quantile, student_scale
from rue.losses.real.base import Mixture, Ragged, RealLoss


@final
class RealQuantile(RealLoss):
    """``weight`` (q - 1[y < a]) (y - a), a number a; absolute loss has q = 1/2 and weight 2."""

    def __init__(self, name: str, q: float, weight: float) -> None:
        self.name = name
        self.q = q
        self.weight = weight

    def bound(self, low: float, high: float) -> float:
        """Return the range times the larger of q and 1 - q."""
        return self.weight * max(self.q, 1 - self.q) * (high - low)

    def action(self, belief: Mixture) -> FloatArray:
        """Return the quantile at level q."""
        return belief.mixture_quantile(self.q)

    def losses(self, answers: Ragged, action: Any) -> FloatArray:
        """Return (q - 1[y < a]) (y - a), weighted."""
        above = self.weight * (answers.values - answers.repeat(action))
        return np.asarray(np.maximum(self.q * above, (self.q - 1) * above))

    def bayes_risk(self, answers: Ragged) -> FloatArray:
        """Return the sum over the steps between answers of min((1 - q) F, q (1 - F))."""
        F = answers.below()
        least = np.minimum((1 - self.q) * F, self.q * (1 - F))
        return np.asarray(self.weight * answers.sums(least * answers.steps()))

    def regret(self, answers: Ragged, action: Any, risk: FloatArray) -> FloatArray:
        """Return the integral of abs(F - q) between the quantile of the answers and a."""
        steps, excess = answers.steps(), answers.below() - self.q
        left = np.clip(answers.repeat(action) - answers.values, 0, steps)
        inside = left * np.maximum(excess, 0) + (steps - left) * np.maximum(-excess, 0)
        lowest, highest = answers.ends()
        above = (1 - self.q) * np.maximum(action - highest, 0)
        below = self.q * np.maximum(lowest - action, 0)
        return np.asarray(self.weight * (answers.sums(inside) + above + below))

    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return plug-in + max((1 - q) k, q (m - k))/m times the step after the k-th answer.

        k is the others' rank of the quantile: it is the answer k + 1 where one of the lowest k
        is left out, and the answer k where another is.
        """
        m, q = answers.lengths, self.q
        k = np.ceil((q - TOLERANCE) * (m - 1)).clip(1)
        step = answers.steps()[answers.starts[:-1] + k.astype(np.int64) - 1]
        share = self.weight * np.maximum((1 - q) * k, q * (m - k)) / m
        return np.asarray(self.bayes_risk(answers) + share * step)

    def expect_gaussians(self, mean: FloatArray, sd: FloatArray) -> Expectation:
        """Return closed forms of normals at the quantile of the mixture."""
        from scipy.special import ndtri

        from rue._kernels.gaussians import pinball

        return self._weighted(*pinball(mean, sd, self.q, float(ndtri(self.q))))

    def expect_samples(self, values: FloatArray) -> Expectation:
        """Return exact sums over the steps between values."""
        from rue._kernels.samples import pinball

        return self._weighted(*pinball(values, self.q, self.q - TOLERANCE))

    def expect_normal_inverse_gamma(
        self, nu: FloatArray, alpha: FloatArray, beta: FloatArray
    ) -> Expectation:
        """Return phi(z_q) E sigma, and the rest of the Bayes risk of the mixture, Student's t.

        The Bayes risk of t with n degrees of freedom is f(t_q) (n + t_q^2)/(n - 1).
        """
        from scipy.special import ndtri

        z = float(ndtri(self.q))
        aleatoric = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * expected_sd(alpha, beta)
        if self.q == 0.5:  # the median is mu: no difference of two large numbers is needed
            return self._weighted(aleatoric, aleatoric / nu / (np.sqrt(1 + 1 / nu) + 1))
        n, t = 2 * alpha, student_quantile(self.q, alpha)
        total = student_density(t, alpha) * (n + t**2) / (n - 1) * student_scale(nu, alpha, beta)
        return self._weighted(aleatoric, np.maximum(total - aleatoric, 0.0))

    def _weighted(self, bayes_risk: FloatArray, regret: FloatArray) -> Expectation:
        return Expectation(self.weight * bayes_risk, self.weight * regret)
