"""Write the pages of docs/results/ from runs of the benchmark.

    python -m studies.results DIR...   import finished runs: rows, intervals, tests and figures
    python -m studies.results --figures DIR...   draw the figures of runs imported before, again
    python -m studies.results          write the pages again from what was imported

An imported run is docs/results/NAME.json: every cell's row.json, and the intervals and paired tests
that need the predictions. :mod:`studies.result_pages` writes its page from that file alone.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rue._schema import plain
from rue.bench.resampling import compare_methods, draw, with_intervals
from rue.bench.store import Store, with_convention
from rue.bench.tables import in_paper, read_results, table_rows
from rue.cli.demo import drawn_runs
from rue.inference.comparison import COMPARABLE
from rue.metrics.columns import COLUMNS, title
from rue.plots.comparison import plot_rankings
from rue.plots.curves import plot_curves
from rue.plots.inversions import plot_ranks
from rue.plots.style import save
from studies import RESULTS
from studies.pictures import keep_figure, keep_file, run_source
from studies.result_pages import inverted, names, page
from studies.rows import Row, as_json

LEVEL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        (draw_again if arguments.figures else import_run)(folder)
    for name in names():
        (RESULTS / f"{name}.md").write_text(page(name))
        for picture, figure in rank_figures(name).items():
            keep_figure(figure, picture)


def import_run(folder: Path) -> None:
    """Keep a run's rows, what needs its predictions, and its figures."""
    store, name = Store(folder), folder.name
    results = read_results(store)
    rows = table_rows(results.rows)
    drawn = draw(store, rows, progress=True)
    ranking = compare_methods(rows, drawn, level=LEVEL)
    record = {
        "suite": results.suite,
        "text": store.suite().text,
        "rows": plain(tuple(results.raw.values())),
        "table": with_intervals(rows, drawn, level=LEVEL),
        "published_convention": table_rows(
            with_convention(store, in_paper(results.rows), "published", progress=True)
        ),
        "tests": paired_tests(rows, ranking),
        "missing": list(map(str, results.missing)),
    }
    (RESULTS / f"{name}.json").write_text(as_json(record))
    _draw_run(store, rows, ranking, record)


def draw_again(folder: Path) -> None:
    """Draw the figures of a run that was imported before from its folder; its rows must agree.

    Raises
    ------
    ValueError
        If a mean of the folder differs from that of the record by more than one percent.
    """
    store, name = Store(folder), folder.name
    rows = table_rows(read_results(store).rows)
    record = json.loads((RESULTS / f"{name}.json").read_text())
    means = {(row["method"], row["loss"]): row for row in record["table"] if row["loss"]}
    for row in rows:
        for key in ("aurec", "n_aurec") if row["loss"] else ():
            recorded = means[row["method"], row["loss"]][key]
            if abs(row[key] - recorded) > 0.01 * abs(recorded):
                raise ValueError(
                    f"{folder}: {key} of {row['method']} is {row[key]}, not {recorded}"
                )
    ranking = compare_methods(rows, draw(store, rows, progress=True), level=LEVEL)
    _draw_run(store, rows, ranking, record)


def _draw_run(store: Store, rows: list[Row], ranking: Any, record: Row) -> None:
    name = store.folder.name
    for loss in dict.fromkeys(row["loss"] for row in rows if row["loss"]):
        ranked = [(key, ranking(rows[0]["dataset"], loss, key)) for key in ("aurec", "n_aurec")]
        titled = [(f"{title(key)} ({loss} loss)", one) for key, one in ranked if one is not None]
        keep_of_run(plot_rankings(titled), f"{name}_{loss}", record)
    keep_of_run(plot_curves(drawn_runs(store), gain=True), f"{name}_curves", record)


def keep_of_run(figure: Figure, name: str, record: Row) -> None:
    """Keep a figure that needs the predictions of a run, stamped by the rows and its labels."""
    with tempfile.TemporaryDirectory() as folder:
        save(figure, Path(folder, "figure.png"))
        keep_file(Path(folder, "figure.png"), name, run_source(record))


def rank_figures(name: str) -> dict[str, Figure]:
    """Return the figures of the ranks of an imported run, by name."""
    found = inverted(json.loads((RESULTS / f"{name}.json").read_text()))
    return {f"{name}_ranks{i or ''}": plot_ranks([one]) for i, one in enumerate(found)}


def paired_tests(rows: list[Row], ranking: Any) -> list[Row]:
    """Return which methods may be the best, and the p-value of each pair, for each criterion."""
    tests = []
    for dataset, loss in dict.fromkeys((r["dataset"], r["loss"]) for r in rows if r["loss"]):
        for criterion in (key for key in COMPARABLE if COLUMNS[key].better == "low"):
            found = ranking(dataset, loss, criterion)
            if found is not None:
                pairs = [
                    {"methods": [each.first, each.second], "p_holm": each.p_holm}
                    for each in found.differences
                ]
                where = {"dataset": dataset, "loss": loss, "criterion": criterion}
                tests.append({**where, "best": list(found.best), "pairs": pairs})
    return tests


if __name__ == "__main__":
    main()
