"""The facts about a data set that ``rue data info`` prints."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rue.data.dataset import SPLITS, DataSet
from rue.data.entry import Entry
from rue.data.registry import find, is_here, load

__all__ = ["Info", "info"]


@dataclass(frozen=True)
class Info:
    """The facts of one data set.

    ``n_points`` counts the annotated points, or all points if there are no annotators. The
    annotators are None if there are none, if p* is known, or if their number is unknown without
    the files. ``ids`` are the first two and the last of these points' names, empty without the
    files. ``splits`` has the sizes at seed 0, ``source`` says how to get the data set, and
    ``checksums`` has the SHA-256 of the content of each file.
    """

    name: str
    n_points: int
    n_classes: int
    annotators_min: int | None
    annotators_mean: float | None
    annotators_max: int | None
    ids: tuple[str, ...]
    splits: Mapping[str, int]
    licence: str
    citation: str
    source: str
    checksums: Mapping[str, str | None]


def info(name: str, root: str | os.PathLike[str] | None = None) -> Info:
    """Return the facts about a data set: measured if its files exist, else from the registry.

    Parameters
    ----------
    name : str
        As ``rue data list`` shows it.
    root : path, optional
        A data root to look in first, before ``RUE_DATA`` and the user's cache.

    Returns
    -------
    Info
        The numbers of points, classes and annotators, the splits, the licence and the source.

    Raises
    ------
    InputError
        If no data set has this name.

    Examples
    --------
    >>> from rue.data.info import info
    >>> info("random-rbf").n_classes
    5
    """
    entry = find(name)
    return _measured(load(name, root), entry) if is_here(name, root) else known(entry)


def known(entry: Entry) -> Info:
    """Return what the registry knows, without reading any file."""
    fewest, mean, most = entry.annotators or (None, None, None)
    return Info(
        name=entry.name,
        n_points=entry.n_points,
        n_classes=entry.n_classes,
        annotators_min=fewest,
        annotators_mean=mean,
        annotators_max=most,
        ids=(),
        splits=dict(entry.splits),
        licence=entry.licence,
        citation=entry.citation,
        source=entry.source,
        checksums=dict(entry.checksums),
    )


def _measured(data: DataSet, entry: Entry) -> Info:
    n = data.n_annotators
    names = data.ids[data.annotated] if len(data.annotated) else data.ids
    asked = len(n) > 0 and bool(np.isfinite(n).all())
    return Info(
        name=data.name,
        n_points=len(n) or len(data),
        n_classes=data.n_classes,
        annotators_min=int(n.min()) if asked else None,
        annotators_mean=float(n.mean()) if asked else None,
        annotators_max=int(n.max()) if asked else None,
        ids=tuple(names[[0, 1, -1]].tolist() if len(names) > 2 else names.tolist()),
        splits={split: len(getattr(data, split)) for split in SPLITS},
        licence=data.licence,
        citation=data.citation,
        source=entry.source,
        checksums=dict(data.checksums),
    )
