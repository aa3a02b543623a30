"""A result column: the name, format, direction, explanation and computation of one number."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray
from rue.components import Run
from rue.metrics.statistics import Statistic

__all__ = ["Column"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One result column.

    Attributes
    ----------
    key : str
        The attribute of :class:`rue.Evaluation` and the key in JSON and CSV.
    title, latex : str
        The heading in tables, and in LaTeX if it differs.
    digits : int
        The number of decimals.
    better : {"low", "high", "zero", ""}
        Which values are better: low ones, high ones, those near 0, or none.
    kind : {"regret", "proxy", "other", "fact"}
        ``regret`` for the paper's criteria, ``proxy`` for the tasks by which epistemic
        uncertainty is commonly evaluated, ``other`` for further criteria, ``fact`` for numbers
        that do not evaluate an uncertainty.
    unit : str
        ``loss`` if the number has the unit of the loss, else what is counted; empty for a number
        without a unit.
    statistic : Statistic or None
        How the number is computed from a run, with its bootstrap replicates
        (:mod:`rue.metrics.statistics`); None if an evaluation does not have it.
    in_table : bool
        Whether tables show the column if a row has it.
    on_request : bool
        Whether a row has the number only if it was asked for; tables show the column then.
    simulated : bool
        Whether it is a mean over simulated answers, exact only up to its Monte-Carlo error.
    meaning : str
        A short description.
    explanation : str
        Whole sentences for the report; empty if the report does not show the column.
    reason : callable, optional
        Why a run has no such number, for a note; empty if there is nothing to say.
    """

    key: str
    title: str
    digits: int
    statistic: Statistic | None = None
    better: Literal["low", "high", "zero", ""] = ""
    kind: Literal["regret", "proxy", "other", "fact"] = "fact"
    unit: str = ""
    in_table: bool = False
    on_request: bool = False
    simulated: bool = False
    meaning: str
    explanation: str = ""
    latex: str = ""
    reason: Callable[[Run], str] | None = None

    def cost(self, values: FloatArray) -> FloatArray:
        """Return numbers of which the lowest is the best, with the shape of ``values``."""
        return {"high": -values, "zero": np.abs(values)}.get(self.better, values)

    @property
    def interval(self) -> Literal["bca", "percentile", ""]:
        """The default bootstrap interval: BCa if influences have a formula, percentile, or none."""
        return "" if self.statistic is None else self.statistic.interval
