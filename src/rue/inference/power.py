"""Plan a study from a pilot: how many points, and how many annotators per point.

The annotators of the pilot are subsampled without replacement. For each number m of annotators,
three things are measured: the width of the bracket, the difference of two methods, and the
variance of the points' influences on that difference. Beyond the pilot's own number they are
extrapolated: difference and variance as a + b/m, the width as a/m + b/m^2. With the normal
quantiles z of the level and the power, separating two methods needs

    n_points = ((z_level + z_power) standard deviation / difference)^2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rue.components import Components
from rue.errors import InputError
from rue.inference.intervals import AREAS, influence
from rue.metrics.curve_areas import aurc
from rue.metrics.evaluation import evaluate_run
from rue.runs import Run, require_runs
from rue.truth.answer_losses import Answers
from rue.truth.rating_answers import RatingAnswers

__all__ = ["ANNOTATORS", "Plan", "PlanRow", "plan"]

ANNOTATORS = (2, 3, 5, 10, 20, 50, 100)
N_SUBSAMPLES = 20


@dataclass(frozen=True)
class PlanRow:
    """What a study with a given number of annotators per point needs and attains.

    Attributes
    ----------
    n_annotators : int
        The number of answers per point.
    bracket_width : float
        The width of the bracket of AuReC, the largest among the methods.
    difference : float
        The difference of the two methods, first minus second; NaN with one method.
    n_points : float
        The number of points needed to separate the methods; infinity if there is no difference,
        NaN if the extrapolated variance is not positive.
    n_answers : float
        Points times annotators.
    extrapolated : bool
        Whether the pilot has fewer answers per point.
    """

    n_annotators: int
    bracket_width: float
    difference: float
    n_points: float
    n_answers: float
    extrapolated: bool


@dataclass(frozen=True)
class Plan:
    """A plan: one row per number of annotators, and the number needed for a given width.

    Attributes
    ----------
    criterion, level, power, width
        The arguments of :func:`plan`.
    pilot_points, pilot_annotators : int
        The number of points of the pilot, and its least number of annotators per point.
    rows : tuple of PlanRow
        One row per number of annotators.
    annotators_needed : int or None
        The least number of annotators per point whose bracket is at most ``width`` wide; None
        without a width, or if a million are not enough.
    """

    criterion: str
    level: float
    power: float
    width: float | None
    pilot_points: int
    pilot_annotators: int
    rows: tuple[PlanRow, ...]
    annotators_needed: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON: NaN and infinity become None."""
        whole = asdict(self)
        whole["rows"] = [
            {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in r.items()}
            for r in whole["rows"]
        ]
        return whole


def plan(
    runs: Sequence[Run],
    *,
    criterion: str = "aurec",
    level: float = 0.95,
    power: float = 0.8,
    width: float | None = None,
    annotators: Sequence[int] = ANNOTATORS,
    n_subsamples: int = N_SUBSAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Plan:
    """Plan a study from the answers and the estimated components of one or two methods.

    Parameters
    ----------
    runs : sequence of Run
        One or two runs with answers (``Run.from_belief(..., with_answers=True)``), the pilot.
        Points with fewer answers than others keep all of them.
    criterion : str
        The column in which the methods are compared, one of ``rue.inference.intervals.AREAS``.
    level, power : float
        Level and power of a two-sided test: it finds the pilot's difference with probability
        ``power``.
    width : float, optional
        The largest acceptable width of the bracket of AuReC.
    annotators : sequence of int
        The numbers of annotators per point to consider, each at least 2.
    n_subsamples : int
        The number of subsamples of the annotators for each of these numbers.
    seed : int
        Seed of the subsamples.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Plan
        One row per number of annotators.

    Raises
    ------
    InputError
        If a run has no answers, a point has fewer than two, or an option is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> import rue
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.multinomial(20, [0.7, 0.3], size=50)
    >>> belief = rue.Draws(rng.dirichlet([7, 3], size=(50, 5)))
    >>> run = rue.Run.from_belief(rue.Annotations(counts), belief, with_answers=True)
    >>> [row.n_annotators for row in rue.plan([run], annotators=[5, 40]).rows]
    [5, 40]
    """
    from tqdm import tqdm

    _check(runs, criterion, level, power, width, annotators)
    pilot = [(_answers(run), run.hat) for run in runs]
    asked = pilot[0][0].n_answers
    fewest = int(asked.min())
    if fewest < 2:
        single = int((asked < 2).sum())
        raise InputError(
            f"a pilot needs at least 2 annotators per point, "
            f"{single} of {len(asked)} points have one"
        )
    grid = sorted({m for m in (*ANNOTATORS, *annotators, fewest) if m <= fewest})
    bar = tqdm(grid, "annotators", delay=2, disable=None if progress else True, leave=False)
    measured = np.array([_measure(pilot, criterion, m, n_subsamples, seed) for m in bar])
    m = np.array(grid, float)
    degree = min(1, len(grid) - 1)
    last = slice(-4, None)  # the width for few annotators predicts that for many poorly
    share = np.polynomial.Polynomial.fit(1 / m[last], (m * measured[:, 0])[last], degree)
    lines = [np.polynomial.Polynomial.fit(1 / m, v, degree) for v in measured.T[1:]]

    def at(n: int) -> tuple[float, float, float]:
        if n in grid:
            width, difference, variance = measured[grid.index(n)].tolist()
        else:
            width = max(float(share(1 / n)) / n, 0.0)
            difference, variance = (float(line(1 / n)) for line in lines)
            variance = variance if variance > 0 else math.nan
        return width, difference, variance

    rows = [_row(n, *at(n), _quantiles(level, power), n > fewest) for n in sorted(set(annotators))]
    needed = None if width is None else _needed(width, at, grid)
    return Plan(criterion, level, power, width, len(asked), fewest, tuple(rows), needed)


def _needed(
    width: float, at: Callable[[int], tuple[float, float, float]], grid: list[int]
) -> int | None:
    """Return the least number of annotators whose bracket is narrow enough."""
    inside = next((i for i, n in enumerate(grid) if at(n)[0] <= width), None)
    if inside is not None:
        # Interpolate between two measured numbers, linearly in the logarithms.
        if inside == 0:
            return grid[0]
        (m0, w0), (m1, w1) = ((n, at(n)[0]) for n in grid[inside - 1 : inside + 1])
        if w1 <= 0:
            return m1
        slope = math.log(w1 / w0) / math.log(m1 / m0)
        return min(m1, math.ceil(float(m0 * (width / w0) ** (1 / slope)) - 1e-9))
    low, high = grid[-1], 1_000_000
    if at(high)[0] > width:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle)[0] <= width else (middle + 1, high)
    return high


