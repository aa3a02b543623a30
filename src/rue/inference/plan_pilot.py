"""A pilot study, and what it would show with another number of annotators.

Up to the number m of annotators that nine of ten points have, m answers are drawn without
replacement. Beyond it, classes and real numbers differ:

- Classes: a world of the same points is simulated, whose p* are drawn from the posteriors of
  :mod:`rue.inference.answer_mixture`. How the quantities change in it from the pilot's own numbers
  of annotators to m is applied to what the pilot shows, as a factor for the width and the variance
  and as a difference for the difference: what the mixture gets wrong about the level cancels.
- Classes under a loss whose best action jumps (0/1, costs, quantiles): only near ties have a
  bracket, and ten answers say little about how many there are. A flexible mixture follows their
  noise, and a smooth one is biased, so the result is the mean of two worlds, and the width starts
  from subsamples of half of the answers, which have more ties.
- Real numbers: the width is a/m + b/m^2, difference and variance are a + b/m, by least squares.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components, Run
from rue.inference.answer_mixture import FLEXIBLE, SMOOTH, AnswerPosterior, fit_answer_mixture
from rue.inference.intervals import influence
from rue.losses import CostMatrix, QuantileLoss, ZeroOne
from rue.losses.squared import SquaresLoss
from rue.metrics.columns import COLUMNS
from rue.metrics.evaluation import evaluate_run
from rue.metrics.measures import aurc
from rue.metrics.statistics import Area, Mean, area_influence
from rue.truth.answer_losses import Answers

LEAST_POINTS = 20
"""Nothing is recommended from fewer points, whose standard errors are too uncertain themselves."""
MISS, MISS_WITH_JUMPS = 0.05, 0.1
"""The relative error of an extrapolated width per doubling of the annotators, without and with
jumps of the best action: real pilots missed by this much (docs/plans.md)."""
_MOST_FITTED = 30
"""Answers per point that a mixture is fitted to; its posteriors use all."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number, the influence of each point on it, and the error of its extrapolation."""

    value: float
    influence: FloatArray
    model_error: float = 0.0

    @property
    def se(self) -> float:
        """The standard error, over draws of the points; infinite from a single one."""
        if len(self.influence) < 2:
            return math.inf
        sampled = float(np.var(self.influence, ddof=1)) / len(self.influence)
        return math.sqrt(sampled + self.model_error**2)

    def is_clear(self, level: float) -> bool:
        """Return whether the interval at a level excludes 0, with enough points to know it."""
        from scipy.special import ndtri

        few = len(self.influence) < LEAST_POINTS
        return not few and bool(abs(self.value) > ndtri((1 + level) / 2) * self.se)

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.value + other.value, self.influence + other.influence)

    def times(self, factor: float) -> "Quantity":
        """Return the number times an exact factor."""
        return Quantity(self.value * factor, self.influence * factor)

    def rescaled(self, to: "Quantity", instead_of: "Quantity") -> "Quantity":
        """Return self * to / instead_of; or self if one of these is not positive."""
        if not (to.value > 0 and instead_of.value > 0 and self.value > 0):
            return self
        value = self.value * to.value / instead_of.value
        own, up, down = (quantity.influence / quantity.value for quantity in (self, to, instead_of))
        return Quantity(value, value * (own + up - down))


@dataclass(frozen=True, eq=False)
class Measure:
    """The bracket's width, the difference of two methods (NaN for one), its variance per point."""

    width: Quantity
    difference: Quantity
    variance: Quantity

    def weighted(self, factor: float) -> "Measure":
        """Return all quantities times a factor."""
        return Measure(*(part.times(factor) for part in self._parts))

    def __add__(self, other: "Measure") -> "Measure":
        return Measure(*(a + b for a, b in zip(self._parts, other._parts, strict=True)))

    @property
    def _parts(self) -> tuple[Quantity, Quantity, Quantity]:
        return self.width, self.difference, self.variance


