"""Arrays on disk: .npz archives and .npy files.

Only the members of an .npz that are asked for are read, and what they declare is counted before
anything is allocated. Pickled arrays are refused.
"""

import io
import math
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError, InputError
from rue.io.atomic import replacing
from rue.io.memory import MemoryBudget, file_size, opened, reading

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000  # as numpy's own limit
_LEAST_ITEM = 8  # what an element takes at least: numbers are read as float64


def load_npz(
    path: Path, names: Collection[str] | None = None, *, max_memory: int | None = None
) -> dict[str, NDArray[Any]]:
    """Read the named arrays of an .npz archive, all by default, in the order of the file."""
    with opened(path) as file, reading(path, ".npz"):
        budget = MemoryBudget(path, file_size(file), max_memory)
        with _archive(path, file) as archive:
            members = _members(path, archive)
            chosen = [name for name in members if names is None or name in names]
            for name in chosen:
                if not is_bounded(members[name]):
                    raise FileError(
                        f"{path}: {name} is packed with bzip2 or LZMA, which is not read: write it "
                        "with np.savez_compressed"
                    )
            headers = {name: _member_header(archive, members[name]) for name in chosen}
            for name, (shape, dtype) in headers.items():
                if dtype.hasobject:
                    raise FileError(
                        f"{path}: {name} holds pickled objects, which are refused; save "
                        f"{name}.astype(str)"
                    )
                budget.take(_n_bytes(shape, dtype))
            arrays = {}
            for name in chosen:
                with archive.open(members[name]) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                _require_unicode(path, name, arrays[name])
    return arrays


def npz_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of an .npz archive; () where it would not be unpacked."""
    with opened(path) as file, reading(path, ".npz"), _archive(path, file) as archive:
        members = _members(path, archive)
        return {
            name: _member_header(archive, info)[0] if is_bounded(info) else ()
            for name, info in members.items()
        }


def save_npz(path: Path, arrays: Mapping[str, Any], *, parents: bool = False) -> None:
    """Write arrays to an .npz archive, completely or not at all; Python objects are refused."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise InputError(f"{name} must hold numbers or text, got Python objects")
    with replacing(path, parents=parents) as file:
        np.savez(file, **arrays)


def load_npy(path: Path, *, max_memory: int | None = None) -> NDArray[Any]:
    """Map an .npy array into memory, read-only."""
    with opened(path) as file, reading(path, ".npy"):
        if zipfile.is_zipfile(file):
            raise FileError(f"{path}: is an archive, not an .npy array")
        budget = MemoryBudget(path, file_size(file), max_memory)
        budget.take(_n_bytes(*_header(file)))
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def read_npy_bytes(name: str, content: bytes) -> NDArray[Any]:
    """Read an array of numbers from the bytes of an .npy file."""
    with reading(Path(name), ".npy"):
        shape, dtype = _header(io.BytesIO(content))
        if math.prod(shape) * dtype.itemsize > len(content):
            raise FileError(f"{name}: cannot be read as .npy: it is truncated")
        MemoryBudget(name, len(content)).take(_n_bytes(shape, dtype))
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if array.dtype.kind not in "fiub":
        raise FileError(f"{name} must hold numbers, got dtype {array.dtype}")
    return array


def _archive(path: Path, file: BinaryIO) -> zipfile.ZipFile:
    if file.read(len(_MAGIC)) == _MAGIC:
        raise FileError(f"{path}: is an .npy array, not an .npz archive")
    file.seek(0)
    return zipfile.ZipFile(file)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members that are arrays, by the name of the array."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if is_bounded(info):
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


def is_bounded(info: zipfile.ZipInfo) -> bool:
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
    """Return what an array takes; one without elements takes what its longest axis does."""
    return math.prod(length or 1 for length in shape) * max(dtype.itemsize, _LEAST_ITEM)
