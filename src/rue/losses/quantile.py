"""Losses whose Bayes action is a quantile, of classes and of real numbers: absolute and pinball."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, row_sums
from rue.errors import InputError
from rue.losses._student import expected_sd, student_density, student_quantile, student_scale
from rue.losses.base import TOLERANCE, Expectation, Valued, mean_over_counts
from rue.losses.real import Mixture, Ragged, RealLoss


@dataclass(frozen=True)
class QuantileSteps:
    """What the steps between neighbouring values cost, with a share F of the answers below."""

    q: float
    weight: float

    def cost(self, above: FloatArray) -> FloatArray:
        """Return (q - 1[v < a]) (v - a), weighted, for v - a."""
        return np.maximum(self.weight * self.q * above, self.weight * (self.q - 1) * above)

    def __call__(self, F: FloatArray) -> FloatArray:
        """Return what a unit of a step costs at least."""
        return np.minimum(self.weight * (1 - self.q) * F, self.weight * self.q * (1 - F))

    def inside(self, passed: FloatArray, steps: FloatArray, F: FloatArray) -> FloatArray:
        """Return the regret in each step, a part of which the action has passed."""
        excess, left = self.weight * (F - self.q), np.clip(passed, 0, steps)
        return left * np.maximum(excess, 0) + (steps - left) * np.maximum(-excess, 0)

    def outside(self, action: FloatArray, lowest: Any, highest: Any) -> FloatArray:
        """Return the regret beyond the lowest and the highest value."""
        above = self.weight * (1 - self.q) * np.maximum(action - highest, 0)
        return np.asarray(above + self.weight * self.q * np.maximum(lowest - action, 0))

    def left_out(self, m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rank k of the quantile among m - 1 answers, and the share of its step."""
        k = np.ceil((self.q - TOLERANCE) * (m - 1)).clip(1)
        return k, self.weight * np.maximum((1 - self.q) * k, self.q * (m - k)) / m


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

    @property
    def _steps(self) -> QuantileSteps:
        """What the steps between values cost."""
        return QuantileSteps(self.q, self.weight)

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
        return self._steps.cost(
            self.offsets(n_classes) - (np.asarray(action)[..., None] - self.origin())
        )

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_j (v_{j+1} - v_j) \min((1 - q) F_j, q (1 - F_j))`, weighted."""
        F = np.cumsum(probs, axis=-1)[..., :-1]
        return np.asarray(self._steps(F) @ np.diff(self.offsets(probs.shape[-1])))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return the sum of :math:`|F_j - q|` over the steps between the quantile and a, weighted.

        A step that contains a counts in proportion. Outside the range of the values, each unit
        costs 1 - q above and q below.
        """
        v, a = self.offsets(probs.shape[-1]), np.asarray(action)[..., None] - self.origin()
        F = np.cumsum(probs, axis=-1)[..., :-1]
        inside = self._steps.inside(a - v[:-1], np.diff(v), F).sum(axis=-1)
        return np.asarray(inside + self._steps.outside(a, v[0], v[-1])[..., 0])

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
        least = mean_over_counts(self._steps, F, n_answers)
        return np.asarray(least @ np.diff(self.offsets(probs.shape[-1])))

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        r"""Return the Bayes risk of the frequencies plus what leaving an answer out costs.

        Let k be the rank of the quantile among m - 1 answers, and :math:`x_1 \le \dots \le x_m` the
        sorted answers. The quantile of the others is :math:`x_{k+1}` if one of the lowest k answers
        is left out, else :math:`x_k`. So the cost is, times the weight,

        .. math:: \max((1 - q) k,\ q (m - k)) (x_{k+1} - x_k) / m.
        """
        v, m = self.offsets(counts.shape[1]), row_sums(counts)
        below, (k, share) = np.cumsum(counts, axis=1), self._steps.left_out(m)
        lower = np.argmax(below >= k[:, None], axis=1)
        upper = np.argmax(below >= k[:, None] + 1, axis=1)
        return np.asarray(self.bayes_risk(counts / m[:, None]) + share * (v[upper] - v[lower]))

    def real(self) -> RealLoss:
        """Return the same loss for real-valued outcomes."""
        self.require_no_values()
        return RealQuantile(self)

    def _quantile(self, probs: FloatArray) -> NDArray[np.int64]:
        """Return the index of the smallest value v with F(v) >= q, up to rounding."""
        below = np.cumsum(probs, axis=-1)
        below[..., -1] = 1.0
        return np.asarray(np.argmax(below >= self.q - TOLERANCE, axis=-1))


@final
class Absolute(QuantileLoss):
    """Absolute loss on the scale of ``values``; its Bayes action is the lower median.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> from rue import Absolute
    >>> import numpy as np
    >>> Absolute([1, 2, 10]).action(np.array([[0.2, 0.4, 0.4]]))
    array([2.])
    """

    name = "absolute"

    def __init__(self, values: ArrayLike | None = None) -> None:
        super().__init__(0.5, 2.0, values)


@final
class Pinball(QuantileLoss):
    """Pinball (quantile) loss on the scale of ``values``.

    It costs q for each unit that the action is too low and 1 - q for each unit that it is too
    high, so that its Bayes action is the quantile at level q. At q = 1/2 it is half the absolute
    loss.

    Parameters
    ----------
    q : float
        The level of the quantile, between 0 and 1.
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Raises
    ------
    InputError
        If ``q`` is not between 0 and 1, or ``values`` do not increase.

    Examples
    --------
    >>> from rue import Pinball
    >>> import numpy as np
    >>> loss = Pinball(0.8)
    >>> loss.name, loss.action(np.array([[0.5, 0.25, 0.25]]))
    ('pinball:0.8', array([2.]))
    """

    def __init__(self, q: float, values: ArrayLike | None = None) -> None:
        try:
            level = float(q)
        except (TypeError, ValueError):
            level = float("nan")
        if not 0 < level < 1:
            raise InputError(f"the level q of pinball loss must be between 0 and 1, got {q!r}")
        super().__init__(level, 1.0, values)
        self.name = f"pinball:{level!r}"

    def bound(self, n_classes: int) -> float:
        """Return the range of the values times the larger of q and 1 - q."""
        return max(self.q, 1 - self.q) * self.scale(n_classes)

    def on(self, values: ArrayLike) -> Self:
        """Return the same loss on another scale."""
        return type(self)(self.q, values)


@final
class RealQuantile(RealLoss):
    """``weight`` (q - 1[y < a]) (y - a), a number a; absolute loss has q = 1/2 and weight 2."""

    def __init__(self, loss: QuantileLoss) -> None:
        self.name, self._steps = loss.name, loss._steps
        self.q, self.weight = loss.q, loss.weight

    def bound(self, low: float, high: float) -> float:
        """Return the range times the larger of q and 1 - q."""
        return self.weight * max(self.q, 1 - self.q) * (high - low)

    def action(self, belief: Mixture) -> FloatArray:
        """Return the quantile at level q."""
        return belief.mixture_quantile(self.q)

    def losses(self, answers: Ragged, action: Any) -> FloatArray:
        """Return (q - 1[y < a]) (y - a), weighted."""
        return self._steps.cost(answers.values - answers.repeat(action))

    def bayes_risk(self, answers: Ragged) -> FloatArray:
        """Return the sum over the steps between answers of min((1 - q) F, q (1 - F))."""
        return answers.sums(self._steps(answers.below()) * answers.steps())

    def regret(self, answers: Ragged, action: Any, risk: FloatArray) -> FloatArray:
        """Return the integral of abs(F - q) between the quantile of the answers and a."""
        passed = answers.repeat(action) - answers.values
        inside = answers.sums(self._steps.inside(passed, answers.steps(), answers.below()))
        return np.asarray(inside + self._steps.outside(action, *answers.ends()))

    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return the plug-in plus a share of the step after the k-th answer, as of classes."""
        k, share = self._steps.left_out(answers.lengths)
        step = answers.steps()[answers.starts[:-1] + k.astype(np.int64) - 1]
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
        """Return phi(z_q) E sigma, and the rest of the Bayes risk of the mixture, Student's t."""
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
