"""Arrays at the gate: what callers hand in, checked once and turned into numpy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.errors import InputError, ShapeError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def as_array(name: str, data: ArrayLike) -> NDArray[Any]:
    """Take anything ``np.asarray`` takes, torch tensors of any device included.

    Nothing is copied that need not be; a memory map stays one.
    """
    detach = getattr(data, "detach", None)
    if detach is not None:  # a torch tensor: numpy knows neither gradients, devices nor bfloat16
        tensor = detach().cpu()
        data = tensor.float() if "bfloat16" in str(tensor.dtype) else tensor
    try:
        array = np.asanyarray(data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} must be an array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return array


def require_shape(name: str, array: NDArray[Any], *axes: str) -> None:
    """Raise unless ``array`` has one axis per name in ``axes``, none of them empty."""
    wanted = "(" + ", ".join(axes) + ("," if len(axes) == 1 else "") + ")"
    if array.ndim != len(axes):
        raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}")
    for axis, length in zip(axes, array.shape, strict=True):
        if length == 0:
            raise ShapeError(f"{name} must have at least one of {axis}, got shape {array.shape}")


def as_vector(name: str, data: ArrayLike, n_points: int | None = None) -> FloatArray:
    """Take one finite float64 number per point."""
    array = as_array(name, data)
    require_shape(name, array, "n_points")
    if n_points is not None and len(array) != n_points:
        raise ShapeError(f"{name} must have {n_points} points, got {len(array)}")
    vector = np.ascontiguousarray(array, dtype=np.float64)
    require_finite(name, vector)
    return vector


def require_finite(name: str, array: NDArray[Any]) -> None:
    """Raise at the first row that holds a NaN or an infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InputError(f"{name} must be finite, got {array[index]} at row {index[0]}")
