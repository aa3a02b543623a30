"""Rank inversions: pairs of methods that two criteria rank differently (section 5.3)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from rue._arrays import FloatArray
from rue._schema import plain
from rue._text import JsonObject, short_repr
from rue.errors import InputError
from rue.inference.method_ranking import holm
from rue.metrics.columns import Column
from rue.metrics.measures import kendall
from rue.ranking.scores import CRITERIA, Score, find_criterion


@dataclass(frozen=True)
class Contest:
    """One criterion on one data set, under one loss or none.

    Attributes
    ----------
    dataset, criterion, loss : str
        The data set, the criterion and the loss; the loss is empty if the criterion has none.
    """

    dataset: str
    criterion: str
    loss: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.criterion, self.dataset, self.loss)))


@dataclass(frozen=True)
class Inversion:
    """Two methods that two criteria rank in opposite orders.

    Attributes
    ----------
    first, second : Contest
        The two criteria.
    method, rival : str
        ``method`` is better under the first criterion, ``rival`` under the second.
    first_margin, second_margin : float
        The differences in the unit of each criterion, both above 0.
    strength : float
        The smaller of the two margins, each divided by the difference of the best and the worst
        method under its criterion. It is 1 if one criterion has the two methods as best and
        worst, and the other as worst and best.
    n_seeds, n_inverted : int
        The number of seeds with all four numbers, and of those with the same inversion.
    p_value : float or None
        The larger of the p-values of the two orders; None if one is unknown. The inversion is
        significant only if both orders are.
    """

    first: Contest
    second: Contest
    method: str
    rival: str
    first_margin: float
    second_margin: float
    strength: float
    n_seeds: int
    n_inverted: int
    p_value: float | None


@dataclass(frozen=True, eq=False)
class Inversions:
    """The rankings of methods under all criteria, and the inversions between them.

    Attributes
    ----------
    columns : tuple of Contest
        The criteria, the rows of the arrays.
    methods : tuple of str
        The methods, the columns of the arrays.
    values : array of shape (n_columns, n_methods)
        Means over seeds; NaN if a method has no number.
    ranks : array of shape (n_columns, n_methods)
        The ranks; 1 is the best, and equal values share their mean rank.
    tau : array of shape (n_columns, n_columns)
        Kendall's tau-b over the methods that both criteria have: 1 for the same order, -1 for
        the opposite order; NaN with fewer than two methods, or if all are equal.
    inversions : tuple of Inversion
        All pairs of methods that two criteria rank in opposite orders, the strongest first.
    """

    columns: tuple[Contest, ...]
    methods: tuple[str, ...]
    values: FloatArray
    ranks: FloatArray
    tau: FloatArray
    inversions: tuple[Inversion, ...]

    __repr__ = short_repr

    def ranks_of(self, dataset: str, criterion: str, loss: str = "") -> dict[str, float]:
        """Return the rank of each method under one criterion, for methods with a number."""
        column = Contest(dataset, criterion, loss)
        if column not in self.columns:
            raise InputError(f"there must be scores of {column}, got none")
        row = self.ranks[self.columns.index(column)].tolist()
        return {m: rank for m, rank in zip(self.methods, row, strict=True) if rank == rank}

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON: NaN becomes None."""
        return {
            "methods": list(self.methods),
            "criteria": [asdict(column) for column in self.columns],
            "values": plain(self.values.tolist()),
            "ranks": plain(self.ranks.tolist()),
            "tau": plain(self.tau.tolist()),
            "inversions": [asdict(inversion) for inversion in self.inversions],
        }


PValue = Callable[[Contest, str, str], float | None]
"""A function from (criterion, better method, worse method) to a p-value, None if unknown."""

_BySeed = dict[int | None, float]
_ByMethod = dict[str, _BySeed]


