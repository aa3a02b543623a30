"""What the questions of the atlas share: the form of an answer, and helpers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from studies.atlas_analysis import REPLICATES, Estimate, Grid
from studies.rows import Row

LOSSES = ("log", "zero_one", "squared", "absolute", "rps")
LOSS_NAMES = {"log": "log loss", "zero_one": "0/1 loss"}
Regimes = Mapping[str, Sequence[Row]]
"""The rows of each regime, tuned first."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question, and the question in a few words."""

    question: str
    short: str
    sentence: str
    body: str


def losses_of(rows: Sequence[Row]) -> list[str]:
    there = {row["loss"] for row in rows}
    return [loss for loss in LOSSES if loss in there]


def leagues(grid: Grid) -> list[list[str]]:
    """All methods, and those that need no replicates, which more data sets have."""
    labels = [m for m in grid.methods if m not in REPLICATES]
    return [list(grid.methods)] + ([labels] if len(labels) < len(grid.methods) else [])


def in_regimes(
    numbers: Mapping[str, Estimate],
    *,
    digits: int = 3,
    scale: float = 1.0,
    families: bool = True,
    unit: str = "",
) -> str:
    """Return an estimate in each regime as words: "-0.1 [-0.2, 0.0] tuned, ... (6 families)"."""
    words = [
        f"{one.text(digits=digits, scale=scale)}{unit} {regime}" for regime, one in numbers.items()
    ]
    return " and ".join(words) + (f" ({least_families(numbers)})" if families else "")


def clear_in(numbers: Mapping[str, Estimate]) -> str:
    """Return in which regimes an estimate is clear, as words."""
    clear = [regime for regime, one in numbers.items() if one.is_clear]
    if len(clear) == len(numbers):
        return "clear in both regimes"
    return f"clear in the {clear[0]} regime only" if clear else "clear in neither regime"


def least_families(numbers: Mapping[str, Estimate]) -> str:
    """Return the number of families, of the regime that has the fewest."""
    return min(numbers.values(), key=lambda one: one.n_families).families


def p_text(value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
