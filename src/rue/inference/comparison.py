"""Who is better, really? Paired differences between methods, and how sure their ranks are.

All methods are evaluated on the same points drawn with replacement, so what is common to them
cancels. A p-value is one minus the level of the widest interval that leaves out 0; within a
criterion they are corrected for the number of pairs (Holm 1979). The probability of a rank is the
share of the samples in which a method has it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.inference.bootstrap import N_REPLICATES, own_order, replicates
from rue.inference.intervals import (
    AREAS,
    INTERVAL_COLUMNS,
    bca_constants,
    check,
    influence,
    interval,
    share_below,
)
from rue.metrics.columns import COLUMNS, title
from rue.metrics.evaluation import evaluate_run
from rue.runs import Run, require_runs

__all__ = [
    "COMPARABLE",
    "Comparison",
    "Difference",
    "Ranking",
    "compare",
    "compare_column",
    "holm",
    "significant_inversions",
]

COMPARABLE = tuple(key for key in INTERVAL_COLUMNS if COLUMNS[key].better == "low")
"""What methods can be compared by: columns of which less is better."""

DEFAULT = ("aurec", "n_aurec", "aurc", "pareto_gap")


@dataclass(frozen=True)
class Difference:
    """What the first method has more than the second of a criterion: below 0 the first is better.

    ``p_value`` is two-sided, ``p_holm`` corrected for all pairs of this criterion. NaN where the
    criterion is undefined for one of them.
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
    """Methods by one criterion, the best first in ``order``.

    ``rank_probability[i, r]`` is the probability that method i has rank r + 1, tied methods
    sharing theirs; rows of methods for which the criterion is undefined are NaN.
    """

    criterion: str
    level: float
    estimate: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    rank_probability: FloatArray
    differences: tuple[Difference, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, as they were given."""
        return tuple(self.estimate)

    @property
    def order(self) -> tuple[str, ...]:
        """Methods for which the criterion is defined, the best first."""
        known = [name for name in self.methods if math.isfinite(self.estimate[name])]
        return tuple(sorted(known, key=lambda name: self.estimate[name]))

    @property
    def expected_rank(self) -> dict[str, float]:
        """Mean rank of each method."""
        ranks = self.rank_probability @ np.arange(1, len(self.methods) + 1)
        return dict(zip(self.methods, ranks.tolist(), strict=True))

    def significant(self, first: str, second: str) -> bool:
        """Whether the two can be told apart at this level, corrected for all pairs."""
        for d in self.differences:
            if {d.first, d.second} == {first, second}:
                return d.p_holm <= 1 - self.level
        raise InputError(f"methods must be among {', '.join(self.methods)}, got {first}, {second}")

    @property
    def best(self) -> tuple[str, ...]:
        """The method of least value and all that cannot be told apart from it."""
        if not self.order:
            return ()
        top = self.order[0]
        return (top, *(m for m in self.order[1:] if not self.significant(top, m)))

    def __str__(self) -> str:
        """Say in a sentence which method is best, or that none is."""
        best, what = self.best, title(self.criterion)
        if not best:
            return f"{what} is undefined for every method."
        if len(best) > 1:
            return f"No method has the least {what} for sure: {_listed(best)} may have."
        if len(self.order) == 1:
            return f"{what} is undefined for every method but {best[0]}."
        pairs = [d for d in self.differences if best[0] in (d.first, d.second)]
        p = max(d.p_holm for d in pairs if not math.isnan(d.p_holm))
        return f"{best[0]} has the least {what} of {len(self.order)} methods (p <= {p:.2g})."


@dataclass(frozen=True, eq=False)
class Comparison:
    """A ranking of methods for each criterion."""

    level: float
    n_points: int
    rankings: Mapping[str, Ranking]

    def __getitem__(self, criterion: str) -> Ranking:
        return self.rankings[criterion]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that is valid JSON."""
        return {
            "n_points": self.n_points,
            "level": self.level,
            "criteria": {
                name: {
                    "methods": {
                        method: {
                            "estimate": _json(ranking.estimate[method]),
                            "low": _json(ranking.low[method]),
                            "high": _json(ranking.high[method]),
                            "expected_rank": _json(ranking.expected_rank[method]),
                            "rank_probability": [_json(p) for p in row.tolist()],
                        }
                        for method, row in zip(
                            ranking.methods, ranking.rank_probability, strict=True
                        )
                    },
                    "differences": [
                        {key: _json(value) for key, value in asdict(d).items()}
                        for d in ranking.differences
                    ],
                    "best": list(ranking.best),
                    "sentence": str(ranking),
                }
                for name, ranking in self.rankings.items()
            },
        }


def compare(
    runs: Sequence[Run],
    *,
    criteria: Sequence[str] = DEFAULT,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Compare methods on the same points.

    Parameters
    ----------
    runs
        One for each method, by whose name it is known; row i is the same point in all of them.
    criteria
        Some of COMPARABLE.
    level
        Of the intervals; methods are told apart where a corrected p-value is at most 1 - level.
    n_replicates
        How many samples are drawn; the Pareto-gap has at most 200 of them.

    Returns
    -------
    Comparison
        A ranking of the methods for each criterion.

    Examples
    --------
    >>> from rue import Components, Run
    >>> rng = np.random.default_rng(0)
    >>> regret, noise = rng.gamma(1.0, size=(2, 400))
    >>> star, zero = Components(regret, np.zeros(400), regret), np.zeros(400)
    >>> runs = [
    ...     Run(star, Components(regret + noise, zero, regret + noise), method="good"),
    ...     Run(star, Components(noise, zero, noise), method="poor"),
    ... ]
    >>> print(compare(runs, criteria=["aurec"])["aurec"])
    good has the least AuReC of 2 methods (p <= 0.0005).
    """
    check(level, "auto", n_replicates)
    require_runs(runs)
    if len(runs) < 2:
        raise InputError(f"runs must hold at least two methods, got {len(runs)}")
    unknown = [name for name in criteria if name not in COMPARABLE]
    if unknown or not criteria:
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(f"criteria must be some of {', '.join(COMPARABLE)}, got {got}")
    rows = own_order(runs)
    found, drawn, influences = {}, {}, {}
    gap = "pareto_gap" in criteria
    for run in runs:
        found[run.method] = evaluate_run(run, gap=gap)
        drawn[run.method] = replicates(
            run,
            n_replicates=n_replicates,
            gap=found[run.method].pareto_gap if gap else None,
            seed=seed,
            rows=rows,
            areas_only="regret_calibration" not in criteria,
            progress=progress,
        )
        influences[run.method] = influence(run)
    rankings = {
        criterion: compare_column(
            criterion,
            {name: getattr(row, criterion) for name, row in found.items()},
            {name: columns[criterion] for name, columns in drawn.items()},
            {name: swings[criterion] for name, swings in influences.items()}
            if criterion in AREAS
            else None,
            level=level,
        )
        for criterion in criteria
    }
    return Comparison(level, len(rows), rankings)


def compare_column(
    criterion: str,
    estimate: Mapping[str, float],
    drawn: Mapping[str, FloatArray],
    influences: Mapping[str, FloatArray] | None = None,
    *,
    level: float = 0.95,
) -> Ranking:
    """Compare methods by one number each, whatever it is, of which less is better.

    ``drawn`` are its paired replicates: entry b of every method is of the same sample. With
    ``influences`` intervals are BCa, else percentile.
    """
    names = list(estimate)
    kind = "percentile" if influences is None else "bca"
    swings = {n: None if influences is None else influences[n] for n in names}
    ends = {n: interval(estimate[n], drawn[n], swings[n], level, kind) for n in names}
    found = []
    for first, second in combinations(names, 2):
        difference = float(_minus(estimate[first], estimate[second]))
        moved = _minus(drawn[first], drawn[second])
        moved = moved[np.isfinite(moved)]
        swing = None if influences is None else influences[first] - influences[second]
        low, high = interval(difference, moved, swing, level, kind)
        p = _p_value(difference, moved, swing) if math.isfinite(low) else math.nan
        found.append((first, second, difference, low, high, p))
    corrected = holm([row[-1] for row in found])
    return Ranking(
        criterion,
        level,
        dict(estimate),
        {name: ends[name][0] for name in names},
        {name: ends[name][1] for name in names},
        _rank_probability(np.stack([drawn[name] for name in names]), list(estimate.values())),
        tuple(Difference(criterion, *row, p) for row, p in zip(found, corrected, strict=True)),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down; NaN stays and is not counted.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = [math.nan] * len(p_values)
    highest = 0.0
    for step, (p, i) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - step) * p))
        corrected[i] = highest
    return corrected


def significant_inversions(first: Ranking, second: Ranking) -> list[tuple[str, str]]:
    """Pairs of methods whose order is reversed between two criteria, each way for sure.

    The first of a pair is better by the first criterion and worse by the second.
    """
    inverted = []
    for a, b in combinations(first.methods, 2):
        if a not in second.estimate or b not in second.estimate:
            continue
        better, worse = (a, b) if first.estimate[a] < first.estimate[b] else (b, a)
        if (
            second.estimate[better] > second.estimate[worse]
            and first.significant(a, b)
            and second.significant(a, b)
        ):
            inverted.append((better, worse))
    return inverted


def _minus(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """First minus second, 0 where no more than rounding: equal methods may be summed otherwise."""
    a, b = np.asarray(first), np.asarray(second)
    size = np.abs(np.stack([a, b]))
    rounding = 1e-12 * np.max(size, where=np.isfinite(size), initial=0.0)
    return np.asarray(np.where(np.abs(a - b) <= rounding, 0.0, a - b))


def _p_value(difference: float, moved: FloatArray, swing: FloatArray | None) -> float:
    """Return the least alpha whose BCa interval excludes 0.

    So many samples cannot show less than one in so many.
    """
    from scipy.special import ndtr, ndtri

    below = share_below(moved, 0.0)
    if swing is None:
        return float(min(1.0, 2 * min(below, 1 - below)))
    bias, acceleration = bca_constants(difference, moved, swing)
    y = float(ndtri(below)) - bias
    z = y / max(1 + acceleration * y, 1e-12) - bias
    return float(max(2 * ndtr(-abs(z)), 1 / (len(moved) + 1)))


def _rank_probability(drawn: FloatArray, estimate: Sequence[float]) -> FloatArray:
    """Share of samples in which a method has each rank; tied methods share theirs evenly."""
    n_methods = len(drawn)
    known = np.isfinite(estimate)
    probability = np.full((n_methods, n_methods), math.nan)
    table = drawn[known]
    table = table[:, np.isfinite(table).all(axis=0)]
    if table.size == 0:
        return probability
    probability[known] = 0.0
    scale = 1e-12 * np.abs(table).max()
    for i, row in zip(np.flatnonzero(known), table, strict=True):
        better = (table < row - scale).sum(axis=0)
        tied = (np.abs(table - row) <= scale).sum(axis=0)
        for r in range(int(known.sum())):
            at = (better <= r) & (r < better + tied)
            probability[i, r] = (at / tied).mean()
    return probability


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
