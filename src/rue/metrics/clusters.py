"""Clusters: points that belong together, such as sentences of a document or images of a patient.

Points of a cluster are correlated, so resampling points makes intervals too narrow. Resampling
whole clusters does not: a bootstrap sample has as many clusters as there are, and contains all
points of a cluster as often as the cluster was drawn.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.errors import InputError

NO_CLUSTERS = np.empty(0, np.int64)
"""What kernels take for points that are drawn one by one."""
Cluster = str | ArrayLike
"""The name of a column of ``run.groups``, or a label for each point, shape (n_points,)."""


def cluster_codes(run: Run, cluster: Cluster | None) -> IntArray | None:
    """Return the number of each point's cluster in the order of labels, or None."""
    if cluster is None:
        return None
    if isinstance(cluster, str):
        return label_codes(cluster_column(run.groups, cluster), len(run), name=cluster)
    return label_codes(cluster, len(run))


def cluster_column(groups: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return the column of labels with this name, or raise and list those that there are."""
    if name not in groups:
        raise InputError(
            f"cluster must be a column of the points, got {name!r}; "
            f"there are {', '.join(groups) or 'none'}"
        )
    return groups[name]


def cluster_sums(values: FloatArray, codes: IntArray | None) -> FloatArray:
    """Return the sum over each cluster's points, or the values themselves without clusters."""
    return values if codes is None else np.asarray(np.bincount(codes, values), np.float64)


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
