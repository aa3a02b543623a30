"""The loss of an action under each real-valued answer, from which annotators can be resampled."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray
from rue.beliefs import RealBelief
from rue.beliefs.base import Belief
from rue.errors import InputError, ShapeError
from rue.losses import Loss
from rue.losses.real import Ragged, RealLoss, round_to_digits
from rue.truth.base import Realized
from rue.truth.finite_annotators import Estimator, estimate_bayes_risk
from rue.truth.ratings import Ratings

__all__ = [
    "RatingAnswers",
    "RealizedRatings",
    "deployed_action",
    "rating_answers",
    "realize_ratings",
]


@dataclass(frozen=True, eq=False)
class RatingAnswers:
    """The real-valued answers about each point, and the loss of its action under each of them.

    Attributes
    ----------
    answers : Ragged
        The answers.
    losses : array of shape (n_answers,)
        The loss of the point's action under each answer.
    loss : Loss
        The loss.
    """

    answers: Ragged
    losses: FloatArray
    loss: Loss

    @property
    def n_answers(self) -> FloatArray:
        """The number of answers of each point, shape (n_points,)."""
        return self.answers.lengths

    def __len__(self) -> int:
        return self.answers.n_points

    def __getitem__(self, rows: slice | NDArray[Any]) -> "RatingAnswers":
        part, place = self.answers.part(rows)
        return RatingAnswers(part, self.losses[place], self.loss)

    def in_columns(self, columns: IntArray, loss: Loss) -> "RatingAnswers":
        """Return the same: real numbers have no columns."""
        return self

    def keys(self) -> tuple[FloatArray, ...]:
        """Return columns by which to sort points, so that only equal points can change places."""
        column = np.arange(len(self.losses)) - self.answers.repeat(self.answers.starts[:-1])
        row = self.answers.repeat(np.arange(len(self)))
        padded = np.full((2, len(self), int(self.n_answers.max())), np.inf)
        padded[0, row, column], padded[1, row, column] = self.answers.values, self.losses
        return (*padded[0].T, *padded[1].T)

    def redrawn(self, rng: np.random.Generator) -> Realized:
        """Return the realised components of answers resampled with replacement.

        Each point gets as many answers as it has, drawn from its own.
        """
        m = self.answers.repeat(self.n_answers)
        first = self.answers.repeat(self.answers.starts[:-1])
        drawn = first + np.floor(rng.random(len(m)) * m).astype(np.int64)
        # As often as it was drawn, in the old order, each answer is still sorted within its point.
        return self._kept(np.bincount(drawn, minlength=len(m))).realized()

    def subsampled(self, n_annotators: int, rng: np.random.Generator) -> "RatingAnswers":
        """Return at most ``n_annotators`` answers per point, drawn without replacement."""
        return self._kept(self._ranks(rng) < n_annotators)

    def halves(self, rng: np.random.Generator) -> "tuple[RatingAnswers, RatingAnswers]":
        """Return two random halves of the answers, as large as :func:`smaller_half` says."""
        first = self._ranks(rng) < self.answers.repeat(smaller_half(self.n_answers))
        return self._kept(first), self._kept(~first)

    def leave_one_out(self) -> FloatArray:
        """Return the leave-one-out Bayes risk of each point, shape (n_points,)."""
        return self.loss.real().leave_one_out(self.answers)

    def realized(self) -> Realized:
        """Return the realised components of the answers (the plug-in estimate)."""
        total = self.answers.means(self.losses)
        aleatoric = self.loss.real().bayes_risk(self.answers)
        return Realized(
            round_to_digits(total, total),
            round_to_digits(aleatoric, total),
            np.maximum(round_to_digits(total - aleatoric, total), 0.0),
        )

    def _ranks(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the place of each answer in a random order of those of its point."""
        n = len(self.losses)
        point = self.answers.repeat(np.arange(len(self)))
        order = np.lexsort((rng.random(n), point))
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n) - self.answers.repeat(self.answers.starts[:-1])
        return rank

    def _kept(self, times: NDArray[Any]) -> "RatingAnswers":
        """Return each answer so many times."""
        each = times.astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.add.reduceat(each, self.answers.starts[:-1]))])
        values = np.repeat(self.answers.values, each)
        return RatingAnswers(Ragged(values, starts), np.repeat(self.losses, each), self.loss)


