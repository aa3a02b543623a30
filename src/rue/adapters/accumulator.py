"""Accumulator: evaluate in a validation loop, batch by batch, as torchmetrics does."""

from collections.abc import Sequence
from dataclasses import fields, replace
from textwrap import shorten
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.beliefs import Belief, Draws, Scored
from rue.components import Components, decompose, realize
from rue.errors import InputError
from rue.losses import Log, Loss, get_loss
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.runs import Run
from rue.truth.annotations import Annotations
from rue.truth.finite_annotators import bracket_end

__all__ = ["Accumulator"]


@final
class Accumulator:
    """Takes batches and gives what :func:`rue.evaluate` gives for all of them at once.

    Only the components of each point are kept, and under log loss the counts too: there the lower
    end of the bracket pools what people said of all points
    (:mod:`rue.truth.finite_annotators`). An accumulator can be pickled, so that workers may each
    have one and one of them merge the rest.

    Parameters
    ----------
    loss, values, seed
        As in :func:`rue.evaluate`.
    method
        A name for the row.

    Examples
    --------
    >>> accumulator = Accumulator("brier")
    >>> accumulator.update([[[0.9, 0.1]] * 2, [[0.9, 0.1], [0.3, 0.7]]], [[9, 1], [5, 5]])
    >>> accumulator.update([[[0.0, 1.0]] * 2], [[0, 10]])
    >>> round(accumulator.compute().regret, 6)
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
        get_loss(loss, values=values)  # or raise
        self._loss = loss
        self._values = values
        self.method = method
        self.seed = seed
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._star: list[Components] = []
        self._hat: list[Components] = []
        self._counts: list[FloatArray] = []
        self._kind: _Kind | None = None

    def __len__(self) -> int:
        return sum(map(len, self._star))

    def update(
        self,
        probs: ArrayLike | Belief,
        counts: ArrayLike | Annotations,
        *,
        actions: ArrayLike | None = None,
    ) -> None:
        """Take a batch.

        Parameters
        ----------
        probs
            Draws, shape (n_points, n_draws, n_classes), or any belief.
        counts
            What people said, shape (n_points, n_classes), or annotations.
        actions
            What was really deployed; see :func:`rue.realize`.
        """
        belief = probs if isinstance(probs, Belief) else Draws(probs)
        people = counts if isinstance(counts, Annotations) else Annotations(counts)
        loss = get_loss(self._loss, values=people.values if self._values is None else self._values)
        known = people.counts is None
        kind = (loss, people.n_classes, isinstance(belief, Scored), known)
        _require_same(self._kind or kind, kind)
        star = realize(people, belief, loss, actions=actions)
        hat = decompose(belief, loss, seed=self.seed)
        self._kind = kind
        self._star.append(star)
        self._hat.append(hat)
        if isinstance(loss, Log) and people.counts is not None:
            self._counts.append(people.counts)

    def merge(self, *others: "Accumulator") -> None:
        """Take the batches of others, which are left as they are."""
        kind = self._kind
        for other in others:
            if not isinstance(other, Accumulator):
                raise InputError(f"others must be accumulators, got {type(other).__name__}")
            if other._kind is not None:
                kind = kind or (self._own(other._kind[0]), *other._kind[1:])
                _require_same(kind, other._kind)
        self._kind = kind
        for other in others:
            # A list of its own: one may be merged with itself.
            self._star += list(other._star)
            self._hat += list(other._hat)
            self._counts += list(other._counts)

    def components(self) -> tuple[Components, Components]:
        """Give the components of all points so far, realised and estimated."""
        if not self._star:
            raise InputError("nothing was accumulated: call update first")
        star, hat = _joined(self._star), _joined(self._hat)
        if self._counts:
            people = Annotations(np.concatenate(self._counts))
            star = replace(star, aleatoric_high=bracket_end(people, Log()))
        return star, hat

    def compute(self, *, gap: bool = True) -> Evaluation:
        """Give one row of the paper's table; ``gap`` as in :func:`rue.evaluate`."""
        star, hat = self.components()
        assert self._kind is not None
        return evaluate_run(Run(star, hat, method=self.method, loss=self._kind[0]), gap=gap)

    def _own(self, theirs: Loss) -> Loss:
        """The loss asked for, on the scale of another's where it has none of its own."""
        values = getattr(theirs, "values", None) if self._values is None else self._values
        return get_loss(self._loss, values=values)


_Kind = tuple[Loss, int, bool, bool]
_KIND = (
    "loss",
    "number of classes",
    "kind of belief (with an outside score or without)",
    "kind of truth (known probabilities or counts)",
)


def _require_same(kind: _Kind, new: _Kind) -> None:
    for name, mine, other in zip(_KIND, kind, new, strict=True):
        told = [_described(x) if isinstance(x, Loss) else str(x) for x in (mine, other)]
        if told[0] != told[1]:
            raise InputError(
                f"all batches must have the same {name}, got {shorten(told[0], 80)} and "
                f"{shorten(told[1], 80)}"
            )


def _described(thing: object) -> str:
    """A loss's name, and all that tells it from others of that name."""
    if isinstance(thing, np.ndarray):
        return str(thing.tolist())
    if not isinstance(thing, Loss):
        return repr(thing)
    own = [f"{key}={_described(x)}" for key, x in sorted(vars(thing).items()) if x is not None]
    return f"{thing.name}({', '.join(own)})" if own else thing.name


def _joined(parts: Sequence[Components]) -> Components:
    """One after another; what some part does not know, the whole does not either."""
    columns: dict[str, Any] = {}
    for field in fields(Components):
        column = [getattr(part, field.name) for part in parts]
        known = all(isinstance(c, np.ndarray) for c in column)
        # All batches are of one kind of belief, so one's flag is that of all.
        shared = column[0] if field.name == "outside_score" else None
        columns[field.name] = np.concatenate(column) if known else shared
    return Components(**columns)
