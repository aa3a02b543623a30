"""A pilot study: its answers, draws from them, and answers simulated for its points."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.inference.answer_mixture import AnswerPosterior
from rue.inference.plan_measures import Draw, Measure, measure
from rue.truth.answer_losses import Answers
from rue.truth.rating_answers import RatingAnswers

__all__ = [
    "Pilot",
    "class_answers",
    "measure_counts",
    "measured_all",
    "simulated",
    "subsampled",
    "with_counts",
]


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
            answers=[answers[rows] for answers in self.answers],
            hats=[hat[rows] for hat in self.hats],
        )


def class_answers(pilot: Pilot) -> Answers:
    """Return the answers, which are classes."""
    first = pilot.answers[0]
    assert isinstance(first, Answers)
    return first


def with_counts(pilot: Pilot, counts: FloatArray) -> list[Answers]:
    """Return other answers, the same for all methods: they are about points, not models."""
    classes = (own for own in pilot.answers if isinstance(own, Answers))
    return [Answers(counts, own.losses, own.loss) for own in classes]


def measure_counts(
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
            totals = [
                (probs * answers.losses).sum(axis=1) for answers in with_counts(pilot, counts)
            ]
            yield Draw(with_counts(pilot, counts), totals)

    return measure(draws(), pilot.hats, pilot.criterion, exact=exact)


def measured_all(pilot: Pilot) -> Measure:
    """Return what the pilot shows with all its answers."""
    return measure([Draw(pilot.answers, _totals(pilot))], pilot.hats, pilot.criterion)


def _totals(pilot: Pilot) -> list[FloatArray]:
    return [answers.realized().total for answers in pilot.answers]


def simulated(pilot: Pilot, world: AnswerPosterior, m: float | FloatArray) -> Measure:
    """Return the quantities in the simulated world with m annotators, one number or one a point."""
    if isinstance(m, float) and math.isinf(m):
        return measure_counts(pilot, "world", lambda rng: (world.draw(rng),) * 2, exact=True)
    n_answers = np.asarray(m).astype(np.int64)

    def drawn(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        probs = world.draw(rng)
        return rng.multinomial(n_answers, probs).astype(np.float64), probs

    return measure_counts(pilot, "world", drawn)


def subsampled(pilot: Pilot, m: int) -> Measure:
    """Return the quantities with at most m of each point's answers, as means over draws."""
    generators = [
        pilot.rngs("subsamples") for _ in pilot.answers
    ]  # the same annotators for all methods
    totals = _totals(pilot)
    draws = (
        Draw([s.subsampled(m, rng) for s, rng in zip(pilot.answers, rngs, strict=True)], totals)
        for rngs in zip(*generators, strict=True)
    )
    return measure(draws, pilot.hats, pilot.criterion)
