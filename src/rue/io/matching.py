"""Names of rows and columns: find them in a file, and match those of two files.

Rows and columns are matched by name, or by position where neither file has names.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray, is_whole
from rue.errors import AlignmentError, FileError, InputError
from rue.io.opening import text_array

__all__ = [
    "BY_NAME",
    "BY_POSITION",
    "ID_NAMES",
    "Matching",
    "checked_classes",
    "class_order",
    "find_id_name",
    "ids_of",
    "match_rows",
    "named_rows",
    "require_unique",
]

ID_NAMES = ("id", "ids", "uid", "item", "item_id")
"""What the column that names the points may be called, in either case."""


@dataclass(frozen=True)
class Matching:
    """What a user says about how files are matched.

    Attributes
    ----------
    id_name
        The column that names the points, where it has none of the usual names.
    classes
        The classes in the order of the columns, for files that do not name their columns.
    common
        Keep the points that are on both sides, instead of raising where one lacks some.
    by_position
        Match rows by position even where one side, or both, have ids.
    """

    id_name: str | None = None
    classes: tuple[str, ...] | None = None
    common: bool = False
    by_position: bool = False

    def __post_init__(self) -> None:
        names = self.classes
        if names is not None and (len(names) < 2 or len(set(names)) < len(names)):
            raise InputError(f"--classes must be two or more different names, got {list(names)}")
        if self.common and self.by_position:
            raise InputError("--common matches by id, so it cannot go with --by-position")


BY_NAME = Matching()
"""The default: by name, every point on both sides."""

BY_POSITION = Matching(by_position=True)
"""For points that are matched already."""


def match_rows(
    first: Path | None,
    here: NDArray[np.str_] | None,
    n_here: int,
    second: Path | None,
    there: NDArray[np.str_] | None,
    n_there: int,
    matching: Matching = BY_NAME,
) -> tuple[IntArray | None, IntArray | None, tuple[str, ...]]:
    """Return which rows of two files are the same points, in the order of the first file.

    Parameters
    ----------
    first, second
        The files, for messages.
    here, there
        The ids of their rows, shape (n_here,) and (n_there,); None where rows have no names.
    n_here, n_there
        How many rows they have.
    matching
        What the user asked for.

    Returns
    -------
    rows_here, rows_there : int arrays of shape (n_points,), or None
        The rows of each file; None where they are all rows in their order.
    notes : tuple of str
        What a reader should know: how many points ``common`` dropped.

    Raises
    ------
    AlignmentError
        If ids repeat, one side has ids and the other has not, an id is on one side only (without
        ``common``), or files without ids have different numbers of rows.
    """
    if matching.by_position or (here is None and there is None):
        if n_here != n_there:
            raise AlignmentError(
                f"{first}: has {n_here:,} points but {second} has {n_there:,}, and rows that are "
                "matched by position must be as many; add ids to both"
            )
        return None, None, ()
    if here is None or there is None:
        named, bare = (first, second) if there is None else (second, first)
        raise AlignmentError(
            f"{bare}: has no ids but {named} has, so rows cannot be matched by id; add a column id "
            "(or say its name with --id), or use --by-position if both are in the same order"
        )
    for path, ids in ((first, here), (second, there)):
        require_unique(path, ids)
    order = np.argsort(there)
    place = np.minimum(np.searchsorted(there, here, sorter=order), len(there) - 1)
    row = order[place]
    known = there[row] == here
    n_common = int(known.sum())
    if n_common < len(here) and not matching.common:
        raise AlignmentError(_lacks(second, first, here[~known], n_common, len(here)))
    if n_common < len(there) and not matching.common:
        missing = there[~np.isin(there, here)]
        raise AlignmentError(_lacks(first, second, missing, n_common, len(there)))
    if not n_common:
        raise AlignmentError(
            f"{first} and {second} have no id in common, first {str(here[0])!r} and "
            f"{str(there[0])!r}"
        )
    notes = _dropped(first, len(here), second, len(there), n_common)
    kept = np.flatnonzero(known)
    if n_common == len(there) == len(here) and np.array_equal(here, there):
        return None, None, notes
    return (None if n_common == len(here) else kept), row[kept], notes


def class_order(
    first: Path | None,
    here: Sequence[str] | None,
    second: Path | None,
    there: Sequence[str] | None,
    n_classes: int,
) -> tuple[IntArray | None, tuple[str, ...]]:
    """Return which column of the first file is each class of the second, and notes.

    Parameters
    ----------
    first, second
        The files, for messages.
    here, there
        The names of their classes, shape (n_classes,); None where columns have no names. If the
        other side's names are the numbers 0..n_classes-1, these columns have their numbers.
    n_classes
        How many columns the first file has.

    Returns
    -------
    columns : int array of shape (n_classes,), or None
        The columns of the first file in the order of the second; None where that is their order.
    notes : tuple of str
        A sentence where one side alone names its classes, so that their order was taken on trust.

    Raises
    ------
    AlignmentError
        If both name their classes and the names differ.
    """
    if here is None and there is None:
        return None, ()
    numbered = [str(j) for j in range(n_classes)]
    if set(here or there or ()) == set(numbered):  # columns without names are 0..n_classes-1
        here, there = here or numbered, there or numbered
    if here is None or there is None:
        names, bare = (here, second) if there is None else (there, first)
        assert names is not None
        if len(names) != n_classes:
            return None, ()  # another error names both numbers
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return None, (
            f"{bare} does not name its classes: its columns were taken as {shown} in this order "
            "(--classes says otherwise)",
        )
    if set(here) != set(there):
        strange = sorted(set(here) ^ set(there))
        raise AlignmentError(
            f"{first} and {second} must name the same classes, got {', '.join(map(str, here))} and "
            f"{', '.join(map(str, there))}; {strange[0]!r} is on one side only"
        )
    if tuple(here) == tuple(there):
        return None, ()
    place = {name: j for j, name in enumerate(here)}
    return np.array([place[name] for name in there]), ()


def require_unique(path: Path | None, ids: NDArray[np.str_]) -> None:
    """Raise if an id stands twice."""
    names, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise AlignmentError(
            f"{path}: ids must not repeat, {int((counts > 1).sum()):,} do, "
            f"first {str(names[np.argmax(counts > 1)])!r}"
        )


def checked_classes(path: Path, names: NDArray[Any], n_classes: int) -> tuple[str, ...]:
    """Return a file's class names as text, or raise unless there is a different one per class."""
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    texts = tuple(str(name) for name in names.tolist()) if names.ndim == 1 else ()
    if names.dtype.kind not in "USiu" or len(texts) != n_classes or len(set(texts)) < n_classes:
        raise FileError(
            f"{path}: classes must be {n_classes} different names, one per column, got "
            f"{str(names.tolist())[:120]}"
        )
    return texts


