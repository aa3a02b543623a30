"""JSON lines: one point, or one draw of a point, per line.

A line is an object with an id and, under a key such as ``probs`` or ``counts``, a list of numbers
or an object from class name to number. Lines with the same id are the draws of one point. All other
entries that are single words or numbers become columns to group by; the rest is left alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._text import are_numbers, one_line, sorted_names
from rue.errors import FileError
from rue.io.opening import (
    file_size,
    find_id_name,
    named_rows,
    opened,
    require_memory,
    size_of_text,
    text_array,
)
from rue.io.points import point_rows

__all__ = ["is_json_lines", "json_arrays", "json_objects", "load_json_lines"]

Record = Mapping[str, Any]


def is_json_lines(path: Path) -> bool:
    """Return whether a file holds JSON objects, whatever it is called."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    if path.suffix.lower() in (".npz", ".npy", ".csv", ".tsv", ".parquet"):
        return False
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def load_json_lines(path: Path) -> list[Record]:
    """Read the objects of a file: one per line, or one list of them.

    Raises
    ------
    FileError
        If a line is no JSON object; the message names the line.
    """
    with opened(path) as file:
        size = file_size(file)
        require_memory(path, size, size)
        content = file.read()
    require_memory(path, size_of_text(content, b",:[{"), size)
    return [record for _, record in json_objects(content, path)]


def json_objects(content: bytes, path: str | Path) -> list[tuple[int, dict[str, Any]]]:
    r"""Return the number and the object of each line that is not blank.

    Parameters
    ----------
    content
        UTF-8, with or without a byte order mark: one object per line, or one list of them, whose
        entries are counted instead.
    path
        The file's name, for messages.

    Returns
    -------
    list of (int, dict)
        Numbers start at 1.

    Raises
    ------
    FileError
        If a line is no JSON object, or there is none; the message names the line.

    Examples
    --------
    >>> json_objects(b'{"uid": "a"}\n\n{"uid": "b"}\n', "pairs.jsonl")
    [(1, {'uid': 'a'}), (3, {'uid': 'b'})]
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: must be UTF-8: {error.reason} at byte {error.start}") from None
    if text.lstrip().startswith("["):
        whole = _parsed(path, text, "as a list of JSON objects")
        lines = list(enumerate(whole, 1)) if isinstance(whole, list) else [(1, whole)]
        what = "entry"
    else:
        what = "line"
        lines = [
            (number, _parsed(path, line, f"line {number} as JSON"))
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


def json_arrays(
    path: Path,
    records: Sequence[Record],
    arrays: Sequence[str],
    *,
    scalars: Sequence[str] = (),
    id_name: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the points of JSON lines as named arrays, as an .npz would hold them.

    Parameters
    ----------
    path
        For messages.
    records
        The objects, in the order of the file.
    arrays
        The keys that may hold a list, or an object from class name to number.
    scalars
        The keys that hold one number per point and must be the same for all draws of it.
    id_name
        The key of the id, where it has none of the usual names.

    Returns
    -------
    dict
        ``ids`` (n_points,) where the lines have them, ``classes`` (n_classes,) where objects name
        them, each key of ``arrays`` that the lines have, (n_points, ...) or, with several lines a
        point, (n_points, n_draws, ...), and every other column of single values, (n_points,).
    """
    found = [key for key in arrays if any(key in record for record in records)]
    for key in found:
        lacking = next((i for i, record in enumerate(records) if key not in record), None)
        if lacking is not None:
            raise FileError(f"{path}: {key} must be in every line, missing in line {lacking + 1}")
    name = find_id_name(path, list(records[0]), id_name)
    ids = None
    if name is not None:
        ids = named_rows(path, [record.get(name) for record in records], name)
    rows = point_rows(path, len(records), ids, [record.get("draw") for record in records])
    result: dict[str, NDArray[Any]] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for key in found:
        values = [record[key] for record in records]
        if isinstance(values[0], dict):
            classes[key], values = _by_class(path, key, values)
        result[key] = rows.stacked(_stack(path, key, values))
    if len(set(classes.values())) > 1:
        one, other = list(classes)[:2]
        raise FileError(f"{path}: {one} and {other} must name the same classes in the same order")
    if classes:
        result["classes"] = np.array(next(iter(classes.values())))
    for key in records[0]:
        if key in result or key in (name, "draw"):
            continue
        column = [record.get(key) for record in records]
        if all(isinstance(value, bool | int | float | str) for value in column):
            kept = rows.once(column, key if key in scalars else None)
            if kept is not None:
                result[key] = _column(path, key, kept)
    if ids is not None:
        result["ids"] = rows.ids
    return result


def _parsed(path: str | Path, text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        reason = one_line(error)[:120] or "it is nested too deeply"
        raise FileError(f"{path}: cannot read {what}: {reason}") from None


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON")


def _by_class(path: Path, key: str, values: Sequence[Any]) -> tuple[tuple[str, ...], list[Any]]:
    names = tuple(str(name) for name in values[0])
    names = tuple(sorted_names(names)) if are_numbers(names) else names
    rows = []
    for i, value in enumerate(values):
        if not isinstance(value, dict) or set(value) != set(names):
            got = ", ".join(map(str, value)) if isinstance(value, dict) else repr(value)
            raise FileError(
                f"{path}: {key} must name the classes {', '.join(names)} in every line, "
                f"line {i + 1} has {got[:80]}"
            )
        rows.append([value[name] for name in names])
    return names, rows


def _stack(path: Path, key: str, values: Sequence[Any]) -> NDArray[Any]:
    """Stack the lists of all lines; they must have one shape and hold numbers or words."""
    first = np.shape(_checked(path, key, values[0], 1))
    stacked = []
    for i, value in enumerate(values):
        array = _checked(path, key, value, i + 1)
        if array.shape != first:
            raise FileError(
                f"{path}: {key} must have the same shape in every line, {first} in line 1 and "
                f"{array.shape} in line {i + 1}"
            )
        stacked.append(array)
    if len({array.dtype.kind in "US" for array in stacked}) > 1:
        raise FileError(f"{path}: {key} must hold numbers or words, not both")
    largest = max(array.dtype.itemsize for array in stacked)
    require_memory(path, largest * stacked[0].size * len(stacked), path.stat().st_size)
    return np.stack(stacked)


def _checked(path: Path, key: str, value: Any, line: int) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        raise FileError(f"{path}: {key} must be a list without gaps, line {line} is not") from None
    if array.dtype.kind not in "fiubU":
        raise FileError(f"{path}: {key} must hold numbers, line {line} has {str(value)[:60]}")
    return array


def _column(path: Path, key: str, values: list[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return text_array(path, [str(value) for value in values])
    convert: Callable[[Any], float] = float
    try:
        return np.array(values if len({type(v) for v in values}) == 1 else [*map(convert, values)])
    except OverflowError:
        raise FileError(f"{path}: {key} has a number too large for a float") from None
