"""Import finished runs of the benchmark, and write the pages of docs/results/.

An imported run is docs/results/NAME.json: every cell's row.json, and the intervals and paired tests
that need the predictions. :mod:`studies.result_pages` writes its page from that file alone.
"""

import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rue._schema import plain
from rue.bench.cells import Cell
from rue.bench.resampling import compare_methods, draw, with_intervals
from rue.bench.store import Store, with_convention
from rue.bench.tables import Results, in_paper, read_results, table_rows
from rue.cli.demo import drawn_runs
from rue.inference.comparison import COMPARABLE
from rue.metrics.columns import COLUMNS, title
from rue.plots.comparison import plot_rankings, plot_ranks
from rue.plots.curves import plot_curves
from rue.plots.style import save
from studies import OUT, RESULTS
from studies.pictures import keep_file, run_source
from studies.result_pages import inverted, names, page, scored
from studies.rows import Row, as_json, read_run
from studies.study import Options, Pages

LEVEL = 0.95


def run(options: Options) -> Pages:
    """Import runs from their folders."""
    for folder in options.folders(OUT / "demo"):
        import_run(folder)
    return {}


def pages(_: Row) -> Pages:
    return {RESULTS / f"{name}.md": page(name) for name in names()}


def figures(_: Row) -> dict[str, Figure]:
    """Return the figures of the ranks of all imported runs."""
    return {
        f"{name}_ranks{i or ''}": plot_ranks([one])
        for name in names()
        for i, one in enumerate(inverted(read_run(name)))
    }


def import_run(folder: Path) -> None:
    """Keep a run's rows, what needs its predictions, and its figures.

    A folder with some of the cells of a stored run replaces these (:func:`with_again`).
    """
    store, name = Store(folder), folder.name
    results = read_results(store)
    known = read_run(name) if (RESULTS / f"{name}.json").exists() else {"rows": []}
    if is_part(known, results):
        (RESULTS / f"{name}.json").write_text(as_json(with_again(known, results)))
        return
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
    drawn_figures = {f"{name}_curves": plot_curves(drawn_runs(store), gain=True)}
    for loss in dict.fromkeys(row["loss"] for row in rows if row["loss"]):
        ranked = [(key, ranking(rows[0]["dataset"], loss, key)) for key in ("aurec", "n_aurec")]
        titled = [(f"{title(key)} ({loss} loss)", one) for key, one in ranked if one is not None]
        drawn_figures[f"{name}_{loss}"] = plot_rankings(titled)
    with tempfile.TemporaryDirectory() as temporary:
        for picture, figure in drawn_figures.items():
            save(figure, Path(temporary, "figure.png"))
            keep_file(Path(temporary, "figure.png"), picture, run_source(record))


def is_part(record: Row, results: Results) -> bool:
    """Return whether a folder has some of the cells of a record, of the same settings."""
    former = {Cell(**row["cell"]): row["config"]["options"] for row in record["rows"]}
    return results.raw.keys() < former.keys() and all(
        row.config["options"] == former[cell] for cell, row in results.raw.items()
    )


def with_again(record: Row, results: Results) -> Row:
    """Return a record with cells that were trained again, and how close they are to the former.

    Their rows are replaced, and the means over seeds follow. Intervals and tests stay those of the
    former predictions, which the page says.
    """
    former = {Cell(**row["cell"]): row for row in record["rows"]}
    new = {cell: plain(row) for cell, row in results.raw.items()}
    rows = [new.get(cell, row) for cell, row in former.items()]
    again = [one for one in record.get("again", ()) if Cell(**one["cell"]) not in new]
    methods = {cell.method for cell in new}
    table = {(row["method"], row["loss"]): row for row in table_rows(scored(rows))}
    lines = []
    for line in record["table"]:
        ends = {key: value for key, value in line.items() if key == "ci" or "_ci_" in key}
        fresh = {**table[line["method"], line["loss"]], **ends}
        lines.append(fresh if line["method"] in methods else line)
    again += [closeness(former[cell], row) for cell, row in new.items()]
    return {**record, "rows": rows, "table": lines, "again": again}


def closeness(former: Row, row: Row) -> Row:
    """Return how close a cell that was trained again is to the former: bits, inputs, columns."""
    pairs = list(zip(former["rows"], row["rows"], strict=True))
    return {
        "cell": row["cell"],
        "same_bits": former["predictions_sha256"] == row["predictions_sha256"],
        "same_inputs": former["data"]["checksums"] == row["data"]["checksums"],
        **{key: max(abs(a[key] - b[key]) for a, b in pairs) for key in ("aurec", "n_aurec")},
    }


def sources() -> dict[str, Any]:
    """Return what the figures that need predictions are drawn from."""
    figures_of_runs: dict[str, Any] = {}
    for name in names():
        record = read_run(name)
        losses = {row["loss"] for row in record["table"] if row["loss"]}
        figures_of_runs |= dict.fromkeys(
            (f"{name}_{end}" for end in ("curves", *losses)), run_source(record)
        )
    return figures_of_runs


def paired_tests(rows: list[Row], ranking: Any) -> list[Row]:
    """Return which methods may be the best, and the p-value of each pair, for each criterion."""
    tests = []
    for dataset, loss in dict.fromkeys((r["dataset"], r["loss"]) for r in rows if r["loss"]):
        for criterion in (key for key in COMPARABLE if COLUMNS[key].better == "low"):
            comparison = ranking(dataset, loss, criterion)
            if comparison is not None:
                pairs = [
                    {"methods": [each.first, each.second], "p_holm": each.p_holm}
                    for each in comparison.differences
                ]
                where = {"dataset": dataset, "loss": loss, "criterion": criterion}
                tests.append({**where, "best": list(comparison.best), "pairs": pairs})
    return tests
