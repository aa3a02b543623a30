"""The content of a cell's row.json: its evaluations, and everything they depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from rue._schema import Constraint, Count
from rue.bench.cells import Cell
from rue.errors import InputError

__all__ = ["CellRow", "DataFacts", "Evaluated"]

_WORDS = ("method", "loss", "group", "convention", "person_kind")


def _is_evaluation(row: Mapping[str, object]) -> bool:
    return {"method", "loss"} <= set(row) and all(
        isinstance(value, str) == (key in _WORDS) and isinstance(value, tuple) == (key == "notes")
        for key, value in row.items()
    )


Evaluated = Annotated[
    Mapping[str, int | float | str | tuple[str, ...] | None],
    Constraint("one evaluation, with method, loss, notes and numbers", _is_evaluation),
]
"""One evaluation of a cell: names, notes, and numbers that are None where undefined."""


@dataclass(frozen=True)
class DataFacts:
    """What a cell was trained and tested on.

    Attributes
    ----------
    checksums : mapping of str to str
        The SHA-256 of each file that was read.
    n_train, n_test : int
        The numbers of training and of test points.
    notes : tuple of str
        What a reader must know about the data.
    """

    checksums: Mapping[str, str]
    n_train: Count
    n_test: Count
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """What is known about a finished cell.

    Attributes
    ----------
    cell : Cell
        The cell.
    config : mapping
        Everything that its numbers depend on (:func:`rue.bench.cells.configuration`).
    config_hash : str
        The checksum of ``config``.
    rows : tuple of mapping
        One evaluation for each loss.
    proxies : mapping
        The numbers of the proxy tasks by column, and their ``details``.
    data : DataFacts
        The data set.
    seconds : mapping of str to float
        The time that each step took.
    versions : mapping of str to str
        The versions of rue and its dependencies, and the machine.
    predictions_sha256 : str
        The checksum of the predictions.
    chosen, n_clipped, peak_memory_mb, threads, trained_with, finished
        The settings and epochs that tuning chose, the points whose strength was clipped, the
        memory used, the threads, the seeds that trained together, and the time of the end; None
        where unknown.
    """

    cell: Cell
    config: Mapping[str, Any]
    config_hash: str
    rows: tuple[Evaluated, ...]
    proxies: Mapping[str, Any] = field(default_factory=dict)
    data: DataFacts
    seconds: Mapping[str, float]
    versions: Mapping[str, str]
    predictions_sha256: str
    chosen: Mapping[str, Any] | None = None
    n_clipped: int | None = None
    peak_memory_mb: float | None = None
    threads: int | None = None
    trained_with: tuple[int, ...] | None = None
    finished: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.config.get("settings"), Mapping):
            raise InputError("config.settings must be an object, got none")
        for key, value in self.proxies.items():
            if key != "details" and not (value is None or type(value) in (int, float)):
                raise InputError(f"proxies.{key} must be a number or null, got {value!r:.60}")
