"""rue demo: the whole workflow on real data, in two minutes."""

import shlex
from pathlib import Path
from typing import Any

import typer

from rue.cli import emit, terminal_width
from rue.cli.inputs import option

EXAMPLE = "rue demo --out out/demo"


def demo(
    out: Path | None = option(
        None,
        "Folder for the files: created if missing, otherwise resumed. The default is "
        "out/demo, or out/quick with --quick.",
    ),
    quick: bool = option(
        False, "Use synthetic data and small models instead: no network and no torch.", "--quick"
    ),
) -> None:
    """Train six methods on real ratings, and evaluate them.

    Fetch the ratings, print a table of the methods, and write a report page.
    """
    _quick(out or Path("out/quick")) if quick else _whole(out or Path("out/demo"))


def _whole(out: Path) -> None:
    """Run the suite ``demo``: real data, methods that train networks."""
    import sys
    from threading import Thread

    from rue.bench.store import Store
    from rue.bench.suite import read_suite
    from rue.bench.tables import read_results, table_rows
    from rue.cli._demo import compile_kernels, drawn_runs, meaning
    from rue.cli._progress import run_with_progress
    from rue.cli.sandbox import write_sandbox
    from rue.data import fetch
    from rue.plots.curves import plot_curves
    from rue.plots.style import save
    from rue.report import from_folder, write_report
    from rue.sandbox import run_sandbox

    suite = read_suite("demo")
    for name in suite.datasets:
        emit(f"Fetching {name} ...")
        fetch(name, progress=sys.stderr.isatty())
    emit(
        f"Training {len(suite.methods)} methods, {len(suite.seeds)} seeds each (regime "
        f"{suite.regime}) ..."
    )
    compiling = Thread(target=compile_kernels, daemon=True)
    compiling.start()
    report = run_with_progress(suite, out)
    compiling.join()
    for cell, error in report.failed.items():
        emit(f"failed: {cell}: {error}")
    if report.failed:
        raise typer.Exit(1)
    store = Store(out)
    rows = table_rows(read_results(store).rows)
    emit("Drawing the curves, the sandbox and the report ...")
    save(plot_curves(drawn_runs(store), gain=True), out / "curves.png")
    write_sandbox(run_sandbox(seed=0), out)
    command = shlex.join(["rue", "demo", "--out", str(out)])
    write_report(from_folder(out, command=command), out / "report.html")
    _show(rows, meaning(rows, "snippets"))
    first = store.predictions(report.kept[0] if report.kept else sorted(report.done)[0])
    emit(
        f"\nThe report page: {out / 'report.html'}\n"
        f"Predictions (cells/), curves.png and sandbox.png are in {out}. To print the table "
        "again, or to evaluate one method under another loss:\n"
        f"  rue bench table {out}\n"
        f"  rue evaluate {first} --loss absolute"
    )


def _quick(out: Path) -> None:
    """Evaluate three small models on made data."""
    from rue.cli._demo import MODELS, made_data, meaning
    from rue.io.runs import read_run
    from rue.io.saving import save_predictions
    from rue.metrics.evaluation import evaluate_run
    from rue.plots.curves import plot_curves
    from rue.plots.style import save
    from rue.report import from_files, write_report

    points, labels, test, answers = made_data()
    emit(
        f"Made {len(points):,} training points with one label each, and {len(test):,} test points "
        f"that {int(answers.n_annotators[0])} annotators answered."
    )
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, fit in MODELS.items():
        emit(f"Fitting {name} ...")
        files[name] = out / f"{name.replace(' ', '-')}.npz"
        save_predictions(files[name], fit(points, labels, test), annotations=answers, method=name)
    runs = [read_run(path, None, loss) for loss in ("log", "zero_one") for path in files.values()]
    rows = [evaluate_run(run).to_dict() for run in runs]
    save(plot_curves(runs, gain=True), out / "curves.png")
    losses = {"log": "log", "zero_one": "zero_one"}
    command = shlex.join(["rue", "demo", "--quick", "--out", str(out)])
    report = from_files(files, losses, title="rue demo --quick", command=command)
    write_report(report, out / "report.html")
    _show(rows, meaning(rows, "points"))
    emit(
        f"\nThe report page: {out / 'report.html'}\n"
        f"Predictions and curves.png are in {out}. To evaluate one model under another loss:\n"
        f"  rue evaluate {shlex.quote(str(files['forest']))} --loss brier"
    )


def _show(rows: list[dict[str, Any]], sentences: list[str]) -> None:
    """Print the table, and what it means."""
    from rue.metrics.table import format_rows

    table = [{key: value for key, value in row.items() if key != "dataset"} for row in rows]
    emit("\n" + format_rows(table, width=terminal_width()) + "\n")
    for sentence in sentences:
        emit(sentence)
