"""How often annotators agree, and how often methods predict it in a run such as the demo's."""

from dataclasses import replace

from rue.bench.cells import cells
from rue.bench.store import Store
from rue.components import Run
from rue.io import read_run
from rue.metrics.evaluation import evaluate_run
from rue.plots import plot_agreement
from studies import DOCS, OUT
from studies.pages import Columns, table_of
from studies.pictures import keep_figure
from studies.study import Options, Pages

DRAWN = ("ensemble", "evidential", "dirichlet_multinomial")


def run(options: Options) -> Pages:
    runs = read(Store(options.folders(OUT / "demo")[0]))
    keep_figure(plot_agreement([run for run in runs if run.method in DRAWN]), "agreement")
    return {DOCS / "uncertainty.md": {"agreement": agreement_table(runs)}}


def read(store: Store, seed: int = 0) -> list[Run]:
    """Return the run of each method of a benchmark, for one seed."""
    own = [cell for cell in cells(store.suite()) if cell.seed == seed]
    return [replace(read_run(store.predictions(c), None, "log"), method=c.method) for c in own]


def agreement_table(runs: list[Run]) -> str:
    """Return the columns of pairs of answers, the best loss first."""
    rows = sorted((evaluate_run(run, gap=False) for run in runs), key=lambda r: r.pair_log_loss)
    columns: Columns = {
        "method": "{method}",
        "pair log loss": "{pair_log_loss:.4f}",
        "pair gain": "{pair_gain:.4f}",
        "predicted": "{agreement_hat:.3f}",
        "observed": "{agreement_star:.3f}",
    }
    return table_of((row.to_dict() for row in rows), columns)
