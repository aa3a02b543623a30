"""Intervals over several runs of a method, which differ in their seed only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._replicates import N_REPLICATES, own_order, replicates
from rue.components import Components
from rue.errors import InputError, ShapeError
from rue.intervals import AREAS, COLUMNS, Intervals, check, estimates, influence, interval

__all__ = ["Spread", "intervals_over_seeds"]

MIN_SEEDS = 20
"""With fewer, the seeds drawn are too often the same few: their spread says more."""


@dataclass(frozen=True)
class Spread:
    """A number over seeds: how many there are, their mean, standard deviation and extremes."""

    n_seeds: int
    mean: float
    std: float
    least: float
    most: float


def intervals_over_seeds(
    runs: Sequence[tuple[Components, Components]],
    *,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    gap: bool = True,
    outside: bool = False,
    same_points: bool = True,
    draw_seeds: bool = False,
    seed: int = 0,
    progress: bool = False,
) -> tuple[Intervals, dict[str, Spread]]:
    """Give intervals for the mean over runs with different seeds, and each column's spread.

    Points are drawn, the same for all runs if they are of the ``same_points``, else for each run
    its own; so the interval is of these trained models on other points. With ``draw_seeds`` runs
    are drawn with replacement as well. That needs 20 of them: five runs have 126 samples with
    replacement, whose spread is too small by a factor of sqrt(4/5) and knows no tails.
    """
    check(level, "auto", n_replicates)
    if not runs:
        raise InputError("runs must hold at least one run, got none")
    if draw_seeds and len(runs) < MIN_SEEDS:
        raise InputError(
            f"a bootstrap over seeds needs at least {MIN_SEEDS} seeds, got {len(runs)}: "
            "look at their spread instead"
        )
    if same_points and len({len(star) for star, _ in runs}) > 1:
        raise ShapeError("runs of the same points must have as many points each")
    rows = own_order(runs) if same_points else None
    each_row, each_drawn, each_influence = [], [], []
    for i, (star, hat) in enumerate(runs):
        each_row.append(estimates(star, hat, gap=gap, outside=outside))
        each_drawn.append(
            replicates(
                star,
                hat,
                n_replicates=n_replicates,
                gap=each_row[-1]["pareto_gap"] if gap else None,
                seed=seed if same_points else seed + i,
                rows=rows,
                progress=progress,
            )
        )
        each_influence.append(influence(star, hat))
    estimate = {n: float(np.mean([row[n] for row in each_row])) for n in COLUMNS}
    rng = np.random.default_rng([seed, 1])
    chosen = rng.integers(0, len(runs), (n_replicates, len(runs)))
    drawn: dict[str, FloatArray] = {}
    ends, used = {}, {}
    for name in COLUMNS:
        table = np.stack([d[name] for d in each_drawn], axis=1)
        if draw_seeds:
            table = np.take_along_axis(table, chosen[: len(table)], axis=1)
        drawn[name] = table.mean(axis=1)
        if outside and name == "regret_calibration":
            drawn[name] = np.full(len(table), math.nan)
        bca = name in AREAS and same_points and not draw_seeds
        used[name] = "bca" if bca else "percentile"
        mean = np.mean([u[name] for u in each_influence], axis=0) if bca else None
        ends[name] = interval(estimate[name], drawn[name], mean, level, used[name])
    low, high = ({name: ends[name][i] for name in COLUMNS} for i in (0, 1))
    spread = {}
    for name in COLUMNS:
        column = np.array([row[name] for row in each_row])
        std = float(column.std(ddof=1)) if len(column) > 1 else math.nan
        spread[name] = Spread(
            len(column), float(column.mean()), std, float(column.min()), float(column.max())
        )
    return Intervals(level, estimate, low, high, used, drawn), spread