def smaller_half(n_answers: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many answers of each point are in the first of two halves, shape (n_points,).

    An even number is split into two even ones (10 into 4 and 6), because votes can tie, and a
    median can lie between two answers, if their number is even only: odd halves of an even number
    would differ from the whole in more than their size. Two answers are split into one and one. Of
    an odd number the second half has one answer more.

    Examples
    --------
    >>> smaller_half(np.array([2, 4, 5, 10, 12]))
    array([1, 2, 2, 4, 6])
    """
    whole: NDArray[np.int64] = np.asarray(n_answers).astype(np.int64)
    half = whole // 2
    return np.where((whole % 2 == 0) & (half % 2 == 1) & (half > 1), half - 1, half)


def rating_answers(
    ratings: Ratings,
    belief: Belief | None,
    loss: Loss,
    *,
    actions: ArrayLike | None = None,
) -> RatingAnswers:
    """Return the loss of each point's action under each real-valued answer.

    Parameters
    ----------
    ratings, belief, loss, actions
        As in :func:`rue.realize`.

    Returns
    -------
    RatingAnswers
        One loss per answer.

    Examples
    --------
    >>> from rue import Squared
    >>> rating_answers(Ratings([[1.0, 3.0]]), None, Squared(), actions=[2.0]).losses
    array([1., 1.])
    """
    real = loss.real()
    action = deployed_action(ratings, belief, real, actions)
    return RatingAnswers(ratings.answers, real.losses(ratings.answers, action), loss)


class RealizedRatings(NamedTuple):
    """Realised total, aleatoric and epistemic (regret), (n_points,) each, rounded.

    ``aleatoric_high`` is the leave-one-out Bayes risk; None where it is not defined or not asked.
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray
    aleatoric_high: FloatArray | None


def realize_ratings(
    ratings: Ratings,
    belief: Belief | None,
    loss: Loss,
    *,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> RealizedRatings:
    """Return the realised components of real-valued answers; see :func:`rue.realize`."""
    real = loss.real()
    answers = ratings.answers
    action = deployed_action(ratings, belief, real, actions)
    total = answers.means(real.losses(answers, action))
    aleatoric = estimate_bayes_risk(ratings, loss, estimator)
    high = None
    if estimator == "plugin":
        epistemic = round_to_digits(real.regret(answers, action, total), total)
        if ratings.n_annotators.min() >= 2:
            high = round_to_digits(real.leave_one_out(answers), total)
    else:
        epistemic = round_to_digits(total - aleatoric, total)
    return RealizedRatings(
        round_to_digits(total, total), round_to_digits(aleatoric, total), epistemic, high
    )


def deployed_action(
    ratings: Ratings,
    belief: Belief | None,
    loss: RealLoss,
    actions: ArrayLike | None,
) -> Any:
    """Return the action that is judged: the one given, else the Bayes action of the belief."""
    if belief is not None and not isinstance(belief, RealBelief):
        raise InputError(
            "Ratings need a belief about real numbers (Gaussians, Samples or NormalInverseGamma), "
            f"got {type(belief).__name__}; for a belief about classes use Annotations"
        )
    if belief is not None and len(belief) != len(ratings):
        raise ShapeError(
            "ratings and belief must be of the same points, "
            f"got {len(ratings)} and {len(belief)} points"
        )
    if actions is not None:
        return loss.check_actions(actions, len(ratings))
    if belief is None:
        raise InputError("realize needs a belief or actions, got neither")
    return loss.action(belief)