def _lacks(
    lacking: Path | None, wanting: Path | None, ids: NDArray[np.str_], n_common: int, n_all: int
) -> str:
    return (
        f"{lacking}: lacks {len(ids):,} of the ids in {wanting}, first {str(ids[0])!r}; --common "
        f"keeps the {n_common:,} of {n_all:,} that are in both"
    )


def _dropped(
    first: Path | None, n_first: int, second: Path | None, n_second: int, n_common: int
) -> tuple[str, ...]:
    parts = [
        f"{n - n_common:,} of the {n:,} points of {path}"
        for path, n in ((first, n_first), (second, n_second))
        if n > n_common
    ]
    if not parts:
        return ()
    return (f"kept {n_common:,} points and dropped {' and '.join(parts)}",)


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
        return ids.astype(np.int64).astype(np.str_) if is_whole(ids).all() else None
    if ids.dtype.kind == "S":
        ids = np.char.decode(ids, "utf-8", "replace")
    if ids.dtype.kind == "U":
        return None if (ids == "").any() else ids
    return ids.astype(np.str_) if ids.dtype.kind in "iu" else None


def ids_of(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    n_points: int,
    id_name: str | None = None,
) -> NDArray[np.str_] | None:
    """Return the names of the rows as text, or None if there are none."""
    name = find_id_name(path, list(arrays), id_name)
    if name is None:
        return None
    ids = arrays[name]
    if ids.shape != (n_points,):
        raise FileError(f"{path}: {name} must have shape ({n_points},), got {ids.shape}")
    return named_rows(path, ids, name)
