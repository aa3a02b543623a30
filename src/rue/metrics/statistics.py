"""How a result column is computed: its value, its bootstrap replicates, its influences.

A statistic reads the run of one method. The points that it reads are named by :class:`Star` and
:class:`Hat`, or by any function of a run. Bootstrap replicates are weights: how often each point
was drawn.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.metrics.measures import Areas, aurc, centred_ranks, rank_correlation

PointValues = Callable[[Run], FloatArray | None]
"""One number for each point of a run; None if the run does not have them."""


@dataclass(frozen=True)
class Star:
    """A realised component: total, aleatoric or epistemic; or the risk of a person."""

    component: Literal["total", "aleatoric", "epistemic", "person"]

    def __call__(self, run: Run) -> FloatArray | None:
        return getattr(run.star, self.component)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Hat:
    """An estimated component: total, aleatoric or epistemic."""

    component: Literal["total", "aleatoric", "epistemic"]

    def __call__(self, run: Run) -> FloatArray:
        return getattr(run.hat, self.component)  # type: ignore[no-any-return]


class Sample:
    """The run of one method, with what its columns share, each computed once.

    Attributes
    ----------
    run : Run
        The realised and the estimated components.
    gap : bool or float
        Whether to compute the Pareto-gap, or the gap if it is known already.
    request : collection of str
        The keys of columns that are computed on request only, and were asked for.
    references : bool or None
        Whether to compute what takes longer: n-AuReC corrected, its floor and expectation. None
        computes them up to a number of points.
    seed : int
        Seed of what is simulated.
    notes : list of (str, str)
        The key of a column and what a reader must know about it; the key is empty if the sentence
        does not start with the name of a column.

    Examples
    --------
    >>> from rue import Components, Run
    >>> from rue.metrics.statistics import Hat, Sample, Star
    >>> star = Components([0.5, 0.25], [0.25, 0.25], [0.25, 0.0])
    >>> Sample(Run(star, star)).area(Star("epistemic"), Hat("epistemic"))
    0.03125
    """

    def __init__(
        self,
        run: Run,
        *,
        gap: bool | float = True,
        request: Collection[str] = (),
        references: bool | None = None,
        seed: int = 0,
    ) -> None:
        self.run, self.gap, self.request = run, gap, frozenset(request)
        self.references, self.seed = references, seed
        self.notes: list[tuple[str, str]] = []
        self._cache: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.run)

    @cached_property
    def rule(self) -> Literal["row_order", "exact"]:
        """How areas are computed under the convention of the run."""
        return "row_order" if self.run.convention == "published" else "exact"

    def once(self, function: Callable[["Sample"], Any]) -> Any:
        """Return what a function of the sample returns, which is computed the first time."""
        return self._cached(function, lambda: function(self))

    def points(self, source: PointValues) -> FloatArray | None:
        """Return one number for each point, or None."""
        return self.run.once(source)

    def order(self, source: PointValues) -> IntArray:
        """Return the order that sorts the points by a number."""
        from rue._kernels.sorting import argsort

        return cast(IntArray, self._cached(("order", source), lambda: argsort(self.points(source))))

    def ranks(self, source: PointValues) -> FloatArray | None:
        """Return the ranks of the points by a number, around 0, or None."""
        value = self.points(source)
        if value is None:
            return None
        return cast(
            FloatArray,
            self._cached(("ranks", source), lambda: centred_ranks(value, self.order(source))),
        )

    def correlation(self, first: PointValues, second: PointValues) -> float:
        """Return the rank correlation of two numbers; NaN if the run lacks one."""

        def correlate() -> float:
            x, y = self.ranks(first), self.ranks(second)
            return math.nan if x is None or y is None else rank_correlation(x, y)

        return float(self._cached(("correlation", first, second), correlate))

    def prepare(self, statistics: Iterable["Statistic"]) -> None:
        """Compute the orders, ranks and areas that statistics share, on all cores."""
        from rue._kernels.threads import FEW_NUMBERS, each, release_memory

        if len(self) < FEW_NUMBERS or self.rule != "exact":
            return
        pairs: dict[tuple[PointValues, PointValues], None] = {}
        correlated: dict[tuple[PointValues, PointValues], None] = {}
        todo = list(statistics)
        while todo:
            statistic = todo.pop()
            todo += statistic.parts
            if isinstance(statistic, Area):
                pairs[statistic.of, statistic.by] = None
            elif isinstance(statistic, Correlation):
                correlated[statistic.first, statistic.second] = None
        pairs = {pair: None for pair in pairs if all(self.points(p) is not None for p in pair)}
        correlated = {p: None for p in correlated if all(self.points(q) is not None for q in p)}
        ranked = dict.fromkeys(source for pair in correlated for source in pair)
        each(self.order, list(dict.fromkeys([*ranked, *(by for _, by in pairs)])))
        tasks: list[Callable[[], Any]] = [partial(self.area, *pair) for pair in pairs]
        tasks += [partial(self.ranks, source) for source in ranked]
        each(lambda task: task(), tasks)
        for first, second in correlated:
            self.correlation(first, second)
        for source in ranked:  # they take as much memory as the points
            del self._cache["ranks", source]
        release_memory()

    def area(self, of: PointValues, by: PointValues) -> float:
        """Return the area under a coverage curve; NaN if the run lacks the points."""
        return float(self._cached(("area", of, by), lambda: self._area(of, by)))

    def areas(self, of: PointValues, by: PointValues) -> Areas:
        """Return the area under a coverage curve, with those of a perfect and a random ranking."""
        area, oracle = self.area(of, by), self.area(of, of)
        return Areas(area, oracle, self._cached(("random", of), lambda: self._random(of)))

    def _area(self, of: PointValues, by: PointValues) -> float:
        from rue._kernels import sorting

        value, score = self.points(of), self.points(by)
        if value is None or score is None:
            return math.nan
        if self.rule == "row_order":
            return aurc(value, score, rule="row_order")
        area, mean = sorting.areas(value, score, np.empty(0), self.order(by), False)
        if of == by:
            self._cache["random", of] = float(mean * 0.5)
        return float(area)

    def _random(self, of: PointValues) -> float:
        value = self.points(of)
        return math.nan if value is None else float(value.mean()) / 2

    def _cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]


class Statistic(ABC):
    """How a column is computed.

    Examples
    --------
    >>> from rue import Components, Run
    >>> from rue.metrics.statistics import Mean, Sample, Star
    >>> star = Components([0.5, 0.25], [0.25, 0.25], [0.25, 0.0])
    >>> Mean(Star("total")).value(Sample(Run(star, star)))
    0.375
    """

    interval: Literal["bca", "percentile", ""] = "percentile"

    @abstractmethod
    def value(self, sample: Sample) -> float:
        """Return the number; NaN if it is undefined."""

    def influence(self, sample: Sample) -> FloatArray | None:
        """Return the influence of each point, with mean 0; None if there is no formula."""
        return None

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        """Return the number of each weighted sample; ``weights`` is (n_replicates, n_points)."""
        return np.full(len(weights), math.nan)

    @property
    def parts(self) -> tuple["Statistic", ...]:
        """The statistics of whose replicates its own are a function."""
        return ()

    @property
    def sources(self) -> tuple[PointValues, ...]:
        """What it reads of each point."""
        return tuple(source for part in self.parts for source in part.sources)

    def combined(self, *parts: FloatArray) -> FloatArray:
        """Return the replicates, from those of the parts."""
        raise NotImplementedError


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of a number over the points."""

    of: PointValues
    interval = "bca"

    @property
    def sources(self) -> tuple[PointValues, ...]:
        return (self.of,)

    def value(self, sample: Sample) -> float:
        value = sample.points(self.of)
        return math.nan if value is None else float(value.mean())

    def influence(self, sample: Sample) -> FloatArray | None:
        value = sample.points(self.of)
        return None if value is None else value - value.mean()

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        value = sample.points(self.of)
        if value is None:
            return np.full(len(weights), math.nan)
        from rue._kernels.bootstrap import weighted_means

        lanes = lanes_of(weights)
        means = np.empty(8 * lanes.shape[1])
        weighted_means(lanes, value, means)
        return means[: len(weights)]


