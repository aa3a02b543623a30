"""Measure what the conventions of the authors' code do to the numbers, on predictions of our own.

    rue bench run studies/conventions.toml --out out/conventions
    rue bench run studies/conventions_short.toml --out out/conventions-short
    python -m studies.conventions out/conventions out/conventions-short

The rows are docs/rows/conventions.json; :mod:`studies.conventions_page` writes them into
docs/results/published.md. The second run trains for three epochs, because what a convention does
depends on how long a network was trained. Runs are resumable after an interruption.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.bench.cells import Cell
from rue.bench.store import Store, with_convention
from rue.bench.tables import read_results, table_rows
from rue.components import Components, Run
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.measures import aurec
from rue.pareto.surfaces import published_achievable, published_gap, published_optimal
from rue.published import read_published
from studies.rows import Row, stamp, write_rows

NAME = "conventions"
SEED = 0
EPOCHS = ("50 epochs", "3 epochs")
N_ORDERS = 100
N_SURFACE = 2_000  # points of the surfaces; all 10,000 take an hour
N_SAMPLED = 20_000  # points of each surface that an early version of the authors' code samples
FINE = 8 * 91  # contains the 91 angles


def main() -> None:
    store, short = (Store(Path(folder)) for folder in sys.argv[1:])
    results, brief = read_results(store), read_results(short)
    cells = list(results.raw.values())
    both = [
        (name, run) for name, each in zip(EPOCHS, (store, short), strict=True) for run in runs(each)
    ]
    record = stamp(
        "numpy",
        "torch",
        checksums=dict(cells[0].data.checksums),
        settings={"suite": store.suite().text, "n_orders": N_ORDERS, "n_surface": N_SURFACE},
    )
    record |= {
        "missing": [str(cell) for cell in results.missing],
        "definition": table_rows(results.rows),
        "published": table_rows(with_convention(store, results.rows, "published", progress=True)),
        "short": {
            "suite": short.suite().text,
            "definition": table_rows(brief.rows),
            "published": table_rows(with_convention(short, brief.rows, "published")),
        },
        "order": [
            {"run": name, **row_order(run)} for name, run in both if run.loss_name == "zero_one"
        ],
        "surfaces": [{"run": name, **surfaces(run)} for name, run in both],
        "two_classes": two_classes(),
    }
    write_rows(NAME, record)


def runs(store: Store) -> Iterator[Run]:
    """Yield the runs of one seed under the published convention, by method and loss."""
    suite = store.suite()
    for method in suite.methods:
        cell = Cell(suite.name, suite.datasets[0], method, SEED)
        if store.state(cell) != "done":
            continue
        read = read_predictions(store.predictions(cell))
        for loss in suite.losses:
            run = make_run(read, None, loss, convention="published")
            yield replace(run, method=method)


def row_order(run: Run) -> Row:
    """Return how far the order of the rows moves AuReC: over random orders, and at most."""
    regret, score = run.star.epistemic, run.hat.epistemic
    rng = np.random.default_rng(SEED)

    def area(order: NDArray[np.int64]) -> float:
        return aurec(regret[order], score[order], rule="row_order")

    random = [area(rng.permutation(len(run))) for _ in range(N_ORDERS)]
    values, counts = np.unique(score, return_counts=True)
    return {
        "method": run.method,
        "n_points": len(run),
        "n_lowest": int(counts[0]),
        "n_distinct": len(values),
        "given": aurec(regret, score, rule="row_order"),
        "exact": aurec(regret, score),
        "random_low": min(random),
        "random_high": max(random),
        "least": area(np.argsort(regret)),
        "most": area(np.argsort(-regret)),
    }


def surfaces(run: Run) -> Row:
    """Return the Pareto-gap of 91 raw angles against more angles, other units and a sample."""
    part = run[np.arange(min(N_SURFACE, len(run)))]
    star, hat = part.star, part.hat
    optimal = published_optimal(star)

    def gap(scores: Components, angles: int = 91) -> float:
        return published_gap(optimal, published_achievable(star, scores, angles=angles))

    unit = float(np.ptp(hat.aleatoric)) / (float(np.ptp(hat.epistemic)) or 1.0)
    sampled = [
        _sampled(optimal, published_achievable(star, hat), np.random.default_rng(seed))
        for seed in range(5)
    ]
    return {
        "method": run.method,
        "loss": run.loss_name,
        "n_points": len(part),
        "raw_91": gap(hat),
        "fine": gap(_scaled(hat, unit), FINE),
        "times_10": gap(_scaled(hat, 10.0)),
        "by_10": gap(_scaled(hat, 0.1)),
        "sampled": sampled,
    }


def _scaled(hat: Components, factor: float) -> Components:
    """Return the components with the epistemic score in another unit."""
    return replace(hat, epistemic=hat.epistemic * factor, outside_score=True)


def _sampled(optimal: FloatArray, achievable: FloatArray, rng: np.random.Generator) -> float:
    """Return the gap between samples of the two surfaces."""
    points = [surface.reshape(-1, 3) for surface in (optimal, achievable)]
    kept = [
        each[rng.choice(len(each), min(N_SAMPLED, len(each)), replace=False)] for each in points
    ]
    return published_gap(*kept)


def two_classes() -> list[Row]:
    """Return r_s hat of each method under both losses on the published data set with K = 2.

    With two classes, entropy and 1 - max rank distributions alike. So r_s is the same under both
    losses exactly if the epistemic score is, too.
    """
    found = read_published("dcic-quality-mri")
    methods = dict.fromkeys(row.method for row in found)
    return [
        {"method": method} | {row.loss: row.spearman_hat for row in found if row.method == method}
        for method in methods
    ]


if __name__ == "__main__":
    main()