Draw = tuple[list[Answers], list[FloatArray]]
"""Each method's answers, and the totals that such draws have on average."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """The answers and the estimated components of one or two methods on the same points."""

    answers: Sequence[Answers]
    hats: Sequence[Components]
    criterion: str
    n_draws: int
    seed: int

    @cached_property
    def n_answers(self) -> FloatArray:
        """The number of answers of each point."""
        return self.answers[0].n_answers

    @cached_property
    def n_annotators(self) -> int:
        """The number of annotators that nine of ten points have."""
        return int(np.sort(self.n_answers)[len(self.n_answers) // 10])

    @cached_property
    def _measures(self) -> dict[float, Measure]:
        return {}

    def at(self, m: float) -> Measure:
        """Return what m annotators per point would show; infinity is allowed."""
        if m not in self._measures:
            inside = m <= self.n_annotators
            measure = self._mean(self._subsamples(int(m))) if inside else self._extrapolated(m)
            self._measures[m] = measure
        return self._measures[m]

    def _extrapolated(self, m: float) -> Measure:
        """Return the quantities beyond the pilot's numbers of annotators, with their errors."""
        if not self.answers[0].counts.size:
            measure, split = _on_lines(*self._lines, 1 / m), 0.0
        else:
            worlds = [self._moved(i, m) for i in range(len(self._posteriors))]
            whole = worlds[0] if len(worlds) == 1 else worlds[0] + worlds[1]
            measure = whole.weighted(1 / len(worlds))
            split = (worlds[0].width.value - worlds[-1].width.value) / 2
        own = float(np.median(self.n_answers))
        if own < 4:
            return Measure(*(replace(part, model_error=math.inf) for part in measure._parts))
        loss = self.answers[0].loss
        miss = MISS_WITH_JUMPS if self._jumps else MISS
        if isinstance(loss, SquaresLoss):  # whose bracket has a closed form
            miss = 0.0
        doublings = math.log2(max(m / own, 1)) if m < math.inf else 0.0
        error = math.hypot(miss * doublings * measure.width.value, split)
        return replace(measure, width=replace(measure.width, model_error=error))

    @property
    def _jumps(self) -> bool:
        return isinstance(self.answers[0].loss, ZeroOne | CostMatrix | QuantileLoss)

    @cached_property
    def _posteriors(self) -> list[AnswerPosterior]:
        """What the answers say about each p*, by one mixture or by two."""
        first, rng = self.answers[0], np.random.default_rng(self.seed)
        sample = first.subsampled(_MOST_FITTED, rng).counts
        kinds = (FLEXIBLE, SMOOTH) if self._jumps else (FLEXIBLE,)
        return [fit_answer_mixture(sample, rng, kind).posterior(first.counts) for kind in kinds]

    def _moved(self, world: int, m: float) -> Measure:
        """Return what the pilot shows, moved as a simulated world moves."""
        shown, before = self._shown[0], self._shown[1][world]
        after = self._mean(self._simulated(world, m), exact=math.isinf(m))
        return Measure(
            after.width.rescaled(shown.width, before.width),
            shown.difference + after.difference + before.difference.times(-1),
            after.variance.rescaled(shown.variance, before.variance),
        )

    @cached_property
    def _shown(self) -> tuple[Measure, list[Measure]]:
        """What the pilot shows, and each world with as many annotators."""
        own = [answers.realized().total for answers in self.answers]
        shown = self._mean([(list(self.answers), own)])
        worlds = range(len(self._posteriors))
        before = [self._mean(self._simulated(i, self.n_answers)) for i in worlds]
        if self._jumps:
            half = max(2, self.n_annotators // 2)
            shown = replace(shown, width=self.at(half).width)
            widths = [self._mean(self._simulated(i, half)).width for i in worlds]
            before = [replace(x, width=w) for x, w in zip(before, widths, strict=True)]
        return shown, before

    def _rngs(self, name: str) -> Iterator[np.random.Generator]:
        """Yield a source of randomness for each draw."""
        for draw in range(self.n_draws):
            yield np.random.default_rng([self.seed, draw, *name.encode()])

    def _subsamples(self, m: int) -> Iterator[Draw]:
        """Yield m answers per point without replacement, completed where there are fewer."""
        short = np.maximum(m - self.n_answers, 0).astype(np.int64)
        for generators in zip(*(self._rngs("subsamples") for _ in self.answers), strict=True):
            draws, totals = [], []
            for own, rng in zip(self.answers, generators, strict=True):  # the same annotators
                draw, total = own.subsampled(m, rng), own.realized().total
                if own.counts.size and short.any():
                    probs = self._posteriors[0].draw(rng)
                    draw = replace(draw, counts=draw.counts + rng.multinomial(short, probs))
                    counts = own.counts + short[:, None] * probs
                    total = (counts / counts.sum(axis=1, keepdims=True) * own.losses).sum(axis=1)
                draws.append(draw)
                totals.append(total)
            yield draws, totals

    def _simulated(self, world: int, m: float | FloatArray) -> Iterator[Draw]:
        """Yield answers of m annotators in a simulated world; probabilities if m is infinite."""
        classes = [own for own in self.answers if own.counts.size]
        for rng in self._rngs("world"):
            probs = counts = self._posteriors[world].draw(rng)
            if np.all(np.isfinite(m)):
                numbers: IntArray = np.asarray(m).astype(np.int64)
                counts = rng.multinomial(numbers, probs).astype(np.float64)
            totals = [np.asarray((probs * own.losses).sum(axis=1)) for own in classes]
            yield [replace(own, counts=counts) for own in classes], totals

    @cached_property
    def _lines(self) -> tuple[FloatArray, list[Measure]]:
        """The mean 1/m of subsamples and what they show, for real numbers."""
        most = self.n_annotators
        ks = sorted({*(k for k in (2, 3, 4, 5, 7, 10, 14, 20, 30, 50) if k < most), most})
        x = np.array([np.mean(1 / np.minimum(k, self.n_answers)) for k in ks])
        return x, [self.at(k) for k in ks]

    def _mean(self, draws: "Iterator[Draw] | list[Draw]", *, exact: bool = False) -> Measure:
        """Return the means of the three quantities over draws; exact answers have no bracket."""
        n_points, n_draws = len(self.hats[0]), 0
        totals = np.zeros((len(self.hats), n_points))
        gap, aleatoric, swings, squares = np.zeros((4, n_points))
        differences: list[float] = []
        linear = isinstance(COLUMNS[self.criterion].statistic, Area | Mean)
        for answers, expected in draws:
            n_draws += 1
            stars = [own.realized() for own in answers]
            totals += expected
            aleatoric += stars[0].aleatoric
            if not exact:
                gap += answers[0].leave_one_out() - stars[0].aleatoric
            if len(self.hats) == 2:
                swing = self._influence(stars)
                squares += (swing - swing.mean()) ** 2
                if not linear:
                    differences.append(self._difference(stars))
                    swings += swing
        gap, aleatoric = gap / n_draws, aleatoric / n_draws
        score = max((hat.epistemic for hat in self.hats), key=lambda hat: aurc(gap, hat))
        width = Quantity(aurc(gap, score), area_influence(gap, score))
        if len(self.hats) == 1:
            none = Quantity(math.nan, np.full(n_points, math.nan))
            return Measure(width, none, none)
        if linear:  # that of the means, because the mean of the total is known
            means = [Components(t, aleatoric, t - aleatoric) for t in totals / n_draws]
            difference = Quantity(self._difference(means), self._influence(means))
        else:
            difference = Quantity(float(np.mean(differences)), swings / n_draws)
        squares *= n_points / (n_draws * max(n_points - 1, 1))  # so that their mean is unbiased
        variance = float(squares.mean())
        return Measure(width, difference, Quantity(variance, squares - variance))

    def _influence(self, stars: Sequence[Components]) -> FloatArray:
        """Return each point's influence on the difference of the methods."""
        runs = [Run(star, hat) for star, hat in zip(stars, self.hats, strict=True)]
        first, second = (influence(run, [self.criterion])[self.criterion] for run in runs)
        return np.asarray(first - second)

    def _difference(self, stars: Sequence[Components]) -> float:
        runs = [Run(star, hat) for star, hat in zip(stars, self.hats, strict=True)]
        rows = [evaluate_run(run, gap=False, references=False) for run in runs]
        first, second = (getattr(row, self.criterion) for row in rows)
        if abs(first - second) <= 1e-12 * max(abs(first), abs(second)):  # rounding
            return 0.0
        return float(first - second)


def _on_lines(x: FloatArray, measures: Sequence[Measure], share: float) -> Measure:
    """Return the quantities at a mean share 1/m, by least squares."""
    degree = min(2, len(x))

    def total(columns: list[FloatArray], at: list[float]) -> Measure:
        factors = np.array(at[:degree]) @ np.linalg.pinv(np.stack(columns[:degree], axis=1))
        parts = [part.weighted(float(f)) for part, f in zip(measures, factors, strict=True)]
        return sum(parts[1:], parts[0])

    width = total([x, x**2], [share, share**2]).width
    if not width.value > 0:
        width = Quantity(0.0, 0 * width.influence)
    return replace(total([np.ones_like(x), x], [1.0, share]), width=width)
