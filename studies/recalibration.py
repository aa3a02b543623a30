"""Measure the calibration of epistemic uncertainty before and after recalibration.

The data sets and methods are those of :mod:`studies.plans`. The gap after recalibration is an
estimate; worlds in which new points can be drawn show how good it is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rue import fit_recalibration, recalibrate, regret_calibration
from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.inference import calibration_bands
from rue.metrics.recalibration import gap_after_recalibration
from rue.plots import plot_regret_calibration
from studies import DOCS
from studies.pages import Columns, table_of
from studies.plans import LOSSES, SETS, methods
from studies.rows import Row
from studies.study import Options, Pages

PAGE = DOCS / "recalibration.md"
FOLDS = 5
SIZES = (100, 300, 1000, 3000)
N_SAMPLES = 100
TIES = {"none": None, "ten values": 10, "three values": 3}
CLUSTER = 5
"""The number of points in a cluster, where a world has clusters."""


def compute(_: Row, options: Options) -> Iterator[Row]:
    rows = [row for name in SETS for row in measured(name, options.root)]
    yield {"gaps": rows, "worlds": list(worlds())}


def pages(record: Row) -> Pages:
    worlds = record["worlds"]
    ratios = {name: [row[name] / row["gap"] for row in worlds] for name in ("halves", "folds")}
    ends = {name: f"{min(values):.2f} to {max(values):.2f}" for name, values in ratios.items()}
    blocks = {
        "recalibration": gaps_table(record["gaps"]),
        "recalibration worlds": worlds_table(worlds),
        "recalibration summary": (
            f"In these {len(worlds)} worlds the mean estimate is {ends['halves']} times the gap on "
            f"new points. The gap of cross-fitted estimates would be {ends['folds']} times."
        ),
    }
    return {PAGE: blocks}


def measured(name: str, root: str | None = None) -> list[Row]:
    """Return one row per method and loss."""
    people, beliefs = methods(name, root)
    rows = []
    for loss in LOSSES:
        runs = [
            Run.from_belief(people, belief, loss, method=method)
            for method, belief in beliefs.items()
        ]
        for run in runs:
            regret, before = run.star.epistemic, run.hat.epistemic
            after = recalibrate(regret, before, folds=FOLDS)
            bands = calibration_bands(regret, after)
            gaps = {"before": regret_calibration(regret, before).gap}
            gaps["after"] = gap_after_recalibration(regret, before)
            inside = (bands.low <= bands.curve.estimated) & (bands.curve.estimated <= bands.high)
            rows.append(
                {"data": name, "method": run.method, "loss": loss, "n_points": len(run)}
                | {"regret": float(regret.mean()), "estimated": float(before.mean())}
                | {"recalibrated": float(after.mean()), "folds": FOLDS}
                | gaps
                | {"inside": int(inside.sum()), "n_bins": len(inside)}
            )
    return rows


def drawn(root: str | None) -> dict[str, Any]:
    """Draw the reliability of both methods on SNLI under log loss."""
    truth, beliefs = methods("chaosnli-snli", root)
    runs = [Run.from_belief(truth, belief, "log", method=m) for m, belief in beliefs.items()]
    return {"regret_calibration": plot_regret_calibration(runs)}


def worlds(n_samples: int = N_SAMPLES) -> Iterator[Row]:
    """Yield, for each world, the mean gap on new points and the means of two estimates of it."""
    for ties, levels in TIES.items():
        for clustered in (False, True):
            for n_points in SIZES:
                rng = np.random.default_rng([n_points, levels or 0, clustered])
                gaps = [_gaps(n_points, levels, clustered, rng) for _ in range(n_samples)]
                names = ("gap", "halves", "folds")
                means = np.mean(gaps, axis=0).tolist()
                yield {
                    "ties": ties,
                    "clusters": clustered,
                    "n_points": n_points,
                    "n_samples": n_samples,
                } | dict(zip(names, means, strict=True))


def _gaps(
    n_points: int, levels: int | None, clustered: bool, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the gap on new points of one world, and its estimates by halves and by folds."""
    regret, score, cluster = _draw(n_points, levels, clustered, rng)
    new_regret, new_score, _ = _draw(n_points, levels, clustered, rng)
    after = fit_recalibration(regret, score).apply(new_score)
    folds = recalibrate(regret, score, folds=FOLDS, cluster=cluster)
    return (
        regret_calibration(new_regret, after).gap,
        gap_after_recalibration(regret, score, cluster=cluster),
        regret_calibration(regret, folds).gap,
    )


def _draw(
    n_points: int, levels: int | None, clustered: bool, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, IntArray | None]:
    """Draw regret that rises with a score, in part with noise that a cluster shares."""
    n_units = n_points // CLUSTER if clustered else n_points
    unit = np.arange(n_points) % n_units
    score = rng.gamma(1.0, size=n_points)
    if levels is not None:
        score = np.floor(levels * -np.expm1(-score))  # equally frequent values
    noise = rng.gamma(1.0, size=n_units)[unit] if clustered else rng.gamma(1.0, size=n_points)
    return (0.1 + 0.1 * score) * noise, score, unit if clustered else None


def gaps_table(rows: list[Row]) -> str:
    """Return the table of docs/recalibration.md."""
    columns: Columns = {
        "data": lambda row: SETS[row["data"]],
        "method": "{method}",
        "loss": "{loss}",
        "mean regret": "{regret:.4f}",
        "mean estimate": "{estimated:.4f}",
        "recalibrated": "{recalibrated:.4f}",
        "gap before": "{before:.4f}",
        "gap after": "{after:.4f}",
        "bins whose band has the estimate": "{inside} of {n_bins}",
    }
    return table_of(rows, columns)


def worlds_table(rows: list[Row]) -> str:
    """Return the table of the worlds, one line for each kind and size."""
    columns: Columns = {
        "ties": "{ties}",
        "clusters": lambda row: "yes" if row["clusters"] else "no",
        "points": "{n_points:,}",
        "gap on new points": "{gap:.4f}",
        "estimate": "{halves:.4f}",
        "cross-fitted": "{folds:.4f}",
    }
    return table_of(rows, columns, text=2)