def find_inversions(
    scores: Iterable[Score],
    *,
    criteria: Mapping[str, Column] | None = None,
    p_value: PValue | None = None,
) -> Inversions:
    """Rank the methods under each criterion and find the pairs on which two criteria disagree.

    Scores are first averaged over the seeds of each method. Every criterion is compared with
    every other one, also across data sets.

    Parameters
    ----------
    scores : iterable of Score
        The scores in any order, without duplicates.
    criteria : mapping of str to Column, optional
        The criteria by key, which state whether low or high values are better; by default
        ``rue.ranking.scores.CRITERIA``.
    p_value : callable, optional
        A paired test of two methods under one criterion, for :attr:`Inversion.p_value`.

    Returns
    -------
    Inversions
        Ranks of shape (n_columns, n_methods), correlations and inversions.

    Raises
    ------
    InputError
        If there are no scores, a score occurs twice or is not finite, or a criterion is unknown.

    Examples
    --------
    >>> from rue import Score, find_inversions
    >>> found = find_inversions([
    ...     Score("cifar10h", "ensemble", None, "near_ood", "", 0.907),
    ...     Score("cifar10h", "evidential", None, "near_ood", "", 0.711),
    ...     Score("cifar10h", "ensemble", None, "aurec", "log", 0.0752),
    ...     Score("cifar10h", "evidential", None, "aurec", "log", 0.0673),
    ... ])
    >>> found.ranks.tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    >>> found.inversions[0].method, found.inversions[0].rival, found.inversions[0].strength
    ('ensemble', 'evidential', 1.0)
    """
    scores, criteria = list(scores), CRITERIA if criteria is None else criteria
    by_seed = _collect(scores, criteria)
    methods = tuple(dict.fromkeys(score.method for score in scores))
    standings = [
        _Standing(column, criteria[column.criterion], values, methods)
        for column, values in by_seed.items()
    ]
    pairs = list(combinations(range(len(standings)), 2))
    tau = np.diag([_tau(standing, standing) for standing in standings])
    for i, j in pairs:
        tau[i, j] = tau[j, i] = _tau(standings[i], standings[j])
    inversions = [
        x for i, j in pairs for x in _between(standings[i], standings[j], methods, p_value)
    ]
    inversions.sort(key=lambda inversion: -inversion.strength)
    return Inversions(
        columns=tuple(by_seed),
        methods=methods,
        values=np.array([standing.values for standing in standings]),
        ranks=np.array([_ranks(standing.cost) for standing in standings]),
        tau=tau,
        inversions=tuple(inversions),
    )


class _Standing:
    """The methods under one criterion: means over seeds, also as costs, and their range."""

    def __init__(
        self, column: Contest, criterion: Column, by_seed: _ByMethod, methods: tuple[str, ...]
    ) -> None:
        self.column, self.criterion, self.by_seed = column, criterion, by_seed
        self.values = np.array([_mean(by_seed.get(method)) for method in methods])
        self.cost = criterion.cost(self.values)
        self.span = float(np.nanmax(self.cost) - np.nanmin(self.cost))

    def is_better(self, seed: int, method: str, rival: str) -> bool:
        pair = np.array([self.by_seed[method][seed], self.by_seed[rival][seed]])
        a, b = self.criterion.cost(pair)
        return bool(a < b)


def _collect(scores: Iterable[Score], criteria: Mapping[str, Column]) -> dict[Contest, _ByMethod]:
    """Return values by contest, method and seed, in the order of criteria, then of scores."""
    values: dict[Contest, _ByMethod] = {}
    for score in scores:
        find_criterion(score.criterion, criteria)
        if not abs(score.value) < 1e100:  # sums and differences of larger ones may overflow
            raise InputError(f"value must be finite and below 1e100 in size, got {score}")
        column = Contest(score.dataset, score.criterion, score.loss)
        seeds = values.setdefault(column, {}).setdefault(score.method, {})
        if score.seed in seeds:
            raise InputError(f"every score must be unique, got two of {score}")
        seeds[score.seed] = score.value
    if not values:
        raise InputError("there must be at least one score, got none")
    places = list(criteria)
    return dict(sorted(values.items(), key=lambda item: places.index(item[0].criterion)))


