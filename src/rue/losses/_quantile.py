"""The base class of losses whose Bayes action is a quantile."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.losses._valued import Valued
from rue.losses.base import TOLERANCE, Expectation, mean_over_counts

if TYPE_CHECKING:
    from rue.losses.real import RealLoss


@dataclass(frozen=True)
class _Least:
    """What a step costs at least, if a share F of the answers lies below it."""

    q: float
    weight: float

    def __call__(self, F: FloatArray) -> FloatArray:
        return np.minimum(self.weight * (1 - self.q) * F, self.weight * self.q * (1 - F))


class QuantileLoss(Valued):
    r"""Weighted pinball loss on the scale of ``values``: a weight times (q - 1[v < a]) (v - a).

    Its Bayes action is the quantile at level q, the smallest v with
    :math:`F(v) \ge q - 10^{-12}`. Absolute loss has q = 1/2 and weight 2, which are exact in
    floating point.

    All quantities are sums over the steps between neighbouring values, weighted by functions of
    :math:`F_j = P(v \le v_j)`: while a is in step j, its risk grows at the rate :math:`F_j - q`.
    """

    def __init__(self, q: float, weight: float, values: ArrayLike | None = None) -> None:
        super().__init__(values)
        self.q = q
        self.weight = weight

    def scale(self, n_classes: int) -> float:
        """Return the range of the values."""
        return float(self.offsets(n_classes)[-1])

    def action(self, probs: FloatArray) -> FloatArray:
        """Return the quantile at level q."""
        return np.asarray(self.origin() + self.offsets(probs.shape[-1])[self._quantile(probs)])

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        r"""Return :math:`\sum_k p_k (q - 1[v_k < a]) (v_k - a)`, weighted."""
        return np.asarray((probs * self.losses(action, probs.shape[-1])).sum(axis=-1))

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return (q - 1[v < a]) (v - a), weighted."""
        above = self.offsets(n_classes) - (np.asarray(action)[..., None] - self.origin())
        return np.maximum(self.weight * self.q * above, self.weight * (self.q - 1) * above)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_j (v_{j+1} - v_j) \min((1 - q) F_j, q (1 - F_j))`, weighted."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        least = _Least(self.q, self.weight)(F)
        return np.asarray(least @ np.diff(self.offsets(probs.shape[-1])))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return the sum of :math:`|F_j - q|` over the steps between the quantile and a, weighted.

        A step that contains a counts in proportion. Outside the range of the values, each unit
        costs 1 - q above and q below.
        """
        v, a = self.offsets(probs.shape[-1]), np.asarray(action)[..., None] - self.origin()
        excess = self.weight * (np.cumsum(probs, axis=-1)[..., :-1] - self.q)
        left = np.clip(a - v[:-1], 0, np.diff(v))  # the part of each step that a has passed
        right = np.diff(v) - left
        inside = left * np.maximum(excess, 0) + right * np.maximum(-excess, 0)
        above = self.weight * (1 - self.q) * np.maximum(a - v[-1], 0)
        below = self.weight * self.q * np.maximum(v[0] - a, 0)
        return np.asarray(inside.sum(axis=-1) + (above + below)[..., 0])

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean over draws."""
        from rue._kernels.numbers import pinball

        steps = self.weight * np.diff(self.offsets(probs.shape[-1]))
        return Expectation(*pinball(probs, steps, self.q, self.q - TOLERANCE))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return the exact mean under a Dirichlet distribution.

        :math:`F_j \sim \text{Beta}(a, b)` with :math:`a = \sum_{i \le j} \alpha_i` and b the sum of
        the other :math:`\alpha_i`. With the regularised incomplete beta function :math:`I_x` and
        :math:`m = a / (a + b)`:

        .. math:: E \min((1-q) F, q (1-F)) = (1-q)\, m\, I_q(a+1, b) + q (1-m)\, I_{1-q}(b+1, a)

        .. math:: E (q-F)_+ = q\, I_q(a, b) - m\, I_q(a+1, b)

        and :math:`E (F-q)_+` with a and b exchanged.
        """
        from scipy.special import betainc

        q, r = self.q, 1 - self.q
        steps = self.weight * np.diff(self.offsets(alpha.shape[-1]))
        a = np.cumsum(alpha, axis=-1)[..., :-1]
        b = np.cumsum(alpha[..., ::-1], axis=-1)[..., ::-1][..., 1:]
        m = a / (a + b)
        below, above = m * betainc(a + 1, b, q), (1 - m) * betainc(b + 1, a, r)
        short = q * betainc(a, b, q) - below
        over = r * betainc(b, a, r) - above
        mean = alpha / alpha.sum(axis=-1, keepdims=True)
        passed = np.arange(len(steps)) < self._quantile(mean)[:, None]
        return Expectation((r * below + q * above) @ steps, np.where(passed, over, short) @ steps)

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return the mean Bayes risk of frequencies, a sum over the steps between values."""
        F = np.minimum(np.cumsum(probs, axis=-1)[..., :-1], 1.0)
        least = mean_over_counts(_Least(self.q, self.weight), F, n_answers)
        return np.asarray(least @ np.diff(self.offsets(probs.shape[-1])))

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        r"""Return the Bayes risk of the frequencies plus what leaving an answer out costs.

        Let k be the rank of the quantile among m - 1 answers, and :math:`x_1 \le \dots \le x_m` the
        sorted answers. The quantile of the others is :math:`x_{k+1}` if one of the lowest k answers
        is left out, else :math:`x_k`. So the cost is, times the weight,

        .. math:: \max((1 - q) k,\ q (m - k)) (x_{k+1} - x_k) / m.
        """
        v, m, q = self.offsets(counts.shape[1]), counts.sum(axis=1), self.q
        below, k = np.cumsum(counts, axis=1), np.ceil((q - TOLERANCE) * (m - 1)).clip(1)
        lower = np.argmax(below >= k[:, None], axis=1)
        upper = np.argmax(below >= k[:, None] + 1, axis=1)
        share = self.weight * np.maximum((1 - q) * k, q * (m - k)) / m
        return np.asarray(self.bayes_risk(counts / m[:, None]) + share * (v[upper] - v[lower]))

    def real(self) -> "RealLoss":
        """Return the same loss for real-valued outcomes."""
        from rue.losses.real import RealQuantile

        self.require_no_values()
        return RealQuantile(self.name, self.q, self.weight)

    def _quantile(self, probs: FloatArray) -> NDArray[np.int64]:
        """Return the index of the smallest value v with F(v) >= q, up to rounding."""
        below = np.cumsum(probs, axis=-1)
        below[..., -1] = 1.0
        return np.asarray(np.argmax(below >= self.q - TOLERANCE, axis=-1))