@dataclass(frozen=True)
class Area(Statistic):
    """The area under the coverage curve of a number, when ranking by another."""

    of: PointValues
    by: PointValues
    interval = "bca"

    @property
    def sources(self) -> tuple[PointValues, ...]:
        return self.of, self.by

    def value(self, sample: Sample) -> float:
        return sample.area(self.of, self.by)

    def influence(self, sample: Sample) -> FloatArray | None:
        value, score = sample.points(self.of), sample.points(self.by)
        if value is None or score is None:
            return None
        if self.of != self.by:
            return area_influence(value, score, sample.order(self.by))
        # Several columns are measured against a perfect ranking.
        perfect = partial(area_influence, value, score, sample.order(self.by))
        return cast(FloatArray, sample._cached(("influence", self), perfect))

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        from rue._kernels.bootstrap import weighted_areas

        value, score = sample.points(self.of), sample.points(self.by)
        if value is None or score is None:
            return np.full(len(weights), math.nan)
        lanes, order = lanes_of(weights), sample.order(self.by)
        areas = np.empty(8 * lanes.shape[1])
        weighted_areas(lanes, order, block_ends(score[order]), value[order], areas)
        return areas[: len(weights)]


@dataclass(frozen=True)
class Excess(Statistic):
    """An area minus that of a perfect ranking."""

    of: PointValues
    by: PointValues
    interval = "bca"

    def value(self, sample: Sample) -> float:
        return sample.areas(self.of, self.by).excess

    def influence(self, sample: Sample) -> FloatArray | None:
        area, oracle = (part.influence(sample) for part in self.parts[:2])
        return None if area is None or oracle is None else area - oracle

    @property
    def parts(self) -> tuple[Statistic, ...]:
        return Area(self.of, self.by), Area(self.of, self.of), Mean(self.of)

    def combined(self, *parts: FloatArray) -> FloatArray:
        area, oracle, mean = parts
        excess = area - oracle
        return np.where(np.abs(excess) <= 1e-13 * np.abs(mean / 2), 0.0, excess)  # rounding


