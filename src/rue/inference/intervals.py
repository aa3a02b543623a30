"""Bootstrap confidence intervals for the columns of a row, and of the mean or difference of rows.

The bootstrap draws as many points as there are, with replacement. Areas have BCa intervals, whose
acceleration needs the influence of each point, which has a closed form; all other columns have
percentile intervals. If annotators are resampled too, the bias of finitely many answers occurs a
second time, so those intervals are reflected at the estimate ("basic").
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue._text import JsonObject
from rue.components import Run
from rue.errors import InputError
from rue.inference.bootstrap import (
    INTERVAL_COLUMNS,
    N_REPLICATES,
    annotator_replicates,
    replicates,
)
from rue.metrics.clusters import Cluster, cluster_codes, cluster_sums
from rue.metrics.columns import COLUMNS, columns_where
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.metrics.statistics import Sample

Method = Literal["auto", "percentile", "bca", "basic"]
METHODS: tuple[Method, ...] = get_args(Method)

AREAS = columns_where(interval="bca")
"""The columns with a closed-form influence, and so a BCa interval."""
_ENDS = ("_low", "_high", "_error")  # a difference of brackets, or of errors, is none


@dataclass(frozen=True, eq=False)
class Intervals:
    """A confidence interval for every column, by name; undefined numbers are NaN.

    Attributes
    ----------
    level : float
        The confidence level, for example 0.95.
    estimate, low, high : mapping of str to float
        The estimate and the ends of its interval.
    method : mapping of str to str
        The kind of the interval: bca, percentile or basic.
    replicates : mapping of str to array of shape (n_replicates,)
        The bootstrap replicates; NaN if a column is undefined.
    """

    level: float
    estimate: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    method: Mapping[str, str]
    replicates: Mapping[str, FloatArray] = field(repr=False)

    def to_dict(self) -> JsonObject:
        """Return ``ci`` (the level) and, for each column, ``*_ci_low`` and ``*_ci_high``."""
        ends: JsonObject = {"ci": self.level}
        for name in self.low:
            for end, value in (("low", self.low[name]), ("high", self.high[name])):
                ends[f"{name}_ci_{end}"] = value if math.isfinite(value) else None
        return ends


def intervals(
    run: Run,
    *,
    row: Evaluation | None = None,
    level: float = 0.95,
    method: Method = "auto",
    n_replicates: int = N_REPLICATES,
    gap: bool = True,
    resample_annotators: bool = False,
    cluster: Cluster | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Intervals:
    """Return a bootstrap confidence interval for every column of a row."""
    require_options(level, method, n_replicates)
    if run.convention == "published":
        raise InputError(
            'intervals are those of Definition 1: with convention="published" there are none, '
            "because they would change with the order of the rows"
        )
    gap = gap and not resample_annotators
    codes = cluster_codes(run, cluster)
    if row is None:
        row = evaluate_run(run, gap=gap, references=False)
    estimate = {name: getattr(row, name) for name in INTERVAL_COLUMNS}
    if gap and math.isnan(row.pareto_gap):
        raise InputError("row must have a Pareto-gap, got NaN: pass gap=False to omit it")
    if not resample_annotators:
        drawn = replicates(
            run,
            n_replicates=n_replicates,
            gap=row.pareto_gap if gap else None,
            seed=seed,
            cluster=codes,
            progress=progress,
        )
    else:
        drawn = annotator_replicates(run, n_replicates, seed, progress, codes)
    sample = Sample(run, gap=False)
    kinds = {name: _method(method, name, resample_annotators) for name in INTERVAL_COLUMNS}
    for name in INTERVAL_COLUMNS:
        if kinds[name] == "bca" and name not in AREAS:
            drawn[name] = drawn[name][:0]

    def influences(name: str) -> FloatArray | None:
        return None if resample_annotators else _cluster_influences([sample], [1.0], name, codes)

    return _intervals_of(level, estimate, kinds, drawn, influences)


def combined_row(
    runs: Sequence[Run],
    rows: Sequence[Evaluation],
    *,
    difference: bool = False,
    level: float | None = None,
    n_replicates: int = N_REPLICATES,
    gap: bool = True,
    cluster: Cluster | None = None,
    seed: int = 0,
) -> Evaluation:
    """Return the mean over labels of each column, or the first of two groups minus the second.

    Intervals resample items, which all runs have in common.
    """
    groups = [row.group for row in rows]
    if difference:
        weights, n_floored, group = [1.0, -1.0], 0, f"({' - '.join(groups)})"
        note = f"{' minus '.join(groups)}, on the same points"
    else:
        weights, group = [1 / len(rows)] * len(rows), "(mean)"
        n_floored = sum(row.n_floored for row in rows)
        names = ", ".join(groups)
        note = f"the mean of {len(rows)} labels ({names}), each a binary problem of its own"
    first = runs[0]
    for run in runs[1:]:
        same = first.ids is run.ids or (
            first.ids is not None and run.ids is not None and np.array_equal(first.ids, run.ids)
        )
        if not same or len(run) != len(first):
            raise InputError("runs must be of the same items in the same order")
    with np.errstate(invalid="ignore"):  # shares are of infinitely many annotators
        numbers = {
            key: float(np.dot(weights, [row.numbers[key] for row in rows]))
            for key in rows[0].numbers
        }
    if difference:
        empty = [k for k in numbers if k.endswith(_ENDS) or k.startswith("annotators")]
        numbers |= dict.fromkeys(empty, math.nan)
    if level is not None:
        note += f"; intervals resample {'items' if cluster is None else 'clusters'}"
    combined = replace(rows[0], group=group, numbers=numbers, n_floored=n_floored)
    combined = replace(combined, notes=(note,), intervals=None)
    if level is None:
        return combined
    codes = cluster_codes(first, cluster)
    samples = [Sample(run, gap=False) for run in runs]
    parts = [
        replicates(
            run,
            n_replicates=n_replicates,
            gap=row.pareto_gap if gap else None,
            seed=seed,
            rows=np.arange(len(run)),
            cluster=codes,
        )
        for run, row in zip(runs, rows, strict=True)
    ]
    bounds = _intervals_of(
        level,
        {key: numbers[key] for key in INTERVAL_COLUMNS},
        {key: _method("auto", key, False) for key in INTERVAL_COLUMNS},
        {k: np.tensordot(weights, [own[k] for own in parts], axes=1) for k in INTERVAL_COLUMNS},
        lambda key: _cluster_influences(samples, weights, key, codes),
    )
    return replace(combined, intervals=bounds)


def influence(run: Run, columns: Collection[str] = AREAS) -> dict[str, FloatArray]:
    """Return the influence of each point on each column; the mean influence is 0."""
    sample = Sample(run, gap=False)
    swings = {key: _cluster_influences([sample], [1.0], key, None) for key in columns}
    undefined = np.full(len(run), math.nan)
    return {key: undefined.copy() if swing is None else swing for key, swing in swings.items()}


def _cluster_influences(
    samples: Sequence[Sample], weights: Sequence[float], column: str, codes: IntArray | None
) -> FloatArray | None:
    """Return how each point, or cluster, moves the weighted sum of a column over samples."""
    statistic = COLUMNS[column].statistic
    swings = [None if statistic is None else statistic.influence(sample) for sample in samples]
    defined = [swing for swing in swings if swing is not None]
    if len(defined) < len(swings):
        return None
    whole = defined[0] if len(swings) == 1 else np.tensordot(weights, defined, axes=1)
    return cluster_sums(np.asarray(whole), codes)


def _intervals_of(
    level: float,
    estimate: Mapping[str, float],
    kinds: Mapping[str, str],
    drawn: Mapping[str, FloatArray],
    influences: Callable[[str], FloatArray | None],
) -> Intervals:
    """Return the interval of each column; influences take much memory, so one per thread."""
    from rue._kernels.threads import each

    def ends_of(name: str) -> tuple[float, float]:
        swing = influences(name) if kinds[name] == "bca" else None
        return interval(estimate[name], drawn[name], swing, level, kinds[name])

    ends = dict(zip(kinds, each(ends_of, list(kinds)), strict=True))
    low, high = ({name: pair[i] for name, pair in ends.items()} for i in (0, 1))
    return Intervals(level, estimate, low, high, kinds, drawn)


def interval(
    estimate: float,
    drawn: FloatArray,
    influences: FloatArray | None,
    level: float,
    method: str,
) -> tuple[float, float]:
    """Return the ends of one interval; NaN if the estimate or all replicates are undefined."""
    drawn = drawn[np.isfinite(drawn)]
    if not math.isfinite(estimate) or len(drawn) == 0:
        return math.nan, math.nan
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _bca_tails(estimate, drawn, influences, tails)
    low, high = np.quantile(drawn, tails)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    return float(low), float(high)


def bca_constants(
    estimate: float, drawn: FloatArray, influences: FloatArray | None
) -> tuple[float, float]:
    """Return the bias correction z0 and the acceleration of a BCa interval (Efron 1987)."""
    from scipy.special import ndtri

    below = share_below(drawn, estimate)
    cube = 0.0
    if influences is not None:
        squared = influences * influences
        squares = float(squared.sum())
        if squares > 0:
            cube = float((squared * influences).sum()) / (6 * squares**1.5)
    return float(ndtri(below)), cube


def share_below(drawn: FloatArray, value: float) -> float:
    """Return the share of replicates below a value, never exactly 0 or 1; ties count half."""
    same = np.abs(drawn - value) <= 1e-12 * max(abs(value), float(np.abs(drawn).max()))
    below = float(((drawn < value) & ~same).sum() + same.sum() / 2)
    return (below + 0.5) / (len(drawn) + 1)


def _bca_tails(
    estimate: float, drawn: FloatArray, influences: FloatArray | None, tails: FloatArray
) -> FloatArray:
    from scipy.special import ndtr, ndtri

    bias, acceleration = bca_constants(estimate, drawn, influences)
    z = bias + ndtri(tails)
    return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def _method(method: Method, name: str, resample_annotators: bool) -> str:
    if method != "auto":
        return method
    if resample_annotators:
        return "basic"
    return "bca" if name in AREAS else "percentile"


def require_options(level: float, method: str, n_replicates: int) -> None:
    """Raise unless the options of a bootstrap are valid."""
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level!r}")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if isinstance(n_replicates, bool) or not isinstance(n_replicates, int | np.integer):
        raise InputError(f"n_replicates must be a whole number, got {n_replicates!r}")
    if n_replicates < 2:
        raise InputError(f"n_replicates must be at least 2, got {n_replicates}")
