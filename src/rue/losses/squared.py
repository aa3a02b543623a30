"""Squared loss, of classes and of real numbers: the action is a number a, its loss (v[y] - a)^2.

What it shares with the other losses whose Bayes risk is a variance is here, too.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, row_sums
from rue.errors import InputError
from rue.losses.base import Expectation, Loss, Valued
from rue.losses.real import Mixture, Ragged, RealLoss


class SquaresLoss(Loss):
    """A loss whose Bayes risk is a variance: squared, Brier and ranked probability."""

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return the Bayes risk plus the regret."""
        return self.bayes_risk(probs) + self.regret(probs, action)

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return the exact mean under a Dirichlet distribution.

        A variance of the mean distribution is :math:`\alpha_0 + 1` times that of its mean over
        draws, which is the regret; the Bayes risk is the remainder.
        """
        alpha_0 = alpha.sum(axis=-1)
        whole = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(whole * (alpha_0 / (alpha_0 + 1)), whole / (alpha_0 + 1))

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return (1 - 1/m) times the Bayes risk."""
        return np.asarray(self.bayes_risk(probs) * (1 - 1 / n_answers))

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        """Return (m / (m - 1))^2 times the Bayes risk of the frequencies of m answers."""
        m = row_sums(counts)
        return inflated(self.bayes_risk(counts / m[:, None]), m, 2)

    def unbiased(self, counts: FloatArray) -> FloatArray:
        """Return m / (m - 1) times the Bayes risk of the frequencies of m answers."""
        m = row_sums(counts)
        return inflated(self.bayes_risk(counts / m[:, None]), m, 1)


class RealSquaresLoss(RealLoss):
    """A loss whose Bayes risk is a variance: squared and crps."""

    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return (m/(m - 1))^2 times the plug-in: y - mean of the others = (y - mean) m/(m - 1)."""
        return inflated(self.bayes_risk(answers), answers.lengths, 2)

    def unbiased(self, answers: Ragged) -> FloatArray:
        """Return m/(m - 1) times the plug-in: the mean over pairs of different answers."""
        return inflated(self.bayes_risk(answers), answers.lengths, 1)


def inflated(variance: FloatArray, m: FloatArray, power: int) -> FloatArray:
    """Return a variance of m answers times (m / (m - 1)) to a power."""
    return np.asarray(variance * (m / (m - 1)) ** power)


@final
class Squared(SquaresLoss, Valued):
    """Squared loss on the scale of ``values``; its Bayes action is the mean.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> from rue import Squared
    >>> import numpy as np
    >>> Squared([1, 2, 10]).action(np.array([[0.5, 0.5, 0.0]]))
    array([1.5])
    """

    name = "squared"

    def scale(self, n_classes: int) -> float:
        """Return the squared range of the values."""
        return float(self.offsets(n_classes)[-1] ** 2)

    def action(self, probs: FloatArray) -> FloatArray:
        """Return the mean of the values."""
        return np.asarray(self.origin() + probs @ self.offsets(probs.shape[-1]))

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return the squared difference of value and action."""
        return np.asarray((self.offsets(n_classes) - (action - self.origin())[:, None]) ** 2)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return the variance of the values."""
        v = self.offsets(probs.shape[-1])
        return np.asarray((probs * (v - (probs @ v)[..., None]) ** 2).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`(a - \mu)^2`, with the mean of the values."""
        above = action - self.origin()
        return np.asarray((above - probs @ self.offsets(probs.shape[-1])) ** 2)

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean variance, and the variance of the means."""
        from rue._kernels.numbers import squared

        return Expectation(*squared(probs, self.offsets(probs.shape[-1])))

    def real(self) -> RealLoss:
        """Return the same loss for real-valued outcomes."""
        self.require_no_values()
        return RealSquared()


@final
class RealSquared(RealSquaresLoss):
    """Squared loss of real-valued outcomes, (y - a)^2."""

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
