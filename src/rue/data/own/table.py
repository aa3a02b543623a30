"""Read your own tables: cells as text, columns recognised by their usual names."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rue.data.csv_rows import csv_rows
from rue.errors import FileError, InputError
from rue.io.json_lines import json_objects
from rue.io.opening import ANNOTATOR_NAMES, ID_NAMES

__all__ = ["TABLE_SUFFIXES", "Columns", "Table", "find_columns", "is_number", "read_table"]

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
_USUAL = {
    "id": ID_NAMES,
    "label": ("label", "answer"),
    "rating": ("rating",),
    "annotator": ANNOTATOR_NAMES,
    "text": ("text", "sentence"),
    "image": ("image", "image_path", "file", "file_name"),
    "split": ("split",),
    "group": ("group", "document"),
}


@dataclass(frozen=True)
class Table:
    """Columns of equal length; a cell is text, or in JSON lines a list or an object.

    ``lines`` are the line numbers of the rows in the file, from 1.
    """

    path: Path
    columns: Mapping[str, list[Any]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, column: str) -> list[str]:
        """Return a column as text; raise if a cell is a list or an object."""
        for line, cell in zip(self.lines, self.columns[column], strict=True):
            if not isinstance(cell, str):
                raise FileError(
                    f"{self.path}: line {line}: {column} must be text or a number, got {cell!r}"
                )
        return self.columns[column]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The name of the column for each meaning, or None if there is no such column."""

    id: str | None = None
    label: str | None = None
    rating: str | None = None
    annotator: str | None = None
    text: str | None = None
    image: str | None = None
    split: str | None = None
    group: str | None = None

    @property
    def used(self) -> set[str]:
        """The names of all columns that have a meaning."""
        return {name for field in fields(self) if (name := getattr(self, field.name)) is not None}


def read_table(path: Path) -> Table:
    """Read a .csv, .tsv, .jsonl or .parquet file with named columns."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise FileError(f"{path} must be {', '.join(TABLE_SUFFIXES)}, got {path.suffix!r}")
    if path.suffix.lower() == ".parquet":
        return _parquet(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    if path.suffix.lower() == ".jsonl":
        return _json_lines(path, data)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    header = _header(path, data, delimiter)
    rows = list(csv_rows(data, str(path), header, delimiter=delimiter))
    cells = {name: [row[place] for _, row in rows] for place, name in enumerate(header)}
    return _whole(path, cells, [line for line, _ in rows])


def find_columns(table: Table, given: Mapping[str, str | None]) -> Columns:
    """Return the meaning of the columns: as given, or else by their usual names.

    Parameters
    ----------
    table
        The table.
    given
        What -> the name of its column, where the user said so.

    Raises
    ------
    InputError
        If a given column is not there, or two columns could be the same thing.
    """
    found: dict[str, str | None] = {}
    plain = {_plain(name): name for name in table.columns}
    for what, usual in _USUAL.items():
        name = given.get(what)
        if name is not None:
            if name not in table.columns:
                raise InputError(
                    f"{table.path} has no column {name!r} (--{what}), it has "
                    f"{', '.join(table.columns)}"
                )
            found[what] = name
            continue
        taken = {other for key, other in given.items() if key != what}
        matches = [plain[word] for word in usual if word in plain and plain[word] not in taken]
        if len(matches) > 1:
            raise InputError(
                f"{table.path}: both {matches[0]!r} and {matches[1]!r} could be the {what}: "
                f"give --{what}"
            )
        found[what] = matches[0] if matches else None
    return Columns(**found)


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name.strip().lower())


def _header(path: Path, data: bytes, delimiter: str) -> list[str]:
    try:
        first = data.decode("utf-8-sig").split("\n", 1)[0].rstrip("\r")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} must be UTF-8: {error}") from None
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if not any(names):
        raise FileError(f"{path} is empty: its first line must name the columns")
    if all(is_number(name) for name in names):  # some may be: classes such as -1, 0, 1
        raise FileError(f"{path}: the first line must name the columns, got {first[:40]}")
    plain = [_plain(name) for name in names]
    if len(set(plain)) < len(plain):
        twice = next(name for name in names if plain.count(_plain(name)) > 1)
        raise FileError(f"{path}: column names must differ, {twice!r} occurs twice")
    return [name for name in names if name]  # one without a name is pandas' row numbers


def _json_lines(path: Path, data: bytes) -> Table:
    rows = json_objects(data, path)
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    cells = {name: [_cell(row.get(name)) for _, row in rows] for name in names}
    return _whole(path, cells, [line for line, _ in rows])


def _parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else "it is damaged"
        raise FileError(f"{path} cannot be read as .parquet: {reason}") from None
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    cells = {name: [_cell(cell) for cell in table.column(name).to_pylist()] for name in names}
    return _whole(path, cells, list(range(1, table.num_rows + 1)))


def _cell(value: Any) -> Any:
    """Return a cell as text: whole numbers without a point, missing values as empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value % 1 == 0 else repr(value)
    return value if isinstance(value, str | list | dict) else str(value)


def _whole(path: Path, cells: Mapping[str, list[Any]], lines: list[int]) -> Table:
    if not lines:
        raise FileError(f"{path} holds no rows")
    return Table(path, cells, lines)


def is_number(text: str) -> bool:
    """Return whether a cell is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
