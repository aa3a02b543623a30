"""Accumulator: evaluate in a validation loop, batch by batch, as torchmetrics does."""

from collections.abc import Sequence
from dataclasses import fields, replace
from textwrap import shorten
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_array
from rue.beliefs import Belief, Draws, RealBelief, Scored
from rue.components import Components, Run, bracket_end
from rue.errors import InputError
from rue.losses import Log, Loss, get_loss
from rue.metrics.columns import SOURCES
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["Accumulator"]


@final
class Accumulator:
    """Evaluate batch by batch, with the same result as :func:`rue.evaluate` on all batches.

    Only the components of each point and the few numbers that columns read are kept; under log
    loss also the counts, because the lower end of the bracket pools the answers about all points
    (:mod:`rue.truth.finite_annotators`).
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
        self.seed = seed
        self.reset()

    def reset(self) -> None:
        """Remove all batches."""
        self._star: list[Components] = []
        self._hat: list[Components] = []
        self._counts: list[FloatArray] = []
        self._further: list[list[FloatArray | None]] = []
        self._notes: tuple[str, ...] = ()
        self._kind: _Kind | None = None

    def __len__(self) -> int:
        return sum(map(len, self._star))

    def update(
        self,
        counts: ArrayLike | Annotations | Ratings,
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
            The predictions: draws, or any belief.
        actions : array_like of shape (n_points,) or (n_points, n_classes), optional
            The actions of a deployed predictor; see :func:`rue.realize`.

        Raises
        ------
        InputError
            If the arguments are swapped, or the batch does not fit to those before it.
        """
        _require_truth_first(counts, probs)
        annotations = _truth(counts, real=isinstance(probs, RealBelief))
        belief = probs if isinstance(probs, Belief) else Draws(probs)
        values = annotations.values if self._values is None else self._values
        loss = get_loss(self._loss, values=values)
        kind = (loss, *_kind_of(annotations), isinstance(belief, Scored))
        _require_same(self._kind or kind, kind)
        run = Run.from_belief(annotations, belief, loss, actions=actions, seed=self.seed)
        self._kind = kind
        self._star.append(run.star)
        self._hat.append(run.hat)
        self._further.append([run.once(source) for source in SOURCES])
        self._notes = _merged(self._notes, run.notes)
        said = annotations.counts if isinstance(annotations, Annotations) else None
        if isinstance(loss, Log) and said is not None:
            self._counts.append(said)

    def merge(self, *others: "Accumulator") -> None:
        """Add the batches of other accumulators, which do not change."""
        kind = self._kind
        for other in others:
            if not isinstance(other, Accumulator):
                raise InputError(f"others must be accumulators, got {type(other).__name__}")
            if other._kind is not None:
                kind = kind or (self._own(other._kind[0]), *other._kind[1:])
                _require_same(kind, other._kind)
        self._kind = kind
        for other in others:
            # Copies, because an accumulator may be merged with itself.
            self._star += list(other._star)
            self._hat += list(other._hat)
            self._counts += list(other._counts)
            self._further += list(other._further)
            self._notes = _merged(self._notes, other._notes)

    def components(self) -> tuple[Components, Components]:
        """Return the realised and the estimated components of all points so far."""
        if not self._star:
            raise InputError("there are no batches yet: call update first")
        star, hat = _joined(self._star), _joined(self._hat)
        if self._counts:
            annotations = Annotations(np.concatenate(self._counts))
            star = replace(star, aleatoric_high=bracket_end(annotations, Log()))
        return star, hat

    def further(self) -> list[FloatArray | None]:
        """Return what columns read of each point beyond the components, for each of SOURCES."""
        columns = zip(*self._further, strict=True)
        return [
            None if any(part is None for part in parts) else np.concatenate(parts)
            for parts in columns
        ]

    def compute(self, *, gap: bool = True) -> Evaluation:
        """Return the evaluation of all points so far; ``gap`` as in :func:`rue.evaluate`."""
        star, hat = self.components()
        assert self._kind is not None
        run = Run(star, hat, method=self.method, loss=self._kind[0], notes=self._notes)
        known = zip(SOURCES, self.further(), strict=True)
        return evaluate_run(run.with_points(dict(known)), gap=gap)

    def _own(self, theirs: Loss) -> Loss:
        """Return this accumulator's loss, on the scale of another if it has no values."""
        values = getattr(theirs, "values", None) if self._values is None else self._values
        return get_loss(self._loss, values=values)


_Kind = tuple[Loss, str, str, bool]
_KIND = (
    "loss",
    "number of classes",
    "kind of truth",
    "kind of belief (with or without a score from another source)",
)


def _truth(counts: ArrayLike | Annotations | Ratings, *, real: bool) -> Annotations | Ratings:
    if isinstance(counts, Annotations | Ratings):
        return counts
    return Ratings(counts) if real else Annotations(counts)


def _kind_of(annotations: Annotations | Ratings) -> tuple[str, str]:
    if isinstance(annotations, Ratings):
        return "none (real numbers)", "ratings"
    known = annotations.counts is None
    return str(annotations.n_classes), "known probabilities" if known else "counts"


def _merged(notes: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*notes, *more)))


def _require_same(kind: _Kind, new: _Kind) -> None:
    for name, mine, other in zip(_KIND, kind, new, strict=True):
        texts = [_described(x) if isinstance(x, Loss) else str(x) for x in (mine, other)]
        if texts[0] != texts[1]:
            raise InputError(
                f"all batches must have the same {name}, got {shorten(texts[0], 80)} and "
                f"{shorten(texts[1], 80)}"
            )


def _require_truth_first(counts: object, probs: object) -> None:
    swapped = isinstance(counts, Belief) or isinstance(probs, Annotations | Ratings)
    known = isinstance(counts, Annotations | Ratings) or isinstance(probs, RealBelief)
    if not swapped and not known:
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


def _joined(parts: Sequence[Components]) -> Components:
    """Return the components of all parts; an attribute that a part lacks is None."""
    columns: dict[str, Any] = {}
    for field in fields(Components):
        column = [getattr(part, field.name) for part in parts]
        known = all(isinstance(c, np.ndarray) for c in column)
        # All batches are of one kind of belief, so one's flag is that of all.
        shared = column[0] if field.name == "outside_score" else None
        columns[field.name] = np.concatenate(column) if known else shared
    return Components(**columns)
