"""Any file as one :class:`Frame`: columns with their names, rows with their line numbers.

Text files (.csv, .tsv, .txt), JSON (.json, .jsonl: an object per line, or one list of them),
.parquet and .arrow files and folders of `datasets` become tables; .npz and .npy files become named
arrays. Each may be packed with gzip (.gz). The separator (comma, tab, semicolon with decimal
commas) and the encoding (UTF-8, UTF-16) are found out, and said in a note where they are unusual.
"""

import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, make_read_only
from rue.errors import FileError
from rue.io.columns import FrameColumn, is_missing, is_percentage, plain_name
from rue.io.memory import MemoryBudget, opened
from rue.io.names import index_names, named_rows

_LAYOUT = re.compile(
    r"was read as ((?:a log|a file|a truth|a submission|predictions) (?:of|to) [\w-]+)"
)
_CHUNK = 1 << 20
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
ARROW_SUFFIXES = (".parquet", ".arrow", ".feather")
ARRAY_SUFFIXES = (".npz", ".npy")


@dataclass(frozen=True, eq=False)
class Frame:
    """What a file holds: columns by name with lines, or named arrays; notes say how it was read."""

    path: Path
    columns: Mapping[str, FrameColumn] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    lines: Sequence[int] = ()
    named: bool = True
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether the file is a table, and not arrays."""
        return bool(self.columns)

    def __len__(self) -> int:
        """Return the number of rows of a table."""
        return len(self.lines)

    def column(self, name: str) -> FrameColumn:
        """Return a column by its name, or by a dotted path into objects such as ``doc.uid``."""
        if name in self.columns:
            return self.columns[name]
        head, *keys = name.split(".")
        if keys and head in self.columns:
            column = self.columns[head]
            cells = [_inside(cell, keys) for cell in column.cells]
            if any(cell is not None for cell in cells):
                return FrameColumn(cells, column.budget)
        raise self.error(f"has no column {name!r}, only {self.shown}")

    def at(self, rows: NDArray[Any]) -> "Frame":
        """Return some rows of a table."""
        columns = {name: column.at(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[row] for row in rows])

    def has(self, name: str) -> bool:
        """Whether :meth:`column` finds this name."""
        try:
            self.column(name)
        except FileError:
            return False
        return True

    def find(self, *names: str) -> str | None:
        """Return the first column with one of these names, in either case."""
        return next((column for column in self.columns if plain_name(column) in names), None)

    def number_columns(self, others: Collection[str | None] = ()) -> list[str]:
        """Return the columns of numbers but these."""
        return [
            name
            for name, column in self.columns.items()
            if name not in others and not column.is_nested and column.numbers is not None
        ]

    def numbers(self, name: str, *, missing: float | None = None) -> FloatArray:
        """Return a column of numbers, or raise; so does a missing one, unless it stands for one."""
        column = self.column(name)
        if isinstance(column.cells, np.ndarray) and column.cells.dtype.kind == "b":
            return column.cells.astype(np.float64)  # where numbers are asked for, 0 and 1
        numbers = column.numbers
        if numbers is None:
            bad = column.word_rows[0]
            shown = str(column.cells[bad])[:60]
            raise self.error(f"column {name} must hold numbers, got {shown!r}", bad)
        absent = np.isnan(numbers)
        if absent.any() and missing is None:
            row = int(np.argmax(absent))
            raise self.error(f"column {name} has no number", row)
        return numbers if missing is None else np.where(absent, missing, numbers)

    def error(
        self, message: str, row: int | None = None, *, advice: Mapping[str, str] | None = None
    ) -> FileError:
        """Return an error about the file, at the place of a row if one is given."""
        where = "" if row is None else f" at {self.place(row)}"
        return FileError(f"{self.path}: {message}{where}", advice=advice)

    def place(self, row: int) -> str:
        """Return the place of a row, for messages."""
        return f"line {self.lines[row]}"

    @property
    def shown(self) -> str:
        """The names of all columns or arrays, and the layout that they look like, for messages."""
        names = [
            f"{name} (lists or objects)" if column.is_nested else name
            for name, column in self.columns.items()
        ]
        layout = _LAYOUT.search(" ".join(self.notes))
        like = "" if layout is None else f", and looks like {layout.group(1)}"
        return (", ".join(names or self.arrays)[:300] or "nothing") + like


def read_frame(
    path: str | Path,
    *,
    names: Collection[str] = (),
    arrays: Collection[str] | None = None,
    matrix: bool = False,
    parts: bool = False,
    max_memory: int | None = None,
) -> Frame:
    """Read any file; with ``parts``, all parts of a folder of `datasets` with their names."""
    path = Path(path)
    kind = suffix_of(path)
    if path.is_dir():
        from rue.io.arrow import read_dataset_folder

        return _with_shares(read_dataset_folder(path, max_memory, parts=parts))
    if kind in ARRAY_SUFFIXES:
        return _arrays(path, kind, arrays, max_memory)
    if kind in ARROW_SUFFIXES:
        from rue.io.arrow import read_arrow

        return _with_shares(read_arrow(path, max_memory))
    if kind == ".eval":
        from rue.io.json_files import frame_of
        from rue.io.logs import inspect_log

        log = inspect_log(path, max_memory)
        budget = MemoryBudget(path, path.stat().st_size, max_memory)
        return _with_shares(frame_of(path, log.records, log, budget))
    content, budget = read_bytes(path, max_memory)
    text, encoding = decoded(path, content)
    is_table = kind in (".csv", ".tsv")
    if kind in JSON_SUFFIXES or (not is_table and text.lstrip()[:1] in ("{", "[")):
        from rue.io.json_files import read_json

        budget.take_text(content, b",:[{")
        frame = read_json(path, text, budget)
    elif kind in TEXT_SUFFIXES:
        from rue.io.text import read_text

        budget.take_text(content, b",;\t\n\r")
        frame = read_text(path, text, budget, names, matrix=matrix)
    else:
        raise FileError(
            f"{path}: must be {', '.join(ARRAY_SUFFIXES + TEXT_SUFFIXES)}, "
            f"{', '.join(JSON_SUFFIXES + ARROW_SUFFIXES)}, got {kind!r}"
        )
    if encoding != "utf-8":
        frame = replace(frame, notes=(*frame.notes, f"{path} was read as {encoding.upper()}"))
    return _with_shares(frame)


def suffix_of(path: Path) -> str:
    """Return the ending that says what a file is, in lower case and without ``.gz``."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    if endings[-1:] == [".gz"]:
        endings.pop()
    return endings[-1] if endings else ""


