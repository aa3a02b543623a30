"""Squared loss: the action is a number a, its loss (v[y] - a)^2."""

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import Expectation, shrunk_risk, spread_of_counts

if TYPE_CHECKING:
    from rue.losses.real import RealLoss


@final
class Squared(Valued):
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

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sigma^2 + (a - \mu)^2`, with the mean and the variance of the values."""
        return self.bayes_risk(probs) + self.regret(probs, action)

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

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return the exact mean.

        The mean of the values has variance :math:`\sigma^2 / (\alpha_0 + 1)`, where
        :math:`\sigma^2` is their variance under the mean distribution; the mean variance is the
        remainder of :math:`\sigma^2`.
        """
        alpha_0 = alpha.sum(axis=-1)
        variance = self.bayes_risk(alpha / alpha_0[..., None])
        return Expectation(variance * (alpha_0 / (alpha_0 + 1)), variance / (alpha_0 + 1))

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return (1 - 1/m) times the Bayes risk."""
        return shrunk_risk(self, probs, n_answers)

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        r"""Return the variance of m answers, times :math:`(m / (m - 1))^2`."""
        return spread_of_counts(self, counts, 2)

    def unbiased(self, counts: FloatArray) -> FloatArray:
        """Return the variance of m answers, times m / (m - 1)."""
        return spread_of_counts(self, counts, 1)

    def real(self) -> "RealLoss":
        """Return the same loss for real-valued outcomes."""
        from rue.losses.real import RealSquared

        self.require_no_values()
        return RealSquared()