def _answers(run: Run) -> Answers | RatingAnswers:
    if run.answers is None:
        raise InputError(
            f"a plan needs runs with answers, {run.method!r} has none: "
            "Run.from_belief(..., with_answers=True)"
        )
    return run.answers


def _measure(
    pilot: Sequence[tuple[Answers | RatingAnswers, Components]],
    criterion: str,
    n_annotators: int,
    n_subsamples: int,
    seed: int,
) -> tuple[float, float, float]:
    """Return the mean bracket width, difference and variance of influences over subsamples."""
    found = []
    for draw in range(n_subsamples):
        width, values, influences = 0.0, [], []
        for answers, hat in pilot:
            # The same annotators for all methods: they answer about points, not models.
            fewer = answers.subsampled(n_annotators, np.random.default_rng([seed, draw]))
            star = Components(*fewer.realized())
            width = max(width, aurc(fewer.leave_one_out() - star.aleatoric, hat.epistemic))
            run = Run(star, hat)
            values.append(getattr(evaluate_run(run, gap=False), criterion))
            influences.append(influence(run)[criterion])
        if len(values) == 1:
            found.append((width, math.nan, math.nan))
        else:
            variance = float(np.var(influences[0] - influences[1]))
            difference = values[0] - values[1]
            if abs(difference) <= 1e-12 * max(np.abs(values)):  # rounding is no difference
                difference = 0.0
            found.append((width, difference, variance))
    width, difference, variance = np.mean(found, axis=0).tolist()
    return width, difference, variance


def _row(
    n: int, width: float, difference: float, variance: float, z: float, extrapolated: bool
) -> PlanRow:
    n_points = math.nan
    if not math.isnan(difference):
        apart = abs(difference) > 0
        n_points = z**2 * variance / difference**2 if apart else math.inf
        n_points = max(1.0, math.ceil(n_points)) if math.isfinite(n_points) else n_points
    return PlanRow(n, width, difference, n_points, n * n_points, extrapolated)


def _quantiles(level: float, power: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2) + ndtri(power))


def _check(
    runs: Sequence[Run],
    criterion: str,
    level: float,
    power: float,
    width: float | None,
    annotators: Sequence[int],
) -> None:
    require_runs(runs)
    if len(runs) not in (1, 2):
        raise InputError(f"runs must be one or two methods, got {len(runs)}")
    if criterion not in AREAS:
        raise InputError(f"criterion must be one of {', '.join(AREAS)}, got {criterion!r}")
    for name, value in (("level", level), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value}")
    if width is not None and not 0 < width < math.inf:
        raise InputError(f"width must be above 0 and finite, got {width}")
    wrong = [m for m in annotators if m != int(m) or m < 2]
    if wrong or not annotators:
        got = wrong[0] if wrong else "none"
        raise InputError(f"annotators must be whole numbers from 2, got {got}")
