"""Accumulator: evaluate in a validation loop, batch by batch, as torchmetrics does."""

from __future__ import annotations

from dataclasses import fields, replace
from textwrap import shorten
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_array, as_seed
from rue.beliefs import Belief, Draws
from rue.components import Components, Run
from rue.errors import InputError
from rue.losses import Log, Loss, get_loss
from rue.metrics.columns import SOURCES
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.truth.annotations import Annotations
from rue.truth.base import Truth
from rue.truth.ratings import Ratings
from rue.truth.realized import bracket_end

__all__ = ["Accumulator"]

PARTS = tuple(field.name for field in fields(Components) if field.name != "outside_score")
Columns = list[FloatArray | None]
"""The parts of the realised and of the estimated components, and what SOURCES read of them."""


@final
class Accumulator:
    """Evaluate batch by batch, with the same result as :func:`rue.evaluate` on all batches.

    Only the components of each point and the few numbers that columns read are kept; under log
    loss also the counts, because the lower end of the bracket pools the answers about all points
    (:mod:`rue.truth.realized`).
    An accumulator can be pickled, so that each worker may have one and one of them merge the
    others.

    Parameters
    ----------
    loss, values, seed
        As in :func:`rue.evaluate`.
    method : str
        The name of the method in the result.

    Examples
    --------
    >>> from rue import Accumulator
    >>> accumulator = Accumulator("brier")
    >>> accumulator.update([[9, 1], [5, 5]], [[[0.9, 0.1]] * 2, [[0.9, 0.1], [0.3, 0.7]]])
    >>> accumulator.update([[0, 10]], [[[0.0, 1.0]] * 2])
    >>> round(accumulator.compute(gap=False).regret, 6)
    0.006667
    """

    def __init__(
        self,
        loss: str | Loss = "log",
        *,
        values: ArrayLike | None = None,
        method: str = "",
        seed: int = 0,
    ) -> None:
        get_loss(loss, values=values)  # raises if it is invalid
        self._loss = loss
        self._values = values
        self.method = method
        self.seed = as_seed(seed)
        self.reset()

    def reset(self) -> None:
        """Remove all batches."""
        self.batches: list[Columns] = []
        self.counts: list[FloatArray] = []
        self.notes: tuple[str, ...] = ()
        self.kind: BatchKind | None = None

    def __len__(self) -> int:
        return sum(len(batch[0]) for batch in self.batches if batch[0] is not None)

    def update(
        self,
        counts: ArrayLike | Truth,
        probs: ArrayLike | Belief,
        *,
        actions: ArrayLike | None = None,
    ) -> None:
        """Add a batch, the truth first.

        Parameters
        ----------
        counts : array_like of shape (n_points, n_classes), Annotations or Ratings
            The answers of the annotators. With a belief about real numbers an array is one of
            ratings, shape (n_points,) or (n_points, n_annotators).
        probs : array_like of shape (n_points, n_draws, n_classes), Belief
            The predictions: draws, or any belief. Points and classes are matched by name
            (:func:`rue.align`), within the batch and with earlier ones.
        actions : array_like of shape (n_points,) or (n_points, n_classes), optional
            The actions of a deployed predictor; see :func:`rue.realize`.

        Raises
        ------
        InputError
            If the arguments are swapped, or the batch does not fit to those before it.
        """
        _require_truth_first(counts, probs)
        belief = probs if isinstance(probs, Belief) else Draws(probs)
        truth = counts
        if not isinstance(truth, Truth):
            truth = Annotations(truth) if belief.n_classes else Ratings(truth)
        run = Run.from_belief(
            truth, belief, self._loss, values=self._values, actions=actions, seed=self.seed
        ).by_class()
        kind = _kind_of(run)
        require_same(self.kind or kind, kind)
        self.kind = kind
        parts = [getattr(side, name) for side in (run.star, run.hat) for name in PARTS]
        self.batches.append([*parts, *(run.once(source) for source in SOURCES)])
        self.notes = _merged(self.notes, run.notes)
        assert run.annotations is not None
        if isinstance(run.loss, Log) and run.annotations.counts is not None:
            self.counts.append(run.annotations.counts)

    def merge(self, *others: Accumulator) -> None:
        """Add the batches of other accumulators, which do not change."""
        kind = self.kind
        for other in others:
            if not isinstance(other, Accumulator):
                raise InputError(f"others must be accumulators, got {type(other).__name__}")
            if other.kind is not None:
                kind = kind or (self._own(other.kind[0]), *other.kind[1:])
                require_same(kind, other.kind)
        self.kind = kind
        for other in others:
            # Copies, because an accumulator may be merged with itself.
            self.batches += list(other.batches)
            self.counts += list(other.counts)
            self.notes = _merged(self.notes, other.notes)

    def components(self) -> tuple[Components, Components]:
        """Return the realised and the estimated components of all points so far."""
        run = self._run()
        return run.star, run.hat

    def compute(self, *, gap: bool = True) -> Evaluation:
        """Return the evaluation of all points so far; ``gap`` as in :func:`rue.evaluate`.

        Corrected values, floor and expectation need all predictions at once and are empty; so does
        the note about predictions that are worse than the mean answer.
        """
        return evaluate_run(self._run(), gap=gap)

    def _run(self) -> Run:
        """Return the run of all points so far; a column that a batch lacks is None."""
        if self.kind is None:
            raise InputError("there are no batches yet: call update first")
        columns = [
            None if any(part is None for part in parts) else np.concatenate(parts)
            for parts in zip(*self.batches, strict=True)
        ]
        counts = np.concatenate(self.counts) if self.counts else None
        loss, *_, outside = self.kind
        return run_of(columns, counts, loss, outside, method=self.method, notes=self.notes)

    def _own(self, theirs: Loss) -> Loss:
        """Return this accumulator's loss, on the scale of another if it has no values."""
        values = getattr(theirs, "values", None) if self._values is None else self._values
        return get_loss(self._loss, values=values)


