"""How often annotators agree, and how often methods predict it: a table and a figure.

python -m studies.agreement out/demo
"""

import sys
from dataclasses import replace
from pathlib import Path

from rue.bench.cells import cells
from rue.bench.store import Store
from rue.components import Run
from rue.io import read_run
from rue.metrics.evaluation import evaluate_run
from rue.plots import plot_agreement
from studies import DOCS
from studies.pages import fill_file, table
from studies.pictures import keep_figure

DRAWN = ("ensemble", "evidential", "dirichlet_multinomial")


def main() -> None:
    runs = read(Store(Path(sys.argv[1])))
    fill_file(DOCS / "uncertainty.md", {"agreement": agreement_table(runs)})
    shown = [run for run in runs if run.method in DRAWN]
    keep_figure(plot_agreement(shown), "agreement")


def read(store: Store, seed: int = 0) -> list[Run]:
    """Return the run of each method of a benchmark, for one seed."""
    own = [cell for cell in cells(store.suite()) if cell.seed == seed]
    return [replace(read_run(store.predictions(c), None, "log"), method=c.method) for c in own]


def agreement_table(runs: list[Run]) -> str:
    """Return the columns of pairs of answers, the best loss first."""
    rows = sorted((evaluate_run(run, gap=False) for run in runs), key=lambda r: r.pair_log_loss)
    keys = {"pair_log_loss": 4, "pair_gain": 4, "agreement_hat": 3, "agreement_star": 3}
    lines = [
        [r.method, *(f"{getattr(r, k):.{digits}f}" for k, digits in keys.items())] for r in rows
    ]
    return table(["method", "pair log loss", "pair gain", "predicted", "observed"], lines)


if __name__ == "__main__":
    main()
