"""Rows of a file as points: which column names them, and which rows are draws of one point."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue.errors import FileError
from rue.io.opening import text_array

__all__ = [
    "ID_NAMES",
    "PointRows",
    "column_of",
    "find_id_name",
    "named_rows",
    "numbers",
    "point_rows",
    "require_once",
]

ID_NAMES = ("id", "ids", "uid", "item", "item_id")
"""What the column that names the points may be called, in either case."""


def find_id_name(path: Path, names: Sequence[str], wanted: str | None = None) -> str | None:
    """Return which of a file's columns names the points, or None if there is none.

    Parameters
    ----------
    path
        For messages.
    names
        The file's columns.
    wanted
        The column that the user named, if any.

    Raises
    ------
    FileError
        If the wanted column is not there, or two columns could be the one.
    """
    if wanted is not None:
        if wanted not in names:
            raise FileError(
                f"{path}: has no column {wanted!r} to name its rows, only {', '.join(names)[:200]}"
            )
        return wanted
    found = [name for name in names if name.lower() in ID_NAMES]
    if len(found) > 1:
        raise FileError(f"{path}: {' and '.join(found)} could both name the rows; choose with --id")
    return found[0] if found else None


def column_of(table: Mapping[str, Any], *names: str) -> str | None:
    """Return the first column with one of these names, in either case."""
    return next((column for column in table if column.lower() in names), None)


def named_rows(path: Path, values: Sequence[Any] | NDArray[Any], name: str) -> NDArray[np.str_]:
    """Return the ids of rows as text: words, or whole numbers without a point.

    Raises
    ------
    FileError
        If a row has no id, or one that is neither a word nor a whole number.
    """
    if isinstance(values, np.ndarray):
        fast = _fast_names(values)
        if fast is not None:
            return fast
    if isinstance(values, np.ndarray) and values.dtype.kind not in "fiubSUO":
        raise FileError(
            f"{path}: {name} must be text or whole numbers, got dtype {values.dtype}; "
            f"give {name}.astype(str)"
        )
    texts = []
    for row, value in enumerate(values.tolist() if isinstance(values, np.ndarray) else values):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        missing = value is None or (isinstance(value, float) and math.isnan(value)) or value == ""
        if missing or isinstance(value, bool) or not isinstance(value, str | int):
            got = "nothing" if missing else repr(value)[:60]
            raise FileError(
                f"{path}: {name} must be text or a whole number in every row, got {got} at row "
                f"{row}; for objects give {name}.astype(str)"
            )
        texts.append(str(value))
    return text_array(path, texts)


def _fast_names(ids: NDArray[Any]) -> NDArray[np.str_] | None:
    """Return the names of an array of one type without a loop; None if a row may have none."""
    if ids.dtype.kind == "f":
        whole = np.isfinite(ids) & (np.abs(ids) < 2**53) & (ids == np.rint(ids))
        return ids.astype(np.int64).astype(np.str_) if whole.all() else None
    if ids.dtype.kind == "S":
        ids = np.char.decode(ids, "utf-8", "replace")
    if ids.dtype.kind == "U":
        return None if (ids == "").any() else ids
    return ids.astype(np.str_) if ids.dtype.kind in "iu" else None


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
            f"{path}: every point must have the same number of draws, {str(least)!r} has "
            f"{counts.min()} and {str(names[counts.argmax()])!r} {counts.max()}"
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
        raise FileError(f"{path}: {', '.join(map(repr, key))} must stand in one row, not {times}")
