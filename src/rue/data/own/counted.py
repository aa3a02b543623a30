"""Answers with one row per point: counts of the classes, in a table or in arrays."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue.data.own.answers import OwnAnswers, attributes_of, first_twice, values_of
from rue.data.own.table import Columns, Table, is_number
from rue.errors import FileError, InputError
from rue.io.opening import load_npz, npz_shapes

__all__ = ["read_arrays", "read_wide"]


def read_wide(table: Table, columns: Columns, classes: Sequence[str] | None) -> OwnAnswers:
    """Read counts with one row per point: a column per class, or JSON objects of counts."""
    assert columns.id is not None
    keys = [key.strip() for key in table.text(columns.id)]
    if "" in keys:
        raise FileError(f"{table.path}: line {table.lines[keys.index('')]} has no {columns.id}")
    twice = first_twice(keys)
    if twice is not None:
        raise FileError(
            f"{table.path}: {columns.id} {twice!r} occurs twice, but there is no column of "
            "answers (label, rating): give --label"
        )
    cells = {name: cell for name, cell in table.columns.items() if name not in columns.used}
    objects = [name for name, column in cells.items() if isinstance(column[0], dict)]
    if objects:
        cells = _spread(table, objects[0])
    else:
        cells = {
            name: column
            for name, column in cells.items()
            if all(isinstance(cell, str) and is_number(cell.strip() or "0") for cell in column)
        }
    names = tuple(cells) if classes is None else tuple(classes)
    missing = [name for name in names if name not in cells]
    if missing:
        raise InputError(f"{table.path} has no column of the class {missing[0]!r}")
    if len(names) < 2:
        raise FileError(
            f"{table.path} needs a column of answers (label, rating), or a column of counts for "
            f"each class, it has {', '.join(table.columns)}: give --label"
        )
    counts = np.zeros((len(keys), len(names)), np.int64)
    for k, name in enumerate(names):
        for row, cell in enumerate(cells[name]):
            number = float(cell or 0)
            if not 0 <= number < 2**53 or number % 1:
                raise FileError(
                    f"{table.path}: line {table.lines[row]}: {name} must count answers, "
                    f"got {cell!r} (a column that is no class: give --classes)"
                )
            counts[row, k] = int(number)
    answered = _answered(table.path, counts)
    ids = [keys[row] for row in answered]
    return OwnAnswers(
        path=table.path,
        layout="wide",
        columns=columns,
        ids=ids,
        class_names=names,
        values=values_of(names),
        counts=counts[answered],
        n_silent=len(keys) - len(ids),
        attributes=attributes_of(table, columns, keys, ids),
    )


def read_arrays(path: Path, classes: Sequence[str] | None) -> OwnAnswers:
    """Read ``counts`` of an .npz, with ``ids``, ``classes``, ``split`` and ``group`` if there."""
    arrays = load_npz(path, ("counts", "ids", "classes", "split", "group"))
    if "counts" not in arrays:
        found = ", ".join(npz_shapes(path)) or "nothing"
        raise FileError(f"{path} needs an array counts (n_points, n_classes), it has {found}")
    table = arrays["counts"]
    if table.ndim != 2 or table.dtype.kind not in "fiub" or 0 in table.shape:
        raise FileError(
            f"{path}: counts must be numbers (n_points, n_classes), got {table.dtype} of shape "
            f"{table.shape}"
        )
    whole = (table >= 0) & (table < 2**53) & (table % 1 == 0)
    if not whole.all():
        row = int(np.argmin(whole.all(axis=1)))
        raise FileError(f"{path}: counts must be whole numbers from 0, row {row} is {table[row]}")
    n_points, n_classes = table.shape
    ids = _words(path, arrays, "ids", n_points) or [str(row) for row in range(n_points)]
    twice = first_twice(ids)
    if twice is not None:
        raise FileError(f"{path}: ids must differ, {twice!r} occurs twice")
    names = classes or _words(path, arrays, "classes", n_classes)
    names = names or [str(k) for k in range(n_classes)]
    if len(names) != n_classes:
        raise InputError(f"{path} has {n_classes} classes, got {len(names)} names")
    counts = table.astype(np.int64)
    answered = _answered(path, counts)
    words = {what: _words(path, arrays, what, n_points) for what in ("split", "group")}
    return OwnAnswers(
        path=path,
        layout="arrays",
        columns=Columns(),
        ids=[ids[row] for row in answered],
        class_names=tuple(names),
        values=values_of(tuple(names)),
        counts=counts[answered],
        n_silent=n_points - len(answered),
        attributes={
            what: [cells[row] for row in answered] for what, cells in words.items() if cells
        },
    )


def _spread(table: Table, column: str) -> dict[str, list[str]]:
    """Turn objects from class to count into a column per class."""
    for line, cell in zip(table.lines, table.columns[column], strict=True):
        if not isinstance(cell, dict) or not all(type(n) in (int, float) for n in cell.values()):
            raise FileError(
                f"{table.path}: line {line}: {column} must count answers by class, got {cell!r}"
            )
    found = dict.fromkeys(name for cell in table.columns[column] for name in cell)
    return {name: [str(cell.get(name, 0)) for cell in table.columns[column]] for name in found}


def _words(
    path: Path, arrays: Mapping[str, NDArray[Any]], name: str, length: int
) -> list[str] | None:
    if name not in arrays:
        return None
    if arrays[name].shape != (length,):
        raise FileError(f"{path}: {name} must have {length} entries, got {arrays[name].shape}")
    return [str(word) for word in arrays[name].tolist()]


def _answered(path: Path, counts: IntArray) -> IntArray:
    """Return the rows that have an answer."""
    rows = np.flatnonzero(counts.any(axis=1))
    if not len(rows):
        raise FileError(f"{path}: all counts are 0")
    return rows
