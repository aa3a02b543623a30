"""What the rows of the atlas say: means, ranks, and which differences are significant.

A *grid* is the mean over seeds of one column, shape (n_datasets, n_methods), with NaN where a cell
is missing. A claim about methods must hold on the next data set too, and data sets of one family
(the same texts' source, annotators and scale) are not independent. So families are the sample:
numbers are averaged within each family first, and intervals and tests resample families.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    def ranks(self) -> FloatArray:
        """Ranks of the methods on each data set, 1 the best, ties shared."""
        better = COLUMNS[self.column].better if self.column in COLUMNS else "low"
        costs = -self.values if better == "high" else self.values
        return np.array([rankdata(row) for row in costs]).reshape(self.values.shape)


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
class Ranks:
    """Mean ranks over families, with what separates them.

    Attributes
    ----------
    mean, low, high
        The mean rank of each method, and a 95 % interval by resampling families.
    n_families
        The number of families; with fewer than ``LEAST``, nothing can be tested.
    p_value
        Of Friedman's test that all methods rank alike; NaN with too few families.
    critical
        Nemenyi's critical difference of two mean ranks at the 5 % level.
    """

    grid: Grid
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n_families: int
    p_value: float
    critical: float

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

    @property
    def is_tested(self) -> bool:
        """Whether there are enough families for tests and intervals."""
        return self.n_families >= LEAST


def mean_ranks(grid: Grid, *, seed: int = 0) -> Ranks:
    """Return mean ranks over the families of a complete grid, with tests and intervals."""
    ranks = family_means(grid.datasets, grid.ranks)
    n, k = ranks.shape
    low, high = bootstrap(ranks, lambda sample: sample.mean(axis=0), seed=seed)
    p_value = float(friedmanchisquare(*ranks.T).pvalue) if n >= LEAST and k > 2 else float("nan")
    return Ranks(grid, ranks.mean(axis=0), low, high, n, p_value, nemenyi(n, k))


def nemenyi(n_datasets: int, n_methods: int, level: float = 0.05) -> float:
    """Return the critical difference of mean ranks (Demsar 2006, equation of section 3.2.2)."""
    q = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def bootstrap(
    values: FloatArray, statistic: Callable[[FloatArray], Any], *, seed: int = 0
) -> tuple[Any, Any]:
    """Return the ends of a 95 % percentile interval that resamples the first axis."""
    rng = np.random.default_rng(seed)
    drawn = [statistic(values[rng.integers(len(values), size=len(values))]) for _ in range(N_DRAWS)]
    return np.quantile(drawn, 0.025, axis=0), np.quantile(drawn, 0.975, axis=0)


@dataclass(frozen=True)
class Estimate:
    """A mean over families, with a 95 % interval that resamples them and a sign-flip p-value."""

    mean: float
    low: float
    high: float
    p_value: float
    n_datasets: int
    n_families: int

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
    def is_tested(self) -> bool:
        """Whether there are enough families for an interval and a test."""
        return self.n_families >= LEAST

    @property
    def families(self) -> str:
        """The number of families in words."""
        number = "1 family" if self.n_families == 1 else f"{self.n_families} families"
        return number if self.is_tested else f"{number}: cannot be tested"

    @property
    def is_clear(self) -> bool:
        """Whether 0 is outside of the interval, and flipped signs agree at the 5 % level."""
        return self.is_tested and (self.low > 0 or self.high < 0) and self.p_value <= 0.05


def estimate(values: Mapping[str, float], *, seed: int = 0) -> Estimate:
    """Return the mean of one number per data set; the p-value is exact up to 2^12 sign flips."""
    numbers = {d: float(x) for d, x in values.items() if np.isfinite(x)}
    if not numbers:
        nan = float("nan")
        return Estimate(nan, nan, nan, nan, 0, 0)
    x = family_means(list(numbers), np.array(list(numbers.values())))
    low, high = bootstrap(x, np.mean, seed=seed)
    p_value = sign_flip(x, seed=seed) if len(x) >= LEAST else float("nan")
    return Estimate(float(x.mean()), float(low), float(high), p_value, len(numbers), len(x))


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

    NaN with fewer than 3 pairs of numbers, or if all of a list are tied. SciPy's is slower, and
    permutations need thousands.
    """
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 3:
        return float("nan")
    signs = [np.sign(np.subtract.outer(x[both], x[both])) for x in (first, second)]
    untied = [np.count_nonzero(s) for s in signs]
    return (
        float((signs[0] * signs[1]).sum() / np.sqrt(untied[0] * untied[1]))
        if all(untied)
        else float("nan")
    )


def taus(first: Grid, second: Grid) -> dict[str, float]:
    """Return tau of the methods' ranks by two columns on each data set that has both."""
    methods = [m for m in first.methods if m in second.methods]
    found = {}
    for d in first.datasets:
        if d in second.datasets:
            a, b = (_costs(g)[g.datasets.index(d), _places(g, methods)] for g in (first, second))
            value = tau(a, b)
            if np.isfinite(value):
                found[d] = value
    return found


def permutation_tau(first: Grid, second: Grid, *, n_draws: int = 1_000, seed: int = 0) -> float:
    """Return the p-value of the mean tau when methods are shuffled within each data set."""
    rng = np.random.default_rng(seed)
    observed = taus(first, second)
    if not observed:
        return float("nan")
    methods = [m for m in first.methods if m in second.methods]
    pairs = [
        [_costs(g)[g.datasets.index(d), _places(g, methods)] for g in (first, second)]
        for d in observed
    ]
    mean = family_means(list(observed), np.array(list(observed.values()))).mean()
    hits = 0
    for _ in range(n_draws):
        shuffled = np.array([tau(a, _shuffled(b, np.isfinite(a), rng)) for a, b in pairs])
        drawn = family_means(list(observed), shuffled).mean()
        hits += abs(drawn) >= abs(mean) - 1e-12
    return (1 + hits) / (1 + n_draws)


def unresolved(low: FloatArray, high: FloatArray) -> tuple[int, int]:
    """Return how many pairs of intervals overlap, and how many pairs there are; NaN is left out."""
    there = np.isfinite(low) & np.isfinite(high)
    low, high = low[there], high[there]
    pairs = list(combinations(range(len(low)), 2))
    overlap = sum(low[i] <= high[j] and low[j] <= high[i] for i, j in pairs)
    return int(overlap), len(pairs)


def _shuffled(values: FloatArray, among: Any, rng: np.random.Generator) -> FloatArray:
    """Shuffle the numbers that take part in a tau; NaN and those without a partner stay."""
    there = np.flatnonzero(among & np.isfinite(values))
    moved = values.copy()
    moved[there] = values[rng.permutation(there)]
    return moved


def _costs(grid: Grid) -> FloatArray:
    better = COLUMNS[grid.column].better if grid.column in COLUMNS else "low"
    return -grid.values if better == "high" else grid.values


def _places(grid: Grid, methods: Sequence[str]) -> list[int]:
    return [grid.methods.index(m) for m in methods]


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
