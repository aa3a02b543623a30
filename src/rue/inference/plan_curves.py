"""Width, difference and variance as functions of the number of annotators, from a pilot.

Up to the number of annotators that nine of ten points of the pilot have, the pilot is subsampled
without replacement. Beyond it, classes and real-valued answers differ:

- Classes: a world of the same points is simulated, whose p* are drawn from the posteriors of
  :mod:`rue.inference.answer_mixture`. In this world the number of annotators can be anything.
  How the quantities change in it from the pilot's own numbers of annotators to m is applied to
  what the pilot shows: as a factor for the width and the variance, as a difference for the
  difference. So what the mixture gets wrong about the level cancels.
- Classes under a loss whose best action jumps (0/1, costs, quantiles): only points whose best
  actions nearly tie have a bracket. Ten answers say little about how many of them there are: a
  flexible mixture is noisy there, and a smooth one biased. So two worlds are simulated, one of
  each kind, and the result is their mean; half of their difference is part of the error. Few
  points have ties among all of their answers, so the width changes from what half of the
  answers show on average over subsamples, which is less noisy.
- Real-valued answers: the width is a/m + b/m^2, difference and variance are a + b/m, with least
  squares over the subsamples.

The error of the extrapolation is measured in the pilot itself, by predicting all its answers from
half of them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from rue._arrays import FloatArray
from rue.inference.answer_mixture import FLEXIBLE, SMOOTH, AnswerPosterior, fit_answer_mixture
from rue.inference.plan_measures import Measure, Quantity
from rue.inference.plan_pilot import (
    Pilot,
    class_answers,
    measure_counts,
    measured_all,
    simulated,
    subsampled,
    with_counts,
)
from rue.losses import Brier, CostMatrix, QuantileLoss, Squared, ZeroOne
from rue.losses._ranked import RankedProbability
from rue.truth.rating_answers import RatingAnswers

__all__ = ["Curves", "curves"]

_MOST_FITTED = 30
"""Answers per point that the mixture is fitted to; its posteriors use all."""
LEAST_MISS = 0.05
"""The least relative error of the width per doubling of the annotators, except under losses whose
bracket has a closed form. Real pilots missed by up to so much, more than half of their answers
showed (docs/uncertainty.md)."""
LEAST_MISS_WITH_JUMPS = 0.1
"""The same under losses whose best action jumps."""


def curves(pilot: Pilot) -> "Curves":
    """Return the curves of a pilot, by the kind of its answers."""
    if isinstance(pilot.answers[0], RatingAnswers):
        return _RatingCurves(pilot)
    return _ClassCurves(pilot)


class Curves(ABC):
    """The quantities as functions of the number of annotators; each number is computed once."""

    def __init__(self, pilot: Pilot) -> None:
        self.pilot = pilot
        self._known: dict[float, Measure] = {}
        self._miss: Measure | None = None

    def at(self, m: float) -> Measure:
        """Return the quantities with m annotators per point; infinity is allowed."""
        if m not in self._known:
            inside = m <= self.pilot.n_annotators
            self._known[m] = self._measured(int(m)) if inside else self._with_error(m)
        return self._known[m]

    def _with_error(self, m: float) -> Measure:
        """Return the extrapolated quantities, with the error that half of the answers show.

        A width goes on falling, so its relative error grows with each doubling. The others
        converge as 1/m does: from half of the answers to all they change as much as from all of
        them to infinitely many.
        """
        measure = self._extrapolated(m)
        if self._miss is None:
            self._miss = self._missed()
        own = float(np.median(self.pilot.n_answers))
        doublings = math.log2(max(m / own, 1)) if math.isfinite(m) else 0.0
        rest = max(1 - own / m, 0.0)
        width, difference, variance = measure.width, measure.difference, measure.variance
        miss = self._miss
        error = math.hypot(_error(miss.width, doublings * width.value), width.model_error)
        return Measure(
            width.with_model_error(error),
            difference.with_model_error(_error(miss.difference, rest)),
            variance.with_model_error(_error(miss.variance, rest * variance.value)),
        )

    def _missed(self) -> Measure:
        """Return how far all answers differ from what half of them predict.

        Width and variance are relative, in logarithms. Infinite without points of four answers.
        """
        rows = np.flatnonzero(self.pilot.n_answers >= 4)
        none = np.zeros(1)
        if len(rows) < max(2, len(self.pilot.n_answers) / 2):
            return Measure(*(Quantity(math.inf, none) for _ in range(3)))
        whole = self.pilot.part(rows)
        predicted, actual = self._from_half(whole), measured_all(whole)
        width = abs(_log_ratio(predicted.width, actual.width))
        least = LEAST_MISS_WITH_JUMPS if _jumps(whole) else LEAST_MISS
        closed = isinstance(whole.answers[0].loss, Squared | Brier | RankedProbability)
        return Measure(
            Quantity(width if closed else max(width, least), none),
            Quantity(predicted.difference.value - actual.difference.value, none),
            Quantity(_log_ratio(predicted.variance, actual.variance), none),
        )

    @abstractmethod
    def _measured(self, m: int) -> Measure: ...

    @abstractmethod
    def _extrapolated(self, m: float) -> Measure: ...

    @abstractmethod
    def _from_half(self, whole: Pilot) -> Measure:
        """Predict the quantities of all answers from half of them."""


class _ClassCurves(Curves):
    @cached_property
    def _worlds(self) -> list[AnswerPosterior]:
        return _posteriors(self.pilot)

    @cached_property
    def _half(self) -> int:
        return max(2, self.pilot.n_annotators // 2)

    @cached_property
    def _before(self) -> list[Measure]:
        """What each world shows with as many annotators as what the pilot shows."""
        measures = [simulated(self.pilot, world, self.pilot.n_answers) for world in self._worlds]
        if not _jumps(self.pilot):
            return measures
        half = [simulated(self.pilot, world, self._half).width for world in self._worlds]
        return [
            replace(measure, width=width) for measure, width in zip(measures, half, strict=True)
        ]

    @cached_property
    def _shown(self) -> Measure:
        """What the pilot shows: with all answers, or for a width with jumps with half of them."""
        measure = measured_all(self.pilot)
        return replace(measure, width=self.at(self._half).width) if _jumps(self.pilot) else measure

    def _measured(self, m: int) -> Measure:
        pilot, own = self.pilot, self.pilot.n_answers.astype(np.int64)
        short = np.maximum(m - own, 0)

        def drawn(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
            whole = class_answers(pilot)
            counts = whole.subsampled(m, rng).counts
            if not short.any():
                return counts, whole.counts
            probs = self._worlds[0].draw(rng)
            return counts + rng.multinomial(short, probs), whole.counts + short[:, None] * probs

        return measure_counts(pilot, "subsamples", drawn)

    def _extrapolated(self, m: float) -> Measure:
        return _mean(
            [
                _moved(self._shown, before, simulated(self.pilot, world, m))
                for world, before in zip(self._worlds, self._before, strict=True)
            ]
        )

    def _from_half(self, whole: Pilot) -> Measure:
        first = next(whole.rngs("halves"))
        answers = with_counts(whole, class_answers(whole).halves(first)[0].counts)
        half, own_answers = replace(whole, answers=answers), class_answers(whole)
        shown = measure_counts(
            whole, "halves", lambda rng: (own_answers.halves(rng)[0].counts, own_answers.counts)
        )
        return _mean(
            [
                _moved(
                    shown,
                    simulated(half, world, half.n_answers),
                    simulated(half, world, whole.n_answers),
                )
                for world in _posteriors(half)
            ]
        )


class _RatingCurves(Curves):
    def _measured(self, m: int) -> Measure:
        return subsampled(self.pilot, m)

    def _extrapolated(self, m: float) -> Measure:
        return _polynomials(self.pilot, self.pilot.n_annotators, 1 / m)

    def _from_half(self, whole: Pilot) -> Measure:
        half = max(2, whole.n_annotators // 2)
        return _polynomials(whole, half, float(np.mean(1 / whole.n_answers)))


def _jumps(pilot: Pilot) -> bool:
    return isinstance(pilot.answers[0].loss, ZeroOne | CostMatrix | QuantileLoss)


def _posteriors(pilot: Pilot) -> list[AnswerPosterior]:
    """Return what the answers say about each p*, by one mixture or by two."""
    own_answers, rng = class_answers(pilot), np.random.default_rng(pilot.seed)
    fitted = own_answers.subsampled(_MOST_FITTED, rng).counts
    kinds = (FLEXIBLE, SMOOTH) if _jumps(pilot) else (FLEXIBLE,)
    return [fit_answer_mixture(fitted, rng, kind).posterior(own_answers.counts) for kind in kinds]


def _mean(measures: Sequence[Measure]) -> Measure:
    """Return the mean of one measure or two; half of the difference is an error of the width."""
    if len(measures) == 1:
        return measures[0]
    first, second = measures
    width = (first.width + second.width).times(0.5)
    return Measure(
        width.with_model_error(abs(first.width.value - second.width.value) / 2),
        (first.difference + second.difference).times(0.5),
        (first.variance + second.variance).times(0.5),
    )


def _moved(pilot: Measure, before: Measure, after: Measure) -> Measure:
    return Measure(
        after.width.rescaled(pilot.width, before.width),
        pilot.difference + after.difference - before.difference,
        after.variance.rescaled(pilot.variance, before.variance),
    )


def _polynomials(pilot: Pilot, most: int, share: float) -> Measure:
    """Return the quantities at a mean share 1/m, fitted to subsamples of at most ``most``."""
    ks = sorted({*(k for k in (2, 3, 4, 5, 7, 10, 14, 20, 30, 50) if k < most), most})
    x = np.array([np.mean(1 / np.minimum(k, pilot.n_answers)) for k in ks])
    measures = [subsampled(pilot, k) for k in ks]
    degree = min(2, len(ks))

    def combined(parts: list[Quantity], columns: FloatArray, at: FloatArray) -> Quantity:
        factors = at[:degree] @ np.linalg.pinv(columns[:, :degree])
        total = parts[0].times(float(factors[0]))
        for part, factor in zip(parts[1:], factors[1:], strict=True):
            total = total + part.times(float(factor))
        return total

    rising, flat = np.stack([x, x**2], axis=1), np.stack([np.ones_like(x), x], axis=1)
    width = combined([measure.width for measure in measures], rising, np.array([share, share**2]))
    two = (flat, np.array([1.0, share]))
    return Measure(
        width if width.value > 0 else Quantity(0.0, 0 * width.influence),
        combined([measure.difference for measure in measures], *two),
        combined([measure.variance for measure in measures], *two),
    )


def _error(miss: Quantity, factor: float) -> float:
    return abs(miss.value * factor) if factor else 0.0


def _log_ratio(first: Quantity, second: Quantity) -> float:
    if math.isnan(first.value) or math.isnan(second.value):
        return math.nan
    if min(first.value, second.value) <= 0:
        return 0.0 if first.value == second.value else math.inf
    return math.log(first.value / second.value)
