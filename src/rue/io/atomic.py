"""Write files so that each is complete or absent, take their checksums, and hold locks.

Everything that rue writes goes through :func:`replacing`. A program that is killed, or a disk that
is full, leaves the old file; a symbolic link in the file's place is refused. A lock is held by one
process at a time, on POSIX and on Windows; the system releases it when its holder ends.
"""

import errno
import hashlib
import importlib
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from rue.errors import FileError

ON_LINK: ContextVar[Callable[[str], object] | None] = ContextVar("ON_LINK", default=None)
"""What to call with a sentence where a file is written through a folder link."""

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
# Windows locks bytes, and nobody else can read those: one far beyond what the file holds.
_LOCKED_BYTE = 1 << 30
_POLL = 0.1  # seconds
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def replacing(path: Path, *, parents: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block ends without an error."""
    temporary = path.parent / f".rue-{secrets.token_hex(16)}.tmp"
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        mode = _require_plain(path)
        _tell_links(path)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _special("O_NOFOLLOW", "O_BINARY")
            with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
                if mode is not None:
                    with suppress(OSError):  # some file systems have no modes
                        temporary.chmod(mode)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):  # renamed, never created, or its folder is no longer there
                temporary.unlink()
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {_reason(error)}") from None


def copy(source: Path, target: Path) -> None:
    """Copy a file, completely or not at all, to a place that is no link."""
    with source.open("rb") as read, replacing(target) as file:
        while piece := read.read(1 << 20):
            file.write(piece)


def write_json(path: Path, content: object, *, indent: int = 2) -> None:
    """Write a value as JSON, completely or not at all; raise FileError if that fails."""
    text = json.dumps(content, indent=indent, allow_nan=False)
    with replacing(path) as file:
        file.write(text.encode() + b"\n")


def open_own(path: Path) -> BinaryIO:
    """Open a file that only rue writes, such as a lock, to read and append."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _special("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        _require_plain(path)
        raise FileError(f"{path}: cannot be opened: {_reason(error)}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise FileError(f"{path}: is no regular file of its own: remove it")
    return os.fdopen(descriptor, "ab+")


def is_full(error: OSError) -> bool:
    """Return whether an error says that the disk, or the user's share of it, is full."""
    return error.errno in _DISK_FULL


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _special(*names: str) -> int:
    """Combine flags that not every system has."""
    combined = 0
    for name in names:
        combined |= getattr(os, name, 0)
    return combined


def _tell_links(path: Path) -> None:
    """Tell that a folder of a path is a symbolic link; those of the system, as /tmp, are not."""
    tell = ON_LINK.get()
    folders = [] if tell is None else [path.parent, *path.parent.parents]
    for folder in folders:
        if folder.is_symlink() and folder.absolute().parent != Path(folder.absolute().anchor):
            assert tell is not None
            tell(f"{folder} is a symbolic link: {path.name} is in {path.parent.resolve()}")
            return


def _require_plain(path: Path) -> int | None:
    """Return the permissions of the regular file at a path, None if there is nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # nothing there; opening the temporary file tells why, if that matters
        return None
    if stat.S_ISLNK(mode):
        raise FileError(
            f"{path}: is a symbolic link, which is never written through: "
            "remove it, or name the file that it points to"
        )
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise FileError(f"{path}: cannot be written: it is {kind}")
    return stat.S_IMODE(mode)


def _reason(error: OSError) -> str:
    if is_full(error):
        return "there is no space left on the disk"
    return error.strerror or str(error)


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
