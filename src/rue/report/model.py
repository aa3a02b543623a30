"""The content of a report, before it becomes a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.components import Run
from rue.errors import InputError, ShapeError
from rue.truth.base import Truth


@dataclass(frozen=True, eq=False)
class Items:
    """The ids of the points of a data set, and their texts or images.

    Attributes
    ----------
    ids : array of shape (n_points,)
        The ids.
    texts : tuple of str
        One text per point, or none.
    images : tuple of array of shape (height, width, 3)
        RGB images, uint8, of the points in ``pictured``.
    pictured : tuple of int
        The rows of the points with images.
    """

    ids: NDArray[np.str_]
    texts: tuple[str, ...] | None = None
    images: tuple[NDArray[np.uint8], ...] = ()
    pictured: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.texts is not None and len(self.texts) != len(self.ids):
            raise ShapeError(f"texts must have {len(self.ids)} entries, got {len(self.texts)}")
        if len(self.images) != len(self.pictured):
            raise ShapeError(
                f"images must have {len(self.pictured)} entries, got {len(self.images)}"
            )


@dataclass(frozen=True, eq=False)
class DataCard:
    """A data set: its items, facts and answers.

    Attributes
    ----------
    name : str
        The name of the data set.
    items : Items
        Ids, texts and images.
    facts : mapping of str to str
        Facts to show, by name.
    answers : Annotations or Ratings, or None
        What annotators said about each point, to show it beside what is predicted.
    """

    name: str
    items: Items
    facts: Mapping[str, str] = field(default_factory=dict)
    answers: Truth | None = None


@dataclass(frozen=True)
class MethodCard:
    """A method and facts about it.

    Attributes
    ----------
    name : str
        The name of the method.
    facts : mapping of str to str
        Facts to show, by name.
    """

    name: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from, and how to reproduce them.

    Attributes
    ----------
    command : str
        The command that creates the page.
    versions : mapping of str to str
        The versions of packages.
    checksums : mapping of str to str
        The SHA-256 of each file.
    seeds : sequence of int
        The seeds.
    notes : sequence of str
        Sentences that a reader must know.
    """

    command: str
    versions: Mapping[str, str]
    checksums: Mapping[str, str]
    seeds: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportEntry:
    """One method under one loss on one data set: a row of the leaderboard.

    Attributes
    ----------
    row
        The numbers of the leaderboard, keyed as :meth:`rue.Evaluation.to_dict` does. ``x_std`` is
        shown as the spread of ``x`` over seeds, ``x_ci_low`` and ``x_ci_high`` as its interval,
        ``aurec_low`` and ``aurec_high`` as the bracket for finitely many annotators.
    run
        The components of one seed, for all figures; None if they were not kept.
    correct : array of shape (n_points,), or None
        The probability that the belief's most probable class is correct.
    mean : array of shape (n_points, n_classes), or None
        The mean of the belief: the predicted distribution.
    level : float
        The confidence level of the band of the reliability diagram.
    cluster : str or None
        The group of the run whose clusters are resampled for it; None resamples points.
    best : tuple of str
        The methods that paired tests do not separate from the one with the lowest n-AuReC, as
        :func:`rue.compare` says; empty if nothing was tested.
    """

    data: str
    method: str
    loss: str
    row: Mapping[str, Any]
    run: Run | None = None
    correct: FloatArray | None = None
    mean: FloatArray | None = None
    level: float = 0.95
    cluster: str | None = None
    best: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Report:
    """The content of the page.

    Attributes
    ----------
    title : str
        The title of the page.
    entries : tuple of ReportEntry
        One entry per method, loss and data set.
    data : tuple of DataCard
        The data sets.
    methods : tuple of MethodCard
        The methods.
    provenance : Provenance
        Where the numbers come from.
    """

    title: str
    entries: tuple[ReportEntry, ...]
    data: tuple[DataCard, ...]
    methods: tuple[MethodCard, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        if not self.entries:
            raise InputError("a report needs at least one entry, got none")
        cards = {card.name: len(card.items.ids) for card in self.data}
        named = {card.name for card in self.methods}
        for entry in self.entries:
            if entry.data not in cards or entry.method not in named:
                raise InputError(f"{entry.method} on {entry.data} has no card")
            for part in (entry.run, entry.correct, entry.mean):
                if part is not None and len(part) != cards[entry.data]:
                    raise ShapeError(
                        f"{entry.method} must have the {cards[entry.data]} points of "
                        f"{entry.data}, got {len(part)}"
                    )
