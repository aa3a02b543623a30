"""Entry: what the registry knows of a data set without reading it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rue.data.dataset import DataSet, TaskKind
from rue.data.fetching import content_check, download
from rue.data.files import Reader
from rue.errors import FileError

__all__ = ["Entry", "fetch_urls", "options_of"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the registry.

    Attributes
    ----------
    n_points
        How many points are annotated, or labelled where nobody was asked.
    annotators
        The fewest people that a point has, their mean number, and the most; None where nobody
        was asked or it is not known before the files are read.
    splits
        The sizes of train, validation and test at seed 0.
    size
        How many bytes there are to fetch; None where it is not known.
    checksums
        Path -> SHA-256 of the file's content; None where it cannot be known in advance.
    needs
        The files without which it cannot be loaded, each as a tuple of alternatives.
    optional
        Files that are fetched too, and read where they are there.
    whole
        Says of files that are there whether they hold all points; None where they cannot but.
    load
        Called with a Reader and this entry, ``seed`` and the data set's own options.
    fetch
        Called with the root to write to and whether to show progress; None where a data set
        cannot be fetched by a program, and then ``by_hand`` says how it is had.
    origin
        Where its authors publish it.
    """

    name: str
    task: TaskKind
    n_points: int
    n_classes: int
    annotators: tuple[int, float, int] | None
    splits: Mapping[str, int]
    size: int | None
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
        """How the data set is had: where it is from, and the command or what to do by hand."""
        how = self.by_hand or (f"`rue data fetch {self.name}`" if self.fetch else "")
        return ": ".join(part for part in (self.origin, how) if part) or "made here"


def options_of(load: Callable[..., DataSet]) -> tuple[dict[str, Any], bool]:
    """Return the options of a loader, and whether it also takes any other (``**options``).

    Parameters
    ----------
    load
        A loader of an :class:`Entry`, or that of a data set of your own.

    Returns
    -------
    options : dict
        Name -> default, None if there is no default. What every loader is called with, the
        positional arguments without a default and ``seed``, are no options.
    takes_any : bool
        Whether the loader checks its options itself.

    Examples
    --------
    >>> options_of(lambda reader, entry, *, seed, size=32: ...)
    ({'size': 32}, False)
    >>> options_of(lambda *a, **k: ...)
    ({}, True)
    """
    parameters = inspect.signature(load).parameters.values()
    needed = {
        each.name
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.default is each.empty
    }
    options = {
        each.name: None if each.default is each.empty else each.default
        for each in parameters
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        and each.name not in (*needed, "seed")
    }
    return options, any(each.kind is each.VAR_KEYWORD for each in parameters)


def fetch_urls(
    files: Mapping[str, tuple[str, ...]], checksums: Mapping[str, str | None]
) -> Callable[[Path, bool], None]:
    """Make a ``fetch`` of plain files: path -> addresses, each with a known checksum."""

    def fetch(root: Path, progress: bool) -> None:
        for path, urls in files.items():
            known = checksums[path]
            if known is None:
                raise FileError(f"{path} has no known checksum, so it is not fetched")
            download(urls, root / path, content_check(path, known), progress=progress)

    return fetch
