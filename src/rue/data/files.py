"""Where data files are, and reading them: ``--root``, then ``RUE_DATA``, then the cache.

Of untrusted archives only named members are read; nothing is unpacked to disk.
"""

import codecs
import contextlib
import csv
import gzip
import hashlib
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO

import numpy as np

from rue._text import one_line
from rue.errors import FileError, InputError, RueError
from rue.io.arrays import is_bounded, read_npy_bytes
from rue.io.atomic import replacing, sha256
from rue.io.columns import plain_name
from rue.io.memory import allowance, require_memory

# No archive that we read comes near this many bytes when unpacked.
ARCHIVE_LIMIT = 64 << 30
# What reading a bad zip raises; RuntimeError is that of an encrypted one, OSError bzip2's.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)


def cache_folder() -> Path:
    """Return the user's cache folder for rue."""
    import pooch

    return Path(pooch.os_cache("rue"))


def roots(root: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """Return the folders to read from, first to last: ``root``, ``RUE_DATA``, the cache."""
    places = {"root": root, "RUE_DATA": os.environ.get("RUE_DATA")}
    folders = {name: Path(folder).expanduser() for name, folder in places.items() if folder}
    for name, folder in folders.items():
        if not folder.is_dir():
            raise InputError(f"{name} must be a folder, got {folder}")
    return (*folders.values(), cache_folder())


def writable_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder to fetch into: ``root`` or the cache, never ``RUE_DATA``."""
    if root:
        require_unshared(Path(root).expanduser(), "root")
        return Path(root).expanduser()
    require_unshared(cache_folder(), "the cache folder", "; give a root")
    return cache_folder()


def require_unshared(folder: Path, what: str = "the folder", advice: str = "") -> None:
    """Raise if a folder to write to is inside ``RUE_DATA``, directly or through a link."""
    shared = os.environ.get("RUE_DATA")
    if shared and folder.resolve().is_relative_to(Path(shared).expanduser().resolve()):
        raise InputError(
            f"{what} must not be in RUE_DATA, which is only read, got {folder}{advice}"
        )


class Reader:
    """Finds and reads the files of one data set, and keeps the checksum of each."""

    def __init__(
        self,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        pinned: Mapping[str, str | None] | None = None,
        verify: bool = True,
        by_hand: str = "",
    ) -> None:
        self.name = name
        self.roots = roots(root)
        self.pinned = pinned or {}
        self.verify = verify
        self.by_hand = by_hand
        self.checksums: dict[str, str] = {}

    def find(self, *paths: str) -> Path:
        """Return the first of ``paths`` that exists, root by root; raise if none does."""
        for folder in self.roots:
            for path in paths:
                if os.path.exists(folder / path):  # noqa: PTH110  Path's raises for long names
                    return folder / path
        looked = ", ".join(map(str, self.roots))
        raise FileError(
            f"{self.name} needs {' or '.join(paths)}, found in none of {looked}: "
            + (self.by_hand or f"run `rue data fetch {self.name}`")
        )

    def has(self, *paths: str) -> bool:
        """Return whether one of ``paths`` exists."""
        return any((folder / path).exists() for folder in self.roots for path in paths)

    def read(self, path: str) -> bytes:
        """Read a file, decompressed if it is a .gz; the unpacked file is accepted too."""
        file = self.find(*unpacked(path))
        data = file.read_bytes()
        if file.suffix == ".gz":
            data = gunzip(data, str(file))
        self.note(path, content_digest(str(file), data), file)
        return data

    def member(self, name: str, *paths: str) -> bytes:
        """Read a file from the first of ``paths`` that exists, each itself or a zip that has it."""
        file = self.find(*paths)
        data = read_member(file, name)
        self.note(name, content_digest(name, data), file)
        return data

    def note(self, path: str, digest: str, file: Path) -> None:
        """Keep the checksum of what was found at ``file``; raise if it is not the pinned one."""
        pinned = self.pinned.get(path)
        if pinned is not None:
            self.require_digest(pinned, digest, file)
        self.checksums[path] = digest

    def require_digest(self, expected: str, digest: str, file: Path) -> None:
        """Raise if the content of ``file`` does not have the known checksum."""
        if self.verify and digest != expected:
            advice = self.by_hand or f"delete it and run `rue data fetch {self.name}`"
            raise FileError(
                f"{file} is not the published file: its content should have SHA-256 {expected}, "
                f"got {digest}: {advice} (verify=False reads it nevertheless)"
            )


def unpacked(path: str) -> tuple[str, ...]:
    """Return a path and, for a .gz, also the path without this ending."""
    return (path, path.removesuffix(".gz")) if path.endswith(".gz") else (path,)


def content_digest(path: str, data: bytes) -> str:
    """Return the SHA-256 of the content of a file, independent of the program that wrote it."""
    if path.endswith(".npy"):
        array = read_npy_bytes(path, data)
        with np.errstate(invalid="ignore"):
            whole = np.ascontiguousarray(array, dtype="<i8")
        data = (whole if (whole == array).all() else np.ascontiguousarray(array)).tobytes()
    elif path.endswith((".csv", ".data")):
        data = b"\n".join(data.removeprefix(codecs.BOM_UTF8).split()) + b"\n"
    elif path.endswith((".jsonl", ".tsv")):
        data = b"\n".join(data.removeprefix(codecs.BOM_UTF8).splitlines()) + b"\n"
    return hashlib.sha256(data).hexdigest()


def file_digest(path: Path, name: str) -> str:
    """Return :func:`content_digest` of a file that is, or is to be, called ``name``."""
    read = (".gz", ".npy", ".csv", ".tsv", ".data", ".jsonl")
    if name.endswith(read) and not name.endswith(".tar.gz"):
        data = path.read_bytes()
        return content_digest(name, gunzip(data, name) if name.endswith(".gz") else data)
    return sha256(path)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write a file of a data folder, completely or not at all; missing folders are created."""
    require_unshared(path.parent)
    with replacing(path, parents=True) as handle:
        yield handle


def csv_rows(
    data: bytes, path: str, columns: Sequence[str], *, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Return the line number and the cells of each row that is not blank."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} must be UTF-8: {error}") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = next(reader, [])
        names = [plain_name(name) for name in header]
        if any(names.count(plain_name(column)) != 1 for column in columns):
            raise FileError(
                f"{path} needs the columns {', '.join(columns)}, "
                f"found {', '.join(header) or 'none'}"
            )
        places = [names.index(plain_name(column)) for column in columns]
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                raise FileError(
                    f"{path}: line {reader.line_num} has {len(row)} cells for {len(header)} columns"
                )
            if len(row) <= max(places):
                raise FileError(
                    f"{path}: line {reader.line_num} is too short for the columns "
                    f"{', '.join(columns)}, got {row}"
                )
            yield reader.line_num, [row[place] for place in places]
    except csv.Error as error:
        raise FileError(f"{path} is not a valid csv file: {error}") from None


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
    paths = [path for path in paths_in(source) if PurePosixPath(path).name == name]
    if len(paths) != 1:
        what = f"has no {name}" if not paths else f"has {len(paths)} files {name}"
        raise FileError(f"{source} {what}")
    return read_in(source, paths[0])


def paths_in(source: Path) -> list[str]:
    """Return the files of a folder or a zip, without the twins that a Mac packs."""
    if source.is_dir():
        files = (path for path in source.rglob("*") if path.is_file())
        return [path.relative_to(source).as_posix() for path in files]
    with open_zip(source) as archive:
        names = [member.filename for member in archive.infolist() if not member.is_dir()]
    return [name for name in names if not name.startswith("__MACOSX/")]


def read_in(source: Path, name: str) -> bytes:
    """Read a file of a folder or a zip."""
    if not source.is_dir():
        return read_zip(source, [name])[name]
    if not (source / name).is_file():
        raise FileError(f"{source} has no {name}")
    return (source / name).read_bytes()
