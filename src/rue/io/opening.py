"""Open files to read; whatever is wrong with one becomes one clear error."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rue.errors import FileError

__all__ = ["file_size", "opened", "reading"]


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


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled objects, which are refused"
    return text[:300] or "it is truncated or empty"