@dataclass(frozen=True)
class Normalized(Excess):
    """An excess area in units of the difference of a random and a perfect ranking."""

    def value(self, sample: Sample) -> float:
        number = sample.areas(self.of, self.by).normalized
        value = sample.points(self.of)
        if math.isnan(number) and sample.rule == "row_order" and np.ptp(value) == 0:  # type: ignore[arg-type]
            return 0.0  # as the authors' code has it
        return number

    def influence(self, sample: Sample) -> FloatArray | None:
        area, oracle, mean = (part.influence(sample) for part in self.parts)
        if area is None or oracle is None or mean is None:
            return None
        areas = sample.areas(self.of, self.by)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = area - oracle - areas.normalized * (mean / 2 - oracle)
            return np.asarray(moved / (areas.random - areas.oracle))

    def combined(self, *parts: FloatArray) -> FloatArray:
        _, oracle, mean = parts
        span = mean / 2 - oracle
        normalized = np.full(len(span), math.nan)
        defined = span > 1e-13 * np.abs(mean)
        np.divide(super().combined(*parts), span, out=normalized, where=defined)
        return normalized


@dataclass(frozen=True)
class Combination(Statistic):
    """A smooth function of other statistics, such as a ratio; NaN where it is undefined.

    ``function`` takes arrays, one for each of the statistics in ``of``; its influences are theirs,
    times central differences of the function.
    """

    function: Callable[..., FloatArray]
    of: tuple[Statistic, ...]
    interval = "bca"

    @property
    def parts(self) -> tuple[Statistic, ...]:
        return self.of

    def value(self, sample: Sample) -> float:
        return float(self.combined(*(np.array([p.value(sample)]) for p in self.parts))[0])

    def influence(self, sample: Sample) -> FloatArray | None:
        values = np.array([part.value(sample) for part in self.parts])
        influences = [part.influence(sample) for part in self.parts]
        moved = np.zeros(len(sample))
        for k, swing in enumerate(influences):
            if swing is None:
                return None
            step = np.zeros_like(values)
            step[k] = 1e-5 * max(abs(values[k]), 1e-12)
            up, down = (self.combined(*(values + d)[:, None])[0] for d in (step, -step))
            moved += (up - down) / (2 * step[k]) * swing
        return moved

    def combined(self, *parts: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.function(*parts), np.float64)


