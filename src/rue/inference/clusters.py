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
from rue.metrics.cluster_labels import label_codes

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


def cluster_means(values: FloatArray, codes: IntArray | None) -> FloatArray:
    """Return the mean over each cluster's points, or the values themselves without clusters."""
    if codes is None:
        return values
    sizes = np.bincount(codes)
    filled = sizes > 0
    return np.asarray(np.bincount(codes, values)[filled] / sizes[filled])
