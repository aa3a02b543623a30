"""Plan a study from a pilot: how many points, and how many annotators per point.

For each number m of annotators, :mod:`rue.inference.plan_pilot` gives the width of the bracket,
the difference of two methods, and the variance of the points' influences on that difference, each
with its error. With the normal quantiles z of the level and the power, separating two methods
needs

    n_points = ((z_level + z_power) standard deviation / difference)^2.

The difference here is the smaller one of two: that with m annotators, and that with infinitely
many. With few annotators the plug-in regret is biased, and a difference may look larger than it
is; a study planned by it would find the bias. So more annotators never need more points, apart
from errors.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from rue._arrays import as_seed
from rue._schema import plain
from rue._text import JsonObject
from rue.components import Run
from rue.errors import InputError
from rue.inference.comparison import aligned_runs
from rue.inference.intervals import AREAS
from rue.inference.plan_pilot import Pilot, Quantity

ANNOTATORS = (2, 3, 5, 10, 20, 50, 100)
MOST_ANNOTATORS = 1_000_000
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
        The number of points needed to separate the methods, at least 2; infinity if there is no
        difference, or if it has the wrong sign with so few annotators. NaN if the extrapolated
        variance is not positive.
    n_answers : float
        Points times annotators.
    extrapolated : bool
        Whether more than a tenth of the pilot's points have fewer answers.
    bracket_width_se, difference_se, n_points_se : float
        Standard errors. That of an extrapolated width includes 5 % of it for each doubling of the
        annotators (10 % under 0/1 loss, costs and quantiles). Infinity if half of the points have
        fewer than 4 answers, or if there is a single point.
    reliable : bool
        Whether the pilot has at least 20 points, intervals at the plan's level exclude a
        difference of 0, with so many annotators and with infinitely many, and the former is
        within half of the latter. The number of points of other rows means little.
    width_reliable : bool
        Whether the pilot has at least 20 points, and the interval of the width at the plan's
        level excludes 0.
    """

    n_annotators: int
    bracket_width: float
    difference: float
    n_points: float
    n_answers: float
    extrapolated: bool
    bracket_width_se: float = math.nan
    difference_se: float = math.nan
    n_points_se: float = math.nan
    reliable: bool = False
    width_reliable: bool = False


