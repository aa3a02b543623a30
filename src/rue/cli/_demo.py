"""The figures and sentences of ``rue demo``.

The demo runs the suite ``demo``: movie-review snippets that 15 to 29 annotators rated from -4 to
4 (sentiment-movies), as TF-IDF features. It trains on real data in two minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rue.beliefs import Draws
from rue.bench.cells import cells
from rue.bench.store import Store
from rue.components import Run
from rue.io.runs import read_run
from rue.metrics.evaluation import evaluate
from rue.plots.curves import plot_curves
from rue.plots.style import save
from rue.truth import Annotations

#: More points than those for which the Pareto-gap goes through all directions.
_COMPILED = 600

__all__ = ["compile_kernels", "curves", "meaning"]


def compile_kernels() -> None:
    """Compile what an evaluation needs, once, so that the processes that train find it on disk."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), size=(_COMPILED, 2))
    truth = Annotations(rng.multinomial(5, probs[:, 0]))
    for loss in ("log", "squared"):
        evaluate(truth, Draws(probs), loss)


def curves(store: Store, out: Path, *, seed: int = 0) -> None:
    """Draw the coverage curves of all methods of a run, for one seed."""
    suite = store.suite()
    runs: list[Run] = []
    for loss in suite.losses:
        for cell in cells(suite):
            if cell.seed == seed and store.state(cell) == "done":
                run = read_run(store.predictions(cell), None, loss)
                runs.append(replace(run, method=cell.method))
    save(plot_curves(runs, gain=True), out)


def meaning(rows: Sequence[Mapping[str, Any]], points: str) -> list[str]:
    """Return three sentences that explain the table of the first loss; points are called so."""
    rivals = [row for row in rows if row["loss"] == rows[0]["loss"]]
    rivals.sort(key=lambda row: row["n_aurec"])
    best, worst = rivals[0], rivals[-1]
    gaps = sorted(rivals, key=lambda row: row["pareto_gap"])
    return [
        f"On {best['n_points']:,} {points}, the mean loss of {best['method']} is "
        f"{best['risk']:.3f} nats, of which {best['regret']:.3f} is regret: avoidable if the model "
        "knew the distribution of the answers.",
        f"{best['method']} has the lowest n-AuReC, {best['n_aurec']:.3f}, and {worst['method']} "
        f"the highest, {worst['n_aurec']:.3f}: 0 is a perfect ranking of that regret and 1 is a "
        "random one. rue compare tests the difference.",
        f"With both components, {gaps[0]['method']} comes closest to the optimal accept/reject "
        f"rules (Pareto-gap {gaps[0]['pareto_gap']:.4f}; {gaps[-1]['method']}: "
        f"{gaps[-1]['pareto_gap']:.4f}).",
    ]
