"""How often intervals contain the truth where the points of a cluster are alike."""

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.inference.intervals import intervals
from rue.metrics.evaluation import evaluate_run
from studies.pages import percent, table
from studies.rows import Row, grouped

COLUMNS = ("regret", "aurec", "excess_aurec", "n_aurec", "aurc")
BY = ("points", "clusters")
SIZE = 5
"""Points per cluster."""


def cluster_coverage(
    run: Run, n_clusters: tuple[int, ...] = (60, 200), n_samples: int = 400
) -> list[Row]:
    """Draw clusters from all points of a run, and count intervals that hold the run's own values.

    The points are put into clusters of similar regret. Intervals are at 95 %, by points and by
    clusters.
    """
    members = similar(run.star.epistemic)
    truth = evaluate_run(run, gap=False)
    rows = []
    for n in n_clusters:
        hits = {(name, by): 0 for name in COLUMNS for by in BY}
        for sample in range(n_samples):
            drawn = np.random.default_rng([n, sample]).integers(0, len(members), n)
            part = run[members[drawn].ravel()]
            for by, cluster in (("points", None), ("clusters", np.repeat(np.arange(n), SIZE))):
                bounds = intervals(part, gap=False, n_replicates=500, cluster=cluster, seed=sample)
                for name in COLUMNS:
                    held = bounds.low[name] <= getattr(truth, name) <= bounds.high[name]
                    hits[name, by] += int(held)
        rows += [
            {"n_clusters": n, "size": SIZE, "column": name, "by": by, "coverage": hit / n_samples}
            | {"n_samples": n_samples, "correlation": within(run.star.epistemic, members)}
            for (name, by), hit in hits.items()
        ]
    return rows


def similar(losses: FloatArray, size: int = SIZE) -> IntArray:
    """Return clusters of points whose losses have similar ranks, shape (n_clusters, size)."""
    n = len(losses)
    noise = np.random.default_rng(0).normal(0, 0.2, n)
    rank = np.argsort(np.argsort(losses)) / n
    return np.argsort(rank + noise)[: n // size * size].reshape(-1, size)


def within(losses: FloatArray, members: IntArray) -> float:
    """Return the intraclass correlation of the losses."""
    values = losses[members]
    noise = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var() - noise / members.shape[1]
    return float(between / (between + noise))


def clusters_table(rows: list[Row]) -> str:
    """Return the table of docs/brackets.md."""
    sizes = grouped(rows, "n_clusters")
    lines = [
        [column, *(percent(row["coverage"]) for row in part)]
        for column, part in grouped(rows, "column").items()
    ]
    head = [f"{n} clusters, by {by}" for n in sizes for by in BY]
    first = rows[0]
    return table(["column", *head], lines) + (
        f"\n\nEach cluster has {first['size']} points; the correlation of their regrets is "
        f"{first['correlation']:.2f}. There were {first['n_samples']} samples."
    )
