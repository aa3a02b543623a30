"""What the rows of the atlas say: means, ranks, and which differences are significant.

A *grid* is the mean over seeds of one column, shape (n_datasets, n_methods), with NaN where a cell
is missing. A claim about methods must hold on the next data set too, and data sets of one family
(the same texts' source, annotators and scale) are not independent. So families are the sample:
numbers are averaged within each family first, and intervals and tests resample families.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from rue._arrays import FloatArray
from rue.metrics.columns import COLUMNS
from studies.rows import Row

REPLICATES = ("deup", "dirichlet_multinomial", "pairs", "snapshots")
"""Methods that learn from several answers about the same input."""
N_DRAWS = 2_000
LEAST = 5
"""Fewer families have no interval and no test: flipped signs cannot reach the 10 % level."""


def family(dataset: str) -> str:
    """Return the family of a data set: all parts of one collection are one family."""
    collection = dataset.partition("-")[0]
    return collection if collection in ("sentiment", "emobank") else dataset


def family_means(datasets: Sequence[str], values: FloatArray) -> FloatArray:
    """Return the means of the values (n_datasets, ...) within each family, in order of name."""
    names = [family(d) for d in datasets]
    chosen = sorted(set(names))
    return np.array([values[[n == name for n in names]].mean(axis=0) for name in chosen])


@dataclass(frozen=True)
class Grid:
    """Means over seeds: values (n_datasets, n_methods) of one column, lower or higher is better."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: FloatArray
    column: str

    def complete(self, methods: Sequence[str] | None = None) -> "Grid":
        """Keep some methods, and the data sets on which all of them have a value."""
        kept = [m for m in self.methods if methods is None or m in methods]
        values = self.values[:, [self.methods.index(m) for m in kept]]
        rows = np.atleast_1d(np.isfinite(values).all(axis=1))
        there = tuple(d for d, row in zip(self.datasets, rows, strict=True) if row)
        return Grid(there, tuple(kept), values[rows], self.column)

    @property
    def means(self) -> dict[str, float]:
        """The mean over the methods that a data set has."""
        values = (float(np.nanmean(row)) for row in self.values)
        return dict(zip(self.datasets, values, strict=True))

    def of(self, method: str) -> dict[str, float]:
        """The value of a method on each data set that has it."""
        if method not in self.methods:
            return {}
        values = self.values[:, self.methods.index(method)]
        pairs = zip(self.datasets, map(float, values), strict=True)
        return {d: value for d, value in pairs if np.isfinite(value)}

    @property
    def costs(self) -> FloatArray:
        """The values, with the sign of columns of which high is better turned."""
        is_high = self.column in COLUMNS and COLUMNS[self.column].better == "high"
        return -self.values if is_high else self.values

    @property
    def ranks(self) -> FloatArray:
        """Ranks of the methods on each data set, 1 the best, ties shared."""
        return np.array([rankdata(row) for row in self.costs]).reshape(self.values.shape)


def grid(
    rows: Iterable[Row], column: str, loss: str, value: Callable[[Row], Any] | None = None
) -> Grid:
    """Return the grid of a column under a loss, or of any function of a row."""
    get = value or (lambda row: row.get(column))
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        number = get(row) if row["loss"] == loss else None
        if number is not None and np.isfinite(number):
            found.setdefault((row["dataset"], row["method"]), []).append(float(number))
    datasets = tuple(dict.fromkeys(d for d, _ in found))
    methods = tuple(sorted({m for _, m in found}))
    values = np.full((len(datasets), len(methods)), np.nan)
    for (d, m), numbers in found.items():
        values[datasets.index(d), methods.index(m)] = np.mean(numbers)
    return Grid(datasets, methods, values, column)


@dataclass(frozen=True)
class Tested:
    """What has an interval and a test if there are enough families."""

    n_families: int

    @property
    def is_tested(self) -> bool:
        """Whether there are enough families for tests and intervals."""
        return self.n_families >= LEAST

    @property
    def families(self) -> str:
        """The number of families in words."""
        number = "1 family" if self.n_families == 1 else f"{self.n_families} families"
        return number if self.is_tested else f"{number}: cannot be tested"