@dataclass(frozen=True)
class Correlation(Statistic):
    """Spearman's rank correlation of two numbers of each point."""

    first: PointValues
    second: PointValues

    @property
    def sources(self) -> tuple[PointValues, ...]:
        return self.first, self.second

    def value(self, sample: Sample) -> float:
        return sample.correlation(self.first, self.second)

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        drawn = weights.astype(np.float64)
        ranks = [_ranks(sample, source, drawn) for source in (self.first, self.second)]
        if ranks[0] is None or ranks[1] is None:
            return np.full(len(weights), math.nan)
        centre = (drawn.sum(axis=1, keepdims=True) + 1) / 2
        x, y = (rank - centre for rank in ranks if rank is not None)
        xy, xx, yy = ((drawn * a * b).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.clip(xy / np.sqrt(xx * yy), -1, 1))


@dataclass(frozen=True)
class Function(Statistic):
    """Any function of a sample.

    If ``resampled`` is set, its replicates evaluate the function on the drawn points, which takes
    as long as the function does, for each of them; otherwise it has no interval.
    """

    of: Callable[[Sample], float]
    resampled: bool = False

    @property
    def interval(self) -> Literal["percentile", ""]:  # type: ignore[override]
        return "percentile" if self.resampled else ""

    def value(self, sample: Sample) -> float:
        return float(sample.once(self.of))

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        if not self.resampled:
            return super().replicates(sample, weights)
        run, rows = sample.run, np.arange(len(sample))
        numbers = []
        for weight in weights:
            drawn = np.repeat(rows, weight)
            copies = replace(
                run,
                star=run.star[drawn],
                hat=run.hat[drawn],
                ids=None,
                groups={},
                annotations=None,
                belief=None,
                answers=None if run.answers is None else run.answers[drawn],
            )
            numbers.append(self.of(Sample(copies, gap=sample.gap, request=sample.request)))
        return np.array(numbers, np.float64)


def area_influence(
    value: FloatArray, score: FloatArray, order: IntArray | None = None
) -> FloatArray:
    """Return the influence of each point on the area of a value ranked by a score."""
    from rue._kernels.sorting import argsort

    n_points = len(value)
    order = argsort(score) if order is None else order
    starts = block_starts(score[order])
    sizes = np.diff(starts, append=n_points)
    rises = np.add.reduceat(value[order], starts)
    rejected = n_points - np.cumsum(sizes) + sizes / 2  # points after the block, and half of it
    accepted = np.cumsum(rises) - rises / 2
    terms = np.empty(n_points)
    terms[order] = value[order] * np.repeat(rejected, sizes) + np.repeat(accepted, sizes)
    terms /= n_points
    return np.asarray(terms - terms.mean())


def _ranks(sample: Sample, source: PointValues, drawn: FloatArray) -> FloatArray | None:
    """Return the ranks of the points in weighted samples; copies and ties share their mean rank."""
    value = sample.points(source)
    if value is None:
        return None
    order = sample.order(source)
    starts = block_starts(value[order])
    width = np.add.reduceat(drawn[:, order], starts, axis=1)
    middle = np.cumsum(width, axis=1) - width / 2 + 0.5
    ranks = np.empty_like(drawn)
    ranks[:, order] = np.repeat(middle, np.diff(starts, append=len(value)), axis=1)
    return ranks


def block_starts(ranked: FloatArray) -> IntArray:
    """Return where each block of equal numbers starts."""
    return np.flatnonzero(np.append(True, np.diff(ranked) != 0))


def block_ends(ranked: FloatArray) -> NDArray[np.bool]:
    """Return which numbers are the last of a block of equal ones."""
    return np.append(ranked[1:] != ranked[:-1], True)


def lanes_of(weights: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return weights as kernels take them: those of a point side by side, in eights.

    The shape is (n_points, n_eights); weights that are no multiple of eight are filled up.
    """
    rows = weights.T
    if len(weights) % 8 or not rows.flags.c_contiguous:
        rows = np.ones((rows.shape[0], -(-len(weights) // 8) * 8), np.uint8)
        rows[:, : len(weights)] = weights.T
    return rows.view(np.uint64)


def tie_blocks(ranked: FloatArray) -> IntArray:
    """Return the start and stop of each block of two or more equal numbers, (n_blocks, 2)."""
    same = np.concatenate([[False], ranked[1:] == ranked[:-1], [False]])
    blocks = np.flatnonzero(same[1:] != same[:-1]).reshape(-1, 2)
    blocks[:, 1] += 1
    return blocks
