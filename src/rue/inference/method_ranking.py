"""Rank methods by one criterion: paired differences, their significance, probabilities of ranks.

A p-value is one minus the level of the widest interval that excludes 0; p-values are corrected for
the number of pairs (Holm 1979). The probability of a rank is the share of the bootstrap samples in
which a method has it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue._text import short_repr
from rue.errors import InputError
from rue.inference.intervals import bca_constants, interval, share_below
from rue.metrics.columns import COLUMNS, title


@dataclass(frozen=True)
class Difference:
    """The difference of two methods in one criterion, first minus second.

    Where lower is better, the first method is better if the difference is negative; see ``better``
    of the column. Numbers are NaN if the criterion is undefined for one of the methods.

    Attributes
    ----------
    criterion, first, second : str
        The key of the column, and the names of the methods.
    difference, low, high : float
        The difference and the ends of its interval.
    p_value : float
        The two-sided p-value.
    p_holm : float
        The p-value, corrected for all pairs of this criterion.
    """

    criterion: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """The ranking of methods by one criterion.

    Attributes
    ----------
    criterion : str
        The key of the column.
    level : float
        The confidence level.
    estimate, low, high : mapping of str to float
        The estimate of each method and the ends of its interval.
    rank_probability : array of shape (n_methods, n_methods)
        Entry (i, r) is the probability that method i has rank r + 1, where rank 1 is the best
        value (the lowest, if no end is better); tied methods share their ranks. Rows of methods
        for which the criterion is undefined are NaN.
    differences : tuple of Difference
        All pairs of methods.
    title : str
        The heading of the criterion, with its limit if it has one (``risk at 0.8``).
    """

    criterion: str
    level: float
    estimate: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    rank_probability: FloatArray
    differences: tuple[Difference, ...]
    title: str = ""

    __repr__ = short_repr

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, in the order of the runs."""
        return tuple(self.estimate)

    @property
    def order(self) -> tuple[str, ...]:
        """The methods for which the criterion is defined, the best first."""
        defined = [name for name in self.methods if math.isfinite(self.estimate[name])]
        return tuple(sorted(defined, key=self.cost))

    @property
    def better(self) -> str:
        """Which values are better: ``low``, ``high``, or empty if no end is."""
        return COLUMNS[self.criterion].better if self.criterion in COLUMNS else "low"

    def cost(self, method: str) -> float:
        """Return a number of which the lowest belongs to the best method."""
        return -self.estimate[method] if self.better == "high" else self.estimate[method]

    @property
    def expected_rank(self) -> dict[str, float]:
        """The expected rank of each method."""
        ranks = self.rank_probability @ np.arange(1, len(self.methods) + 1)
        return dict(zip(self.methods, ranks.tolist(), strict=True))

    def significant(self, first: str, second: str) -> bool:
        """Return whether two methods differ significantly, corrected for all pairs."""
        for d in self.differences:
            if {d.first, d.second} == {first, second}:
                return d.p_holm <= 1 - self.level
        raise InputError(f"methods must be among {', '.join(self.methods)}, got {first}, {second}")

    @property
    def best(self) -> tuple[str, ...]:
        """The method with the best value, and all that do not differ significantly from it.

        Empty if no end of the criterion is better.
        """
        if not self.order or not self.better:
            return ()
        top = self.order[0]
        return (top, *(m for m in self.order[1:] if not self.significant(top, m)))

    def __str__(self) -> str:
        """Return a sentence that states the best method, or that there is no significant one."""
        best, what = self.best, self.title or title(self.criterion)
        if not self.order:
            return f"{what} is undefined for every method."
        if not self.better:
            return self._extremes(what)
        if len(best) > 1:
            return f"No significant winner by {what}: {_listed(best)} cannot be separated."
        if len(self.order) == 1:
            return f"{what} is undefined for every method except {best[0]}."
        pairs = [d for d in self.differences if best[0] in (d.first, d.second)]
        p = max(d.p_holm for d in pairs if not math.isnan(d.p_holm))
        end = "highest" if self.better == "high" else "lowest"
        return f"{best[0]} has the {end} {what} of {len(self.order)} methods (p <= {p:.2g})."

    def _extremes(self, what: str) -> str:
        """Return who has the lowest and the highest value, where no end is better."""
        p_values = [d.p_holm for d in self.differences if not math.isnan(d.p_holm)]
        if not p_values:
            return f"{what} is undefined for every method except {self.order[0]}."
        n_different = sum(p <= 1 - self.level for p in p_values)
        advice = COLUMNS[self.criterion].explanation.split(". ")[-1]
        return (
            f"{what} is lowest for {self.order[0]} and highest for {self.order[-1]}; {n_different} "
            f"of {len(p_values)} pairs differ significantly. {advice}"
        )


