"""The registry of data sets, and the functions that load and fetch them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from rue._arrays import require_whole
from rue._plugins import Registry
from rue.data.dataset import SPLITS, DataSet, Split
from rue.data.datasets import (
    appa_real,
    cifar10,
    dcic,
    emobank,
    fashion_mnist,
    ferplus,
    hs_brexit,
    letter,
    nli,
    openood,
    random_rbf,
    sentiment,
)
from rue.data.entry import Entry, options_of
from rue.data.fetching import zip_check
from rue.data.files import Reader, writable_root
from rue.errors import FileError, InputError, RueError
from rue.io.atomic import sha256

_FAMILIES = (
    *(sentiment, cifar10, fashion_mnist, appa_real, dcic),
    *(ferplus, nli, emobank, hs_brexit, random_rbf, letter, openood),
)


def _checked(name: str, entry: object) -> Entry:
    if not isinstance(entry, Entry):
        raise ValueError(f"a data set must be a rue.data.Entry, got {type(entry).__name__}")
    if entry.name != name:
        raise ValueError(f"the entry must have the name {name!r}, got {entry.name!r}")
    return entry


ENTRIES: Registry[Entry] = Registry(
    "rue.datasets",
    {entry.name: entry for family in _FAMILIES for entry in family.ENTRIES},
    _checked,
)
"""Every data set by name, those of other packages too (:mod:`rue._plugins`)."""


def find(name: str) -> Entry:
    """Return the entry of a data set, by its name or by the TOML file of one of your own."""
    if name.endswith(".toml"):
        from rue.data.own.description import own_entry

        return own_entry(Path(name))
    if name not in ENTRIES:
        raise InputError(f"name must be one of {', '.join(ENTRIES)}, or a .toml, got {name!r}")
    return ENTRIES[name]


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    split: Split = "all",
    seed: int = 0,
    verify: bool = True,
    features: str | os.PathLike[str] | None = None,
    **options: Any,
) -> DataSet:
    """Load a data set from ``root``, ``RUE_DATA`` or the user's cache, whichever has it first.

    Parameters
    ----------
    name
        As ``rue data list`` shows it, or the path of a TOML file that ``rue data check`` wrote.
    root
        A data root to look in first.
    split
        Keep only this split.
    seed
        Rotates splits that are not official, and generates the points of random-rbf.
    verify
        Whether to raise if the content of a file is not the published one.
    features
        An .npz whose features take the place of the inputs (:mod:`rue.data.features`).
    options
        The data set's own: ``train_batches`` of cifar10h; ``n_faces`` of ferplus; ``size`` of
        images; ``splits`` of dcic; ``n_points`` of openml-156; ``n_points``, ``n_features``,
        ``n_classes``, ``n_centroids`` and ``world`` of random-rbf.

    Returns
    -------
    DataSet
        The data set: inputs of shape (n_points, ...), and the answers about each point.

    Raises
    ------
    InputError
        If no data set has this name, or an option is unknown or invalid.
    FileError
        If a file is missing, damaged, or not the published one.

    Examples
    --------
    >>> from rue.data import load
    >>> data = load("random-rbf", n_points=100, split="test")
    >>> data.inputs.shape, data.annotations.probs.shape
    ((20, 10), (20, 5))
    """
    entry = find(name)
    own_options, takes_any = options_of(entry.load)
    for option in options:
        if option not in own_options and not takes_any:
            takes = ", ".join(own_options) or "none"
            raise InputError(f"{name} has no option {option!r}; its options: {takes}")
    reader = Reader(entry.name, root, pinned=entry.checksums, verify=verify, by_hand=entry.by_hand)
    seed = require_whole("seed", seed)
    dataset = entry.load(reader, entry, seed=seed, **options).part(split)
    if features is not None:
        from rue.data.features import attach_features

        file = Path(features)
        dataset = attach_features(dataset, file)
        dataset = replace(dataset, checksums={**dataset.checksums, file.name: sha256(file)})
    return dataset


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = False) -> None:
    """Download a data set into ``root`` or the user's cache; valid files are kept.

    Without a ``root``, nothing is done if :func:`find_problem` finds nothing wrong with what is in
    ``RUE_DATA`` and the cache.

    Parameters
    ----------
    name : str
        As ``rue data list`` shows it.
    root : path, optional
        The folder to download into; by default the user's cache.
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    InputError
        If no data set has this name.
    FileError
        If the data set must be fetched by hand, a download is invalid, or other, invalid files are
        found before the downloaded ones.
    """
    entry = find(name)
    if root is None and find_problem(name) is None:
        return
    if entry.fetch is None:
        if entry.needs:
            raise FileError(f"{name} cannot be fetched: {entry.by_hand}")
        return
    folder = writable_root(root)
    entry.fetch(folder, progress)
    wrong = find_problem(name) if root is None else None
    if wrong is not None:
        raise FileError(f"{name} was fetched into {folder}, but another is found first: {wrong}")


def find_problem(name: str) -> str | None:
    """Return what is wrong with the files of a data set, or None; the files are read."""
    if not is_complete(name):
        return f"{name} is not here, or not all of it"
    try:
        load(name)
    except RueError as error:
        return str(error)
    reader = Reader(name)
    for alternatives in find(name).needs:
        file = reader.find(*alternatives)
        # The images of a zip are read when they are asked for; most zips have no known checksum.
        wrong = zip_check()(file) if file.suffix == ".zip" else None
        if wrong is not None:
            return f"{file}: {wrong}"
    return None


def is_here(name: str, root: str | os.PathLike[str] | None = None) -> bool:
    """Return whether the files of a data set exist; they are not read.

    Parameters
    ----------
    name : str
        As ``rue data list`` shows it.
    root : path, optional
        A data root to look in first, before ``RUE_DATA`` and the user's cache.

    Returns
    -------
    bool
        Whether all files that the data set needs exist.

    Raises
    ------
    InputError
        If no data set has this name.

    Examples
    --------
    >>> from rue.data import is_here
    >>> is_here("random-rbf")  # its points are generated, so it needs no files
    True
    """
    reader = Reader(name, root)
    return all(reader.has(*alternatives) for alternatives in find(name).needs)


def is_complete(name: str, root: str | os.PathLike[str] | None = None) -> bool:
    """Return whether all files and points exist, including optional files."""
    reader, entry = Reader(name, root), find(name)
    if not is_here(name, root) or not all(map(reader.has, entry.optional)):
        return False
    return entry.whole is None or entry.whole(reader, entry)


def expand(patterns: list[str]) -> list[str]:
    """Return the names that match patterns such as ``dcic-*``, in the registry's order."""
    names = []
    for pattern in patterns:
        matches = [name for name in ENTRIES if fnmatchcase(name, pattern)]
        names += matches or [find(pattern).name]
    return list(dict.fromkeys(names))


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
    >>> from rue.data.registry import info
    >>> info("random-rbf").n_classes
    5
    """
    entry = find(name)
    return _measured(load(name, root), entry) if is_here(name, root) else stated_info(entry)


def stated_info(entry: Entry) -> Info:
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
    has_annotators = len(n) > 0 and bool(np.isfinite(n).all())
    return replace(
        stated_info(entry),
        n_points=len(n) or len(data),
        n_classes=data.n_classes,
        annotators_min=int(n.min()) if has_annotators else None,
        annotators_mean=float(n.mean()) if has_annotators else None,
        annotators_max=int(n.max()) if has_annotators else None,
        ids=tuple(names[[0, 1, -1]].tolist() if len(names) > 2 else names.tolist()),
        splits={split: len(getattr(data, split)) for split in SPLITS},
        checksums=dict(data.checksums),
    )
