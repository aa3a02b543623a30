"""What every belief about real-valued outcomes offers."""

from abc import abstractmethod

from rue._arrays import FloatArray
from rue.beliefs.base import Belief, Components
from rue.losses.base import Expectation, Loss
from rue.losses.real import Ragged, RealLoss, round_to_digits


class RealBelief(Belief):
    """A second-order prediction of a real number for each of ``n_points`` points.

    A belief is a set of distributions, its draws, at each point; their equally weighted mixture
    is the mean distribution m of Definition 1, from which the action is chosen.
    """

    @abstractmethod
    def expectation(self, loss: RealLoss) -> Expectation:
        """Return Bayes risk and regret of the action of the mixture, expected over draws."""

    def components(self, loss: Loss, *, seed: int = 0) -> Components:
        """Return Definition 1, estimated; see :func:`rue.decompose`."""
        aleatoric, epistemic, _ = self.expectation(loss.real())
        total = aleatoric + epistemic
        return Components(
            round_to_digits(total, total),
            round_to_digits(aleatoric, total),
            round_to_digits(epistemic, total),
        )

    @abstractmethod
    def mixture_mean(self) -> FloatArray:
        """Return the mean of the mixture, shape (n_points,)."""

    @abstractmethod
    def mixture_quantile(self, q: float) -> FloatArray:
        """Return the quantile of the mixture at level q, shape (n_points,)."""

    @abstractmethod
    def mixture_spread(self) -> FloatArray:
        """Return E|X - X'|/2 for two independent values of the mixture, shape (n_points,)."""

    @abstractmethod
    def mixture_distances(self, answers: Ragged) -> FloatArray:
        """Return E|X - y| for each answer y, shape (n_answers,)."""

    def __repr__(self) -> str:
        n_draws = getattr(self, "n_draws", None)
        draws = "" if n_draws is None else f" x {n_draws} draws"
        return f"{type(self).__name__}({self.n_points:,} points{draws})"
