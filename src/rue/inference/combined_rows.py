"""Rows computed from others of the same items, with intervals that resample items.

The mean over labels, and the difference between two groups of annotators.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rue.components import Run
from rue.errors import InputError
from rue.inference.bootstrap import INTERVAL_COLUMNS, N_REPLICATES, replicates
from rue.inference.intervals import AREAS, Intervals, influence, interval
from rue.metrics.clusters import Cluster, cluster_codes, cluster_sums
from rue.metrics.evaluation import Evaluation

MEAN = "(mean)"
"""The group of the mean row."""

_ENDS = ("_low", "_high", "_error")  # a difference of brackets, or of errors, is none


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
    """Return the mean over labels of each column, or the first of two groups minus the second."""
    groups = [row.group for row in rows]
    if difference:
        weights, n_floored, group = [1.0, -1.0], 0, f"({' - '.join(groups)})"
        note = f"{' minus '.join(groups)}, on the same points"
    else:
        weights, group = [1 / len(rows)] * len(rows), MEAN
        n_floored = sum(row.n_floored for row in rows)
        names = ", ".join(groups)
        note = f"the mean of {len(rows)} labels ({names}), each a binary problem of its own"
    row = replace(rows[0], group=group, n_floored=n_floored)
    first = runs[0]
    for run in runs[1:]:
        same = first.ids is run.ids or (
            first.ids is not None and run.ids is not None and np.array_equal(first.ids, run.ids)
        )
        if not same or len(run) != len(first):
            raise InputError("runs must be of the same items in the same order")
    with np.errstate(invalid="ignore"):  # shares are of infinitely many annotators
        numbers = {
            key: float(np.dot(weights, [own.numbers[key] for own in rows]))
            for key in rows[0].numbers
        }
    if difference:
        empty = [k for k in numbers if k.endswith(_ENDS) or k.startswith("annotators")]
        numbers |= dict.fromkeys(empty, math.nan)
    unit = "items" if cluster is None else "clusters"
    note += "" if level is None else f"; intervals resample {unit}"
    row = replace(row, numbers=numbers, notes=(note,), intervals=None)
    if level is None:
        return row
    codes = cluster_codes(first, cluster)
    drawn = [
        replicates(
            run,
            n_replicates=n_replicates,
            gap=own.pareto_gap if gap else None,
            seed=seed,
            rows=np.arange(len(run)),
            cluster=codes,
        )
        for run, own in zip(runs, rows, strict=True)
    ]
    sums = {
        key: np.tensordot(weights, [own[key] for own in drawn], axes=1) for key in INTERVAL_COLUMNS
    }
    swings = [influence(run) for run in runs]
    ends, used = {}, {}
    for key in INTERVAL_COLUMNS:
        used[key] = "bca" if key in AREAS else "percentile"
        swing = None
        if key in AREAS:
            swing = cluster_sums(np.tensordot(weights, [own[key] for own in swings], axes=1), codes)
        ends[key] = interval(numbers[key], sums[key], swing, level, used[key])
    low, high = ({key: ends[key][i] for key in INTERVAL_COLUMNS} for i in (0, 1))
    estimate = {key: numbers[key] for key in INTERVAL_COLUMNS}
    return replace(row, intervals=Intervals(level, estimate, low, high, used, sums))