def read_bytes(path: Path, max_memory: int | None = None) -> tuple[bytes, MemoryBudget]:
    """Return the content of a file, unpacked if it is packed with gzip, and what it may take."""
    with opened(path) as file:
        content = b""
        try:
            size = path.stat().st_size
            budget = MemoryBudget(path, size, max_memory)
            budget.take(size)
            content = file.read()
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    if path.suffix.lower() == ".gz":
        content = _unpacked(path, content, budget)
    return content, budget


def decoded(path: str | Path, content: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding."""
    encoding = "utf-8"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif content[1:40:2].count(0) > 8 and content[:40:2].count(0) == 0:
        encoding = "utf-16-le"
    elif content[:40:2].count(0) > 8 and content[1:40:2].count(0) == 0:
        encoding = "utf-16-be"
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding), encoding
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: must be UTF-8: {error.reason} at byte {error.start}") from None


def row_ids(frame: Frame, name: str | None) -> NDArray[np.str_] | None:
    """Return the names of the rows as text, or None if there are none."""
    if name is None:
        return None
    column = frame.column(name)
    if column.is_nested:
        raise FileError(f"{frame.path}: {name} must name the rows, got lists or objects")
    cells: Any = column.cells
    is_text = not isinstance(cells, np.ndarray) and all(isinstance(c, str) for c in cells)
    return named_rows(frame.path, column.words if is_text else cells, name)


def without_index(frame: Frame, id_name: str | None, stated: Iterable[str] = ()) -> Frame:
    """Return a table without the numbers of its rows, unless they are its ids or are stated."""
    index = index_names(frame.columns, id_name, stated)
    columns = {name: column for name, column in frame.columns.items() if name not in index}
    return replace(frame, columns=columns) if index else frame


def _arrays(path: Path, kind: str, names: Collection[str] | None, max_memory: int | None) -> Frame:
    from rue.io.arrays import load_npy, load_npz, npz_shapes

    if path.suffix.lower() == ".gz":
        raise FileError(f"{path}: unpack it first: arrays are read from .npz and .npy files")
    if kind == ".npy":
        array = load_npy(path, max_memory=max_memory)
        _require_axes(path, "the array", array.shape)
        return Frame(path, arrays={"": array})
    shapes = npz_shapes(path)
    chosen = list(shapes)
    if names is not None:
        n_points = next((shapes[name][:1] for name in names if name in shapes), None)
        vectors = [n for n, shape in shapes.items() if len(shape) == 1 and shape == n_points]
        chosen = [name for name in shapes if name in names or name in vectors]
    for name in chosen:
        _require_axes(path, name, shapes[name])
    unused = tuple(name for name in shapes if name not in chosen)
    arrays = load_npz(path, chosen, max_memory=max_memory)
    for array in arrays.values():
        make_read_only(array)  # so that beliefs and truths need no copy
    return Frame(path, arrays=arrays, unused=unused)


def _require_axes(path: Path, name: str, shape: tuple[int, ...]) -> None:
    if 0 in shape:
        raise FileError(f"{path}: {name} must have at least one entry per axis, got shape {shape}")


def _unpacked(path: Path, content: bytes, budget: MemoryBudget) -> bytes:
    parts, unpack = [], zlib.decompressobj(wbits=31)
    try:
        while content:
            part = unpack.decompress(content, _CHUNK)
            budget.take(len(part))
            parts.append(part)
            content = unpack.unconsumed_tail
            if unpack.eof and unpack.unused_data:
                content, unpack = unpack.unused_data, zlib.decompressobj(wbits=31)
            elif unpack.eof:
                break
    except zlib.error as error:
        raise FileError(f"{path}: cannot be read as gzip: {error}") from None
    if not unpack.eof:
        raise FileError(f"{path}: cannot be read as gzip: it is truncated")
    return b"".join(parts)


def _with_shares(frame: Frame) -> Frame:
    """Return a table with cells such as 24.18% as 0.2418, and a note that says so."""
    columns: dict[str, FrameColumn] = {}
    for name, column in frame.columns.items():
        cells = column.cells
        first = next((cell for cell in cells if not is_missing(cell)), None)
        if is_percentage(first) and all(is_missing(c) or is_percentage(c) for c in cells):
            shares = [None if is_missing(c) else float(c.rstrip()[:-1]) / 100 for c in cells]
            columns[name] = FrameColumn(shares, column.budget)
    if not columns:
        return frame
    note = f"{frame.path}: the percentages of {', '.join(columns)} were read as shares of 1"
    return replace(frame, columns={**frame.columns, **columns}, notes=(*frame.notes, note))


def _inside(cell: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        cell = cell.get(key) if isinstance(cell, dict) else None
    return cell
