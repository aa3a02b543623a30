"""Let one process at a time do something, on POSIX and on Windows.

The operating system releases a lock when its holder ends, however it ends.
"""

import errno
import importlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rue.errors import FileError
from rue.io.atomic import open_own

# Windows locks bytes, and nobody else can read those: one far beyond what the file holds.
_LOCKED_BYTE = 1 << 30
_POLL = 0.1  # seconds
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Held(Exception):  # noqa: N818, a state of the lock and no fault
    """Another process holds the lock; ``process`` is its id, or empty where it is not known."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.process = process


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file at ``path``, which is created if missing and stays."""
    with open_own(path) as file:
        try:
            taken = _take(file, wait=wait)
        except OSError as error:
            raise FileError(f"{path}: cannot be locked: {error.strerror}") from None
        if not taken:
            raise Held(_holder(file))
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        yield


def _take(file: BinaryIO, *, wait: bool) -> bool:
    try:
        fcntl: Any = importlib.import_module("fcntl")
    except ImportError:
        return _take_on_windows(file, wait=wait)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _take_on_windows(file: BinaryIO, *, wait: bool) -> bool:
    msvcrt: Any = importlib.import_module("msvcrt")
    while True:
        file.seek(_LOCKED_BYTE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in _BUSY:
                raise
            if not wait:
                return False
            time.sleep(_POLL)
        else:
            return True


def _holder(file: BinaryIO) -> str:
    try:
        file.seek(0)
        text = file.read(32).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if text.isdecimal() else ""
