"""The rows of a study that come with rue, and a row's place among them.

A file ``study_rows/NAME.json`` has the means over seeds of a finished suite: ``columns`` and
``rows``, each a list in the order of the columns.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from rue._arrays import require_one_of
from rue._text import JsonObject
from rue.errors import InputError
from rue.metrics.columns import COLUMNS

RANKED = ("aurec", "n_aurec")
"""The columns by which a row is ranked among a study's."""
_FOLDER = Path(__file__).parent / "study_rows"
_NAMES = ("dataset", "method", "loss", "n_seeds", "n_points")
_NUMBERS = (
    *("aurec", "excess_aurec", "n_aurec", "aurc", "pareto_gap", "spearman_hat", "spearman_star"),
    *("regret_calibration", "risk", "regret"),
)
_DIGITS = 5


class StudyFile(TypedDict):
    """The content of a file of baselines; each row is a list in the order of ``columns``."""

    study: str
    regime: str
    n_missing: int
    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Baselines:
    """The means over seeds of a study."""

    study: str
    regime: str
    n_missing: int
    rows: tuple[Mapping[str, Any], ...]

    def of(self, dataset: str, loss: str) -> list[JsonObject]:
        """Return the rows of a data set under a loss."""
        mine = [row for row in self.rows if _original(row["dataset"]) == _original(dataset)]
        if not mine:
            names = ", ".join(dict.fromkeys(row["dataset"] for row in self.rows))
            raise InputError(f"the study {self.study} has rows of {names}, not of {dataset!r}")
        rows = [dict(row) for row in mine if row["loss"] == loss]
        if not rows:
            names = ", ".join(dict.fromkeys(row["loss"] for row in mine))
            raise InputError(f"the study {self.study} has {dataset} under {names}, not {loss} loss")
        return rows


def shipped_baselines() -> list[str]:
    """Return the names of the studies that come with rue."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def read_baselines(name: str) -> Baselines:
    """Return a study that comes with rue."""
    require_one_of("against", name, shipped_baselines())
    return unpack(json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def unpack(content: StudyFile) -> Baselines:
    """Return the baselines that :func:`pack` wrote."""
    rows = tuple(dict(zip(content["columns"], row, strict=True)) for row in content["rows"])
    return Baselines(content["study"], content["regime"], content["n_missing"], rows)


def pack(
    study: str, regime: str, rows: Iterable[Mapping[str, Any]], *, n_missing: int = 0
) -> StudyFile:
    """Return what a file of baselines holds, from the rows of :func:`rue.bench.table_rows`."""
    columns = [*_NAMES, *_NUMBERS, *(f"{key}_std" for key in RANKED)]
    packed = [[_short(row.get(key)) for key in columns] for row in rows if row["loss"]]
    return {
        "study": study,
        "regime": regime,
        "n_missing": n_missing,
        "columns": columns,
        "rows": packed,
    }


def among(row: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """Return the rank that a row would have among others by each of :data:`RANKED`; 1 is best."""
    ranks: dict[str, int | None] = {}
    for key in RANKED:
        mine = row.get(key)
        if mine is None or math.isnan(mine):
            ranks[key] = None
            continue
        costs = [_cost(key, other[key]) for other in others if other.get(key) is not None]
        ranks[key] = 1 + sum(cost < _cost(key, mine) for cost in costs)
    return ranks


def _cost(key: str, value: float) -> float:
    return -value if COLUMNS[key].better == "high" else value


def _original(dataset: str) -> str:
    return dataset.removesuffix("-features")


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