def _between(
    first: _Standing, second: _Standing, methods: tuple[str, ...], p_value: PValue | None
) -> Iterator[Inversion]:
    """Return the inversions between two criteria, in the order of the methods."""
    for a, b in combinations(range(len(methods)), 2):
        lead = float(first.cost[b] - first.cost[a])  # above 0 if a is better
        lag = float(second.cost[b] - second.cost[a])
        if not (lead > 0 > lag or lead < 0 < lag):  # tied or missing under one criterion
            continue
        method, rival = (methods[a], methods[b]) if lead > 0 else (methods[b], methods[a])
        n_seeds, n_inverted = _count(first, second, method, rival)
        yield Inversion(
            first.column,
            second.column,
            method,
            rival,
            first_margin=abs(lead),
            second_margin=abs(lag),
            strength=min(abs(lead) / first.span, abs(lag) / second.span),
            n_seeds=n_seeds,
            n_inverted=n_inverted,
            p_value=_larger(
                p_value and p_value(first.column, method, rival),
                p_value and p_value(second.column, rival, method),
            ),
        )


def _count(first: _Standing, second: _Standing, method: str, rival: str) -> tuple[int, int]:
    """Return the number of seeds with all four numbers, and of those with an inversion."""
    four = [standing.by_seed[name] for standing in (first, second) for name in (method, rival)]
    seeds = [s for s in four[0] if s is not None and all(s in standing for standing in four)]
    inverted = [
        first.is_better(seed, method, rival) and second.is_better(seed, rival, method)
        for seed in seeds
    ]
    return len(seeds), sum(inverted)


def _larger(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else max(first, second)


def _mean(by_seed: _BySeed | None) -> float:
    return math.fsum(by_seed.values()) / len(by_seed) if by_seed else math.nan


def _tau(first: _Standing, second: _Standing) -> float:
    both = ~(np.isnan(first.cost) | np.isnan(second.cost))
    return kendall(first.cost[both], second.cost[both]) if both.any() else math.nan


def _ranks(cost: FloatArray) -> FloatArray:
    """Return ranks: 1 for the lowest cost, mean ranks for ties, NaN for missing values."""
    below = (cost[None, :] < cost[:, None]).sum(axis=1)
    equal = (cost[None, :] == cost[:, None]).sum(axis=1)
    return np.where(np.isnan(cost), np.nan, below + (equal + 1) / 2)


def compare_over_seeds(
    scores: Iterable[Score], *, criteria: Mapping[str, Column] = CRITERIA
) -> PValue:
    """Return a function that tests the order of two methods by their seeds."""
    p_value_of: dict[tuple[Contest, frozenset[str]], float] = {}
    for contest, methods in _collect(scores, criteria).items():
        pairs = list(combinations(methods, 2))
        better = criteria[contest.criterion].better
        p_values = holm([_paired(methods[a], methods[b], better) for a, b in pairs])
        p_value_of |= {
            (contest, frozenset(pair)): p for pair, p in zip(pairs, p_values, strict=True)
        }

    def p_value(contest: Contest, method: str, rival: str) -> float | None:
        p = p_value_of.get((contest, frozenset((method, rival))), math.nan)
        return None if math.isnan(p) else p

    return p_value


def _paired(first: _BySeed, second: _BySeed, better: str) -> float:
    """Return the p-value of a paired t-test over common seeds; NaN if there is none."""
    from scipy.stats import t

    seeds = sorted(seed for seed in first.keys() & second.keys() if seed is not None)
    if len(seeds) < 2:
        return math.nan
    a, b = (np.array([values[seed] for seed in seeds]) for values in (first, second))
    if better == "zero":  # then the mean difference is that of the means' sizes
        a, b = a * np.sign(a.mean()), b * np.sign(b.mean())
    difference = a - b
    error = difference.std(ddof=1) / len(seeds) ** 0.5
    if error <= 1e-12 * np.abs([a, b]).max():
        return math.nan
    return float(2 * t.sf(abs(difference.mean()) / error, len(seeds) - 1))
