"""What the questions of the atlas share: the form of an answer, and helpers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from studies.atlas_analysis import REPLICATES, Grid
from studies.rows import Row

LOSSES = ("log", "zero_one", "squared", "absolute", "rps")


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    question: str
    sentence: str
    body: str


def losses_of(rows: Sequence[Row]) -> list[str]:
    there = {row["loss"] for row in rows}
    return [loss for loss in LOSSES if loss in there]


def leagues(found: Grid) -> list[list[str]]:
    """All methods, and those that need no replicates, which more data sets have."""
    labels = [m for m in found.methods if m not in REPLICATES]
    return [list(found.methods)] + ([labels] if len(labels) < len(found.methods) else [])


def data_sets(n: int) -> str:
    return "1 data set" if n == 1 else f"{n} data sets"


def p_text(value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
