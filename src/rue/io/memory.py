"""How much memory reading a file may take: the one guard of all readers.

A file of a few kilobytes can declare arrays of gigabytes. By default reading may take the larger
of 1 GiB and 100 times the size of the file; ``max_memory`` of a reader (``--max-memory``), or else
the variable ``RUE_MAX_MEMORY``, such as ``2GiB``, sets another limit.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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
