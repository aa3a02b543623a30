"""Tables of predictions and of answers, wide or long, as the named arrays of an .npz.

A wide table has a column per class. A long table of predictions has the columns ``id``, ``draw``
(where there are several), ``class`` and ``prob``, ``logit`` or ``alpha``; a long table of answers
has a row per answer (``id``, ``annotator`` where it is known, ``label``) or per class (``id``,
``class``, ``count``).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import is_whole
from rue._text import are_numbers, sorted_names
from rue.errors import FileError
from rue.io.opening import ANNOTATOR_NAMES, find_id_name, named_rows
from rue.io.points import (
    column_of,
    numbers,
    point_rows,
    require_once,
)
from rue.io.real_values import real_columns

__all__ = ["answer_arrays", "has_no_names", "prediction_arrays_of_table", "repeated_rows"]

Table = Mapping[str, NDArray[Any]]

_LONG = {
    "prob": "probs",
    "probs": "probs",
    "probability": "probs",
    "logit": "logits",
    "logits": "logits",
    "alpha": "alpha",
}
_COUNTS = ("count", "counts", "votes")
_LABELS = ("label", "answer")


def has_no_names(columns: Sequence[str]) -> bool:
    """Return whether columns are only numbered, as those of a file without a header are."""
    return list(columns) == [str(j) for j in range(len(columns))]


def prediction_arrays_of_table(
    path: Path,
    table: Table,
    *,
    id_name: str | None = None,
    classes: Sequence[str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the predictions of a table, wide or long, as an .npz would hold them.

    Parameters
    ----------
    path
        For messages.
    table
        Columns by name, n_rows each.
    id_name
        The column that names the points, where it has none of the usual names.
    classes
        Which columns are the classes of a wide table, and in which order; all columns of numbers
        that have no other meaning by default.

    Returns
    -------
    dict
        ``probs`` (or ``logits``, ``alpha``) (n_points, n_classes) or (n_points, n_draws,
        n_classes), ``classes``, ``ids`` where there are any, and columns to group by.

    Raises
    ------
    FileError
        If a cell is missing, a point has other draws than the others, or no column is a class.
    """
    name = find_id_name(path, list(table), id_name)
    real = real_columns(path, table, name)
    if real is not None:
        return real
    key = column_of(table, *_LONG)
    kind = column_of(table, "class")
    if kind is not None and key is not None:
        return _long(path, table, name, kind, key)
    return _wide(path, table, name, classes)


def repeated_rows(path: Path, table: Table, n_points: int) -> tuple[str, ...]:
    """Return a note where rows were read as draws only because they have the same id."""
    n_rows = len(next(iter(table.values())))
    is_long = column_of(table, *_LONG) is not None and column_of(table, "class") is not None
    if n_rows == n_points or is_long or column_of(table, "draw", "sample") is not None:
        return ()
    n_draws = n_rows // n_points
    return (f"{path} has {n_draws} rows for each id, which were read as {n_draws} draws per point",)


def answer_arrays(
    path: Path, table: Table, *, id_name: str | None = None, classes: Sequence[str] | None = None
) -> dict[str, NDArray[Any]] | None:
    """Return the counts of a long table of answers, or None if the table is not long.

    Parameters
    ----------
    path
        For messages.
    table
        Columns by name, n_rows each.
    id_name
        The column that names the points, where it has none of the usual names.
    classes
        All classes in their order, where not every class need occur; those that occur, sorted, by
        default.

    Returns
    -------
    dict or None
        ``counts`` (n_points, n_classes), ``classes`` (n_classes,), ``ids`` (n_points,).

    Raises
    ------
    FileError
        If the table has no ids, an annotator answered twice about a point, or a label is not
        among ``classes``.
    """
    label, kind = column_of(table, *_LABELS), column_of(table, "class")
    count = column_of(table, *_COUNTS)
    if label is None and (kind is None or count is None):
        return None
    name = find_id_name(path, list(table), id_name)
    if name is None:
        raise FileError(
            f"{path}: one row per answer needs a column that says which point it is about (id)"
        )
    ids = named_rows(path, table[name], name)
    of = label if label is not None else kind
    assert of is not None
    names, code = _codes(path, table[of], of, classes)
    weights = np.ones(len(ids))
    if label is None and count is not None:
        weights = numbers(path, table, count)
    annotator = column_of(table, *ANNOTATOR_NAMES)
    points, first, point = np.unique(ids, return_index=True, return_inverse=True)
    place = np.empty(len(points), np.int64)
    place[np.argsort(first)] = np.arange(len(points))
    row = place[point]
    again = [ids, table[annotator].astype(np.str_)] if label is not None and annotator else []
    require_once(path, again or ([ids, names[code]] if label is None else []))
    counts = np.zeros((len(points), len(names)))
    np.add.at(counts, (row, code), weights)
    return {"counts": counts, "classes": names, "ids": ids[np.sort(first)]}


