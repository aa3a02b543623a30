"""The loss of an action under each answer, from which annotators can be resampled."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray, round_to_scale, row_sums
from rue.beliefs.base import Belief, Components
from rue.errors import InputError
from rue.losses import Loss, get_loss
from rue.losses.real import Ragged, round_to_digits
from rue.truth.annotations import Annotations
from rue.truth.base import Truth
from rue.truth.ratings import Ratings
from rue.truth.realized import deployed_action, deployed_actions, estimate_bayes_risk

_MOST = 1_000_000_000  # numpy draws from fewer


@dataclass(frozen=True, eq=False)
class Answers(ABC):
    """The answers about each point, and the loss of the point's action under each of them.

    The realised total is the mean of ``losses`` over the answers.

    Attributes
    ----------
    counts : array of shape (n_points, n_classes)
        The number of answers for each class; of real numbers without columns.
    losses : array of shape (n_points, n_classes) or (n_answers,)
        The loss of the action if the class is true; of real numbers, under each answer.
    loss : Loss
        The loss.
    """

    counts: FloatArray
    losses: FloatArray
    loss: Loss

    def __len__(self) -> int:
        return len(self.n_answers)

    @property
    @abstractmethod
    def n_answers(self) -> FloatArray:
        """The number of answers of each point, shape (n_points,)."""

    @abstractmethod
    def __getitem__(self, rows: slice | NDArray[Any]) -> Self:
        """Return the answers about some of the points."""

    @abstractmethod
    def in_columns(self, columns: IntArray, loss: Loss) -> Self:
        """Return the same with the classes in another order, and the loss on that order."""

    @abstractmethod
    def keys(self) -> tuple[FloatArray, ...]:
        """Return columns by which to sort points, so that only equal points can change places."""

    @abstractmethod
    def leave_one_out(self) -> FloatArray:
        """Return the leave-one-out Bayes risk of each point, shape (n_points,)."""

    @abstractmethod
    def redrawn(self, rng: np.random.Generator) -> Components:
        """Return the realised components of as many answers, resampled with replacement."""

    @abstractmethod
    def subsampled(self, n_annotators: int, rng: np.random.Generator) -> Self:
        """Return at most ``n_annotators`` answers per point, drawn without replacement."""

    @abstractmethod
    def halves(self, rng: np.random.Generator) -> tuple[Self, Self]:
        """Return two random halves of the answers, as large as :func:`smaller_half` says."""

    @abstractmethod
    def realized(self) -> Components:
        """Return the realised components of the answers (the plug-in estimate)."""


@dataclass(frozen=True, eq=False)
class ClassAnswers(Answers):
    """Answers that are classes, counted."""

    @property
    def n_answers(self) -> FloatArray:
        return row_sums(self.counts)

    def keys(self) -> tuple[FloatArray, ...]:
        return (*self.counts.T, *self.losses.T)

    def leave_one_out(self) -> FloatArray:
        return estimate_bayes_risk(Annotations(self.counts), self.loss, "leave_one_out")

    def __getitem__(self, rows: slice | NDArray[Any]) -> "ClassAnswers":
        return ClassAnswers(self.counts[rows], self.losses[rows], self.loss)

    def in_columns(self, columns: IntArray, loss: Loss) -> "ClassAnswers":
        return ClassAnswers(self.counts[:, columns], self.losses[:, columns], loss)

    def redrawn(self, rng: np.random.Generator) -> Components:
        m = self.n_answers
        probs = rng.multinomial(m.astype(np.int64), self.counts / m[:, None]) / m[:, None]
        return self._realized(probs)

    def subsampled(self, n_annotators: int, rng: np.random.Generator) -> "ClassAnswers":
        n_answers = np.minimum(self.n_answers, n_annotators).astype(np.int64)
        return replace(self, counts=self._drawn(n_answers, rng))

    def _drawn(self, n_answers: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
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
        left, rest = n_answers.copy(), whole.sum(axis=1)
        for k in range(whole.shape[1]):  # class by class, hypergeometric given those before
            rest = rest - whole[:, k]
            drawn[:, k] = rng.hypergeometric(whole[:, k], rest, left)
            left = left - drawn[:, k]
        return drawn.astype(np.float64)

    def halves(self, rng: np.random.Generator) -> "tuple[ClassAnswers, ClassAnswers]":
        first = self._drawn(smaller_half(self.n_answers), rng)
        return replace(self, counts=first), replace(self, counts=self.counts - first)

    def realized(self) -> Components:
        return self._realized(self.counts / self.counts.sum(axis=1, keepdims=True))

    def _realized(self, probs: FloatArray) -> Components:
        scale = self.loss.scale(probs.shape[1])
        total = round_to_scale((probs * self.losses).sum(axis=1), scale)
        aleatoric = round_to_scale(self.loss.bayes_risk(probs), scale)
        regret = np.maximum(round_to_scale(total - aleatoric, scale), 0.0)
        return Components(total, aleatoric, regret)


@dataclass(frozen=True, eq=False)
class RatingAnswers(Answers):
    """Answers that are real numbers."""

    answers: Ragged

    @classmethod
    def of(cls, answers: Ragged, losses: FloatArray, loss: Loss) -> "RatingAnswers":
        """Return answers with the loss of the action under each."""
        return cls(np.empty((answers.n_points, 0)), losses, loss, answers)

    @property
    def n_answers(self) -> FloatArray:
        return self.answers.lengths

    def __getitem__(self, rows: slice | NDArray[Any]) -> "RatingAnswers":
        part, place = self.answers.part(rows)
        return RatingAnswers.of(part, self.losses[place], self.loss)

    def in_columns(self, columns: IntArray, loss: Loss) -> "RatingAnswers":
        return self

    def keys(self) -> tuple[FloatArray, ...]:
        column = np.arange(len(self.losses)) - self.answers.repeat(self.answers.starts[:-1])
        row = self.answers.repeat(np.arange(len(self)))
        padded = np.full((2, len(self), int(self.n_answers.max())), np.inf)
        padded[0, row, column], padded[1, row, column] = self.answers.values, self.losses
        return (*padded[0].T, *padded[1].T)

    def redrawn(self, rng: np.random.Generator) -> Components:
        m = self.answers.repeat(self.n_answers)
        first = self.answers.repeat(self.answers.starts[:-1])
        drawn = first + np.floor(rng.random(len(m)) * m).astype(np.int64)
        # As often as it was drawn, in the old order, each answer is still sorted within its point.
        return self._kept(np.bincount(drawn, minlength=len(m))).realized()

    def subsampled(self, n_annotators: int, rng: np.random.Generator) -> "RatingAnswers":
        return self._kept(self._ranks(rng) < n_annotators)

    def halves(self, rng: np.random.Generator) -> "tuple[RatingAnswers, RatingAnswers]":
        first = self._ranks(rng) < self.answers.repeat(smaller_half(self.n_answers))
        return self._kept(first), self._kept(~first)

    def leave_one_out(self) -> FloatArray:
        return self.loss.real().leave_one_out(self.answers)

    def realized(self) -> Components:
        total = self.answers.means(self.losses)
        aleatoric = self.loss.real().bayes_risk(self.answers)
        return Components(
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
        """Repeat each answer the given number of times."""
        each = times.astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.add.reduceat(each, self.answers.starts[:-1]))])
        values = np.repeat(self.answers.values, each)
        return RatingAnswers.of(Ragged(values, starts), np.repeat(self.losses, each), self.loss)


def smaller_half(n_answers: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many answers of each point are in the first of two halves, shape (n_points,)."""
    whole: NDArray[np.int64] = np.asarray(n_answers).astype(np.int64)
    half = whole // 2
    return np.where((whole % 2 == 0) & (half % 2 == 1) & (half > 1), half - 1, half)


def answers(
    annotations: Truth,
    belief: Belief | None,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
) -> Answers:
    """Return the loss of each point's action under each answer."""
    loss = get_loss(loss, values=annotations.outcomes.values if values is None else values)
    if isinstance(annotations, Ratings):
        real = loss.real()
        action = deployed_action(annotations, belief, real, actions)
        return RatingAnswers.of(annotations.answers, real.losses(annotations.answers, action), loss)
    if not isinstance(annotations, Annotations) or annotations.counts is None:
        raise InputError("annotators cannot be resampled if p* is known exactly: pass counts")
    n_classes = annotations.n_classes
    losses = np.empty((len(annotations), n_classes))
    for rows, action in deployed_actions(annotations, belief, loss, actions):
        losses[rows] = loss.losses(action, n_classes)
    return ClassAnswers(annotations.counts, losses, loss)
