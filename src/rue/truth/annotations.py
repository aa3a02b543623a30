"""Annotations: the answers of annotators about each point, and so its true distribution p*.

They are compared with actions: those of a deployed predictor, or a belief's Bayes actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    as_array,
    as_distributions,
    as_values,
    chunked,
    kept,
    require_finite,
    require_n_classes,
    require_shape,
    round_to_scale,
    row_sums,
    show,
)
from rue.beliefs.base import require_any_belief
from rue.beliefs.draws import ClassBelief
from rue.errors import InputError
from rue.losses import Log, Loss
from rue.losses.outcomes import Classes, as_classes
from rue.truth.base import Truth


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Annotations(Truth):
    """The number of annotators who chose each class for each point.

    The true distribution of a point is p* = counts / row sum.

    Parameters
    ----------
    counts : array_like of shape (n_points, n_classes)
        Whole numbers; every point has at least one answer.
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for under squared, absolute, rps and
        pinball loss, by default 0..K-1.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    classes : sequence of names or Classes, optional
        The names of the classes in the order of the columns. Names that are numbers are their
        own scale.

    Attributes
    ----------
    counts : array of shape (n_points, n_classes), or None
        The counts; None if the distribution itself is known (:meth:`from_probs`).
    probs : array of shape (n_points, n_classes)
        The distribution p* of each point.

    Raises
    ------
    InputError
        If a count is negative or not whole, or a point has no answer.

    Examples
    --------
    >>> from rue import Annotations
    >>> Annotations([[8, 2], [5, 5]]).probs
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    counts: FloatArray | None
    probs: FloatArray
    outcomes: Classes
    _ROWS = _COLUMNS = ("counts", "probs")

    def __init__(
        self,
        counts: ArrayLike,
        values: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
    ) -> None:
        array = as_array("counts", counts)
        require_shape("counts", array, "n_points", "n_classes")
        require_n_classes("counts", array.shape[1])
        array = np.asarray(array, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            n_annotators = array.sum(axis=1)
        if not (_are_counts(array) and n_annotators.all()):
            _require_counts(array)
        array = kept(array, counts)
        self._fill(array, array / n_annotators[:, None], values, ids, classes)

    @classmethod
    def from_ratings(
        cls,
        ratings: Iterable[Sequence[float]],
        *,
        values: ArrayLike | None = None,
        n_classes: int | None = None,
        ids: ArrayLike | None = None,
    ) -> Self:
        """Return the annotations that lists of ratings, one per point, amount to.

        Parameters
        ----------
        ratings : iterable of sequences
            The ratings of each point; the lists may differ in length.
        values : array_like of shape (n_classes,), optional
            The ratings that are possible, increasing; they become the classes.
        n_classes : int, optional
            If given instead of ``values``, the classes are 0..n_classes-1. With neither, the
            classes are the ratings that occur, sorted.
        ids : array_like of shape (n_points,), optional
            The names of the points.

        Returns
        -------
        Annotations
            The counts, with the classes as ``values``.

        Raises
        ------
        InputError
            If a rating is none of the classes, or a point has no rating.

        Examples
        --------
        >>> from rue import Annotations
        >>> Annotations.from_ratings([[-1, 1, 1], [0]], values=[-1, 0, 1]).counts
        array([[1., 0., 2.],
               [0., 1., 0.]])
        """
        rows = [as_array(f"ratings of point {i}", row).ravel() for i, row in enumerate(ratings)]
        if not rows:
            raise InputError("ratings must hold at least one point, got none")
        lengths = np.array([len(row) for row in rows])
        if not lengths.all():
            point = int(np.argmin(lengths))
            raise InputError(f"every point needs at least one annotator, point {point} has none")
        flat = np.concatenate(rows).astype(np.float64)
        points = np.repeat(np.arange(len(rows)), lengths)
        if not np.isfinite(flat).all():
            bad = int(np.argmin(np.isfinite(flat)))
            raise InputError(f"ratings must be finite, got {flat[bad]} at point {points[bad]}")
        if n_classes is not None and values is not None:
            raise InputError("give values or n_classes, not both")
        if n_classes is not None:
            if not isinstance(n_classes, int | np.integer) or n_classes < 2:
                raise InputError(f"n_classes must be a whole number of at least 2, got {n_classes}")
            scale = np.arange(n_classes, dtype=np.float64)
        else:
            scale = np.unique(flat) if values is None else as_values(values)
        classes = np.minimum(np.searchsorted(scale, flat), len(scale) - 1)
        unknown = scale[classes] != flat
        if unknown.any():
            bad = int(np.argmax(unknown))
            raise InputError(
                f"every rating must be one of the values, got {flat[bad]:g} at point {points[bad]}"
            )
        cells = np.bincount(points * len(scale) + classes, minlength=len(rows) * len(scale))
        return cls(cells.reshape(len(rows), len(scale)), scale, ids=ids)

    @classmethod
    def from_probs(
        cls,
        probs: ArrayLike,
        values: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
    ) -> Self:
        """Return annotations with a known p*, as infinitely many annotators would give.

        Parameters
        ----------
        probs : array_like of shape (n_points, n_classes)
            The distribution p* of each point.
        values : array_like of shape (n_classes,), optional
            The increasing numbers that the classes stand for, by default 0..K-1.
        ids, classes
            The names of the points and of the classes, as for the class.

        Returns
        -------
        Annotations
            Annotations whose ``counts`` are None.

        Examples
        --------
        >>> from rue import Annotations
        >>> Annotations.from_probs([[0.25, 0.75]]).n_annotators
        array([inf])
        """
        annotations = cls.__new__(cls)
        annotations._fill(None, as_distributions("probs", probs), values, ids, classes)
        return annotations

    def _fill(
        self,
        counts: FloatArray | None,
        probs: FloatArray,
        values: ArrayLike | None,
        ids: ArrayLike | None,
        classes: Sequence[Any] | Classes | None,
    ) -> None:
        n_classes = probs.shape[1]
        if values is None or isinstance(classes, Classes):
            outcomes = as_classes(classes, n_classes, "counts")
        else:
            outcomes = Classes(n_classes if classes is None else classes, values)
            as_classes(outcomes, n_classes, "counts")
        probs.flags.writeable = False
        self._set(ids, outcomes, counts=counts, probs=probs)

    @property
    def n_annotators(self) -> FloatArray:
        """The number of annotators of each point, shape (n_points,); infinity if p* is known."""
        if self.counts is None:
            return np.full(self.n_points, np.inf)
        return row_sums(self.counts)

    @property
    def has_answers(self) -> bool:
        """Whether there are counts."""
        return self.counts is not None

    @property
    def votes(self) -> FloatArray:
        """The counts, or p* where it is known."""
        return self.probs if self.counts is None else self.counts

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the array by which a file holds the answers."""
        return {"counts": self.votes}

    def facts(self) -> dict[str, str]:
        """Return the classes, the number of annotators and how much they agree."""
        names, n_classes = self.outcomes.names, self.n_classes
        entropy = float(Log().bayes_risk(self.probs).mean())
        n_asked = "annotators" if self.counts is None else "annotators per point"
        agreed = float((self.probs.max(axis=1) == 1.0).mean())
        return {
            "points": f"{self.n_points:,}",
            "classes": ", ".join(names) if names and n_classes <= 12 else f"{n_classes:,}",
            n_asked: self.asked,
            "entropy of the answers": f"{entropy:.3f} nats on average, "
            f"{entropy / np.log(n_classes):.0%} of the maximum",
            "points on which all agree": f"{agreed:.1%}",
        }

    def entropies(self) -> FloatArray:
        """Return the entropy of the answers of each point, in nats."""
        return round_to_scale(Log().bayes_risk(self.probs), Log().scale(self.n_classes))

    def majority(self) -> NDArray[Any]:
        """Return the class that most annotators chose, by name where classes have names."""
        most = self.probs.argmax(axis=1)
        names = self.outcomes.names
        return np.asarray(most if names is None else np.array(names)[most])

    def constant_risk(self, loss: Loss) -> FloatArray:
        """Return the risk of predicting the mean answer of all points."""
        action = loss.action(self.probs.mean(axis=0, keepdims=True))
        return np.concatenate([loss.risk(part, action) for _, part in chunked(self.probs, 1 << 22)])

    def within(self, limits: tuple[float, float]) -> Self:
        """Raise: classes have no range."""
        raise InputError(f"a range is for real-valued answers, got {limits} for classes")

    def answer_bytes(self) -> list[bytes]:
        """Return the counts of each point as bytes, or p* where it is known."""
        table = np.asarray(self.votes, dtype="<f8")
        return [row.tobytes() for row in table + 0.0]

    def chosen_classes(self) -> NDArray[np.bool]:
        """Return which classes somebody chose, shape (n_classes,)."""
        return np.asarray(self.probs.any(axis=0))

    def first_difference(self, other: Truth) -> int | None:
        """Return the first of as many points with another p*, or None if all are the same."""
        if not isinstance(other, Annotations):
            return 0
        mine, its = self, other
        if mine.outcomes.names != its.outcomes.names and mine.outcomes.names and its.outcomes.names:
            names = tuple(dict.fromkeys((*mine.outcomes.names, *its.outcomes.names)))
            mine, its = mine._on_names(names), its._on_names(names)
        if its.n_classes != mine.n_classes:
            return 0
        differs = (mine.probs != its.probs).any(axis=1)
        return int(differs.argmax()) if differs.any() else None

    def _on_names(self, names: tuple[str, ...]) -> Self:
        """Return the same with these classes, of which others than its own were never chosen."""
        return self._in_columns(self.outcomes._columns_of(names), Classes(names, order="none"))

    def __repr__(self) -> str:
        asked = "p* known" if self.counts is None else f"{self._span} annotators"
        return f"Annotations({self.n_points:,} points x {self.n_classes} classes, {asked})"


def require_belief(belief: object) -> ClassBelief:
    """Return the belief, or raise unless it is one about classes."""
    if not isinstance(require_any_belief(belief), ClassBelief):
        raise InputError(
            f"Annotations need a belief about classes (Draws, Dirichlet or Scored), "
            f"got {type(belief).__name__}; for a belief about real numbers use Ratings"
        )
    return belief  # type: ignore[return-value]


def _are_counts(array: FloatArray) -> bool:
    """Return whether all are whole numbers from 0 to below 2^53, in few passes."""
    chunks = (array[start : start + 8192] for start in range(0, len(array), 8192))
    return all(
        chunk.min() >= 0 and chunk.max() < 2.0**53 and bool((chunk == np.rint(chunk)).all())
        for chunk in chunks
    )


def _require_counts(array: FloatArray) -> None:
    require_finite("counts", array)
    _first_row("counts must not be negative", (array < 0).any(axis=1), array)
    _first_row("counts must be below 2^53", (array >= 2.0**53).any(axis=1), array)
    rule = "counts must be whole numbers (for known probabilities: Annotations.from_probs)"
    _first_row(rule, (array != np.rint(array)).any(axis=1), array)
    _first_row("every point needs at least one annotator", ~array.any(axis=1), array)


def _first_row(rule: str, broken: np.bool | NDArray[np.bool], array: FloatArray) -> None:
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(f"{rule}, got {show(array[row])} at row {row}")