@dataclass(frozen=True)
class Plan:
    """A plan: one row per number of annotators, and the number needed for a given width.

    Attributes
    ----------
    criterion, level, power, width
        The arguments of :func:`plan`.
    pilot_points, pilot_annotators : int
        The number of points of the pilot that have two answers or more, and the number of
        annotators that nine of ten of them have.
    rows : tuple of PlanRow
        One row per number of annotators.
    annotators_needed : int or None
        The least number of annotators per point whose bracket is at most ``width`` wide; None
        without a width, or if a million are not enough.
    annotators_needed_se : float or None
        Its standard error; 0 if two annotators are enough, and infinity if it is unknown because
        the bracket has no width with so many annotators.
    difference, difference_se : float
        The difference that infinitely many annotators would show, and its standard error; NaN
        with one method.
    single_points : int
        The number of points with a single answer, which are left out.
    annotators_needed_reliable : bool
        Whether the pilot has at least 20 points, and intervals at the plan's level exclude 0 for
        the number needed and for the width with so many annotators; instead of the latter, the
        interval may be below ``width``.
    """

    criterion: str
    level: float
    power: float
    width: float | None
    pilot_points: int
    pilot_annotators: int
    rows: tuple[PlanRow, ...]
    annotators_needed: int | None
    annotators_needed_se: float | None = None
    difference: float = math.nan
    difference_se: float = math.nan
    single_points: int = 0
    annotators_needed_reliable: bool = False

    def _repr_html_(self) -> str:
        """Return the rows for a notebook."""
        from rue.metrics.table import html_grid

        names = [field.name for field in fields(PlanRow)]
        rows = [[f"{getattr(row, name):.4g}" for name in names] for row in self.rows]
        return html_grid(rows, [name.replace("_", " ") for name in names])

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON: NaN and infinity become None."""
        content: JsonObject = plain(asdict(self))
        return content

    def best(self) -> PlanRow | None:
        """Return the reliable row with the fewest answers, or None if there is none."""
        reliable = [row for row in self.rows if row.reliable and math.isfinite(row.n_answers)]
        return min(reliable, key=lambda row: row.n_answers, default=None)


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
        Points may have different numbers of answers; those with a single one are left out.
    criterion : str
        The column in which the methods are compared, one of ``rue.inference.intervals.AREAS``.
    level, power : float
        Level and power of a two-sided test: it finds the pilot's difference with probability
        ``power``, which must be above (1 - level) / 2: so often it finds what is not there.
    width : float, optional
        The largest acceptable width of the bracket of AuReC.
    annotators : sequence of int
        The numbers of annotators per point to consider, each from 2 to 1,000,000.
    n_subsamples : int
        The number of draws of answers for each of these numbers.
    seed : int
        Seed of the draws.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Plan
        One row per number of annotators.

    Raises
    ------
    InputError
        If a run has no answers, no point has two, or an option is invalid.

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

    runs = [run.by_class() for run in aligned_runs(runs)]
    _check(runs, criterion, level, power, width, annotators)
    pilot = _pilot(runs, criterion, n_subsamples, as_seed(seed))
    numbers = sorted({int(m) for m in annotators})
    steps: list[float] = [*numbers, math.inf] if len(runs) == 2 else [*numbers]
    for m in tqdm(steps, "annotators", delay=2, disable=None if progress else True, leave=False):
        pilot.at(m)
    limit = pilot.at(math.inf).difference if len(runs) == 2 else None
    needed, needed_se, sure = _annotators_needed(width, pilot, level)
    return Plan(
        *(criterion, level, power, width, len(pilot.n_answers), pilot.n_annotators),
        rows=tuple(_row(m, pilot, limit, level, power) for m in numbers),
        annotators_needed=needed,
        annotators_needed_se=needed_se,
        difference=math.nan if limit is None else limit.value,
        difference_se=math.nan if limit is None else limit.se,
        single_points=len(runs[0]) - len(pilot.n_answers),
        annotators_needed_reliable=sure,
    )


def _pilot(runs: Sequence[Run], criterion: str, n_subsamples: int, seed: int) -> Pilot:
    """Return the points with several answers, in an order that does not depend on theirs."""
    answers = [run.answers for run in runs if run.answers is not None]
    for run in runs:
        if run.answers is None:
            raise InputError(
                f"a plan needs runs with answers, {run.method!r} has none: "
                "Run.from_belief(..., with_answers=True)"
            )
    answers[0].subsampled(1, np.random.default_rng(0))  # raises, with the number of the row
    columns = [own.keys() for own in answers]
    columns += [(run.hat.aleatoric, run.hat.epistemic, run.hat.total) for run in runs]
    order = np.lexsort(sum(columns, ()))
    several = order[answers[0].n_answers[order] >= 2]
    if not len(several):
        raise InputError(
            f"a pilot needs points with at least 2 annotators, all {len(order)} points have one"
        )
    hats = [run.hat[several] for run in runs]
    return Pilot([own[several] for own in answers], hats, criterion, n_subsamples, seed)


def _annotators_needed(
    width: float | None, pilot: Pilot, level: float
) -> tuple[int | None, float | None, bool]:
    """Return the least number with a bracket of at most ``width``, its error, and if it is sure."""
    if width is None:
        return None, None, False

    def value(m: int) -> float:
        return pilot.at(m).width.value

    grid = sorted({*ANNOTATORS, pilot.n_annotators})
    place = next((i for i, m in enumerate(grid) if value(m) <= width), len(grid) - 1)
    low, high = grid[max(place - 1, 0)], grid[place]
    while value(high) > width:
        if high == MOST_ANNOTATORS:
            return None, None, False
        ahead = high * min(max(value(high) / width, 1.05), 4.0)  # as if the width fell as 1/m
        low, high = high, min(math.ceil(ahead), MOST_ANNOTATORS)
    while high - low > max(1, low // 50):
        first, second = value(low), max(value(high), 1e-300)
        share = math.log(first / width) / math.log(first / second)  # linear in the logarithms
        middle = min(high - 1, max(low + 1, math.ceil(low * (high / low) ** share)))
        low, high = (low, middle) if value(middle) <= width else (middle, high)
    near = pilot.at(high).width
    has_width = near.value > 1e-9 * width  # rounding is no width
    error = 0.0 if high == 2 else high * near.se / near.value if has_width else math.inf
    spare = replace(near, value=width - near.value)
    return high, error, has_width and (near.is_clear(level) or spare.is_clear(level))


def _row(n: int, pilot: Pilot, limit: Quantity | None, level: float, power: float) -> PlanRow:
    measure = pilot.at(n)
    width, difference = measure.width, measure.difference
    n_points, n_points_se, reliable = math.nan, math.nan, False
    if limit is not None and not math.isnan(difference.value) and not math.isnan(limit.value):
        weaker = min(difference, limit, key=lambda quantity: abs(quantity.value))
        if difference.value * limit.value > 0:
            n_points, n_points_se = _points(measure.variance, weaker, level, power)
            reliable = difference.is_clear(level) and limit.is_clear(level)
            reliable &= abs(difference.value - limit.value) < abs(limit.value) / 2
        else:
            n_points = math.inf
    return PlanRow(
        *(n, width.value, difference.value, n_points, n * n_points, n > pilot.n_annotators),
        bracket_width_se=width.se,
        difference_se=difference.se,
        n_points_se=n_points_se,
        reliable=reliable,
        width_reliable=width.is_clear(level),
    )


def _points(
    variance: Quantity, effect: Quantity, level: float, power: float
) -> tuple[float, float]:
    """Return z^2 variance / effect^2, and its standard error to first order."""
    from scipy.special import ndtri

    if not variance.value > 0:
        return math.nan, math.nan
    z = float(ndtri((1 + level) / 2) + ndtri(power))
    n_points = z**2 * variance.value / effect.value**2
    swing = variance.influence / variance.value - 2 * effect.influence / effect.value
    model = math.hypot(variance.model_error / variance.value, 2 * effect.model_error / effect.value)
    return max(2.0, math.ceil(n_points)), n_points * Quantity(0.0, swing, model).se


def _check(
    runs: Sequence[Run],
    criterion: str,
    level: float,
    power: float,
    width: float | None,
    annotators: Sequence[int],
) -> None:
    if len(runs) not in (1, 2):
        raise InputError(f"runs must be one or two methods, got {len(runs)}")
    if criterion not in AREAS:
        raise InputError(f"criterion must be one of {', '.join(AREAS)}, got {criterion!r}")
    for name, value in (("level", level), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value}")
    if not power > (1 - level) / 2:
        raise InputError(
            f"power must be above (1 - level) / 2 = {(1 - level) / 2:g}, which a test without any "
            f"points has, got {power}"
        )
    if width is not None and not 0 < width < math.inf:
        raise InputError(f"width must be above 0 and finite, got {width}")
    wrong = [m for m in annotators if not 2 <= m <= MOST_ANNOTATORS or m != int(m)]
    if wrong or not len(annotators):
        got = wrong[0] if wrong else "none"
        raise InputError(
            f"annotators must be whole numbers from 2 to {MOST_ANNOTATORS:,}, got {got}"
        )
