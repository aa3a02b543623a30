"""The demo: five ways to be uncertain about what people felt when they read a film review.

Movie-review snippets that 15 to 29 people rated from -4 to 4 (sentiment-movies), turned into
numbers by TF-IDF, and the suite ``demo`` on them: real data, real training, a minute or two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rue.bench.cells import cells
from rue.bench.store import Store
from rue.io.align import read_run
from rue.plots.curves import plot_curves
from rue.plots.style import save
from rue.runs import Run

__all__ = ["curves", "meaning"]


def curves(store: Store, out: Path, *, seed: int = 0) -> None:
    """Draw the coverage curves of one seed of all methods of a run."""
    suite = store.suite()
    runs: list[Run] = []
    for loss in suite.losses:
        for cell in cells(suite):
            if cell.seed == seed and store.state(cell) == "done":
                run = read_run(store.predictions(cell), None, loss)
                runs.append(replace(run, method=cell.method))
    save(plot_curves(runs), out)


def meaning(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say in three sentences what the table of the first loss means."""
    rivals = [row for row in rows if row["loss"] == rows[0]["loss"]]
    rivals.sort(key=lambda row: row["n_aurec"])
    best, worst = rivals[0], rivals[-1]
    gaps = sorted(rivals, key=lambda row: row["pareto_gap"])
    return [
        f"Of {best['n_points']:,} snippets, acting on {best['method']} costs {best['risk']:.3f} "
        f"nats each, of which {best['regret']:.3f} is regret: avoidable, had it known what people "
        "would say.",
        f"Rejecting by epistemic uncertainty, {best['method']} finds that regret best "
        f"(n-AuReC {best['n_aurec']:.3f}; 0 is perfect, 1 is chance) and {worst['method']} worst "
        f"({worst['n_aurec']:.3f}).",
        "Both components together come closest to the best accept/reject rules in "
        f"{gaps[0]['method']} (Pareto-gap {gaps[0]['pareto_gap']:.4f}), least in "
        f"{gaps[-1]['method']} ({gaps[-1]['pareto_gap']:.4f}).",
    ]
