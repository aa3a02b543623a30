"""Feature files: an .npz of a frozen network's features in the place of the inputs.

Two layouts. By split: arrays ``train`` and ``test`` (and ``validation`` where the data set has
that part), rows in the data set's order; every other matrix is an OOD set. By name: arrays
``ids`` and ``features``, or one vector under each id, such as a file name.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.data.dataset import SPLITS, DataSet
from rue.errors import AlignmentError, FileError, ShapeError

__all__ = ["attach_features", "read_features"]


def read_features(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an .npz; pickled ones are refused."""
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path} is not an .npz file" if Path(path).exists() else f"no file {path}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} is not a good .npz file: {error}") from None


def attach_features(dataset: DataSet, path: str | Path) -> DataSet:
    """Put the features of a file in the place of a data set's inputs."""
    arrays = read_features(path)
    if "train" in arrays or "test" in arrays:
        return _by_split(dataset, arrays, path)
    return dataset.with_inputs(_by_name(dataset, arrays, path), {})


def _by_split(dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path) -> DataSet:
    parts = {split: getattr(dataset, split) for split in SPLITS}
    parts = {split: rows for split, rows in parts.items() if len(rows)}
    for split, rows in parts.items():
        if split not in arrays:
            raise FileError(f"{path} needs an array {split} for {dataset.name}")
        if arrays[split].ndim != 2 or len(arrays[split]) != len(rows):
            raise ShapeError(
                f"{split} of {path} must have shape ({len(rows)}, n_features), "
                f"got {arrays[split].shape}"
            )
    matrix = np.empty((len(dataset), arrays[next(iter(parts))].shape[1]), np.float32)
    for split, rows in parts.items():
        if arrays[split].shape[1] != matrix.shape[1]:
            raise ShapeError(f"{split} of {path} must have {matrix.shape[1]} features")
        matrix[rows] = arrays[split]
    others = {name: array for name, array in arrays.items() if name not in SPLITS}
    ood = {name: array.astype(np.float32) for name, array in others.items() if array.ndim == 2}
    return dataset.with_inputs(matrix, ood)


def _by_name(
    dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path
) -> NDArray[np.float32]:
    if "ids" in arrays and "features" in arrays:
        ids, features = arrays["ids"].astype(np.str_), arrays["features"]
        if features.ndim != 2 or ids.shape != (len(features),):
            raise ShapeError(f"ids and features of {path} must have as many rows as each other")
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
    return np.stack(chosen).astype(np.float32)
