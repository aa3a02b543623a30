"""Entry: what the registry knows about a data set without reading its files."""

import inspect
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue._schema import build
from rue.data.dataset import DataSet, TaskKind
from rue.data.fetching import content_check, download
from rue.data.files import Reader
from rue.errors import FileError
from rue.truth.annotations import Annotations


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One data set of the registry.

    Attributes
    ----------
    n_points
        The number of annotated points, or of labelled points if there are no annotators.
    annotators
        The least, mean and largest number of annotators per point; None if there are none, or if
        the number is unknown before the files are read.
    splits
        The sizes of train, validation and test at seed 0.
    size
        The number of bytes to download; None if unknown.
    checksums
        The SHA-256 of the content of each file, by path; None if it cannot be known in advance.
    needs
        The files without which it cannot be loaded, each as a tuple of alternatives.
    optional
        Files that are also downloaded, and read if they exist.
    whole
        A function that returns whether existing files contain all points; None if they always do.
    load
        Called with a Reader and this entry, ``seed`` and the data set's own options.
    fetch
        Called with the root to write to and whether to show progress; None if a data set cannot
        be downloaded by a program; then ``by_hand`` explains how to get it.
    origin
        Where its authors publish it.
    """

    name: str
    task: TaskKind
    n_points: int
    n_classes: int
    annotators: tuple[int, float, int] | None = None
    splits: Mapping[str, int]
    size: int | None = None
    licence: str
    citation: str
    checksums: Mapping[str, str | None] = field(default_factory=dict)
    needs: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    whole: Callable[[Reader, "Entry"], bool] | None = None
    load: Callable[..., DataSet]
    fetch: Callable[[Path, bool], None] | None = None
    by_hand: str = ""
    origin: str = ""

    @property
    def source(self) -> str:
        """How to get the data set: its origin, and the command or the manual steps."""
        how = self.by_hand or (f"`rue data fetch {self.name}`" if self.fetch else "")
        return ": ".join(part for part in (self.origin, how) if part) or "made here"


def entries(
    family: str, own: Mapping[str, Mapping[str, Any]] | None = None, **shared: Any
) -> tuple[Entry, ...]:
    """Return the data sets of a family: their facts in ``catalogue.toml``, and the given fields."""
    data_sets = []
    for name, facts in _catalogue()[family]["sets"].items():
        stated = {**_catalogue()[family], **facts}
        given = {"name": name, **shared, **(own or {}).get(name, {})}
        if "urls" in stated:
            given["fetch"] = fetch_urls(stated.pop("urls"), stated["checksums"])
        del stated["sets"]
        data_sets.append(build(Entry, stated, where=name, given=given))
    return tuple(data_sets)


@cache
def _catalogue() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("rue.data") / "catalogue.toml").read_text(encoding="utf-8"))


def make_data_set(entry: Entry, reader: Reader, **fields: Any) -> DataSet:
    """Return the data set of these fields; all points are annotated, none train by default."""
    nothing = np.zeros(0, np.int64)
    answered = fields.keys() & {"annotations", "ratings"}
    usual = {
        "name": entry.name,
        "task": entry.task,
        "values": np.arange(float(len(fields["class_names"]))),
        "annotated": np.arange(len(fields["inputs"])) if answered else nothing,
        "train": nothing,
        "validation": nothing,
        "licence": entry.licence,
        "citation": entry.citation,
        "checksums": reader.checksums,
    }
    return DataSet(**(usual | fields))


def make_tested(
    entry: Entry,
    reader: Reader,
    counts: NDArray[Any],
    *,
    path: str,
    labels: IntArray,
    places: Sequence[int],
    **fields: Any,
) -> DataSet:
    """Return the data set of an official split whose test points alone have counts.

    ``places`` are those of the training points, which come first, in the official training part.
    """
    n_train, n_test = len(places), len(labels) - len(places)
    if counts.shape != (n_test, entry.n_classes):
        raise FileError(f"{path} must have shape ({n_test}, {entry.n_classes}), got {counts.shape}")
    test = np.arange(n_train, len(labels))
    return make_data_set(
        entry,
        reader,
        labels=labels,
        ids=np.array([*(f"train-{place}" for place in places), *map(str, range(n_test))], np.str_),
        annotations=Annotations(counts),
        annotated=test,
        train=np.arange(n_train),
        test=test,
        **fields,
    )


def options_of(load: Callable[..., DataSet]) -> tuple[Mapping[str, object], bool]:
    """Return the options of a loader, and whether it also takes any other (``**options``)."""
    parameters = inspect.signature(load).parameters.values()
    options = {
        each.name: None if each.default is each.empty else each.default
        for each in parameters
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        and (each.kind is each.KEYWORD_ONLY or each.default is not each.empty)
        and each.name != "seed"
    }
    return options, any(each.kind is each.VAR_KEYWORD for each in parameters)


def fetch_urls(
    addresses: Mapping[str, Sequence[str]], checksums: Mapping[str, str]
) -> Callable[[Path, bool], None]:
    """Return a ``fetch`` function for files with known addresses and checksums, by path or name."""

    def fetch(root: Path, progress: bool) -> None:
        for path, urls in addresses.items():
            checksum = checksums.get(path) or checksums[path.rpartition("/")[2]]
            download(urls, root / path, content_check(path, checksum), progress=progress)

    return fetch
