"""Feature files: an .npz with features of a frozen network, which replace the inputs.

There are two layouts. By split: arrays ``train`` and ``test`` (and ``validation`` if the data set
has that split), with rows in the order of the data set; every other matrix is an OOD set. By
name: arrays ``ids`` and ``features``, or one vector per id, such as a file name.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import require_finite
from rue.data.dataset import SPLITS, DataSet
from rue.errors import AlignmentError, FileError, ShapeError
from rue.io.arrays import load_npz, npz_shapes
from rue.io.names import named_rows

__all__ = ["as_features", "attach_features"]


def attach_features(dataset: DataSet, path: str | Path) -> DataSet:
    """Return a data set with the features of a file as its inputs."""
    path = Path(path)
    shapes = npz_shapes(path)
    if any(split in shapes for split in SPLITS):
        matrices = [name for name, shape in shapes.items() if name in SPLITS or len(shape) == 2]
        return _by_split(dataset, load_npz(path, matrices), path)
    return dataset.with_inputs(_by_name(dataset, load_npz(path), path), {})


def as_features(
    array: NDArray[Any], name: str, *, n_points: int | None = None, n_features: int | None = None
) -> NDArray[np.float32]:
    """Return a finite float32 matrix of the given size; None means any length."""
    if array.dtype.kind not in "fiub":
        raise FileError(f"{name} must hold numbers, got dtype {array.dtype}")
    wanted = n_points, n_features
    if array.ndim != 2 or any(
        length not in (size, None) for length, size in zip(wanted, array.shape, strict=True)
    ):
        shape = ", ".join(
            word if length is None else str(length)
            for word, length in zip(("n_points", "n_features"), wanted, strict=True)
        )
        raise ShapeError(f"{name} must have shape ({shape}), got {array.shape}")
    with np.errstate(over="ignore"):
        matrix = array.astype(np.float32)
    require_finite(name, matrix)
    return matrix


def _by_split(dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path) -> DataSet:
    matrix: NDArray[np.float32] | None = None
    for split in SPLITS:
        rows = getattr(dataset, split)
        if len(rows) == 0:
            continue
        if split not in arrays:
            raise FileError(f"{path} needs an array {split} for {dataset.name}")
        n_features = None if matrix is None else matrix.shape[1]
        part = as_features(
            arrays[split], f"{split} of {path}", n_points=len(rows), n_features=n_features
        )
        if matrix is None:
            matrix = np.empty((len(dataset), part.shape[1]), np.float32)
        matrix[rows] = part
    if matrix is None:
        raise FileError(f"{path} cannot be matched to {dataset.name}, which has no points")
    ood = {
        name: as_features(array, f"{name} of {path}", n_features=matrix.shape[1])
        for name, array in arrays.items()
        if name not in SPLITS and array.ndim == 2
    }
    return dataset.with_inputs(matrix, ood)


def _by_name(
    dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path
) -> NDArray[np.float32]:
    if "ids" in arrays and "features" in arrays:
        features = arrays["features"]
        if features.ndim != 2 or arrays["ids"].shape != (len(features),):
            raise ShapeError(f"ids and features of {path} must have as many rows as each other")
        ids = named_rows(Path(path), arrays["ids"], "ids")
        if len(set(ids.tolist())) < len(ids):
            raise AlignmentError(f"ids of {path} must be unique")
        rows = dict(zip(ids.tolist(), features, strict=True))
    else:
        rows = {name: array.ravel() for name, array in arrays.items()}
    missing = [str(name) for name in dataset.ids if name not in rows]
    if missing:
        raise AlignmentError(
            f"{path} has no features of {len(missing)} of {len(dataset)} points of "
            f"{dataset.name}, first {missing[0]}"
        )
    chosen = [rows[str(name)] for name in dataset.ids]
    if len({len(row) for row in chosen}) != 1:
        raise ShapeError(f"all features of {path} must have the same length")
    return as_features(np.stack(chosen), f"the features of {path}")
