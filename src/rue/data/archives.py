"""Reading archives without trusting them: nothing is unpacked, named members are read."""

import contextlib
import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from rue.errors import FileError

__all__ = ["ZIP_ERRORS", "gunzip", "open_zip", "read_tar", "read_zip"]

# Far above every file that we read into memory, far below what would hurt.
LIMIT = 2 << 30
# No archive that we read comes near this many bytes when unpacked.
ARCHIVE_LIMIT = 64 << 30
# What reading a bad zip raises; RuntimeError is that of an encrypted one.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


@contextlib.contextmanager
def open_zip(path: Path | io.BytesIO, name: str = "") -> Iterator[zipfile.ZipFile]:
    """Open a zip whose members all stay inside it: no climbing path, no link, no bomb."""
    name = name or str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                _require_inside(name, member.filename)
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise FileError(f"{name} holds a link, {member.filename!r}")
            if sum(member.file_size for member in archive.infolist()) > ARCHIVE_LIMIT:
                raise FileError(f"{name} would unpack to more than {ARCHIVE_LIMIT >> 30} GiB")
            yield archive
    except ZIP_ERRORS as error:
        raise FileError(f"{name} is not a good zip file: {error}") from None


def read_zip(path: Path | io.BytesIO, names: Sequence[str], *, name: str = "") -> dict[str, bytes]:
    """Read the named members of a zip."""
    with open_zip(path, name) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        _require_members(name or str(path), names, sizes)
        return {member: archive.read(member) for member in names}


def read_tar(path: Path | io.BytesIO, names: Sequence[str], *, name: str = "") -> dict[str, bytes]:
    """Read the named members of a tar, compressed or not."""
    name = name or str(path)
    source = io.BytesIO(path.read_bytes()) if isinstance(path, Path) else path
    try:
        with tarfile.open(fileobj=source) as archive:
            members = {member.name: member for member in archive.getmembers()}
            for member in members.values():
                _require_inside(name, member.name)
                if not (member.isfile() or member.isdir()):
                    raise FileError(f"{name} holds a link or a device, {member.name!r}")
            _require_members(name, names, {key: member.size for key, member in members.items()})
            contents = {}
            for key in names:
                handle = archive.extractfile(members[key])
                contents[key] = b"" if handle is None else handle.read()
            return contents
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FileError(f"{name} is not a good tar file: {error}") from None


def gunzip(data: bytes, name: str) -> bytes:
    """Decompress one gzip stream."""
    try:
        if not data:  # which gzip takes for a stream of nothing
            raise EOFError("it is empty")
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(LIMIT + 1)
    except (OSError, zlib.error, EOFError) as error:
        raise FileError(f"{name} is not a good gzip file: {error}") from None
    if len(content) > LIMIT:
        raise FileError(f"{name} would unpack to more than {LIMIT >> 30} GiB")
    return content


def _require_inside(archive: str, member: str) -> None:
    path, windows = PurePosixPath(member.replace("\\", "/")), PureWindowsPath(member)
    if path.is_absolute() or windows.drive or ".." in path.parts:
        raise FileError(f"{archive} holds a path that climbs out of it, {member!r}")


def _require_members(archive: str, names: Sequence[str], sizes: dict[str, int]) -> None:
    for name in names:
        if name not in sizes:
            raise FileError(f"{archive} has no {name}")
        if sizes[name] > LIMIT:
            raise FileError(f"{archive}: {name} is larger than {LIMIT >> 30} GiB")
