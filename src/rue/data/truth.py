"""The truth of a data set: its annotations, with the names of points and classes."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_array, require_whole
from rue.data.dataset import DataSet, Split
from rue.data.registry import ENTRIES, load
from rue.errors import InputError, ShapeError
from rue.losses import Classes
from rue.truth.annotations import Annotations
from rue.truth.base import Truth


def is_data_set(text: str) -> bool:
    """Return whether a text names a data set, or a TOML file that describes one."""
    return text.endswith(".toml") or (text in ENTRIES and not Path(text).is_file())


def data_set_truth(
    name: str, root: str | os.PathLike[str] | None = None, *, split: Split = "all", seed: int = 0
) -> Truth:
    """Return what annotators said about the points of a data set."""
    data = load(name, root, split=split, seed=seed)
    ids = np.asarray(data.ids)[data.annotated].astype(np.str_)
    if data.ratings is not None:
        return data.ratings.with_ids(ids).with_source(name)
    annotations = data.annotations
    if annotations is None or not len(data.annotated):
        raise InputError(
            f"{name} has one label per point and no annotators, so it cannot be used as truth"
        )
    classes = _classes(data, annotations.outcomes.given_values)
    return annotations._with(outcomes=classes).with_ids(ids).with_source(name)


def data_set_labels(name: str) -> Truth:
    """Return the labels of a data set, one answer for each point."""
    data = load(name)
    if data.labels is None:
        raise InputError(f"{name} has no labels: its answers are those of annotators")
    rows = data.annotated if len(data.annotated) else np.arange(len(data))
    counts = np.eye(data.n_classes, dtype=np.int64)[data.labels[rows]]
    ids = np.asarray(data.ids)[rows].astype(np.str_)
    return Annotations(counts, ids=ids, classes=_classes(data)).with_source(name)


def _classes(data: DataSet, values: Sequence[float] | None = None) -> Classes:
    """Return the classes in the order of the data set, with names if each has its own."""
    names = [str(word) for word in data.class_names]
    named = len(set(names)) == data.n_classes
    return Classes(names if named else data.n_classes, values, order="scale")


def simulate_annotators(
    annotations: Annotations, n_annotators: ArrayLike, *, seed: int = 0
) -> Annotations:
    """Return annotations with independent random answers from each point's p*.

    Parameters
    ----------
    annotations : Annotations
        The known or estimated p*.
    n_annotators : int or array_like of shape (n_points,)
        The number of answers per point: one number, or one per point, each at least 1.
    seed : int
        Seed of the answers.

    Returns
    -------
    Annotations
        Counts of shape (n_points, n_classes).

    Examples
    --------
    >>> from rue import Annotations
    >>> from rue.data import simulate_annotators
    >>> known = Annotations.from_probs([[0.9, 0.1], [0.5, 0.5]])
    >>> simulate_annotators(known, [3, 100]).n_annotators
    array([  3., 100.])
    """
    n = as_array("n_annotators", n_annotators)
    if n.ndim > 1 or (n.ndim == 1 and len(n) != annotations.n_points):
        raise ShapeError(
            f"n_annotators must be one number or {annotations.n_points}, got shape {n.shape}"
        )
    wrong = ~((n >= 1) & (n < 2.0**53) & (n == np.rint(n)))
    if wrong.any():
        raise InputError(f"n_annotators must be whole numbers from 1, got {n[wrong].flat[0]}")
    require_whole("seed", seed)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n.astype(np.int64), annotations.probs)
    return Annotations(counts, annotations.values)
