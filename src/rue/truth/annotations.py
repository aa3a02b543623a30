"""Annotations: what people said of each point, and so the true distribution p*."""

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
    require_finite,
    require_n_classes,
    require_shape,
    show,
)
from rue.errors import InputError

__all__ = ["Annotations"]


@dataclass(frozen=True, eq=False)
class Annotations:
    """How many people chose each class for each point: p* = counts / row sum.

    Parameters
    ----------
    counts
        Whole numbers, shape (n_points, n_classes); every row has at least one answer.
    values
        The K increasing numbers that the classes stand for under squared, absolute, rps and
        pinball loss, where they have such a scale (default 0..K-1).

    Attributes
    ----------
    counts : float array or None
        The counts; None where the distribution itself is known (:meth:`from_probs`).
    probs : float array
        The distribution p* of each point.

    Examples
    --------
    >>> Annotations([[8, 2], [5, 5]]).probs
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    counts: FloatArray | None
    probs: FloatArray
    values: FloatArray | None

    def __init__(self, counts: ArrayLike, values: ArrayLike | None = None) -> None:
        array = as_array("counts", counts)
        require_shape("counts", array, "n_points", "n_classes")
        require_n_classes("counts", array.shape[1])
        require_finite("counts", array)
        array = np.asarray(array, dtype=np.float64)
        _first_row("counts must not be negative", (array < 0).any(axis=1), array)
        whole = (array == np.rint(array)).all(axis=1)
        _first_row("counts must be below 2^53", (array >= 2.0**53).any(axis=1), array)
        rule = "counts must be whole numbers (for known probabilities: Annotations.from_probs)"
        _first_row(rule, ~whole, array)
        n_annotators = array.sum(axis=1)
        _first_row("every point needs at least one annotator", ~array.any(axis=1), array)
        self._set(array, array / n_annotators[:, None], values)

    @classmethod
    def from_ratings(
        cls,
        ratings: Iterable[Sequence[float]],
        *,
        values: ArrayLike | None = None,
        n_classes: int | None = None,
    ) -> Self:
        """Count ragged lists of ratings, one list per point.

        The classes are ``values``, or 0..n_classes-1, or else all ratings that occur, sorted.
        A rating that is none of them is an error.

        Examples
        --------
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
        return cls(cells.reshape(len(rows), len(scale)), scale)

    @classmethod
    def from_probs(cls, probs: ArrayLike, values: ArrayLike | None = None) -> Self:
        """Take a known p*, shape (n_points, n_classes), as if infinitely many had answered."""
        annotations = cls.__new__(cls)
        annotations._set(None, as_distributions("probs", probs), values)
        return annotations

    def _set(self, counts: FloatArray | None, probs: FloatArray, values: ArrayLike | None) -> None:
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "probs", probs)
        scale = None if values is None else as_values(values, probs.shape[1])
        object.__setattr__(self, "values", scale)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return len(self.probs)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.probs.shape[1])

    @property
    def n_annotators(self) -> FloatArray:
        """How many people answered for each point; infinity where p* is known."""
        if self.counts is None:
            return np.full(self.n_points, np.inf)
        return np.asarray(self.counts.sum(axis=1))

    def __len__(self) -> int:
        return self.n_points

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Annotations":
        """Give what was said of some of the points: a slice, a mask or indices."""
        if self.counts is None:
            return Annotations.from_probs(self.probs[rows], self.values)
        return Annotations(self.counts[rows], self.values)


def _first_row(rule: str, broken: np.bool | NDArray[np.bool], array: FloatArray) -> None:
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(f"{rule}, got {show(array[row])} at row {row}")
