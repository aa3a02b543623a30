"""Rows of a file as points: which rows are draws of one point."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue.errors import FileError

__all__ = ["PointRows", "column_of", "numbers", "point_rows", "require_once"]


def column_of(table: Mapping[str, Any], *names: str) -> str | None:
    """Return the first column with one of these names, in either case."""
    return next((column for column in table if column.lower() in names), None)


@dataclass(frozen=True, eq=False)
class PointRows:
    """Which rows are draws of which point.

    Attributes
    ----------
    rows
        Row numbers, (n_points, n_draws), points in the order in which they first occur.
    ids
        The points' names, (n_points,); empty where rows have no names.
    """

    path: Path
    rows: IntArray
    ids: NDArray[np.str_]

    def stacked(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return one entry per point: with draws where a point has several rows."""
        kept = array[self.rows]
        return kept[:, 0] if self.rows.shape[1] == 1 else kept

    def once(self, column: Sequence[Any], required: str | None = None) -> list[Any] | None:
        """Return one value per point, or None if draws of a point differ.

        With ``required``, a column's name, that they differ is an error.
        """
        kept = [column[row] for row in self.rows[:, 0]]
        for value, rows in zip(kept, self.rows, strict=True):
            for row in rows[1:]:
                if column[row] != value:
                    if required is None:
                        return None
                    raise FileError(
                        f"{self.path}: {required} must be the same for all draws of a point, got "
                        f"{value!r} and {column[row]!r} for {str(self.ids[0])!r}"
                    )
        return kept


def point_rows(
    path: Path,
    n_rows: int,
    ids: NDArray[np.str_] | None,
    draws: Sequence[Any] | None = None,
) -> PointRows:
    """Return which rows are draws of one point: those with the same id.

    Parameters
    ----------
    path
        For messages.
    n_rows
        How many rows the file has.
    ids
        The name of each row's point; None if rows have no names, so that each is a point.
    draws
        The number or name of each row's draw, None where it has none. Draws are then taken in the
        order in which their names first occur, and a point may not have one twice.

    Raises
    ------
    FileError
        If points have different numbers of draws, or different draws.
    """
    if ids is None:
        if draws is not None and any(draw is not None for draw in draws):
            raise FileError(f"{path}: rows with a draw need an id to say which point they are of")
        return PointRows(path, np.arange(n_rows)[:, None], np.zeros(0, np.str_))
    names, first, point, counts = np.unique(
        ids, return_index=True, return_inverse=True, return_counts=True
    )
    if counts.min() != counts.max():
        least = names[counts.argmin()]
        raise FileError(
            f"{path}: every point must have the same number of draws (rows with its id), "
            f"{str(least)!r} has {counts.min()} and {str(names[counts.argmax()])!r} {counts.max()}"
        )
    place = np.empty(len(names), np.int64)
    place[np.argsort(first)] = np.arange(len(names))
    labels = [None] * len(ids) if draws is None else list(draws)
    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    rank = np.array([order[label] for label in labels], dtype=np.int64)
    sort = np.lexsort((np.arange(len(ids)), rank, place[point]))
    rows = sort.reshape(len(names), -1)
    if any(label is not None for label in labels) and not (rank[rows] == rank[rows[0]]).all():
        bad = int(np.argmax((rank[rows] != rank[rows[0]]).any(axis=1)))
        raise FileError(
            f"{path}: every point must have the same draws, each once; "
            f"{str(ids[rows[bad, 0]])!r} does not have those of {str(ids[rows[0, 0]])!r}"
        )
    if len(order) > 1 and (np.diff(rank[rows], axis=1) == 0).any():
        bad = int(np.argmax((np.diff(rank[rows], axis=1) == 0).any(axis=1)))
        raise FileError(f"{path}: {str(ids[rows[bad, 0]])!r} has a draw twice")
    return PointRows(path, rows, ids[rows[:, 0]])


def numbers(path: Path, table: Mapping[str, NDArray[Any]], column: str) -> NDArray[np.float64]:
    """Return a column of numbers, or raise."""
    if table[column].dtype.kind not in "fiub":
        first = table[column][0]
        raise FileError(f"{path}: column {column} must hold numbers, got {str(first)!r} at row 0")
    return np.asarray(table[column], dtype=np.float64)


def require_once(path: Path, columns: Sequence[NDArray[Any]]) -> None:
    """Raise if two rows have the same entries in all of these columns."""
    if not columns:
        return
    (key, times), *_ = Counter(zip(*(c.tolist() for c in columns), strict=True)).most_common(1)
    if times > 1:
        raise FileError(f"{path}: {', '.join(map(repr, key))} must be in one row only, got {times}")
