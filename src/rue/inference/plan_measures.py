"""What a study with given answers shows: the bracket's width, the difference, its variance.

Each of them is a mean over points to first order, so it carries the influence of each point, from
which the standard error follows: that of any smooth function of several of them, too.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components, Run
from rue.inference.intervals import influence
from rue.metrics.columns import COLUMNS
from rue.metrics.evaluation import evaluate_run
from rue.metrics.measures import aurc
from rue.metrics.statistics import Area, Hat, Mean, Star, area_influence
from rue.truth.answer_losses import Answers
from rue.truth.rating_answers import RatingAnswers

__all__ = ["LEAST_POINTS", "LINEAR", "Draw", "Measure", "Quantity", "measure"]

LEAST_POINTS = 20
"""The fewest points of a pilot from which anything is recommended: the standard errors of fewer
are too uncertain themselves."""

LINEAR: dict[str, tuple[str, str | None]] = {}
for _key, _column in COLUMNS.items():
    match _column.statistic:
        case Area(Star(realized), Hat(estimated)):
            LINEAR[_key] = realized, estimated
        case Mean(Star(realized)):
            LINEAR[_key] = realized, None
"""Columns that are linear in a realised component, and the estimated one that ranks it."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number with its error.

    Attributes
    ----------
    value : float
        The number.
    influence : array of shape (n_points,)
        The influence of each point on it.
    model_error : float
        The error of the model that extrapolated it; 0 if it was measured.
    """

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

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.value - other.value, self.influence - other.influence)

    def times(self, factor: float) -> "Quantity":
        """Return the number times an exact factor, with all its errors."""
        error = abs(factor) * self.model_error
        return Quantity(self.value * factor, self.influence * factor, error)

    def rescaled(self, to: "Quantity", instead_of: "Quantity") -> "Quantity":
        """Return self * to / instead_of; or self if one of these is not positive."""
        if not (to.value > 0 and instead_of.value > 0 and self.value > 0):
            return self
        value = self.value * to.value / instead_of.value
        own, up, down = (quantity.influence / quantity.value for quantity in (self, to, instead_of))
        return Quantity(value, value * (own + up - down))

    def with_model_error(self, error: float) -> "Quantity":
        """Return the number with an error of the model that extrapolated it."""
        return Quantity(self.value, self.influence, error)


@dataclass(frozen=True, eq=False)
class Measure:
    """The width of the bracket, the difference of two methods, and its variance per point.

    With one method, the difference and the variance are NaN.
    """

    width: Quantity
    difference: Quantity
    variance: Quantity


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of answers, for each method.

    Attributes
    ----------
    answers : sequence of Answers or RatingAnswers
        What was drawn.
    totals : sequence of arrays of shape (n_points,)
        What the realised total is on average over such draws.
    """

    answers: Sequence[Answers | RatingAnswers]
    totals: Sequence[FloatArray]


def measure(
    draws: Iterable[Draw],
    hats: Sequence[Components],
    criterion: str,
    *,
    exact: bool = False,
) -> Measure:
    """Return the means of the three quantities over draws of the answers.

    Parameters
    ----------
    draws : iterable of Draw
        The draws.
    hats : sequence of Components
        The estimated components of each method.
    criterion : str
        The column in which the methods are compared.
    exact : bool
        Whether the answers are exact distributions, so that the bracket has no width.

    Returns
    -------
    Measure
        The quantities, with influences of shape (n_points,).
    """
    shape = (len(hats), len(hats[0]))
    totals = np.zeros(shape)
    # Leave-one-out minus plug-in, and plug-in Bayes risk: the same for all methods.
    gap, aleatoric = np.zeros(shape[1]), np.zeros(shape[1])
    swings, squares = np.zeros(shape[1]), np.zeros(shape[1])
    differences: list[float] = []
    n_draws = 0
    for draw in draws:
        n_draws += 1
        stars = [Components(*answers.realized()) for answers in draw.answers]
        totals += draw.totals
        aleatoric += stars[0].aleatoric
        if not exact:
            gap += draw.answers[0].leave_one_out() - stars[0].aleatoric
        if len(hats) == 2:
            runs = [Run(star, hat) for star, hat in zip(stars, hats, strict=True)]
            swing = np.subtract(*(_influence(run, criterion) for run in runs))
            squares += (swing - swing.mean()) ** 2
            if criterion not in LINEAR:
                values = [
                    getattr(evaluate_run(run, gap=False, references=False), criterion)
                    for run in runs
                ]
                differences.append(_difference(*values))
                swings += swing
    gap, totals, aleatoric = gap / n_draws, totals / n_draws, aleatoric / n_draws
    widths = [_area(gap, hat.epistemic) for hat in hats]
    width = max(widths, key=lambda quantity: quantity.value)
    if len(hats) == 1:
        none = Quantity(math.nan, np.full(shape[1], math.nan))
        return Measure(width, none, none)
    if criterion in LINEAR:
        # The mean regret, not the regret of each draw: the total's mean is known.
        parts = {"total": totals, "epistemic": totals - aleatoric}
        ranked, by = LINEAR[criterion]
        first, second = (
            _area(parts[ranked][i], None if by is None else getattr(hat, by))
            for i, hat in enumerate(hats)
        )
        apart = _difference(first.value, second.value)
        difference = Quantity(apart, first.influence - second.influence)
    else:
        difference = Quantity(float(np.mean(differences)), swings / n_draws)
    squares *= shape[1] / (n_draws * max(shape[1] - 1, 1))  # so that their mean is unbiased
    variance = float(squares.mean())
    return Measure(width, difference, Quantity(variance, squares - variance))


def _influence(run: Run, criterion: str) -> FloatArray:
    if criterion not in LINEAR:
        return influence(run, [criterion])[criterion]
    ranked, by = LINEAR[criterion]
    return _area(getattr(run.star, ranked), None if by is None else getattr(run.hat, by)).influence


def _area(value: FloatArray, score: FloatArray | None) -> Quantity:
    """Return the area of a value ranked by a score, or its mean without one."""
    if score is None:
        mean = float(value.mean())
        return Quantity(mean, value - mean)
    return Quantity(aurc(value, score), area_influence(value, score))


def _difference(first: float, second: float) -> float:
    difference = first - second
    if abs(difference) <= 1e-12 * max(abs(first), abs(second)):  # rounding is no difference
        return 0.0
    return difference
