"""Validate arrays that callers pass in, and convert them to numpy."""

import mmap
from collections.abc import Collection, Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.errors import AlignmentError, InputError, PointError, ShapeError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST = 1e50
"""The limit of numbers on a scale: the cube of a squared loss, in an interval, is still finite."""


def as_array(name: str, data: ArrayLike) -> NDArray[Any]:
    """Return ``data`` as an array of real numbers."""
    detach = getattr(data, "detach", None)
    if detach is not None:  # a torch tensor: numpy knows neither gradients, devices nor bfloat16
        tensor = detach().cpu()
        data = tensor.float() if is_bfloat16(tensor) else tensor
    try:
        array = np.asanyarray(data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} must be an array: {error}") from None
    if is_bfloat16(array):
        array = array.astype(np.float32)
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name} must not be a masked array: fill or drop the masked entries")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # what is beyond float64 is infinite
            array = array.astype(np.float64)
    return array


def as_rows(rows: int | slice | ArrayLike, n_points: int) -> Any:
    """Return what selects points from arrays: a number becomes the slice of that one point."""
    if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
        if not -n_points <= rows < n_points:
            raise PointError(f"a point must be from 0 to {n_points - 1}, got {rows}")
        first = int(rows) % n_points
        return slice(first, first + 1)
    if isinstance(rows, slice):
        try:
            rows.indices(n_points)
        except (TypeError, ValueError) as error:
            raise PointError(f"a slice must be of whole numbers, got {rows}: {error}") from None
        return rows
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape != (n_points,):
        raise PointError(f"a mask must have one entry per point ({n_points},), got {chosen.shape}")
    if chosen.dtype != bool:
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and chosen.size):
            raise PointError(
                "points must be a whole number, a slice, a mask or a vector of whole numbers, got "
                f"dtype {chosen.dtype} of shape {chosen.shape}"
            )
        chosen = chosen.astype(np.int64)
        outside = (chosen < -n_points) | (chosen >= n_points)
        if outside.any():
            bad = int(chosen[np.argmax(outside)])
            raise PointError(f"a point must be from 0 to {n_points - 1}, got {bad}")
    return chosen


_IDS: WeakValueDictionary[int, NDArray[np.str_]] = WeakValueDictionary()
"""The arrays of ids that were made here, so that each is checked once."""


def as_ids(ids: ArrayLike, n_points: int) -> NDArray[np.str_]:
    """Return the names of the points as text, different and read-only, shape (n_points,)."""
    array = np.asarray(ids)
    if array.shape != (n_points,):
        raise ShapeError(f"ids must have one name per point ({n_points},), got {array.shape}")
    if _IDS.get(id(array)) is array:
        return array  # checked already
    if array.dtype.kind == "f" and is_whole(array).all():
        array = array.astype(np.int64)
    if array.dtype.kind == "O":
        array = np.array([_as_id(name, row) for row, name in enumerate(array.tolist())], np.str_)
    elif array.dtype.kind in "iuU":
        array = _narrowed(array.astype(np.str_, copy=array.flags.writeable or _can_change(array)))
    else:
        raise InputError(f"ids must be text or whole numbers, got dtype {array.dtype}")
    if not _are_different(array):
        names, counts = np.unique(array, return_counts=True)
        raise AlignmentError(
            f"ids must not repeat, {int((counts > 1).sum()):,} do, first "
            f"{str(names[np.argmax(counts > 1)])!r}"
        )
    array.flags.writeable = False
    _IDS[id(array)] = array
    return array


