"""Ratings: real-valued answers about each point, and so its empirical distribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import LARGEST, FloatArray, as_array, as_values, as_vector
from rue.errors import InputError, ShapeError
from rue.losses import Squared
from rue.losses.outcomes import RealNumbers
from rue.losses.real import Ragged
from rue.truth.annotations import Annotations
from rue.truth.base import Truth


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ratings(Truth):
    """Real-valued answers about each point: p* is their empirical distribution.

    Parameters
    ----------
    ratings : iterable of sequences of float, or array_like
        For each point the answers given, at least one: lists of any lengths, or an array of
        shape (n_points, n_annotators), or (n_points,) for one answer each.
    range : tuple of two floats, optional
        The least and the largest answer possible, where that is known. A rule with a promise
        needs it, for it bounds the loss.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.

    Attributes
    ----------
    answers : Ragged
        All answers, ``answers.values``, sorted within each point, and where each point's start,
        ``answers.starts``.
    range : tuple or None
        As given.

    Raises
    ------
    InputError
        If a point has no answer, or an answer is not finite or outside the range.

    Examples
    --------
    >>> from rue import Ratings
    >>> ratings = Ratings([[3.0, 4.5], [1.0, 2.0, 2.5]], range=(0, 5))
    >>> len(ratings), ratings.n_annotators
    (2, array([2., 3.]))
    """

    answers: Ragged
    outcomes: RealNumbers

    def __init__(
        self,
        ratings: Iterable[Sequence[float]] | ArrayLike,
        range: tuple[float, float] | None = None,  # noqa: A002
        *,
        ids: ArrayLike | None = None,
    ) -> None:
        flat, lengths = _flat(ratings)
        self._fill(flat, np.repeat(np.arange(len(lengths)), lengths), len(lengths), range, ids)

    @classmethod
    def from_long(
        cls,
        ids: ArrayLike,
        values: ArrayLike,
        *,
        range: tuple[float, float] | None = None,  # noqa: A002
    ) -> Self:
        """Return ratings from one answer per row: the id of its point, and its value.

        Parameters
        ----------
        ids, values : array_like of shape (n_answers,)
            The point of each answer, and the answer; ids may be numbers or text. Points are in
            the order in which they first occur.
        range : tuple of two floats, optional
            As for the class.

        Returns
        -------
        Ratings
            With the points' ids as ``ids``.

        Examples
        --------
        >>> from rue import Ratings
        >>> ratings = Ratings.from_long(["b", "a", "b"], [1.0, 2.0, 3.0])
        >>> ratings.ids.tolist(), ratings.n_annotators.tolist()
        (['b', 'a'], [2.0, 1.0])
        """
        names = np.asarray(ids)
        flat = as_vector("values", values)
        if names.shape != flat.shape:
            raise ShapeError(
                f"ids must have one entry per answer, got {names.shape} for {len(flat)} answers"
            )
        unique, first, index = np.unique(names, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        ratings = cls.__new__(cls)
        ratings._fill(flat, place[index], len(unique), range, unique[order])
        return ratings

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        values: ArrayLike | None = None,
        *,
        range: tuple[float, float] | None = None,  # noqa: A002
        ids: ArrayLike | None = None,
    ) -> Self:
        """Return ratings from the number of annotators who chose each value of a scale.

        Parameters
        ----------
        counts : array_like of shape (n_points, n_values)
            Whole numbers.
        values : array_like of shape (n_values,), optional
            The increasing numbers that the columns stand for (default 0, 1, ...).
        range : tuple of two floats, optional
            As for the class; by default the ends of the scale.
        ids : array_like of shape (n_points,), optional
            The names of the points.

        Returns
        -------
        Ratings
            As many answers as were counted.

        Examples
        --------
        >>> from rue import Ratings
        >>> Ratings.from_counts([[2, 0, 1]], [-1.0, 0.0, 1.0]).answers.values.tolist()
        [-1.0, -1.0, 1.0]
        """
        whole = Annotations(counts).counts
        assert whole is not None  # they were given
        n_points, n_values = whole.shape
        scale = np.arange(float(n_values)) if values is None else as_values(values, n_values)
        each = whole.astype(np.int64)
        ratings = cls.__new__(cls)
        ratings._fill(
            np.repeat(np.tile(scale, n_points), each.ravel()),
            np.repeat(np.arange(n_points), each.sum(axis=1)),
            n_points,
            (float(scale[0]), float(scale[-1])) if range is None else range,
            ids,
        )
        return ratings

    def _fill(
        self,
        flat: FloatArray,
        points: NDArray[np.int64],
        n_points: int,
        limits: tuple[float, float] | None,
        ids: ArrayLike | None = None,
    ) -> None:
        """Set the answers, given in any order with the index of the point of each."""
        lengths = np.bincount(points, minlength=n_points)
        if not lengths.all():
            point = int(np.argmin(lengths))
            raise InputError(f"every point needs at least one answer, point {point} has none")
        _check("ratings must be finite", ~np.isfinite(flat), flat, points)
        _check("ratings must be below 1e50 in size", np.abs(flat) >= LARGEST, flat, points)
        if limits is not None:
            low, high = limits = _as_range(limits)
            outside = (flat < low) | (flat > high)
            _check(f"ratings must be within the range {low:g} to {high:g}", outside, flat, points)
        order = np.lexsort((flat, points))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        values = flat[order]
        values.flags.writeable = False
        self._set(ids, RealNumbers(limits), counts=None, answers=Ragged(values, starts))

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.answers.n_points

    @property
    def n_annotators(self) -> FloatArray:
        """The number of answers of each point, shape (n_points,)."""
        return self.answers.lengths

    @property
    def has_answers(self) -> bool:
        """True: ratings are answers."""
        return True

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return a row for each point, with NaN where it has fewer answers, and the range."""
        answers = self.answers
        column = np.arange(len(answers.values)) - answers.repeat(answers.starts[:-1])
        padded = np.full((len(self), int(answers.lengths.max())), np.nan)
        padded[answers.repeat(np.arange(len(self))), column] = answers.values
        limits = {} if self.range is None else {"range": np.array(self.range)}
        return {"ratings": padded, **limits}

    def facts(self) -> dict[str, str]:
        """Return the span of the answers, their number and their spread within points."""
        values = self.answers.values
        facts = {
            "points": f"{self.n_points:,}",
            "answers": f"real numbers, {values.min():g} to {values.max():g}",
            "annotators per point": self.asked,
        }
        if self.n_annotators.min() >= 2:
            spread = np.sqrt(Squared().real().unbiased(self.answers).mean())
            facts["standard deviation within points"] = f"{spread:.3g}"
        return facts

    def answer_bytes(self) -> list[bytes]:
        """Return the sorted answers of each point as bytes."""
        answers = np.split(self.answers.values, self.answers.starts[1:-1])
        return [row.astype("<f8").tobytes() for row in answers]

    def chosen_classes(self) -> NDArray[np.bool]:
        """Return an empty array: real numbers have no classes."""
        return np.zeros(0, bool)

    def within(self, limits: tuple[float, float]) -> Self:
        """Return the same answers with another range; raise if one is outside of it."""
        again = Ratings.__new__(Ratings)
        points = self.answers.repeat(np.arange(self.n_points))
        again._fill(self.answers.values, points, self.n_points, limits)
        return self._with(outcomes=again.outcomes)

    def first_difference(self, other: Truth) -> int | None:
        """Return the first of as many points with other answers, or None if all are the same."""
        if not isinstance(other, Ratings):
            return 0
        mine, its = self.answers, other.answers
        differs = mine.lengths != its.lengths
        if not differs.any():
            differs = mine.sums((mine.values != its.values).astype(float)) > 0
        return int(differs.argmax()) if differs.any() else None

    def __repr__(self) -> str:
        return f"Ratings({self.n_points:,} points, {self._span} answers each)"

    def _chosen(self, rows: Any) -> dict[str, Any]:
        return {"answers": self.answers.part(rows)[0]}