@dataclass(frozen=True)
class Ranks(Tested):
    """Mean ranks over families, with what separates them.

    Attributes
    ----------
    mean, low, high
        The mean rank of each method, and a 95 % interval by resampling families.
    p_value
        Of Friedman's test that all methods rank alike; NaN with too few families.
    critical
        Nemenyi's critical difference of two mean ranks at the 5 % level.
    """

    grid: Grid
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: float
    critical: float

    def text(self, method: str) -> str:
        """Return the mean rank of a method and its interval; no interval of too few families."""
        i = self.grid.methods.index(method)
        interval = f" [{self.low[i]:.1f}, {self.high[i]:.1f}]" if self.is_tested else ""
        return f"{self.mean[i]:.1f}{interval}"

    @property
    def order(self) -> list[str]:
        """The methods, the lowest mean rank first."""
        return [self.grid.methods[i] for i in np.argsort(self.mean, kind="stable")]

    @property
    def first(self) -> list[str]:
        """The methods with the lowest mean rank: more than one if they are tied."""
        tied = np.flatnonzero(self.mean <= self.mean.min() + 1e-12)
        return [self.grid.methods[i] for i in tied]

    @property
    def not_separated(self) -> list[str]:
        """The other methods whose mean rank is within the critical difference of the lowest."""
        best = self.mean.min()
        close = {
            m for m, r in zip(self.grid.methods, self.mean, strict=True) if r - best < self.critical
        }
        return [m for m in self.order if m in close and m not in self.first]


def mean_ranks(grid: Grid, *, seed: int = 0) -> Ranks:
    """Return mean ranks over the families of a complete grid, with tests and intervals."""
    ranks = family_means(grid.datasets, grid.ranks)
    n, k = ranks.shape
    low, high = bootstrap(ranks, seed=seed)
    p_value = float(friedmanchisquare(*ranks.T).pvalue) if n >= LEAST and k > 2 else float("nan")
    return Ranks(n, grid, ranks.mean(axis=0), low, high, p_value, nemenyi(n, k))


@cache
def nemenyi(n_datasets: int, n_methods: int, level: float = 0.05) -> float:
    """Return the critical difference of mean ranks (Demsar 2006, equation of section 3.2.2)."""
    q = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def bootstrap(values: FloatArray, *, seed: int = 0) -> tuple[Any, Any]:
    """Return the ends of a 95 % percentile interval of the mean, resampling the first axis."""
    n = len(values)
    drawn = np.random.default_rng(seed).integers(n, size=(N_DRAWS, n))
    means = values[drawn].mean(axis=1)
    return np.quantile(means, 0.025, axis=0), np.quantile(means, 0.975, axis=0)


@dataclass(frozen=True)
class Estimate(Tested):
    """A mean over families, with a 95 % interval that resamples them and a sign-flip p-value."""

    mean: float
    low: float
    high: float
    p_value: float
    n_datasets: int

    def text(self, *, digits: int = 3, scale: float = 1.0, sign: str = "+") -> str:
        """Return the mean and its interval; no interval of too few families."""
        if self.n_families == 0:
            return "-"
        mean, low, high = (
            f"{scale * value:{sign}.{digits}f}" for value in (self.mean, self.low, self.high)
        )
        return f"{mean} [{low}, {high}]" if self.is_tested else mean

    def __str__(self) -> str:
        return self.text()

    @property
    def is_clear(self) -> bool:
        """Whether 0 is outside of the interval, and flipped signs agree at the 5 % level."""
        return self.is_tested and (self.low > 0 or self.high < 0) and self.p_value <= 0.05


def estimate(values: Mapping[str, float], *, seed: int = 0) -> Estimate:
    """Return the mean of one number per data set; the p-value is exact up to 2^12 sign flips."""
    numbers = {d: float(x) for d, x in values.items() if np.isfinite(x)}
    if not numbers:
        nan = float("nan")
        return Estimate(0, nan, nan, nan, nan, 0)
    x = family_means(list(numbers), np.array(list(numbers.values())))
    low, high = bootstrap(x, seed=seed)
    p_value = sign_flip(x, seed=seed) if len(x) >= LEAST else float("nan")
    return Estimate(len(x), float(x.mean()), float(low), float(high), p_value, len(numbers))


def sign_flip(x: FloatArray, *, seed: int = 0) -> float:
    """Return the two-sided p-value that a mean is 0, by flipping the signs of its terms."""
    n = len(x)
    if n <= 12:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = np.random.default_rng(seed).choice([-1, 1], size=(4_096, n))
        signs[0] = 1
    means = np.abs((signs * x).mean(axis=1))
    return float((means >= abs(x.mean()) - 1e-12).mean())


def tau(first: FloatArray, second: FloatArray) -> float:
    """Return Kendall's tau-b of two lists of numbers.

    NaN with fewer than 3 pairs of numbers, or if all of a list are tied. SciPy's is slower.
    """
    a, b, most = _signs(first, second)
    return float((a * b).sum() / most) if most else float("nan")


