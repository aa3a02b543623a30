"""The loss of an action under each answer, from which annotators can be resampled."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray, round_to_scale
from rue.beliefs.base import Belief
from rue.errors import InputError
from rue.losses import Loss, get_loss
from rue.truth.annotations import Annotations, deployed_actions
from rue.truth.base import Realized, Truth
from rue.truth.finite_annotators import estimate_bayes_risk
from rue.truth.rating_answers import RatingAnswers, rating_answers, smaller_half
from rue.truth.ratings import Ratings

__all__ = ["Answers", "answers"]

_MOST = 1_000_000_000  # numpy draws from fewer


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers about each point, and the loss of the point's action under each of them.

    The realised total is the mean of ``losses`` over the answers.

    Attributes
    ----------
    counts : array of shape (n_points, n_classes)
        The number of answers for each class.
    losses : array of shape (n_points, n_classes)
        The loss of the action if the class is true.
    loss : Loss
        The loss.
    """

    counts: FloatArray
    losses: FloatArray
    loss: Loss

    @property
    def n_answers(self) -> FloatArray:
        """The number of answers of each point, shape (n_points,)."""
        return np.asarray(self.counts.sum(axis=1))

    def __len__(self) -> int:
        return len(self.counts)

    def keys(self) -> tuple[FloatArray, ...]:
        """Return columns by which to sort points, so that only equal points can change places."""
        return (*self.counts.T, *self.losses.T)

    def leave_one_out(self) -> FloatArray:
        """Return the leave-one-out Bayes risk of each point, shape (n_points,)."""
        return estimate_bayes_risk(Annotations(self.counts), self.loss, "leave_one_out")

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Answers":
        return Answers(self.counts[rows], self.losses[rows], self.loss)

    def in_columns(self, columns: IntArray, loss: Loss) -> "Answers":
        """Return the same with the classes in another order, and the loss on that order."""
        return Answers(self.counts[:, columns], self.losses[:, columns], loss)

    def redrawn(self, rng: np.random.Generator) -> Realized:
        """Return the realised components of answers resampled with replacement.

        Each point gets as many answers as it has, drawn from its own.
        """
        m = self.counts.sum(axis=1)
        probs = rng.multinomial(m.astype(np.int64), self.counts / m[:, None]) / m[:, None]
        return self._realized(probs)

    def subsampled(self, n_annotators: int, rng: np.random.Generator) -> "Answers":
        """Return at most ``n_annotators`` answers per point, drawn without replacement."""
        kept = np.minimum(self.counts.sum(axis=1), n_annotators).astype(np.int64)
        return Answers(self._drawn(kept, rng), self.losses, self.loss)

    def _drawn(self, kept: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Return the counts of ``kept`` answers of each point, drawn without replacement."""
        many = self.n_answers >= _MOST
        if many.any():
            row = int(np.argmax(many))
            raise InputError(
                f"a point must have fewer than {_MOST:,} answers for some to be drawn, got "
                f"{self.n_answers[row]:,.0f} at row {row}"
            )
        whole = self.counts.astype(np.int64)
        drawn = np.empty_like(whole)
        left, rest = kept.copy(), whole.sum(axis=1)
        for k in range(whole.shape[1]):  # class by class, hypergeometric given those before
            rest = rest - whole[:, k]
            drawn[:, k] = rng.hypergeometric(whole[:, k], rest, left)
            left = left - drawn[:, k]
        return drawn.astype(np.float64)

    def halves(self, rng: np.random.Generator) -> "tuple[Answers, Answers]":
        """Return two random halves of the answers, as large as :func:`smaller_half` says."""
        first = self._drawn(smaller_half(self.n_answers), rng)
        return (
            Answers(first, self.losses, self.loss),
            Answers(self.counts - first, self.losses, self.loss),
        )

    def realized(self) -> Realized:
        """Return the realised components of the answers (the plug-in estimate)."""
        return self._realized(self.counts / self.counts.sum(axis=1, keepdims=True))

    def _realized(self, probs: FloatArray) -> Realized:
        scale = self.loss.scale(probs.shape[1])
        total = round_to_scale((probs * self.losses).sum(axis=1), scale)
        aleatoric = round_to_scale(self.loss.bayes_risk(probs), scale)
        regret = np.maximum(round_to_scale(total - aleatoric, scale), 0.0)
        return Realized(total, aleatoric, regret)


@overload
def answers(
    annotations: Annotations,
    belief: Belief | None,
    loss: str | Loss = ...,
    *,
    values: ArrayLike | None = ...,
    actions: ArrayLike | None = ...,
) -> Answers: ...
@overload
def answers(
    annotations: Truth,
    belief: Belief | None,
    loss: str | Loss = ...,
    *,
    values: ArrayLike | None = ...,
    actions: ArrayLike | None = ...,
) -> Answers | RatingAnswers: ...
def answers(
    annotations: Truth,
    belief: Belief | None,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
) -> Answers | RatingAnswers:
    """Return the loss of each point's action under each answer.

    Parameters
    ----------
    annotations, belief, loss, values, actions
        As in :func:`rue.realize`; the annotations must have counts.

    Returns
    -------
    Answers or RatingAnswers
        Counts and losses, each of shape (n_points, n_classes); of ratings one loss per answer.

    Raises
    ------
    InputError
        If p* is known exactly, so that there are no answers to resample.

    Examples
    --------
    >>> from rue import Annotations
    >>> answers(Annotations([[8, 2]]), None, "squared", actions=[0.5]).losses
    array([[0.25, 0.25]])
    """
    loss = get_loss(loss, values=annotations.values if values is None else values)
    if isinstance(annotations, Ratings):
        return rating_answers(annotations, belief, loss, actions=actions)
    if not isinstance(annotations, Annotations) or annotations.counts is None:
        raise InputError("annotators cannot be resampled if p* is known exactly: pass counts")
    n_classes = annotations.n_classes
    losses = np.empty((len(annotations), n_classes))
    for rows, action in deployed_actions(annotations, belief, loss, actions):
        losses[rows] = loss.losses(action, n_classes)
    return Answers(annotations.counts, losses, loss)