def _narrowed(ids: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return many names in as few characters as they need, which saves most of their memory."""
    width = max(1, int(np.char.str_len(ids).max())) if len(ids) >= 10_000 else 0
    return ids.astype(f"{ids.dtype.byteorder}U{width}", copy=False) if width else ids


def _are_different(ids: NDArray[np.str_]) -> bool:
    """Return whether no two names are equal; many short ones are compared as numbers."""
    if len(ids) >= 10_000 and ids.flags.c_contiguous and ids.dtype.itemsize <= 4 * 8:
        letters = np.zeros((len(ids), 8), np.uint32)
        letters[:, : ids.dtype.itemsize // 4] = ids.view(np.uint32).reshape(len(ids), -1)
        if letters.max() < 256:
            return bool(np.diff(np.sort(letters.astype(np.uint8).view(np.uint64)[:, 0])).all())
    return len(set(ids.tolist())) == len(ids)


def _as_id(name: Any, row: int) -> str:
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, bool) or not isinstance(name, str | int | np.integer) or name == "":
        raise InputError(f"ids must be text or whole numbers, got {name!r} at row {row}")
    return str(name)


def kept(array: NDArray[Any], data: object) -> NDArray[Any]:
    """Return a read-only array that the caller, who passed ``data``, cannot change."""
    if isinstance(array, np.memmap) or not (array.flags.writeable or _can_change(array)):
        return array
    if array is data or array.base is not None:
        array = array.copy()
    array.flags.writeable = False
    return array


def make_read_only(array: NDArray[Any]) -> None:
    """Let nobody write to an array that was read from a file, nor to the arrays it is a view of."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner.flags.writeable = False
        owner = owner.base


def _can_change(array: NDArray[Any]) -> bool:
    """Return whether a read-only array is a view of memory to which somebody can write."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return not (owner is None or isinstance(owner, np.memmap | bytes | mmap.mmap))


class Chosen:
    """Rows and columns of a memory map in another order, read chunk by chunk.

    ``columns`` are those of the last axis; -1 is a column of zeros.
    """

    def __init__(
        self, array: NDArray[Any], rows: IntArray | None = None, columns: IntArray | None = None
    ) -> None:
        self.array, self.rows, self.columns = array, rows, columns
        self.dtype, self.ndim = array.dtype, array.ndim
        n_rows = len(array) if rows is None else len(rows)
        n_columns = array.shape[-1] if columns is None else len(columns)
        self.shape = (n_rows, *array.shape[1:-1], n_columns)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        part = self.array[rows if self.rows is None else self.rows[rows]]
        return part if self.columns is None else columns_of(part, self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)


def chosen_rows(array: Any, rows: Any) -> Any:
    """Return rows of an array; indices into a memory map are only noted."""
    if isinstance(array, Chosen):
        source_rows = np.arange(len(array)) if array.rows is None else array.rows
        return Chosen(array.array, source_rows[rows], array.columns)
    if isinstance(array, np.memmap) and not isinstance(rows, slice):
        return Chosen(array, np.arange(len(array))[rows])
    part = array[rows]
    part.flags.writeable = False
    return part


def chosen_columns(array: Any, columns: IntArray) -> Any:
    """Return columns of the last axis, zeros for -1; those of a memory map are only noted."""
    if isinstance(array, Chosen):
        source_columns = np.arange(array.shape[-1]) if array.columns is None else array.columns
        return Chosen(array.array, array.rows, np.where(columns < 0, -1, source_columns[columns]))
    if isinstance(array, np.memmap):
        return Chosen(array, None, columns)
    part = columns_of(array, columns)
    part.flags.writeable = False
    return part


def columns_of(array: NDArray[Any], columns: IntArray) -> NDArray[Any]:
    """Return columns of the last axis in another order, zeros for -1."""
    part = array[..., columns]
    part[..., columns < 0] = 0
    return np.asarray(part)


def is_bfloat16(data: Any) -> bool:
    """Return whether an array or tensor has the type bfloat16, which numpy itself does not have."""
    return "bfloat16" in str(getattr(data, "dtype", ""))


def sum_tolerance(data: Any) -> float:
    """Return by how much distributions of this type may miss a sum of 1."""
    if is_bfloat16(data):
        return 4 * 2.0**-7
    kind = str(getattr(data, "dtype", ""))
    return 4 * 2.0**-10 if "float16" in kind else 1e-3 if "float32" in kind else 1e-6


def require_shape(name: str, array: NDArray[Any], *axes: str) -> None:
    """Raise unless ``array`` has one axis for each name in ``axes`` and none is empty."""
    wanted = "(" + ", ".join(axes) + ("," if len(axes) == 1 else "") + ")"
    if array.ndim != len(axes):
        raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}")
    for axis, length in zip(axes, array.shape, strict=True):
        if length == 0:
            raise ShapeError(f"{name} must have at least one of {axis}, got shape {array.shape}")


def as_vector(name: str, data: ArrayLike, n_points: int | None = None) -> FloatArray:
    """Return ``data`` as finite float64 numbers, one per point, shape (n_points,)."""
    array = as_array(name, data)
    require_shape(name, array, "n_points")
    if n_points is not None and len(array) != n_points:
        raise ShapeError(f"{name} must have {n_points} points, got {len(array)}")
    vector = np.ascontiguousarray(array, dtype=np.float64)
    require_finite(name, vector)
    return vector


def as_seed(seed: Any) -> int:
    """Return a seed of random numbers; raise unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}")
    return int(seed)


def require_finite(name: str, array: NDArray[Any], *, first_row: int = 0) -> None:
    """Raise if a row holds NaN or infinity; the error names the first such row."""
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InputError(f"{name} must be finite, got {array[index]} at row {first_row + index[0]}")


def require_between(
    name: str,
    array: NDArray[Any],
    low: float,
    high: float,
    *,
    above: float | None = None,
    first_row: int = 0,
) -> None:
    """Raise at the first row with a number that is not between ``low`` and ``high``."""
    wide = np.asarray(array, np.float64)  # 1e50 is no float32
    inside = (wide > low) & (wide < high)
    if not inside.all():
        index = tuple(int(i) for i in np.argwhere(~inside)[0])
        rule = f"must be between {low:g} and {high:g}"
        if above is not None and array[index] <= above:
            rule = f"must be above {above:g}"
        raise InputError(f"{name} {rule}, got {array[index]:g} at row {first_row + index[0]}")