def _flat(ratings: Iterable[Any] | ArrayLike) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return all ratings one after another, and the number of each point."""
    if isinstance(ratings, np.ndarray) and ratings.dtype != object:
        array = as_array("ratings", ratings)
        if array.ndim not in (1, 2):
            raise ShapeError(
                "ratings must have shape (n_points,) or (n_points, n_annotators), "
                f"got {array.shape}"
            )
        rows: list[NDArray[Any]] = [] if len(array) == 0 else [array]
        lengths = np.full(len(array), array[0].size if len(array) else 0)
    else:
        try:
            each = list(ratings)  # type: ignore[arg-type]
        except TypeError:
            raise InputError(
                f"ratings must hold the answers of each point, got {type(ratings).__name__}"
            ) from None
        rows = [as_array(f"ratings of point {i}", row) for i, row in enumerate(each)]
        lengths = np.array([row.size for row in rows], np.int64)
    if not rows:
        raise InputError("ratings must hold at least one point, got none")
    return np.concatenate([row.ravel() for row in rows]).astype(np.float64), lengths


def _as_range(limits: tuple[float, float]) -> tuple[float, float]:
    ends = as_array("range", limits)
    if ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise InputError(f"range must be two increasing finite numbers (low, high), got {limits!r}")
    return float(ends[0]), float(ends[1])


def _check(
    rule: str, broken: NDArray[np.bool], flat: FloatArray, points: NDArray[np.int64]
) -> None:
    if broken.any():
        bad = int(np.argmax(broken))
        raise InputError(f"{rule}, got {flat[bad]:g} at point {points[bad]}")
