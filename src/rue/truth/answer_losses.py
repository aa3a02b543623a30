"""The loss of an action under each answer, from which annotators can be resampled."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.beliefs import Belief
from rue.errors import InputError
from rue.losses import Loss, get_loss
from rue.truth.annotations import Annotations
from rue.truth.deployed import deployed_actions

__all__ = ["Answers", "answers"]


class Realized(NamedTuple):
    """Realised total, aleatoric and epistemic (regret) of each point, each of shape (n_points,)."""

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray


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

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Answers":
        return Answers(self.counts[rows], self.losses[rows], self.loss)

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
        whole = self.counts.astype(np.int64)
        drawn = np.empty_like(whole)
        left, rest = kept.copy(), whole.sum(axis=1)
        for k in range(whole.shape[1]):  # class by class, hypergeometric given those before
            rest = rest - whole[:, k]
            drawn[:, k] = rng.hypergeometric(whole[:, k], rest, left)
            left = left - drawn[:, k]
        return drawn.astype(np.float64)

    def halves(self, rng: np.random.Generator) -> "tuple[Answers, Answers]":
        """Return two random halves of the answers; if odd, the second has one answer more."""
        whole = self.counts.sum(axis=1)
        first = self._drawn(np.floor(whole / 2).astype(np.int64), rng)
        return (
            Answers(first, self.losses, self.loss),
            Answers(self.counts - first, self.losses, self.loss),
        )

    def realized(self) -> Realized:
        """Return the realised components of the answers (the plug-in estimate)."""
        return self._realized(self.counts / self.counts.sum(axis=1, keepdims=True))

    def _realized(self, probs: FloatArray) -> Realized:
        n_classes = probs.shape[1]
        total = self.loss.round((probs * self.losses).sum(axis=1), n_classes)
        aleatoric = self.loss.round(self.loss.bayes_risk(probs), n_classes)
        regret = np.maximum(self.loss.round(total - aleatoric, n_classes), 0.0)
        return Realized(total, aleatoric, regret)


def answers(
    annotations: Annotations,
    belief: Belief | None,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
) -> Answers:
    """Return the loss of each point's action under each answer.

    Parameters
    ----------
    annotations, belief, loss, values, actions
        As in :func:`rue.realize`; the annotations must have counts.

    Returns
    -------
    Answers
        Counts and losses, each of shape (n_points, n_classes).

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
    if annotations.counts is None:
        raise InputError("annotators cannot be resampled if p* is known exactly: pass counts")
    n_classes = annotations.n_classes
    losses = np.empty((len(annotations), n_classes))
    for rows, action in deployed_actions(annotations, belief, loss, actions):
        for k in range(n_classes):
            sure = np.zeros_like(losses[rows])
            sure[:, k] = 1.0
            losses[rows, k] = loss.risk(sure, action)
    return Answers(annotations.counts, losses, loss)
