"""How much memory reading a file may take: the one guard of all readers.

A file of a few kilobytes can declare arrays of gigabytes. By default reading may take the larger
of 1 GiB and 100 times the size of the file; ``max_memory`` of a reader (``--max-memory``), or else
the variable ``RUE_MAX_MEMORY``, such as ``2GiB``, sets another limit. What pages of parquet and
messages of Arrow unpack to is read from their own headers.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rue._text import one_line
from rue.errors import FileError, InputError

VARIABLE = "RUE_MAX_MEMORY"
_LEAST = 1 << 30
_PER_BYTE = 100
_UNITS = {
    unit: base**power
    for power, letter in enumerate("kmgt", 1)
    for unit, base in ((letter, 1024), (f"{letter}ib", 1024), (f"{letter}b", 1000))
} | {"": 1, "b": 1}
# What CPython takes for a character, several times copied, and for a cell of a table: a string
# and its places in rows and columns.
_PER_CHARACTER = 8
_PER_CELL = 120
_LONGEST_HEADER = 16 << 20  # bytes of a page, as Arrow has it: statistics may hold long words


class MemoryBudget:
    """The memory that reading one file may take; what is decoded is counted while it is decoded."""

    def __init__(self, path: str | Path, file_size: int, limit: int | None = None) -> None:
        self.path = path
        self.allowed = allowance(file_size) if limit is None else limit
        self.taken = 0

    def take(self, n_bytes: int) -> None:
        """Count so many bytes; raise if they are more than what is left."""
        self.taken += n_bytes
        if self.taken > self.allowed:
            raise FileError(
                f"{self.path}: reading it would take {_size(self.taken)} of memory, and "
                f"{_size(self.allowed)} are allowed; to read it all the same, set {VARIABLE}",
                advice={"--max-memory": "allows more in this command"},
            )

    def take_text(self, content: bytes, separators: bytes) -> None:
        """Count what the cells of a text file take once they are parsed."""
        cells = sum(content.count(separator) for separator in separators)
        self.take(_PER_CHARACTER * len(content) + _PER_CELL * cells)


def require_memory(path: Path | str, needed: int, file_size: int, limit: int | None = None) -> None:
    """Raise if reading a file of this size would take more memory than it may."""
    MemoryBudget(path, file_size, limit).take(needed)


def allowance(file_size: int) -> int:
    """Return how many bytes of memory reading a file of this size may take by default."""
    setting = os.environ.get(VARIABLE)
    return parse_size(setting, VARIABLE) if setting else max(_LEAST, _PER_BYTE * file_size)


def parse_size(text: str, name: str = "max_memory") -> int:
    """Return a number of bytes from text such as ``2GiB``, ``500 MB`` or ``1048576``."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([A-Za-z]*)", text.strip())
    unit = match and _UNITS.get(match[2].lower())
    size = round(float(match[1]) * unit) if match and unit else 0
    if size < 1:
        raise InputError(f"{name} must be a size such as 2GiB or 500MB, got {text!r}")
    return size


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; what goes wrong is a :class:`~rue.errors.FileError`."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"{path}: cannot be read: {reason}") from None
    with file:
        yield file


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader raises on a broken file into a :class:`~rue.errors.FileError`."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        raise FileError(f"{path}: cannot be read as {kind}: {_reason(error)}") from None


def file_size(file: BinaryIO) -> int:
    """Return the size of an open file in bytes; its position becomes the beginning."""
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _size(n_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes} bytes"


def _reason(error: Exception) -> str:
    text = one_line(error)
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled objects, which are refused"
    return text[:300] or "it is truncated or empty"


def size_of_pages(file: BinaryIO, start: int, end: int, n_wanted: int) -> tuple[int, int]:
    """Return the bytes and the values of the pages of a column chunk, by the pages' own headers."""
    n_bytes, n_values, place, n_read = 0, 0, start, 256
    while place < end and n_values < n_wanted:
        file.seek(place)
        fields: dict[tuple[int, ...], int] = {}
        try:
            used = _skip_struct(file.read(n_read), 0, fields)
        except IndexError:
            if n_read >= min(_LONGEST_HEADER, end - place):
                raise ValueError("a page has no valid header") from None
            n_read *= 16
            continue
        if (2,) not in fields or fields.get((3,), -1) < 0:
            raise ValueError("a page has no valid header")
        n_bytes += fields[2,]
        n_values += fields.get((5, 1), 0) + fields.get((8, 1), 0)
        place += used + fields[3,]
    return n_bytes, n_values


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _skip_struct(
    data: bytes, place: int, fields: dict[tuple[int, ...], int], parents: tuple[int, ...] = ()
) -> int:
    """Return where a struct ends; its whole numbers go into ``fields`` by their path."""
    number = 0
    while True:
        byte = data[place]
        place += 1
        if byte == 0:
            return place
        kind, delta = byte & 0x0F, byte >> 4
        if delta:
            number += delta
        else:
            raw, place = _varint(data, place)
            number = (raw >> 1) ^ -(raw & 1)
        if kind in (4, 5, 6):  # i16, i32, i64 in zigzag
            raw, place = _varint(data, place)
            fields[*parents, number] = (raw >> 1) ^ -(raw & 1)
        elif kind == 3:
            place += 1
        elif kind == 7:
            place += 8
        elif kind == 8:
            length, place = _varint(data, place)
            place += length
        elif kind == 12:
            place = _skip_struct(data, place, fields, (*parents, number))
        elif kind not in (1, 2):
            raise IndexError


def message_size(message: Any, per_row: int) -> int:
    """Return the bytes that a message takes once it is unpacked: see Message.fbs of Arrow."""
    data, body = message.metadata.to_pybytes(), message.body

    def number(place: int, n_bytes: int) -> int:
        return int.from_bytes(data[place : place + n_bytes], "little", signed=n_bytes > 2)

    def field(table: int, index: int) -> int:
        """Return where the field of a table is, or 0 if it is not there."""
        names = table - number(table, 4)
        at = 4 + 2 * index
        offset = number(names + at, 2) if at < number(names, 2) else 0
        return table + offset if offset else 0

    def target(place: int) -> int:
        return place + number(place, 4)

    if message.type not in ("record batch", "dictionary"):
        return 0
    batch = target(field(number(0, 4), 2))
    if message.type == "dictionary":
        batch = target(field(batch, 1))
    rows, buffers, packed = (field(batch, index) for index in (0, 2, 3))
    n_bytes = max(number(rows, 8), 0) * per_row if rows else 0
    first = target(buffers) + 4 if buffers else len(data)
    for place in range(first, min(first + 16 * number(first - 4, 4), len(data)), 16):
        begin, length = number(place, 8), number(place + 8, 8)
        head = body[begin : begin + 8].to_pybytes() if packed and length > 8 else b""
        n_bytes += max(int.from_bytes(head, "little", signed=True), length)
    return n_bytes
