"""Bootstrap confidence intervals for the columns of a row.

The bootstrap draws as many points as there are, with replacement. Areas have BCa intervals, whose
acceleration needs the influence of each point, which has a closed form; all other columns have
percentile intervals. If annotators are resampled too, the bias of finitely many answers occurs a
second time, so those intervals are reflected at the estimate ("basic").
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from rue._arrays import FloatArray
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
    ends, used, sample = {}, {}, Sample(run, gap=False)
    for name in INTERVAL_COLUMNS:
        used[name] = _method(method, name, resample_annotators)
        if used[name] == "bca" and name not in AREAS:
            drawn[name] = drawn[name][:0]
        statistic, swing = COLUMNS[name].statistic, None
        if statistic is not None and used[name] == "bca" and not resample_annotators:
            swing = statistic.influence(sample)  # one at a time: they take much memory
        if swing is not None:
            swing = cluster_sums(swing, codes)
        ends[name] = interval(estimate[name], drawn[name], swing, level, used[name])
    low, high = ({name: ends[name][i] for name in INTERVAL_COLUMNS} for i in (0, 1))
    return Intervals(level, estimate, low, high, used, drawn)


def influence(run: Run, columns: Collection[str] = AREAS) -> dict[str, FloatArray]:
    """Return the influence of each point on each column; the mean influence is 0."""
    sample = Sample(run, gap=False)
    influences = {}
    for key in columns:
        statistic = COLUMNS[key].statistic
        swing = None if statistic is None else statistic.influence(sample)
        influences[key] = np.full(len(run), math.nan) if swing is None else swing
    return influences


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
        squares = float((influences**2).sum())
        if squares > 0:
            cube = float((influences**3).sum()) / (6 * squares**1.5)
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
