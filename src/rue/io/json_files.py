"""JSON as a table: an object per line, or one list of objects; a field is a column.

pandas writes a whole table as one object: by column, by row, split, or with a schema.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rue._text import JsonObject, one_line
from rue.errors import FileError
from rue.io.columns import FrameColumn
from rue.io.files import Frame, decoded
from rue.io.memory import MemoryBudget
from rue.io.names import ID_NAMES, UNNAMED
from rue.io.text import COLUMN_WORDS

if TYPE_CHECKING:
    from rue.io.logs import OtherLayout


def read_json(path: Path, text: str, budget: MemoryBudget) -> Frame:
    """Read the objects in a text as the rows of a table; other tools' layouts are known."""
    from rue.io.logs import known_layout

    numbers, records = zip(*_objects(path, text), strict=True)
    layout = known_layout(path, records)
    if layout is not None:
        return frame_of(path, layout.records, layout, budget)
    return frame_of(path, records, None, budget, numbers)


def frame_of(
    path: Path,
    records: Sequence[Mapping[str, Any]],
    layout: "OtherLayout | None",
    budget: MemoryBudget,
    numbers: Sequence[int] | None = None,
) -> Frame:
    """Return objects as the rows of a table, with their numbers in the file."""
    names = list(dict.fromkeys(name for record in records for name in record))
    orders = {} if layout is None else layout.orders
    columns = {
        name: FrameColumn([record.get(name) for record in records], budget) for name in names
    }
    for name, order in orders.items():
        columns[name] = FrameColumn(columns[name].cells, budget, order, "given")
    if not columns:
        raise FileError(f"{path}: its JSON objects are empty")
    lines = numbers or range(1, len(records) + 1)
    return Frame(path, columns, {}, lines, True, () if layout is None else (layout.note,))


def json_objects(content: bytes, path: str | Path) -> list[tuple[int, JsonObject]]:
    """Return the number and the object of each line, or of each entry of a list."""
    return _objects(path, decoded(path, content)[0])


def _objects(path: str | Path, text: str) -> list[tuple[int, JsonObject]]:
    start = text.lstrip()[:1]
    first = next((line for line in text.split("\n") if line.strip()), "")
    is_open = first.strip().startswith("{") and first.rstrip().endswith((",", "{", "[", ":"))
    if start == "[" or is_open:
        whole = _loaded(path, text, "as JSON")
        if isinstance(whole, list):
            from rue.io.logs import pipeline_scores

            whole = pipeline_scores(whole) or whole
        lines = list(enumerate(whole, 1)) if isinstance(whole, list) else [(1, whole)]
        what = "entry"
    else:
        what = "line"
        lines = [
            (number, _loaded(path, line, f"line {number} as JSON"))
            for number, line in enumerate(text.split("\n"), 1)  # texts may hold other separators
            if line.strip()
        ]
    for number, record in lines:
        if not isinstance(record, dict):
            raise FileError(
                f"{path}: every {what} must be a JSON object, {what} {number} is a "
                f"{type(record).__name__}"
            )
    if not lines:
        raise FileError(f"{path}: holds no JSON objects")
    return lines


def _loaded(path: str | Path, text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        reason = one_line(error)[:120] or "it is nested too deeply"
        raise FileError(f"{path}: cannot read {what}: {reason}") from None


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON")


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


def _is_by_column(table: Mapping[str, Mapping[str, Any]]) -> bool | None:
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
