"""Real-valued answers in files.

They are an array ``ratings`` (n, n_answers), or (n,) for one answer each, in which NaN stands for
an answer that is not there, and optionally ``range``, the least and the largest answer possible; a
table or JSON lines with a row for each answer (``id``, ``annotator`` where it is known,
``rating``); or a line for each point with a list ``ratings``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import as_array
from rue.errors import FileError, InputError, ShapeError
from rue.io.opening import ANNOTATOR_NAMES, find_id_name, named_rows
from rue.io.points import column_of, numbers, require_once
from rue.truth.ratings import Ratings

__all__ = ["json_ratings", "padded_ratings", "rating_arrays", "ratings_of_array"]


def ratings_of_array(
    path: Path, array: NDArray[Any], limits: NDArray[Any] | None = None
) -> Ratings:
    """Return the ratings of an array (n, n_answers) or (n,); NaN is an answer that is not there."""
    try:
        if array.ndim not in (1, 2) or array.dtype.kind not in "fiu":
            raise ShapeError(
                "ratings must be numbers of shape (n_points, n_answers) or (n_points,), got "
                f"{array.dtype} of shape {array.shape}"
            )
        rows = as_array("ratings", array if array.ndim == 2 else array[:, None]).astype(np.float64)
        there = ~np.isnan(rows)
        answers = [row[kept] for row, kept in zip(rows, there, strict=True)]
        return Ratings(answers, range=None if limits is None else _range(limits))
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def padded_ratings(ratings: Ratings) -> dict[str, NDArray[np.float64]]:
    """Return the arrays by which a file holds ratings: NaN where a point has fewer answers."""
    answers = ratings.answers
    column = np.arange(len(answers.values)) - answers.repeat(answers.starts[:-1])
    padded = np.full((len(ratings), int(answers.lengths.max())), np.nan)
    padded[answers.repeat(np.arange(len(ratings))), column] = answers.values
    found = {"ratings": padded}
    if ratings.range is not None:
        found["range"] = np.array(ratings.range)
    return found


def rating_arrays(
    path: Path, table: Mapping[str, NDArray[Any]], id_name: str | None = None
) -> dict[str, NDArray[Any]] | None:
    """Return the ratings of a table with a row per answer, or None if it has no column rating.

    Parameters
    ----------
    path
        For messages.
    table
        Columns by name, n_rows each.
    id_name
        The column that names the points, where it has none of the usual names.

    Returns
    -------
    dict or None
        ``ratings`` (n_points, n_answers), ``ids`` (n_points,) in the order in which they first
        occur, and the columns that say the same in all rows of each point.

    Raises
    ------
    FileError
        If the table has no ids, or an annotator answered twice about a point.
    """
    column = column_of(table, "rating")
    if column is None or column_of(table, "label") is not None:
        return None
    name = find_id_name(path, list(table), id_name)
    if name is None:
        raise FileError(
            f"{path}: one row per answer needs a column that says which point it is about (id)"
        )
    ids = named_rows(path, table[name], name)
    annotator = column_of(table, *ANNOTATOR_NAMES)
    if annotator is not None:
        require_once(path, [ids, table[annotator].astype(np.str_)])
    try:
        ratings = Ratings.from_long(ids, numbers(path, table, column))
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    assert ratings.ids is not None  # from_long gives them
    first = {text: row for row, text in reversed(list(enumerate(ids.tolist())))}
    rows = np.array([first[text] for text in ratings.ids.tolist()])
    same = np.array([first[text] for text in ids.tolist()])
    groups = {
        other: cells[rows]
        for other, cells in table.items()
        if other not in (name, column, annotator) and (cells == cells[same]).all()
    }
    return {**groups, **padded_ratings(ratings), "ids": ratings.ids}


def json_ratings(
    path: Path, records: Sequence[Mapping[str, Any]], id_name: str | None = None
) -> dict[str, NDArray[Any]]:
    """Return the ratings of JSON lines: one answer per line, or a list of them per point.

    Returns
    -------
    dict
        ``ratings`` (n_points, n_answers), and ``ids`` (n_points,) where lines have them.

    Raises
    ------
    FileError
        If a line has no answer, or one that is no number.
    """
    name = find_id_name(path, list(records[0]), id_name)
    ids = None if name is None else [record.get(name) for record in records]
    if "ratings" in records[0]:
        lists: dict[Any, Any] = {}
        for i, record in enumerate(records):
            key = i if ids is None else str(ids[i])
            if not isinstance(record.get("ratings"), list):
                raise FileError(
                    f"{path}: ratings must be a list in every line, line {i + 1} has "
                    f"{str(record.get('ratings'))[:60]}"
                )
            if lists.setdefault(key, record["ratings"]) != record["ratings"]:
                raise FileError(f"{path}: {key!r} has different ratings in several lines")
        try:
            found = padded_ratings(Ratings(lists.values()))
        except InputError as error:
            raise FileError(f"{path}: {error}") from None
        return found if ids is None else {**found, "ids": named_rows(path, list(lists), str(name))}
    columns = [column for column in (name, *ANNOTATOR_NAMES, "rating") if column is not None]
    table = {}
    for column in columns:
        cells = [record.get(column) for record in records]
        if None in cells:
            if column == "rating":
                line = cells.index(None) + 1
                raise FileError(f"{path}: rating must be in every line, missing in line {line}")
            continue
        table[column] = np.array(cells)
    arrays = rating_arrays(path, table, id_name)
    assert arrays is not None  # there is a column rating
    return arrays


def _range(limits: NDArray[Any]) -> tuple[float, float]:
    ends = as_array("range", limits).astype(np.float64).ravel()
    if ends.shape != (2,):
        raise InputError(f"range must be two numbers, low and high, got {ends.tolist()}")
    return float(ends[0]), float(ends[1])
