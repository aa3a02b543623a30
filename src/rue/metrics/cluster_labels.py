"""Labels of clusters, points that belong together, as whole numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import IntArray
from rue.errors import InputError

NO_CLUSTERS = np.empty(0, np.int64)
"""What kernels take for points that are drawn one by one."""


def label_codes(labels: ArrayLike, n_points: int, *, name: str = "cluster") -> IntArray:
    """Return the number of each point's label, shape (n_points,), in the order of the labels."""
    labels = np.asarray(labels)
    if labels.shape != (n_points,):
        raise InputError(
            f"{name} must have one label for each of {n_points} points, got shape {labels.shape}"
        )
    missing = _missing(labels)
    if missing.any():
        raise InputError(f"{name} has a missing value at row {int(np.argmax(missing))}")
    labels = labels.astype(str) if labels.dtype.kind == "O" else labels
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise InputError(f"there must be at least 2 clusters, got {len(names)} in {name}")
    return np.asarray(codes.reshape(-1), np.int64)


def _missing(labels: NDArray[Any]) -> NDArray[np.bool]:
    """Return which labels are none: NaN, None or empty text."""
    if labels.dtype.kind == "O":
        return np.array([x is None or x != x or x == "" for x in labels.tolist()], bool)
    if labels.dtype.kind in "US":
        return np.asarray(labels == labels.dtype.type())
    return np.asarray(labels != labels)


def number_clusters(codes: IntArray | None) -> IntArray:
    """Return clusters numbered as they first appear, or NO_CLUSTERS."""
    if codes is None:
        return NO_CLUSTERS
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return np.asarray(place[inverse])