def run_of(
    columns: Columns,
    counts: FloatArray | None,
    loss: Loss,
    outside_score: bool,
    *,
    method: str = "",
    notes: tuple[str, ...],
) -> Run:
    """Return the run of points of which the columns, and under log loss the counts, are known."""
    n = len(PARTS)
    sides: Any = (dict(zip(PARTS, columns[i : i + n], strict=True)) for i in (0, n))
    star, hat = (Components(**side) for side in sides)
    if counts is not None:
        high = bracket_end(Annotations(counts), loss)
        star = replace(star, aleatoric_high=high, person=high)  # a panel is asked
    hat = replace(hat, outside_score=outside_score)
    run = Run(star, hat, method=method, loss=loss, notes=notes)
    return run.with_points(dict(zip(SOURCES, columns[2 * n :], strict=True)))


BatchKind = tuple[Loss, str, str, str, bool]
_KIND = (
    "loss",
    "number of classes",
    "classes",
    "kind of truth",
    "kind of belief (with or without a score from another source)",
)


def _kind_of(run: Run) -> BatchKind:
    truth, loss = run.annotations, run.loss
    assert truth is not None
    assert isinstance(loss, Loss)
    n_classes = str(truth.outcomes.n or "none (real numbers)")
    classes = ", ".join(run.classes or ("without names",))
    answers = "answers" if truth.has_answers else "known probabilities"
    return loss, n_classes, classes, answers, run.hat.outside_score


def _merged(notes: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*notes, *more)))


def require_same(kind: BatchKind, new: BatchKind) -> None:
    """Raise if a batch is of another kind than those before it."""
    for name, mine, other in zip(_KIND, kind, new, strict=True):
        texts = [_described(x) if isinstance(x, Loss) else str(x) for x in (mine, other)]
        if texts[0] != texts[1]:
            raise InputError(
                f"all batches must have the same {name}, got {shorten(texts[0], 80)} and "
                f"{shorten(texts[1], 80)}"
            )


def _require_truth_first(counts: object, probs: object) -> None:
    swapped = isinstance(counts, Belief) or isinstance(probs, Truth)
    real = isinstance(probs, Belief) and not probs.n_classes
    if not swapped and not real and not isinstance(counts, Truth):
        swapped = as_array("counts", cast(ArrayLike, counts)).ndim == 3
    if swapped:
        raise InputError(
            "update takes the truth first, update(counts, probs): counts have shape "
            "(n_points, n_classes), probs (n_points, n_draws, n_classes); they are swapped"
        )


def _described(thing: object) -> str:
    """Return the name of a loss with all its parameters."""
    if isinstance(thing, np.ndarray):
        return str(thing.tolist())
    if not isinstance(thing, Loss):
        return repr(thing)
    own = [f"{key}={_described(x)}" for key, x in sorted(vars(thing).items()) if x is not None]
    return f"{thing.name}({', '.join(own)})" if own else thing.name
