"""Open files to read, read and write arrays (.npz, .npy), and find the names of rows and columns.

What is wrong with a file becomes one clear error, and its size is checked: a file of a few
kilobytes can declare arrays of gigabytes. By default reading may take the larger of 1 GiB and 100
times the size of the file. ``RUE_MAX_MEMORY``, such as ``2GiB``, sets another limit;
``--max-memory`` on the command line sets it for one command.

Only the members of an .npz that are asked for are read, and what they declare is checked before
anything is allocated. Pickled arrays are refused.
"""

import io
import math
import os
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue._arrays import is_whole
from rue._text import one_line
from rue.errors import AlignmentError, FileError, InputError
from rue.io.atomic import replacing

__all__ = [
    "ANNOTATOR_NAMES",
    "BY_NAME",
    "BY_POSITION",
    "ID_NAMES",
    "Matching",
    "allowance",
    "checked_classes",
    "file_size",
    "find_id_name",
    "ids_of",
    "load_npy",
    "load_npz",
    "max_memory",
    "named_rows",
    "npz_shapes",
    "opened",
    "parse_size",
    "read_npy_bytes",
    "reading",
    "require_memory",
    "require_unique",
    "save_npz",
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

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000  # as numpy's own limit
# An element of no size takes none, but going through so many takes time.
_NO_ITEM = 8


ID_NAMES = ("id", "ids", "uid", "item", "item_id")
"""What the column that names the points may be called, in either case."""

ANNOTATOR_NAMES = ("annotator", "annotator_id", "worker", "worker_id", "rater", "rater_id")
"""What the column that names the annotators may be called."""


@dataclass(frozen=True)
class Matching:
    """What a user says about how files are matched.

    Attributes
    ----------
    id_name
        The column that names the points, where it has none of the usual names.
    classes
        The classes in the order of the columns, for files that do not name their columns.
    common
        Keep the points that are on both sides, instead of raising where one lacks some.
    by_position
        Match rows by position even where one side, or both, have ids.
    """

    id_name: str | None = None
    classes: tuple[str, ...] | None = None
    common: bool = False
    by_position: bool = False

    def __post_init__(self) -> None:
        names = self.classes
        if names is not None and (len(names) < 2 or len(set(names)) < len(names)):
            raise InputError(f"--classes must be two or more different names, got {list(names)}")
        if self.common and self.by_position:
            raise InputError("--common matches by id, so it cannot go with --by-position")


BY_NAME = Matching()
"""The default: by name, every point on both sides."""

BY_POSITION = Matching(by_position=True)
"""For points that are matched already."""


def load_npz(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read arrays of an .npz archive.

    Parameters
    ----------
    path
        The archive.
    names
        Which arrays to read; all by default. Those that are not there are left out.

    Returns
    -------
    dict
        The arrays by name, in the order of the file. Members that are no arrays are left out.

    Raises
    ------
    FileError
        If the file cannot be read, holds pickled arrays, or would take too much memory.
    """
    with opened(path) as file, reading(path, ".npz"):
        size = file_size(file)
        with _archive(path, file) as archive:
            members = _members(path, archive)
            wanted = [name for name in members if names is None or name in names]
            for name in wanted:
                if not _is_bounded(members[name]):
                    raise FileError(
                        f"{path}: {name} is packed with bzip2 or LZMA, which is not read: write it "
                        "with np.savez_compressed"
                    )
            headers = {name: _member_header(archive, members[name]) for name in wanted}
            for name, (_, dtype) in headers.items():
                if dtype.hasobject:
                    raise FileError(
                        f"{path}: {name} holds pickled objects, which are refused; save "
                        f"{name}.astype(str)"
                    )
            require_memory(path, sum(_n_bytes(*header) for header in headers.values()), size)
            arrays = {}
            for name in wanted:
                with archive.open(members[name]) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                _require_unicode(path, name, arrays[name])
    return arrays


def npz_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of an .npz archive, without reading the arrays.

    Those that :func:`load_npz` would refuse to unpack have the shape ().
    """
    with opened(path) as file, reading(path, ".npz"), _archive(path, file) as archive:
        members = _members(path, archive)
        return {
            name: _member_header(archive, info)[0] if _is_bounded(info) else ()
            for name, info in members.items()
        }


def save_npz(path: Path, arrays: Mapping[str, Any], *, parents: bool = False) -> None:
    """Write arrays to an .npz archive, completely or not at all; Python objects are refused."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise InputError(f"{name} must hold numbers or text, got Python objects")
    with replacing(path, parents=parents) as file:
        np.savez(file, **arrays)


def load_npy(path: Path) -> NDArray[Any]:
    """Map an .npy array into memory, read-only."""
    with opened(path) as file, reading(path, ".npy"):
        if zipfile.is_zipfile(file):
            raise FileError(f"{path}: is an archive, not an .npy array")
        file.seek(0)
        _header(file)
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def read_npy_bytes(name: str, content: bytes) -> NDArray[Any]:
    """Read one array from the bytes of an .npy file.

    Raises
    ------
    FileError
        If they are no such file, or it holds something else than numbers.
    """
    with reading(Path(name), ".npy"):
        shape, dtype = _header(io.BytesIO(content))
        if _n_bytes(shape, dtype) > len(content):
            raise FileError(f"{name}: cannot be read as .npy: it is truncated")
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if array.dtype.kind not in "fiub":
        raise FileError(f"{name} must hold numbers, got dtype {array.dtype}")
    return array


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
            f"allowed; to read it all the same, set {VARIABLE} or give --max-memory"
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


def checked_classes(path: Path, names: NDArray[Any], n_classes: int) -> tuple[str, ...]:
    """Return a file's class names as text, or raise unless there is a different one per class."""
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    texts = tuple(str(name) for name in names.tolist()) if names.ndim == 1 else ()
    if names.dtype.kind not in "USiu" or len(texts) != n_classes or len(set(texts)) < n_classes:
        raise FileError(
            f"{path}: classes must be {n_classes} different names, one per column, got "
            f"{str(names.tolist())[:120]}"
        )
    return texts


def find_id_name(path: Path, names: Sequence[str], wanted: str | None = None) -> str | None:
    """Return which of a file's columns names the points, or None if there is none.

    Parameters
    ----------
    path
        For messages.
    names
        The file's columns.
    wanted
        The column that the user named, if any.

    Raises
    ------
    FileError
        If the wanted column is not there, or two columns could be the one.
    """
    if wanted is not None:
        if wanted not in names:
            raise FileError(
                f"{path}: has no column {wanted!r} to name its rows, only {', '.join(names)[:200]}"
            )
        return wanted
    found = [name for name in names if name.lower() in ID_NAMES]
    if len(found) > 1:
        raise FileError(f"{path}: {' and '.join(found)} could both name the rows; choose with --id")
    return found[0] if found else None


def ids_of(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    n_points: int,
    id_name: str | None = None,
) -> NDArray[np.str_] | None:
    """Return the names of the rows as text, or None if there are none."""
    name = find_id_name(path, list(arrays), id_name)
    if name is None:
        return None
    ids = arrays[name]
    if ids.shape != (n_points,):
        raise FileError(f"{path}: {name} must have shape ({n_points},), got {ids.shape}")
    return named_rows(path, ids, name)


def named_rows(path: Path, values: Sequence[Any] | NDArray[Any], name: str) -> NDArray[np.str_]:
    """Return the ids of rows as text: words, or whole numbers without a point.

    Raises
    ------
    FileError
        If a row has no id, or one that is neither a word nor a whole number.
    """
    if isinstance(values, np.ndarray):
        fast = _fast_names(values)
        if fast is not None:
            return fast
    if isinstance(values, np.ndarray) and values.dtype.kind not in "fiubSUO":
        raise FileError(
            f"{path}: {name} must be text or whole numbers, got dtype {values.dtype}; "
            f"give {name}.astype(str)"
        )
    texts = []
    for row, value in enumerate(values.tolist() if isinstance(values, np.ndarray) else values):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        missing = value is None or (isinstance(value, float) and math.isnan(value)) or value == ""
        if missing or isinstance(value, bool) or not isinstance(value, str | int):
            got = "nothing" if missing else repr(value)[:60]
            raise FileError(
                f"{path}: {name} must be text or a whole number in every row, got {got} at row "
                f"{row}; for objects give {name}.astype(str)"
            )
        texts.append(str(value))
    return text_array(path, texts)


def require_unique(path: Path | None, ids: NDArray[np.str_]) -> None:
    """Raise if an id stands twice."""
    names, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise AlignmentError(
            f"{path}: ids must not repeat, {int((counts > 1).sum()):,} do, "
            f"first {str(names[np.argmax(counts > 1)])!r}"
        )


def _archive(path: Path, file: BinaryIO) -> zipfile.ZipFile:
    if file.read(len(_MAGIC)) == _MAGIC:
        raise FileError(f"{path}: is an .npy array, not an .npz archive")
    file.seek(0)
    return zipfile.ZipFile(file)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members that are arrays, by the name of the array."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if _is_bounded(info):
            with archive.open(info) as stream:
                if stream.read(len(_MAGIC)) != _MAGIC:
                    continue
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise FileError(f"{path}: holds two arrays named {name!r}")
        members[name] = info
    return members


def _require_unicode(path: Path, name: str, array: NDArray[Any]) -> None:
    """Raise if text has characters beyond Unicode, which no operation on it survives."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        letters = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="), copy=False)
        if letters.view(np.uint32).max() > 0x10FFFF:
            raise FileError(f"{path}: {name} holds characters that are no Unicode: it is damaged")


def _is_bounded(info: zipfile.ZipInfo) -> bool:
    """Whether a member is unpacked piece by piece, and not gigabytes at its first byte."""
    return info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def _member_header(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    with archive.open(info) as stream:
        return _header(stream)


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read what an array declares; numpy would read a header of any length first."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("it is an array with named fields, or of a newer format")
    length = stream.read(2 if version == (1, 0) else 4)
    n_header = int.from_bytes(length, "little")
    if n_header > _LONGEST_HEADER:
        raise ValueError(f"its header has {n_header:,} bytes, {_LONGEST_HEADER:,} are allowed")
    head = io.BytesIO(length + stream.read(n_header))
    formats: Any = np.lib.format
    read = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
    shape, _, dtype = read(head)
    if any(length < 0 for length in shape):
        raise ValueError(f"it has the shape {shape}")
    return shape, dtype


def _n_bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    return math.prod(shape) * (dtype.itemsize or _NO_ITEM)


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


def _fast_names(ids: NDArray[Any]) -> NDArray[np.str_] | None:
    """Return the names of an array of one type without a loop; None if a row may have none."""
    if ids.dtype.kind == "f":
        return ids.astype(np.int64).astype(np.str_) if is_whole(ids).all() else None
    if ids.dtype.kind == "S":
        ids = np.char.decode(ids, "utf-8", "replace")
    if ids.dtype.kind == "U":
        return None if (ids == "").any() else ids
    return ids.astype(np.str_) if ids.dtype.kind in "iu" else None
