"""Changes of named arrays, and .npz files that lie about what they hold."""

import io
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import odd
from fuzz.bytewise import change_bytes

_TYPES = ("f2", "f4", ">f8", "g", "i1", "u1", "i8", "u8", "?", "c16", "U3", "S3", "M8[D]", "m8[s]")
_PACKINGS = (zipfile.ZIP_STORED,) * 5 + (zipfile.ZIP_DEFLATED,) * 3
_RARE = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def change_arrays(rng: random.Random, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return arrays of which some have other values, types, shapes or names."""
    arrays = dict(arrays)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not arrays:
            return arrays
        name = rng.choice(sorted(arrays))
        match rng.randrange(10):
            case 0:
                del arrays[name]
            case 1:
                arrays[rng.choice(odd.NAMES)] = arrays.pop(name)
            case 2:
                arrays[rng.choice(odd.NAMES)] = arrays[rng.choice(sorted(arrays))]
            case 3:
                other = rng.choice(sorted(arrays))
                arrays[name], arrays[other] = arrays[other], arrays[name]
            case 4 | 5:
                arrays[name] = _reshaped(rng, np.asarray(arrays[name]))
            case 6:
                arrays[name] = _retyped(rng, np.asarray(arrays[name]))
            case _:
                arrays[name] = _revalued(rng, np.asarray(arrays[name]))
    return arrays


def write_npz(rng: random.Random, path: Path, arrays: dict[str, Any], *, lies: bool) -> None:
    """Write arrays as an archive; where it ``lies``, members declare what they do not hold."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            packing = rng.choice(_PACKINGS + (_RARE if lies else ()))
            content = npy(rng, np.asarray(array), lies=lies and rng.random() < 0.3)
            _add(archive, f"{name}.npy", content, packing)
            if lies and rng.random() < 0.1:
                _add(archive, rng.choice((f"{name}.npy", f"{name}", "../x.npy", "/x")), content)
        if lies and rng.random() < 0.3:
            _add(archive, rng.choice(odd.NAMES) + ".npy", rng.choice((b"", b"x", b"\x93NUMPY")))
    if lies and rng.random() < 0.4:
        path.write_bytes(change_bytes(rng, path.read_bytes()))


def npy(rng: random.Random, array: np.ndarray, *, lies: bool = False) -> bytes:
    """Return the bytes of an .npy file; where it ``lies``, its header is of another array."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    content = stream.getvalue()
    if not lies:
        return content
    header = io.BytesIO()
    shapes = [(1 << 40,), (1 << 20, 1 << 20), (-1, 3), (0, 3), (1 << 62, 4), (10**6, 7, 0), ()]
    described = {
        "descr": rng.choice(("<f8", "|O", "<U9", "|V0", "<U0", "<f8", "<i8", "|S0", "<f16")),
        "fortran_order": rng.random() < 0.3,
        "shape": rng.choice([*shapes, array.shape, array.shape[::-1]]),
    }
    np.lib.format.write_array_header_2_0(header, described)
    return rng.choice((header.getvalue() + content[128:], change_bytes(rng, content)))


def _add(
    archive: zipfile.ZipFile, name: str, content: bytes, packing: int = zipfile.ZIP_STORED
) -> None:
    import warnings

    with warnings.catch_warnings():  # zipfile warns of names that are there already
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo(name or "x"), content, packing)


def _revalued(rng: random.Random, array: np.ndarray) -> np.ndarray:
    array = array.copy()
    if not array.size:
        return array
    if array.dtype.kind == "U":
        words = array.astype(object)
        words.flat[rng.randrange(array.size)] = odd.word(rng).replace("\x00", "0")
        return words.astype(str)
    if array.dtype.kind not in "fiu":
        return array
    match rng.randrange(5):
        case 0:
            with np.errstate(all="ignore"):
                return (array * odd.number(rng)).astype(float)
        case 1:
            array[:] = array.flat[0]
            return array
        case 2:
            rows = rng.randrange(len(array)) if array.ndim else ()
            with np.errstate(all="ignore"):
                array = array.astype(float)
                array[rows] = odd.number(rng)
            return array
        case _:
            array = array.astype(float)
            for _ in range(rng.choice((1, 1, 3))):
                array.flat[rng.randrange(array.size)] = odd.number(rng)
            return array


def _retyped(rng: random.Random, array: np.ndarray) -> np.ndarray:
    kind = rng.choice((*_TYPES, "object", "V8", "fields"))
    if kind == "object":
        return array.astype(object)
    if kind in ("V8", "fields"):
        return np.zeros(array.shape, kind if kind == "V8" else [("a", "i4"), ("b", "f8")])
    if array.dtype.kind == "c":
        array = array.real
    with np.errstate(all="ignore"):
        try:
            return array.astype(kind)
        except (TypeError, ValueError):
            return np.zeros(array.shape, kind)


def _reshaped(rng: random.Random, array: np.ndarray) -> np.ndarray:
    if not array.ndim:
        return array[None]
    axis = rng.randrange(array.ndim)
    match rng.randrange(9):
        case 0:
            return array.swapaxes(0, array.ndim - 1)
        case 1:
            return np.expand_dims(array, axis)
        case 2:
            return array.take(0, axis=axis) if array.shape[axis] else array
        case 3:
            return array.take([], axis=axis)
        case 4:
            return array.take(range(max(array.shape[axis] - 1, 0)), axis=axis)
        case 5 if array.shape[axis]:
            return np.concatenate([array, array.take([0], axis=axis)], axis=axis)
        case 6:
            return array.reshape(-1)
        case 7:
            return array[rng.sample(range(len(array)), len(array))] if len(array) else array
        case _:
            return np.asfortranarray(array)