def is_whole(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are whole and exact, below 2^53 in size."""
    with np.errstate(all="ignore"):
        wide = numbers.astype(np.float64)  # half precision has no 2^53
    return np.asarray((np.abs(wide) < 2**53) & (wide == np.rint(wide)))


def require_whole(name: str, value: int, *, least: int = 0) -> int:
    """Return ``value`` as an int; raise unless it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def require_one_of(name: str, value: object, options: Collection[object]) -> None:
    """Raise unless ``value`` is one of the options; the error lists them."""
    if value not in options:
        raise InputError(f"{name} must be one of {', '.join(map(str, options))}, got {value!r}")


def require_n_classes(name: str, n_classes: int) -> None:
    """Raise unless there are at least two classes."""
    if n_classes < 2:
        raise ShapeError(f"{name} must have at least 2 classes, got {n_classes}")


def as_values(values: ArrayLike, n_classes: int | None = None) -> FloatArray:
    """Return the increasing numbers that the classes stand for, shape (n_classes,)."""
    array = as_array("values", values)
    require_shape("values", array, "n_classes")
    array = np.ascontiguousarray(array, dtype=np.float64)
    require_finite("values", array)
    if n_classes is not None and len(array) != n_classes:
        raise ShapeError(f"values must have one number per class ({n_classes}), got {len(array)}")
    if not (np.diff(array) > 0).all():
        raise InputError(f"values must increase, got {show(array)}")
    if not 1 / LARGEST < array[-1] / 2 - array[0] / 2 < LARGEST:
        raise InputError(f"values must span from 1e-50 to 1e50, got {show(array)}")
    return array


def as_distributions(name: str, probs: ArrayLike) -> FloatArray:
    """Return one distribution per point, shape (n_points, n_classes), normalised in float64."""
    array = as_array(name, probs)
    require_shape(name, array, "n_points", "n_classes")
    require_n_classes(name, array.shape[1])
    require_distributions(name, array, sum_tolerance(probs))
    rows = np.asarray(array, dtype=np.float64)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def require_distributions(name: str, array: NDArray[Any], tolerance: float | None = None) -> None:
    """Raise unless the last axis holds distributions: finite, non-negative, with sum 1."""
    from rue._kernels.draws import first_bad_row

    tolerance = sum_tolerance(array) if tolerance is None else tolerance
    for rows, chunk in chunked(array):
        bad = int(first_bad_row(chunk.reshape(-1, chunk.shape[-1]), tolerance))
        if bad >= 0:
            row = chunk.reshape(-1, chunk.shape[-1])[bad]
            point = rows.start + bad // int(np.prod(chunk.shape[1:-1]))
            if not np.isfinite(row).all():
                rule = "must be finite"
            elif (row < 0).any():
                rule = "must not be negative"
            else:
                with np.errstate(over="ignore"):
                    rule = f"must sum to 1 (within {tolerance:g}), sums to {row.sum():.9g}"
            raise InputError(f"{name} {rule}, got {show(row)} at row {point}")


def chunked(array: NDArray[Any], n_bytes: int = 1 << 25) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield contiguous chunks of an array along its first axis, in float32 or float64."""
    wanted = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    row_bytes = max(1, int(np.prod(array.shape[1:])) * np.dtype(wanted).itemsize)
    step = max(1, n_bytes // row_bytes)
    for start in range(0, len(array), step):
        rows = slice(start, min(start + step, len(array)))
        yield rows, writable(np.require(array[rows].view(np.ndarray), wanted, ["C"]))
        _release(array)


class _Memory:
    """The memory of a read-only array, said to be writable."""

    def __init__(self, array: NDArray[Any]) -> None:
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = array.__array_interface__ | {"data": (address, False)}
        self.array = array


def writable(chunk: NDArray[Any]) -> NDArray[Any]:
    """Return the same memory as a writable array: numba would compile kernels again otherwise."""
    return chunk if chunk.flags.writeable else np.asarray(_Memory(chunk))


def show(row: NDArray[Any]) -> str:
    """Return a row as text, at most eight numbers."""
    text = ", ".join(f"{x:.6g}" for x in row[:8].tolist())
    return f"[{text}, ...]" if len(row) > 8 else f"[{text}]"


def _release(array: "NDArray[Any] | Chosen") -> None:
    # Only for files: the pages of a private mapping may hold data that exist nowhere else.
    base: Any = array.array if isinstance(array, Chosen) else array
    of_a_file = False
    while base is not None and not isinstance(base, mmap.mmap):
        of_a_file |= isinstance(base, np.memmap) and base.mode in ("r", "r+", "w+")
        base = getattr(base, "base", None)
    if base is not None and of_a_file and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def row_sums(counts: NDArray[Any]) -> FloatArray:
    """Return the sum of each row; of short rows, ``sum`` takes ten times as long."""
    return np.asarray(np.einsum("ij->i", counts, dtype=np.float64))


def round_to_scale(values: FloatArray, scale: float) -> FloatArray:
    """Round to 1e-12 of a scale, so that rounding errors do not affect rankings."""
    return np.asarray(np.rint(values / scale * 1e12) / 1e12 * scale + 0.0)  # no -0.0
