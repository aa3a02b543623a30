"""The mean row of several labels of the same items, with intervals that resample items."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rue.components import Run
from rue.errors import InputError
from rue.inference.bootstrap import INTERVAL_COLUMNS, N_REPLICATES, replicates
from rue.inference.clusters import Cluster, cluster_codes, cluster_sums
from rue.inference.intervals import AREAS, Intervals, influence, interval
from rue.metrics.evaluation import Evaluation

MEAN = "(mean)"
"""The group of the mean row."""


def mean_row(
    runs: Sequence[Run],
    rows: Sequence[Evaluation],
    *,
    level: float | None = None,
    n_replicates: int = N_REPLICATES,
    gap: bool = True,
    cluster: Cluster | None = None,
    seed: int = 0,
) -> Evaluation:
    """Return the mean of each column over labels, each a binary problem of the same items."""
    first = runs[0]
    for run in runs[1:]:
        same = first.ids is run.ids or (
            first.ids is not None and run.ids is not None and np.array_equal(first.ids, run.ids)
        )
        if not same or len(run) != len(first):
            raise InputError("runs must be of the same items in the same order")
    numbers = {key: float(np.mean([row.numbers[key] for row in rows])) for key in rows[0].numbers}
    labels = ", ".join(row.group for row in rows)
    note = f"the mean of {len(rows)} labels ({labels}), each a binary problem of its own"
    mean = replace(
        rows[0],
        group=MEAN,
        numbers=numbers,
        n_floored=sum(row.n_floored for row in rows),
        notes=(note + ("" if level is None else "; intervals resample items"),),
        intervals=None,
    )
    if level is None:
        return mean
    codes = cluster_codes(first, cluster)
    drawn = [
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
    means = {key: np.mean([own[key] for own in drawn], axis=0) for key in INTERVAL_COLUMNS}
    swings = [influence(run) for run in runs]
    ends, used = {}, {}
    for key in INTERVAL_COLUMNS:
        used[key] = "bca" if key in AREAS else "percentile"
        swing = None
        if key in AREAS:
            swing = cluster_sums(np.mean([own[key] for own in swings], axis=0), codes)
        ends[key] = interval(numbers[key], means[key], swing, level, used[key])
    low, high = ({key: ends[key][i] for key in INTERVAL_COLUMNS} for i in (0, 1))
    estimate = {key: numbers[key] for key in INTERVAL_COLUMNS}
    return replace(mean, intervals=Intervals(level, estimate, low, high, used, means))
