"""What a loss of real-valued outcomes knows: its action, what answers cost, and expectations."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray, as_vector
from rue.losses.base import Expectation, no_unbiased_risk

DIGITS = 12
"""Components are rounded to so many significant digits of the point's total."""

_POWERS = np.array([float(f"1e{k}") for k in range(309)])


class Ragged(NamedTuple):
    """Answers about each point, some of each, one after another and sorted within a point.

    Attributes
    ----------
    values : array of shape (n_answers,)
        All answers.
    starts : array of shape (n_points + 1,)
        The index of each point's first answer, and the number of all answers.
    """

    values: FloatArray
    starts: IntArray

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> FloatArray:
        """The number of answers of each point, shape (n_points,)."""
        return np.diff(self.starts).astype(np.float64)

    def part(self, rows: Any) -> "tuple[Ragged, IntArray]":
        """Return the answers of some of the points, and the index of each in the whole."""
        chosen = np.arange(self.n_points)[rows]
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        place = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Ragged(self.values[place], starts), place

    def repeat(self, per_point: NDArray[Any]) -> NDArray[Any]:
        """Return the number of its point for each answer: (n_points,) -> (n_answers,)."""
        return np.repeat(per_point, np.diff(self.starts))

    def sums(self, per_answer: FloatArray) -> FloatArray:
        """Sum over the answers of each point: (n_answers,) -> (n_points,)."""
        return np.add.reduceat(per_answer, self.starts[:-1])

    def means(self, per_answer: FloatArray) -> FloatArray:
        """Average over the answers of each point."""
        return np.asarray(self.sums(per_answer) / self.lengths)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest answer of each point, (n_points,) each."""
        return self.values[self.starts[:-1]], self.values[self.starts[1:] - 1]

    def steps(self) -> FloatArray:
        """Return the step from each answer to the next of its point, 0 after the last."""
        steps = np.diff(self.values, append=self.values[-1])
        steps[self.starts[1:] - 1] = 0.0
        return steps

    def below(self) -> FloatArray:
        """Return F of each answer within its point: its rank / the number of answers."""
        ranks = np.arange(1, len(self.values) + 1) - self.repeat(self.starts[:-1].astype(float))
        return np.asarray(ranks / self.repeat(self.lengths))


class Mixture(Protocol):
    """What a belief offers of the mixture of its draws at each point."""

    @abstractmethod
    def mixture_mean(self) -> FloatArray:
        """Return the means, shape (n_points,)."""

    @abstractmethod
    def mixture_quantile(self, q: float) -> FloatArray:
        """Return the quantiles at level q, shape (n_points,)."""

    @abstractmethod
    def mixture_spread(self) -> FloatArray:
        """Return E|X - X'|/2 for two independent values, shape (n_points,)."""

    @abstractmethod
    def mixture_distances(self, answers: Ragged) -> FloatArray:
        """Return E|X - y| for each answer y, shape (n_answers,)."""


class RealLoss(ABC):
    """A loss of real-valued outcomes."""

    name: str

    @abstractmethod
    def bound(self, low: float, high: float) -> float:
        """Return the largest loss of an action within the range."""

    @abstractmethod
    def action(self, belief: Mixture) -> Any:
        """Return the Bayes action of the mixture: numbers (n_points,), or the mixture itself."""

    @abstractmethod
    def losses(self, answers: Ragged, action: Any) -> FloatArray:
        """Return the loss of ``action`` under each answer, shape (n_answers,)."""

    @abstractmethod
    def bayes_risk(self, answers: Ragged) -> FloatArray:
        """Return the least mean loss over the answers of each point, shape (n_points,)."""

    @abstractmethod
    def regret(self, answers: Ragged, action: Any, risk: FloatArray) -> FloatArray:
        """Return ``risk``, the mean loss of ``action``, minus the Bayes risk, shape (n_points,).

        ``risk`` is not used by losses that have a formula without this difference.
        """

    @abstractmethod
    def leave_one_out(self, answers: Ragged) -> FloatArray:
        """Return the mean loss of each answer under the best action for the others."""

    def unbiased(self, answers: Ragged) -> FloatArray:
        """Return an unbiased estimate of the Bayes risk, or raise if there is none."""
        raise no_unbiased_risk(self.name)

    @abstractmethod
    def expect_gaussians(self, mean: FloatArray, sd: FloatArray) -> Expectation:
        """Return means over normal draws; both arrays have shape (n_points, n_draws)."""

    @abstractmethod
    def expect_samples(self, values: FloatArray) -> Expectation:
        """Return means over empirical draws, shape (n_points, n_draws, n_values)."""

    @abstractmethod
    def expect_normal_inverse_gamma(
        self, nu: FloatArray, alpha: FloatArray, beta: FloatArray
    ) -> Expectation:
        """Return means over a normal-inverse-gamma distribution; mu does not matter."""

    def check_actions(self, actions: ArrayLike, n_points: int) -> Any:
        """Return the actions of a deployed predictor as an array, or raise."""
        return as_vector("actions", actions, n_points)


def round_to_digits(component: FloatArray, total: FloatArray) -> FloatArray:
    """Round to 12 digits of each point's total, so that rounding errors rank nothing."""
    size = np.where(total > 0, total, 1.0)
    places = DIGITS - 1 - np.floor(np.log10(size)).astype(np.int64)
    up, down = _POWERS[np.maximum(places, 0)], _POWERS[np.maximum(-places, 0)]
    rounded = np.rint(component / down * up) / up * down
    return np.asarray(np.where(total > 0, rounded, 0.0) + 0.0)  # no negative zeros
