"""Read named members of untrusted archives; nothing is unpacked to disk."""

import contextlib
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from rue._text import one_line
from rue.errors import FileError, RueError
from rue.io.arrays import is_bounded
from rue.io.memory import allowance, require_memory

# No archive that we read comes near this many bytes when unpacked.
ARCHIVE_LIMIT = 64 << 30
# What reading a bad zip raises; RuntimeError is that of an encrypted one, OSError bzip2's.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)


@contextlib.contextmanager
def open_zip(path: Path | io.BytesIO, name: str = "") -> Iterator[zipfile.ZipFile]:
    """Open a zip file; raise for paths outside it, links, and an excessive unpacked size."""
    name = name or str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                _require_inside(name, member.filename)
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise FileError(f"{name} holds a link, {member.filename!r}")
                if not is_bounded(member):
                    raise FileError(
                        f"{name} is packed with bzip2 or LZMA, which is not read: pack it with "
                        "deflate, as zip does by default"
                    )
            if sum(member.file_size for member in archive.infolist()) > ARCHIVE_LIMIT:
                raise FileError(f"{name} would unpack to more than {ARCHIVE_LIMIT >> 30} GiB")
            yield archive
    except RueError:
        raise
    except ZIP_ERRORS as error:
        raise FileError(f"{name} is not a valid zip file: {error}") from None


def read_zip(path: Path | io.BytesIO, names: Sequence[str], *, name: str = "") -> dict[str, bytes]:
    """Read the named members of a zip."""
    with open_zip(path, name) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        _require_members(name or str(path), names, sizes, _size(path))
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
            sizes = {key: member.size for key, member in members.items()}
            _require_members(name, names, sizes, source.getbuffer().nbytes)
            contents = {}
            for key in names:
                handle = archive.extractfile(members[key])
                contents[key] = b"" if handle is None else handle.read()
            return contents
    except RueError:
        raise
    except (tarfile.TarError, lzma.LZMAError, zlib.error, OSError, EOFError, ValueError) as error:
        raise FileError(f"{name} is not a valid tar file: {one_line(error)}") from None


def gunzip(data: bytes, name: str) -> bytes:
    """Decompress one gzip stream."""
    try:
        if not data:  # which gzip takes for a stream of nothing
            raise EOFError("it is empty")
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(allowance(len(data)) + 1)
    except (OSError, zlib.error, EOFError) as error:
        raise FileError(f"{name} is not a valid gzip file: {error}") from None
    require_memory(name, len(content), len(data))
    return content


def _size(path: Path | io.BytesIO) -> int:
    return path.stat().st_size if isinstance(path, Path) else path.getbuffer().nbytes


def _require_inside(archive: str, member: str) -> None:
    path, windows = PurePosixPath(member.replace("\\", "/")), PureWindowsPath(member)
    if path.is_absolute() or windows.drive or ".." in path.parts:
        raise FileError(f"{archive} holds a path outside the archive, {member!r}")


def _require_members(archive: str, names: Sequence[str], sizes: dict[str, int], size: int) -> None:
    for name in names:
        if name not in sizes:
            raise FileError(f"{archive} has no {name}")
    require_memory(archive, sum(sizes[name] for name in names), size)


def read_member(source: Path, name: str) -> bytes:
    """Read the file itself, or the one member of a zip that has this name."""
    if source.suffix.lower() != ".zip":
        return source.read_bytes()
    with open_zip(source) as archive:
        member = member_named(source, archive.namelist(), name)
    return read_zip(source, [member])[member]


def member_named(source: Path, members: list[str], name: str) -> str:
    """Return the only path of an archive that ends in this name; raise if there is none, or two."""
    # A Mac puts a twin of each file beside what it packs.
    paths = [PurePosixPath(member) for member in members if not member.startswith("__MACOSX/")]
    matches = [str(path) for path in paths if path.name == name]
    if len(matches) != 1:
        what = f"has no {name}" if not matches else f"has {len(matches)} files {name}"
        raise FileError(f"{source} {what}")
    return matches[0]
