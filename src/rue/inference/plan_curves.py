"""Width, difference and variance as functions of the number of annotators, from a pilot.

Up to the number of annotators that nine of ten points of the pilot have, the pilot is subsampled
without replacement. Beyond it, classes and real-valued answers differ:

- Classes: a world of the same points is simulated, whose p* are drawn from the posteriors of
  :mod:`rue.inference.answer_mixture`. In this world the number of annotators can be anything.
  How the quantities change in it from the pilot's own numbers of annotators to m is applied to
  what the pilot shows: as a factor for the width and the variance, as a difference for the
  difference. So what the mixture gets wrong about the level cancels.
- Real-valued answers: the width is a/m + b/m^2, difference and variance are a + b/m, with least
  squares over the subsamples.

The error of the extrapolation is measured in the pilot itself, by predicting all its answers from
half of them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.inference.answer_mixture import AnswerPosterior, fit_answer_mixture
from rue.inference.plan_measures import Draw, Measure, Quantity, measure
from rue.losses import Brier, Squared
from rue.losses._ranked import RankedProbability
from rue.truth.answer_losses import Answers
from rue.truth.rating_answers import RatingAnswers

__all__ = ["Curves", "Pilot", "curves"]

_MOST_FITTED = 30
"""Answers per point that the mixture is fitted to; its posteriors use all."""
LEAST_MISS = 0.05
"""The least relative error of the width per doubling of the annotators, except under losses whose
bracket has a closed form. Real pilots missed by up to so much, more than half of their answers
showed (docs/uncertainty.md)."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """The answers and the estimated components of each method, and how to draw from them."""

    answers: Sequence[Answers | RatingAnswers]
    hats: Sequence[Components]
    criterion: str
    n_draws: int
    seed: int

    @property
    def n_answers(self) -> FloatArray:
        """The number of answers of each point."""
        return self.answers[0].n_answers

    @property
    def n_annotators(self) -> int:
        """The number of annotators that nine of ten points have."""
        ordered = np.sort(self.n_answers)
        return int(ordered[len(ordered) // 10])

    def rngs(self, name: str) -> Iterator[np.random.Generator]:
        """Yield a source of randomness for each draw."""
        for draw in range(self.n_draws):
            yield np.random.default_rng([self.seed, draw, *name.encode()])

    def part(self, rows: IntArray) -> "Pilot":
        """Return some of the points."""
        return replace(
            self,
            answers=[said[rows] for said in self.answers],
            hats=[hat[rows] for hat in self.hats],
        )


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
        found = self._extrapolated(m)
        if self._miss is None:
            self._miss = self._missed()
        own = float(np.median(self.pilot.n_answers))
        doublings = math.log2(max(m / own, 1)) if math.isfinite(m) else 0.0
        rest = max(1 - own / m, 0.0)
        width, difference, variance = found.width, found.difference, found.variance
        miss = self._miss
        return Measure(
            width.with_model_error(_error(miss.width, doublings * width.value)),
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
        predicted, found = self._from_half(whole), _measured_all(whole)
        width = abs(_log_ratio(predicted.width, found.width))
        closed = isinstance(whole.answers[0].loss, Squared | Brier | RankedProbability)
        return Measure(
            Quantity(width if closed else max(width, LEAST_MISS), none),
            Quantity(predicted.difference.value - found.difference.value, none),
            Quantity(_log_ratio(predicted.variance, found.variance), none),
        )

    @abstractmethod
    def _measured(self, m: int) -> Measure: ...

    @abstractmethod
    def _extrapolated(self, m: float) -> Measure: ...

    @abstractmethod
    def _from_half(self, whole: Pilot) -> Measure:
        """Predict the quantities of all answers from half of them."""


class _ClassCurves(Curves):
    def __init__(self, pilot: Pilot) -> None:
        super().__init__(pilot)
        self._world: AnswerPosterior | None = None
        self._anchors: tuple[Measure, Measure] | None = None

    def _measured(self, m: int) -> Measure:
        pilot, own = self.pilot, self.pilot.n_answers.astype(np.int64)
        short = np.maximum(m - own, 0)

        def drawn(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
            whole = _classes(pilot)
            kept = whole.subsampled(m, rng).counts
            if not short.any():
                return kept, whole.counts
            probs = self.world().draw(rng)
            return kept + rng.multinomial(short, probs), whole.counts + short[:, None] * probs

        return _measure_counts(pilot, "subsamples", drawn)

    def world(self) -> AnswerPosterior:
        if self._world is None:
            self._world = _posterior(self.pilot)
        return self._world

    def _extrapolated(self, m: float) -> Measure:
        if self._anchors is None:
            own = self.pilot.n_answers
            self._anchors = _measured_all(self.pilot), _simulated(self.pilot, self.world(), own)
        pilot, simulated = self._anchors
        many = _simulated(self.pilot, self.world(), m)
        return _moved(pilot, simulated, many)

    def _from_half(self, whole: Pilot) -> Measure:
        first = next(whole.rngs("halves"))
        answers = _with_counts(whole, _classes(whole).halves(first)[0].counts)
        half = replace(whole, answers=answers)
        world = _posterior(half)
        said = _classes(whole)
        pilot = _measure_counts(
            whole, "halves", lambda rng: (said.halves(rng)[0].counts, said.counts)
        )
        before = _simulated(half, world, half.n_answers)
        return _moved(pilot, before, _simulated(half, world, whole.n_answers))


class _RatingCurves(Curves):
    def _measured(self, m: int) -> Measure:
        return _subsampled(self.pilot, m)

    def _extrapolated(self, m: float) -> Measure:
        return _polynomials(self.pilot, self.pilot.n_annotators, 1 / m)

    def _from_half(self, whole: Pilot) -> Measure:
        half = max(2, whole.n_annotators // 2)
        return _polynomials(whole, half, float(np.mean(1 / whole.n_answers)))


def _classes(pilot: Pilot) -> Answers:
    first = pilot.answers[0]
    assert isinstance(first, Answers)
    return first


def _with_counts(pilot: Pilot, counts: FloatArray) -> list[Answers]:
    """Return other answers, the same for all methods: they are about points, not models."""
    classes = (each for each in pilot.answers if isinstance(each, Answers))
    return [Answers(counts, each.losses, each.loss) for each in classes]


def _measure_counts(
    pilot: Pilot,
    name: str,
    drawn: Callable[[np.random.Generator], tuple[FloatArray, FloatArray]],
    exact: bool = False,
) -> Measure:
    """Return the means over draws of counts, each with the counts that are expected."""

    def draws() -> Iterator[Draw]:
        for rng in pilot.rngs(name):
            counts, expected = drawn(rng)
            probs = expected / expected.sum(axis=1, keepdims=True)
            totals = [(probs * said.losses).sum(axis=1) for said in _with_counts(pilot, counts)]
            yield Draw(_with_counts(pilot, counts), totals)

    return measure(draws(), pilot.hats, pilot.criterion, exact=exact)


def _measured_all(pilot: Pilot) -> Measure:
    """Return what the pilot shows with all its answers."""
    return measure([Draw(pilot.answers, _totals(pilot))], pilot.hats, pilot.criterion)


def _totals(pilot: Pilot) -> list[FloatArray]:
    return [said.realized().total for said in pilot.answers]


def _posterior(pilot: Pilot) -> AnswerPosterior:
    said, rng = _classes(pilot), np.random.default_rng(pilot.seed)
    fitted = fit_answer_mixture(said.subsampled(_MOST_FITTED, rng).counts, rng)
    return fitted.posterior(said.counts)


def _simulated(pilot: Pilot, world: AnswerPosterior, m: float | FloatArray) -> Measure:
    """Return the quantities in the simulated world with m annotators, one number or one a point."""
    if isinstance(m, float) and math.isinf(m):
        return _measure_counts(pilot, "world", lambda rng: (world.draw(rng),) * 2, exact=True)
    n_answers = np.asarray(m).astype(np.int64)

    def drawn(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        probs = world.draw(rng)
        return rng.multinomial(n_answers, probs).astype(np.float64), probs

    return _measure_counts(pilot, "world", drawn)


def _moved(pilot: Measure, before: Measure, after: Measure) -> Measure:
    return Measure(
        after.width.rescaled(pilot.width, before.width),
        pilot.difference + after.difference - before.difference,
        after.variance.rescaled(pilot.variance, before.variance),
    )


def _subsampled(pilot: Pilot, m: int) -> Measure:
    each = [pilot.rngs("subsamples") for _ in pilot.answers]  # the same annotators for all methods
    totals = _totals(pilot)
    draws = (
        Draw([s.subsampled(m, rng) for s, rng in zip(pilot.answers, rngs, strict=True)], totals)
        for rngs in zip(*each, strict=True)
    )
    return measure(draws, pilot.hats, pilot.criterion)


def _polynomials(pilot: Pilot, most: int, share: float) -> Measure:
    """Return the quantities at a mean share 1/m, fitted to subsamples of at most ``most``."""
    ks = sorted({*(k for k in (2, 3, 4, 5, 7, 10, 14, 20, 30, 50) if k < most), most})
    x = np.array([np.mean(1 / np.minimum(k, pilot.n_answers)) for k in ks])
    found = [_subsampled(pilot, k) for k in ks]
    degree = min(2, len(ks))

    def combined(parts: list[Quantity], columns: FloatArray, at: FloatArray) -> Quantity:
        factors = at[:degree] @ np.linalg.pinv(columns[:, :degree])
        total = parts[0].times(float(factors[0]))
        for part, factor in zip(parts[1:], factors[1:], strict=True):
            total = total + part.times(float(factor))
        return total

    rising, flat = np.stack([x, x**2], axis=1), np.stack([np.ones_like(x), x], axis=1)
    width = combined([each.width for each in found], rising, np.array([share, share**2]))
    two = (flat, np.array([1.0, share]))
    return Measure(
        width if width.value > 0 else Quantity(0.0, 0 * width.influence),
        combined([each.difference for each in found], *two),
        combined([each.variance for each in found], *two),
    )


def _error(miss: Quantity, factor: float) -> float:
    return abs(miss.value * factor) if factor else 0.0


def _log_ratio(first: Quantity, second: Quantity) -> float:
    if math.isnan(first.value) or math.isnan(second.value):
        return math.nan
    if min(first.value, second.value) <= 0:
        return 0.0 if first.value == second.value else math.inf
    return math.log(first.value / second.value)
