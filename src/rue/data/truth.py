"""The truth of a data set: its annotations, with the names of points and classes."""

import os
from pathlib import Path

import numpy as np

from rue.data.dataset import DataSet, Split
from rue.data.registry import ENTRIES, load
from rue.errors import InputError
from rue.io.truth import Truth
from rue.truth.annotations import Annotations

__all__ = ["data_set_labels", "data_set_truth", "is_data_set"]


def is_data_set(text: str) -> bool:
    """Return whether a text names a data set, or a TOML file that describes one."""
    return text.endswith(".toml") or (text in ENTRIES and not Path(text).is_file())


def data_set_truth(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    split: Split = "all",
    seed: int = 0,
) -> Truth:
    """Return what annotators said about the points of a data set.

    Parameters
    ----------
    name
        The name of the data set, as ``rue data list`` has it.
    root
        A data root to look in first.
    split, seed
        Keep only one part of it, of this seed.

    Returns
    -------
    Truth
        The annotations of all points that have some, with ids and class names.

    Raises
    ------
    InputError
        If the data set has no annotators.
    """
    data = load(name, root, split=split, seed=seed)
    ids = np.asarray(data.ids)[data.annotated].astype(np.str_)
    if data.ratings is not None:
        return Truth(Path(name), data.ratings, ids)
    annotations = data.annotations
    if annotations is None or not len(data.annotated):
        raise InputError(
            f"{name} has one label per point and no annotators, so it cannot be used as truth"
        )
    return Truth(Path(name), annotations, ids, {}, _classes(data))


def data_set_labels(name: str, root: str | os.PathLike[str] | None = None) -> Truth:
    """Return the labels of a data set, one answer for each point.

    Parameters
    ----------
    name
        The name of the data set, as ``rue data list`` has it.
    root
        A data root to look in first.

    Returns
    -------
    Truth
        One answer about each test point that annotators judged; about every point if none did.

    Raises
    ------
    InputError
        If it has no labels.
    """
    data = load(name, root)
    if data.labels is None:
        raise InputError(f"{name} has no labels: its answers are those of annotators")
    rows = data.annotated if len(data.annotated) else np.arange(len(data))
    counts = np.eye(data.n_classes, dtype=np.int64)[data.labels[rows]]
    ids = np.asarray(data.ids)[rows].astype(np.str_)
    return Truth(Path(name), Annotations(counts), ids, {}, _classes(data))


def _classes(data: DataSet) -> tuple[str, ...] | None:
    """Return the names of the classes; None unless each has its own."""
    classes = tuple(str(word) for word in data.class_names)
    return classes if len(set(classes)) == data.n_classes else None