def _long(
    path: Path, table: Table, name: str | None, kind: str, key: str
) -> dict[str, NDArray[Any]]:
    if name is None:
        raise FileError(f"{path}: one row per class needs a column that names the points (id)")
    ids = named_rows(path, table[name], name)
    values = numbers(path, table, key)
    names, code = _codes(path, table[kind], kind, None)
    draw = column_of(table, "draw")
    parts = [ids] if draw is None else [ids, table[draw].astype(np.str_)]
    require_once(path, [*parts, names[code]])
    order = {text: i for i, text in enumerate(_in_order(names[code].tolist()))}
    classes = np.array(list(order))
    column = np.array([order[text] for text in names[code]])
    draws = [None] * len(ids) if draw is None else table[draw].tolist()
    pairs = list(dict.fromkeys(zip(ids.tolist(), draws, strict=True)))
    number = {pair: i for i, pair in enumerate(pairs)}
    grid = np.full((len(pairs), len(classes)), np.nan)
    grid[[number[pair] for pair in zip(ids.tolist(), draws, strict=True)], column] = values
    if np.isnan(grid).any():
        i, j = np.argwhere(np.isnan(grid))[0]
        raise FileError(
            f"{path}: every point must have a row for each class, {pairs[i][0]!r} has none for "
            f"{str(classes[j])!r}"
        )
    names_of_pairs = np.array([pair[0] for pair in pairs])
    rows = point_rows(path, len(pairs), names_of_pairs, [pair[1] for pair in pairs])
    return {_LONG[key.lower()]: rows.stacked(grid), "classes": classes, "ids": rows.ids}


def _in_order(names: Sequence[str]) -> list[str]:
    """Return the classes as they first occur; whole numbers by their value."""
    found = list(dict.fromkeys(names))
    return sorted_names(found) if are_numbers(found) else found


def _wide(
    path: Path, table: Table, name: str | None, classes: Sequence[str] | None
) -> dict[str, NDArray[Any]]:
    draw, n_rows = column_of(table, "draw"), len(next(iter(table.values())))
    others = {name, draw, column_of(table, "epistemic"), column_of(table, "method")}
    if classes is not None and set(classes) & set(table):
        lacking = [column for column in classes if column not in table]
        if lacking:
            raise FileError(f"{path}: has no column for the class {lacking[0]!r}")
        columns = list(classes)
    else:
        columns = [c for c, v in table.items() if c not in others and v.dtype.kind in "fiub"]
    if len(columns) < 2:
        raise FileError(
            f"{path}: must have a column of probabilities for each class, or the columns id, class "
            f"and prob, or aleatoric, epistemic, risk and regret; it has {', '.join(table)[:200]}"
        )
    ids = None if name is None else named_rows(path, table[name], name)
    draws = [None] * n_rows if draw is None else table[draw].tolist()
    rows = point_rows(path, n_rows, ids, draws)
    found = {"probs": rows.stacked(np.stack([numbers(path, table, c) for c in columns], axis=1))}
    if not has_no_names(columns):
        found["classes"] = np.array(columns)
    if ids is not None:
        found["ids"] = rows.ids
    for column, values in table.items():
        if column not in (*columns, name, draw):
            kept = rows.once(values.tolist(), column if column.lower() == "epistemic" else None)
            if kept is not None:
                found[column.lower() if column in others else column] = np.array(kept)
    return found


def _codes(
    path: Path, labels: NDArray[Any], column: str, classes: Sequence[str] | None
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the classes' names and each row's class; whole numbers sort by their value."""
    if labels.dtype.kind in "US" and (empty := np.char.strip(labels) == labels.dtype.type()).any():
        raise FileError(
            f"{path}: every row needs a {column}, {int(empty.sum()):,} have none, first row "
            f"{int(np.argmax(empty))}; leave out rows without an answer"
        )
    if labels.dtype.kind == "f" and not (whole := is_whole(labels)).all():
        row = int(np.argmin(whole))
        raise FileError(
            f"{path}: {column} must be a class, got {labels[row]} at row {row}; real answers "
            "belong into a column rating"
        )
    if labels.dtype.kind == "f":
        labels = labels.astype(np.int64)
    known, code = np.unique(labels, return_inverse=True)
    names = known.astype(np.str_)
    if classes is None:
        classes = sorted_names(names.tolist())
    order = {text: i for i, text in enumerate(classes)}
    strange = [text for text in names.tolist() if text not in order]
    if strange:
        raise FileError(f"{path}: {column} {strange[0]!r} is none of the classes {list(order)}")
    return np.array(classes), np.array([order[text] for text in names.tolist()])[code]
