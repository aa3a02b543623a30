"""Scores: the number of each method under each criterion, as one long table.

The folder of a benchmark, the tables of the paper and any CSV file become rows of
:class:`Score`.
"""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rue._schema import require_known
from rue.errors import FileError, InputError
from rue.io.files import read_frame
from rue.metrics.columns import COLUMNS, Column

CRITERIA: Mapping[str, Column] = MappingProxyType(
    {
        column.key: column
        for kind in ("proxy", "regret", "other")
        # Criteria that are best near 0 come last.
        for column in sorted(COLUMNS.values(), key=lambda column: column.better == "zero")
        if column.kind == kind
    }
)
"""The columns by which methods are ranked: proxies, the paper's criteria, then the others."""


@dataclass(frozen=True)
class Score:
    """One number of one method.

    Attributes
    ----------
    dataset, method, criterion, loss : str
        What the number belongs to; ``dataset`` and ``loss`` may be empty.
    seed : int or None
        The seed; None if the number is a mean over seeds already.
    value : float
        The number.
    """

    dataset: str
    method: str
    seed: int | None
    criterion: str
    loss: str
    value: float


def find_criterion(name: str, criteria: Mapping[str, Column] = CRITERIA) -> Column:
    """Return the criterion with a name; the error for an unknown name suggests the nearest."""
    require_known("criterion", [name], criteria)
    return criteria[name]


def to_scores(rows: Iterable[Mapping[str, Any]]) -> list[Score]:
    """Return the scores in the rows of a table that has one column per criterion.

    Parameters
    ----------
    rows : iterable of mapping
        Rows with ``method`` and optionally ``dataset`` (or ``group``, which
        ``rue evaluate --by`` writes), ``loss`` and ``seed``. Columns that are no criterion are
        ignored, and so are cells that are empty, None or NaN.

    Returns
    -------
    list of Score
        One score per cell.

    Raises
    ------
    InputError
        If a row has no method, or a cell is no number.

    Examples
    --------
    >>> from rue.ranking import to_scores
    >>> to_scores([{"method": "ddu", "loss": "log", "aurec": 0.0958, "n_aurec": None}])
    [Score(dataset='', method='ddu', seed=None, criterion='aurec', loss='log', value=0.0958)]
    """
    scores = []
    conventions: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row.get("loss") and row.get("convention"):
            conventions.setdefault(str(row["convention"]), number)
        if len(conventions) > 1:
            first, second = conventions
            raise InputError(
                f"rows must follow one convention to be ranked together, row {conventions[first]} "
                f"has {first} and row {conventions[second]} {second}"
            )
        if not row.get("method"):
            raise InputError(f"every row must have a method, row {number} has none")
        for name in CRITERIA:
            value = _number(name, row.get(name), number)
            if value is not None:
                scores.append(_score(row, name, value, number))
    return scores


def read_scores(path: str | os.PathLike[str]) -> list[Score]:
    """Read scores from a table, or from the scores.csv of a folder.

    The file is a long table with the columns of :class:`Score`, or has one column per criterion,
    like the output of ``rue evaluate --format csv`` and ``rue published --format csv``.

    Parameters
    ----------
    path : path
        The file or folder.

    Returns
    -------
    list of Score
        The scores.

    Raises
    ------
    FileError
        If the file cannot be read, or lacks a column.

    Examples
    --------
    >>> from rue.ranking import read_scores
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     with path.open("w") as file:
    ...         print("method,aurec", "ddu,0.25", sep=chr(10), file=file)
    ...     read_scores(path)[0].value
    0.25
    """
    path = Path(path)
    file = path / "scores.csv" if path.is_dir() else path
    frame = read_frame(file, names=[*CRITERIA, *(field.name for field in fields(Score))])
    head = list(frame.columns)
    cells = [frame.column(name).words.tolist() for name in head]
    rows = [dict(zip(head, row, strict=True)) for row in zip(*cells, strict=True)]
    needed = [field.name for field in fields(Score)] if "criterion" in head else ["method"]
    missing = [name for name in needed if name not in head]
    if missing or not (set(head) & {"criterion", *CRITERIA}):
        raise FileError(
            f"{file}: must have the columns {', '.join(missing or ['criterion', 'value'])}, "
            f"got {', '.join(head) or 'none'}"
        )
    try:
        return _long(rows) if "criterion" in head else to_scores(rows)
    except InputError as error:
        raise error.about(file) from None


def _long(rows: Iterable[Mapping[str, Any]]) -> list[Score]:
    scores = []
    for number, row in enumerate(rows):
        value = _number("value", row["value"], number)
        if value is not None:
            scores.append(_score(row, row["criterion"], value, number))
    return scores


def _score(row: Mapping[str, Any], criterion: str, value: float, number: int) -> Score:
    seed = row.get("seed")
    if seed in ("", None):
        seed = None
    else:
        try:
            seed = int(seed)
        except (TypeError, ValueError):
            raise InputError(f"seed must be a whole number, got {seed!r} at row {number}") from None
    dataset = row.get("dataset") or row.get("group") or ""
    return Score(
        str(dataset), str(row["method"]), seed, criterion, str(row.get("loss") or ""), value
    )


def _number(name: str, value: Any, number: int) -> float | None:
    if value is None or value == "":
        return None
    try:
        parsed = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, got {value!r} at row {number}") from None
    return None if math.isnan(parsed) else parsed