def compare_column(
    criterion: str,
    estimate: Mapping[str, float],
    drawn: Mapping[str, FloatArray],
    influences: Mapping[str, FloatArray] | None = None,
    *,
    own: Mapping[str, FloatArray] | None = None,
    level: float = 0.95,
    heading: str = "",
) -> Ranking:
    """Compare methods by any one number."""
    names = list(estimate)
    kind = "percentile" if influences is None else "bca"
    swings = {n: None if influences is None else influences[n] for n in names}
    alone = drawn if own is None else own
    ends = {n: interval(estimate[n], alone[n], swings[n], level, kind) for n in names}
    differences = []
    for first, second in combinations(names, 2):
        difference = float(_minus(estimate[first], estimate[second]))
        moved = _minus(drawn[first], drawn[second])
        moved = moved[np.isfinite(moved)]
        swing = None if influences is None else influences[first] - influences[second]
        low, high = interval(difference, moved, swing, level, kind)
        p = _p_value(difference, moved, swing) if math.isfinite(low) else math.nan
        differences.append((first, second, difference, low, high, p))
    corrected = holm([row[-1] for row in differences])
    sign = -1 if criterion in COLUMNS and COLUMNS[criterion].better == "high" else 1
    costs = sign * np.stack([drawn[name] for name in names])
    return Ranking(
        criterion,
        level,
        dict(estimate),
        {name: ends[name][0] for name in names},
        {name: ends[name][1] for name in names},
        _rank_probability(costs, list(estimate.values())),
        tuple(
            Difference(criterion, *row, p) for row, p in zip(differences, corrected, strict=True)
        ),
        heading or title(criterion),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down method; NaN stays NaN and does not count."""
    ordered = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = [math.nan] * len(p_values)
    highest = 0.0
    for step, (p, i) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - step) * p))
        corrected[i] = highest
    return corrected


def significant_inversions(first: Ranking, second: Ranking) -> list[tuple[str, str]]:
    """Return pairs of methods whose order is reversed, significantly under both criteria."""
    inverted = []
    for a, b in combinations(first.methods, 2):
        if a not in second.estimate or b not in second.estimate:
            continue
        better, worse = (a, b) if first.cost(a) < first.cost(b) else (b, a)
        if (
            second.cost(better) > second.cost(worse)
            and first.significant(a, b)
            and second.significant(a, b)
        ):
            inverted.append((better, worse))
    return inverted


def _minus(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return first minus second; differences that are only rounding errors become 0."""
    a, b = np.asarray(first), np.asarray(second)
    size = np.abs(np.stack([a, b]))
    rounding = 1e-12 * np.max(size, where=np.isfinite(size), initial=0.0)
    return np.asarray(np.where(np.abs(a - b) <= rounding, 0.0, a - b))


def _p_value(difference: float, moved: FloatArray, swing: FloatArray | None) -> float:
    """Return the least alpha whose interval excludes 0, at least 1 / (n_replicates + 1)."""
    from scipy.special import ndtr, ndtri

    below = share_below(moved, 0.0)
    if swing is None:
        return float(min(1.0, 2 * min(below, 1 - below)))
    bias, acceleration = bca_constants(difference, moved, swing)
    y = float(ndtri(below)) - bias
    z = y / max(1 + acceleration * y, 1e-12) - bias
    return float(max(2 * ndtr(-abs(z)), 1 / (len(moved) + 1)))


def _rank_probability(drawn: FloatArray, estimate: Sequence[float]) -> FloatArray:
    """Return the share of samples in which a method has each rank; ties share their ranks."""
    n_methods = len(drawn)
    defined = np.isfinite(estimate)
    probability = np.full((n_methods, n_methods), math.nan)
    table = drawn[defined]
    table = table[:, np.isfinite(table).all(axis=0)]
    if table.size == 0:
        return probability
    probability[defined] = 0.0
    scale = 1e-12 * np.abs(table).max()
    for i, row in zip(np.flatnonzero(defined), table, strict=True):
        better = (table < row - scale).sum(axis=0)
        tied = (np.abs(table - row) <= scale).sum(axis=0)
        for r in range(int(defined.sum())):
            at = (better <= r) & (r < better + tied)
            probability[i, r] = (at / tied).mean()
    return probability


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
