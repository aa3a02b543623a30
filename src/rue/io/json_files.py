"""JSON as a table: an object per line, or one list of objects; a field is a column."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rue._text import JsonObject, one_line
from rue.errors import FileError
from rue.io.columns import FrameColumn
from rue.io.files import Frame, decoded
from rue.io.memory import MemoryBudget

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
    if start == "[" or ((start == "{" and first.strip() in ("{", "[")) or _is_open(first)):
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


def _is_open(line: str) -> bool:
    """Whether a line begins an object that ends in a later one."""
    text = line.strip()
    return text.startswith("{") and text.endswith((",", "{", "[", ":"))


def _loaded(path: str | Path, text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        reason = one_line(error)[:120] or "it is nested too deeply"
        raise FileError(f"{path}: cannot read {what}: {reason}") from None


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON")
