"""Bootstrap intervals and significance tests for the means over seeds of a benchmark.

The test points of every seed are drawn with replacement, and the numbers of the seeds are
averaged, as in the tables. The seeds are not resampled: five are too few, and their spread is the
standard deviation in the tables. All methods of a seed have the same points, so differences are
paired. The Pareto-gap has replicates in the first 200 samples.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.bench.cells import Cell
from rue.bench.store import Store, convention_of
from rue.bench.tables import read_results
from rue.components import Run
from rue.errors import FileError, InputError
from rue.inference.bootstrap import N_REPLICATES, replicates
from rue.inference.method_ranking import Ranking, compare_column
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.columns import COLUMNS

Replicates = dict[tuple[str, str, str], dict[str, FloatArray]]
"""By data set, loss and method: each column's replicates of its mean over seeds."""


def draw(
    store: Store,
    rows: Iterable[Mapping[str, Any]],
    *,
    n_replicates: int = N_REPLICATES,
    progress: bool = False,
) -> Replicates:
    """Return replicates of the means over seeds in the rows of a table."""
    from tqdm import tqdm

    suite, finished = store.suite(), read_results(store).raw
    drawn: Replicates = {}
    losses: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["loss"] and convention_of(row) != "definition":
            raise InputError(
                "intervals and tests are those of Definition 1: rows follow the convention "
                f"{convention_of(row)}",
                advice={
                    "--convention": "definition has them",
                    "--ci": "must be left out otherwise",
                },
            )
        if row["loss"]:
            losses.setdefault((row["dataset"], row["method"]), []).append(row["loss"])
    bar = tqdm(losses.items(), desc="bootstrap", delay=2, disable=None if progress else True)
    for (dataset, method), loss_names in bar:
        columns: dict[str, dict[str, list[FloatArray]]] = {loss: {} for loss in loss_names}
        for seed in suite.seeds:
            cell = Cell(suite.name, dataset, method, seed)
            if cell not in finished:
                continue
            if store.state(cell) != "done":
                raise FileError(
                    f"{store.predictions(cell)}: is missing or damaged, and intervals need the "
                    "predictions of every seed in the table: run the suite again to restore it"
                )
            predictions = read_predictions(store.predictions(cell))
            gaps = {row["loss"]: row.get("pareto_gap") for row in finished[cell].rows}
            for loss in loss_names:
                run = make_run(predictions, None, loss)
                samples = paired_replicates(
                    run, seed, gap=_number(gaps.get(loss)), n_replicates=n_replicates
                )
                for name, values in samples.items():
                    columns[loss].setdefault(name, []).append(values)
        for loss in loss_names:
            n_seeds = len(columns[loss]["aurec"])
            means = {
                name: np.mean(values, axis=0)
                for name, values in columns[loss].items()
                if len(values) == n_seeds  # an interval of fewer seeds would be of another mean
            }
            drawn[dataset, loss, method] = means
    return drawn


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None


def paired_replicates(
    run: Run, seed: int, *, gap: float | None = None, n_replicates: int = N_REPLICATES
) -> dict[str, FloatArray]:
    """Return replicates of the columns of one run, and of the Pareto-gap if ``gap`` is given."""
    rows = np.arange(len(run))
    samples = replicates(run, n_replicates=n_replicates, gap=gap, seed=seed, rows=rows)
    if gap is None:
        del samples["pareto_gap"]
    if run.hat.outside_score:
        del samples["regret_calibration"]
    return samples


def with_intervals(
    rows: Sequence[Mapping[str, Any]], drawn: Replicates, *, level: float = 0.95
) -> list[JsonObject]:
    """Add a percentile interval to each mean over seeds."""
    if not 0 < level < 1:
        raise InputError(f"the level must be between 0 and 1, got {level}")
    new_rows = []
    for row in rows:
        ends: JsonObject = {}
        for name, values in drawn.get((row["dataset"], row["loss"], row["method"]), {}).items():
            if row.get(name) is not None and np.isfinite(values).all():
                low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
                ends |= {f"{name}_ci_low": float(low), f"{name}_ci_high": float(high)}
        new_rows.append({**row, **({"ci": level} if ends else {}), **ends})
    return new_rows


def compare_methods(
    rows: Sequence[Mapping[str, Any]], drawn: Replicates, *, level: float = 0.95
) -> Callable[[str, str, str], Ranking | None]:
    """Return a function of (data set, loss, criterion) that compares the methods by it."""
    rankings: dict[tuple[str, str, str], Ranking | None] = {}

    def ranking(dataset: str, loss: str, criterion: str) -> Ranking | None:
        key = (dataset, loss, criterion)
        if key not in rankings:
            rivals = {
                row["method"]: row[criterion]
                for row in rows
                if (row["dataset"], row["loss"]) == (dataset, loss)
                and row.get(criterion) is not None
                and criterion in drawn.get((dataset, loss, row["method"]), {})
            }
            moved = {name: drawn[dataset, loss, name][criterion] for name in rivals}
            if COLUMNS[criterion].better == "zero":
                moved = {name: np.sign(rivals[name]) * values for name, values in moved.items()}
                rivals = {name: abs(value) for name, value in rivals.items()}
            rankings[key] = (
                compare_column(criterion, rivals, moved, level=level) if len(rivals) > 1 else None
            )
        return rankings[key]

    return ranking
