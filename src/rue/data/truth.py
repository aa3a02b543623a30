"""The truth of a data set: its annotations, with the names of points and classes."""

import os
from pathlib import Path

import numpy as np

from rue.data.dataset import Split
from rue.data.registry import ENTRIES, load
from rue.errors import InputError
from rue.io.truth import Truth

__all__ = ["data_set_truth", "is_data_set"]


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
    classes = tuple(str(word) for word in data.class_names)
    distinct = len(set(classes)) == annotations.n_classes
    return Truth(
        Path(name),
        annotations,
        ids,
        {},
        classes if distinct else None,
    )
