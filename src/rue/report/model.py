"""What a report tells, before it is a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.errors import InputError, ShapeError
from rue.runs import Run

__all__ = ["DataCard", "Items", "MethodCard", "Provenance", "Report", "ReportEntry"]


@dataclass(frozen=True, eq=False)
class Items:
    """What the points of a data set are called, and what they look like.

    ``texts`` has a text for each point, or ``images`` an RGB image, uint8 (height, width, 3),
    for some: those named by ``pictured``.
    """

    ids: NDArray[np.str_]
    texts: tuple[str, ...] | None = None
    images: tuple[NDArray[np.uint8], ...] = ()
    pictured: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.texts is not None and len(self.texts) != len(self.ids):
            raise ShapeError(f"texts must be {len(self.ids)} as ids, got {len(self.texts)}")
        if len(self.images) != len(self.pictured):
            raise ShapeError(f"images must be {len(self.pictured)}, got {len(self.images)}")


@dataclass(frozen=True, eq=False)
class DataCard:
    """A data set: facts as they are read, by name, and the entropy of people's answers.

    ``entropies`` has one number for each point, in nats; None where answers are not known.
    """

    name: str
    items: Items
    facts: Mapping[str, str] = field(default_factory=dict)
    entropies: FloatArray | None = None
    n_classes: int | None = None


@dataclass(frozen=True)
class MethodCard:
    """A method: facts as they are read, by name."""

    name: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from, and how to have them again."""

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
        ``aurec_low`` and ``aurec_high`` as what finitely many annotators leave open.
    run
        The components of one seed, for everything that is drawn; None where they were not kept.
    correct
        With which probability the belief's likeliest class is right, for each point.
    """

    data: str
    method: str
    loss: str
    row: Mapping[str, Any]
    run: Run | None = None
    correct: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Report:
    """All that the page shows: entries, cards and provenance."""

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
                raise InputError(f"{entry.method} on {entry.data} has no card of its own")
            for part in (entry.run, entry.correct):
                if part is not None and len(part) != cards[entry.data]:
                    raise ShapeError(
                        f"{entry.method} must have the {cards[entry.data]} points of "
                        f"{entry.data}, got {len(part)}"
                    )
