"""Where data files are, and reading them: ``--root``, then ``RUE_DATA``, then the cache."""

import codecs
import contextlib
import csv
import hashlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rue.data.archives import gunzip
from rue.errors import FileError, InputError
from rue.io.arrays import read_npy_bytes
from rue.io.atomic import replacing, sha256


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
        names = [_plain(name) for name in header]
        if any(names.count(_plain(column)) != 1 for column in columns):
            raise FileError(
                f"{path} needs the columns {', '.join(columns)}, "
                f"found {', '.join(header) or 'none'}"
            )
        places = [names.index(_plain(column)) for column in columns]
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


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name.strip().lower())