def _signs(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the order of all pairs in two lists, and the largest sum of their products."""
    both = np.isfinite(first) & np.isfinite(second)
    a, b = (np.sign(np.subtract.outer(x[both], x[both])) for x in (first, second))
    most = np.sqrt(float(np.count_nonzero(a)) * np.count_nonzero(b)) if both.sum() >= 3 else 0.0
    return a, b, most


def _pairs(first: Grid, second: Grid) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the costs of the methods by two columns on each data set that has both."""
    methods = [m for m in first.methods if m in second.methods]
    both = [
        (g.costs[:, [g.methods.index(m) for m in methods]], g.datasets) for g in (first, second)
    ]
    (a, of_a), (b, of_b) = both
    return {d: (a[of_a.index(d)], b[of_b.index(d)]) for d in of_a if d in of_b}


def taus(first: Grid, second: Grid) -> dict[str, float]:
    """Return tau of the methods' ranks by two columns on each data set that has both."""
    values = {d: tau(a, b) for d, (a, b) in _pairs(first, second).items()}
    return {d: value for d, value in values.items() if np.isfinite(value)}


def permutation_tau(first: Grid, second: Grid, *, n_draws: int = 1_000, seed: int = 0) -> float:
    """Return the p-value of the mean tau when methods are shuffled within each data set."""
    rng = np.random.default_rng(seed)
    signs = {d: _signs(*pair) for d, pair in _pairs(first, second).items()}
    signs = {d: one for d, one in signs.items() if one[2]}
    if not signs:
        return float("nan")

    def distance(products: Iterable[float]) -> float:
        taus = [one / most for one, (*_, most) in zip(products, signs.values(), strict=True)]
        return abs(float(family_means(list(signs), np.array(taus)).mean()))

    def shuffled(values: FloatArray) -> FloatArray:
        order = rng.permutation(len(values))
        return values[order[:, None], order]

    observed = distance([(a * b).sum() for a, b, _ in signs.values()]) - 1e-12
    draws = (
        distance([(a * shuffled(b)).sum() for a, b, _ in signs.values()]) for _ in range(n_draws)
    )
    return (1 + sum(draw >= observed for draw in draws)) / (1 + n_draws)


def same_best(first: Grid, second: Grid) -> list[bool]:
    """Return whether two columns pick the same method on each data set that has all of both."""
    pairs = [pair for pair in _pairs(first, second).values() if np.isfinite(pair).all()]
    return [bool(np.argmin(a) == np.argmin(b)) for a, b in pairs]


def unresolved(low: FloatArray, high: FloatArray) -> tuple[int, int]:
    """Return how many pairs of intervals overlap, and how many pairs there are; NaN is left out."""
    there = np.isfinite(low) & np.isfinite(high)
    low, high = low[there], high[there]
    pairs = list(combinations(range(len(low)), 2))
    overlap = sum(low[i] <= high[j] and low[j] <= high[i] for i, j in pairs)
    return int(overlap), len(pairs)


LOSSES = ("log", "zero_one", "squared", "absolute", "rps")
Regimes = Mapping[str, Sequence[Row]]
"""The rows of each regime, tuned first."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes
    ----------
    question, short
        The question, and the question in a few words.
    line
        The answer with one number, its interval, the regime and the number of families.
    sentence, body
        The answer with the numbers of both regimes, and the tables behind it.
    """

    question: str
    short: str
    line: str
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
    sign: str = "+",
    families: bool = True,
    unit: str = "",
) -> str:
    """Return an estimate in each regime as words: "-0.1 [-0.2, 0.0] tuned, ... (6 families)"."""
    words = [
        f"{one.text(digits=digits, scale=scale, sign=sign)}{unit} {regime}"
        for regime, one in numbers.items()
    ]
    return " and ".join(words) + (f" ({fewest(numbers).families})" if families else "")


def in_first(numbers: Mapping[str, Estimate], *, unit: str = "", **form: Any) -> str:
    """Return an estimate in the first regime as words: "-0.1 [-0.2, 0.0] (tuned, 6 families)"."""
    regime, one = next(iter(numbers.items()))
    return f"{one.text(**form)}{unit} ({regime}, {one.families})"


def clear_in(numbers: Mapping[str, Estimate]) -> str:
    """Return in which regimes an estimate is clear, as words."""
    return f"clear {clear_where(numbers)}"


def clear_where(numbers: Mapping[str, Estimate], sign: int = 0) -> str:
    """Return in which regimes an estimate is clear, and of this sign if it is not 0, as words."""
    return in_which({r: one.is_clear and sign * one.mean >= 0 for r, one in numbers.items()})


def in_which(flags: Mapping[str, bool]) -> str:
    """Return the regimes in which something is true, as words."""
    named = [regime for regime, flag in flags.items() if flag]
    if len(named) == len(flags):
        return "in both regimes"
    return f"in the {named[0]} regime only" if named else "in neither regime"


def fewest(numbers: Mapping[str, Estimate]) -> Estimate:
    """Return the estimate of the regime that has the fewest families."""
    return min(numbers.values(), key=lambda one: one.n_families)


def p_text(value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
