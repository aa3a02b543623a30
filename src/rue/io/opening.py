"""Open files to read: what is wrong with one becomes one clear error, and its size is checked.

A file of a few kilobytes can declare arrays of gigabytes. By default reading may take the larger
of 1 GiB and 100 times the size of the file. ``RUE_MAX_MEMORY``, such as ``2GiB``, sets another
limit; ``--max-memory`` on the command line sets it for one command.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue._text import one_line
from rue.errors import FileError, InputError

__all__ = [
    "allowance",
    "file_size",
    "max_memory",
    "opened",
    "parse_size",
    "reading",
    "require_memory",
    "size_of_text",
    "text_array",
]

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


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes.

    Raises
    ------
    FileError
        If it is not there or cannot be read.
    """
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


def require_memory(path: Path | str, needed: int, file_size: int) -> None:
    """Raise if reading a file would take more memory than it may.

    Parameters
    ----------
    path
        The file, for the message.
    needed
        How many bytes reading it would take, from what it declares.
    file_size
        The size of the file in bytes.

    Raises
    ------
    FileError
        If it would take more; the message says how to allow it.
    """
    allowed = allowance(file_size)
    if needed > allowed:
        raise FileError(
            f"{path}: reading it would take {_said(needed)} of memory, and {_said(allowed)} are "
            f"allowed: to read it all the same, give --max-memory or set {VARIABLE}"
        )


def allowance(file_size: int) -> int:
    """Return how many bytes of memory reading a file of this size may take."""
    given = os.environ.get(VARIABLE)
    return parse_size(given, VARIABLE) if given else max(_LEAST, _PER_BYTE * file_size)


def parse_size(text: str, name: str = "max_memory") -> int:
    """Return a number of bytes from text such as ``2GiB``, ``500 MB`` or ``1048576``.

    ``k``, ``M``, ``G``, ``T`` and ``KiB``, ``MiB``, ... are powers of 1024, ``kB``, ``MB``, ... of
    1000, in either case.

    Examples
    --------
    >>> parse_size("1.5GiB"), parse_size("2 MB"), parse_size("100")
    (1610612736, 2000000, 100)
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([A-Za-z]*)", text.strip())
    unit = match and _UNITS.get(match[2].lower())
    size = round(float(match[1]) * unit) if match and unit else 0
    if size < 1:
        raise InputError(f"{name} must be a size such as 2GiB or 500MB, got {text!r}")
    return size


@contextmanager
def max_memory(size: str | None) -> Iterator[None]:
    """Let reading a file take ``size``, such as ``2GiB``, within the block; None changes nothing.

    Processes that are started within it have the same limit.
    """
    if size is None:
        yield
        return
    parse_size(size)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = size
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def size_of_text(content: bytes, separators: bytes) -> int:
    """Return about how much memory the cells of a text file take once they are parsed."""
    cells = sum(content.count(separator) for separator in separators)
    return _PER_CHARACTER * len(content) + _PER_CELL * cells


def text_array(path: Path, words: Sequence[str]) -> NDArray[np.str_]:
    """Return words of a file as an array, in which each takes as much as the longest.

    Raises
    ------
    FileError
        If they would take too much memory: one long word among many.
    """
    longest = max(map(len, words), default=0)
    size = path.stat().st_size if path.is_file() else 0
    require_memory(path, 4 * max(longest, 1) * len(words), size)
    return np.array(words, dtype=np.str_)


def _said(n_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes} bytes"


def _reason(error: Exception) -> str:
    text = one_line(error)
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled objects, which are refused"
    return text[:300] or "it is truncated or empty"
