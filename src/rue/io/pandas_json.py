"""JSON of pandas, where a whole table is one object, as rows: by column, by row, split or table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rue._text import JsonObject
from rue.io.names import ID_NAMES, UNNAMED
from rue.io.text import COLUMN_WORDS

Table = Mapping[str, Mapping[str, Any]]


def rows_of_pandas(whole: Mapping[str, Any]) -> list[JsonObject] | None:
    """Return the rows of a table that ``DataFrame.to_json`` wrote, or None if it is none."""
    columns, data, schema = whole.get("columns"), whole.get("data"), whole.get("schema")
    if isinstance(data, list) and isinstance(columns, list):
        index = whole.get("index", list(range(len(data))))
        if not all(isinstance(row, list) and len(row) == len(columns) for row in data):
            return None
        rows = [dict(zip(map(str, columns), row, strict=True)) for row in data]
        fits = isinstance(index, list) and len(index) == len(rows) > 0
        return _with_index(rows, index) if fits else None
    if isinstance(data, list) and isinstance(schema, dict):
        if not data or not all(isinstance(row, dict) for row in data):
            return None
        if schema.get("primaryKey") != ["index"]:
            return [dict(row) for row in data]
        index = [row.get("index") for row in data]
        rows = [{name: cell for name, cell in row.items() if name != "index"} for row in data]
        return _with_index(rows, index)
    values = list(whole.values())
    if not values or not all(isinstance(value, dict) and value for value in values):
        return None
    if any(value.keys() != values[0].keys() for value in values):
        return None
    by_column = _is_by_column(whole)
    if by_column is None:
        return None
    if not by_column:
        return _with_index([dict(value) for value in values], list(whole))
    index = list(values[0])
    return _with_index([{name: whole[name][key] for name in whole} for key in index], index)


def _with_index(rows: list[JsonObject], index: Sequence[Any]) -> list[JsonObject]:
    """Return rows with the index as their ids; beside a column of ids, as a column of its own."""
    if not any(name.lower() in ID_NAMES for name in rows[0]):
        return [{"id": key, **row} for key, row in zip(index, rows, strict=True)]
    if list(map(str, index)) == list(map(str, range(len(rows)))):
        return rows
    return [{UNNAMED: key, **row} for key, row in zip(index, rows, strict=True)]


def _is_by_column(table: Table) -> bool | None:
    """Whether the outer keys are columns and the inner ones rows; None if nothing decides it."""
    inner = list(next(iter(table.values())))
    for names, is_by_column in ((table, True), (inner, False)):
        if any(name.lower() in COLUMN_WORDS for name in names):
            return is_by_column
    cells = [list(column.values()) for column in table.values()]
    kinds = [[_kind(cell) for cell in column] for column in cells]
    mixed = [any(len({*k} - {""}) > 1 for k in side) for side in (kinds, zip(*kinds, strict=True))]
    if mixed[0] != mixed[1]:
        return mixed[1]  # a column holds numbers or words, a row may hold both
    if {kind for column in kinds for kind in column} != {"number"} or min(
        len(table), len(inner)
    ) < 2:
        return None
    try:
        numbers = np.array(cells, np.float64)
    except OverflowError:
        return None
    equal_sums = [bool(np.ptp(numbers.sum(axis=axis)) < 1e-6) for axis in (1, 0)]
    if equal_sums[0] != equal_sums[1]:
        return equal_sums[1]  # the numbers of a row are its probabilities or counts
    if len(table) > len(inner):
        return False
    # Whole numbers may be the labels that each annotator gave.
    return True if (numbers % 1).any() and len(table) < len(inner) else None


def _kind(cell: Any) -> str:
    if cell is None:
        return ""
    return "number" if type(cell) in (int, float) else type(cell).__name__
