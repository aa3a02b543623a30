"""rue demo: the whole workflow on real data, in a minute or two."""

from pathlib import Path
from typing import Annotated

import typer

from rue.cli.options import emit

EXAMPLE = "rue demo --out out/demo"


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the files; created if missing, otherwise resumed.")
    ] = Path("out/demo"),
) -> None:
    """Fetch real ratings, train five methods, print their table and draw their curves."""
    import sys

    from rue.bench.store import Store
    from rue.bench.suite import read_suite
    from rue.bench.tables import read_results, table_rows
    from rue.cli._demo import curves, meaning
    from rue.cli._progress import run_with_progress
    from rue.cli.sandbox import write_sandbox
    from rue.data import fetch
    from rue.metrics.table import format_rows
    from rue.sandbox import run_sandbox

    suite = read_suite("demo")
    for name in suite.datasets:
        emit(f"Fetching {name} ...")
        fetch(name, progress=sys.stderr.isatty())
    emit(f"Training {len(suite.methods)} methods, {len(suite.seeds)} seeds each ...")
    report = run_with_progress(suite, out)
    for cell, error in report.failed.items():
        emit(f"failed: {cell}: {error}")
    if report.failed:
        raise typer.Exit(1)
    store = Store(out)
    rows = table_rows(read_results(store).rows)
    curves(store, out / "curves.png")
    write_sandbox(run_sandbox(seed=0), out)
    shown = [{key: value for key, value in row.items() if key != "dataset"} for row in rows]
    emit("\n" + format_rows(shown) + "\n")
    for sentence in meaning(rows):
        emit(sentence)
    emit(
        f"\nPredictions (cells/), curves.png and sandbox.png are in {out}. To print the table "
        "again, or to evaluate one method under another loss:"
    )
    first = store.predictions(report.kept[0] if report.kept else sorted(report.done)[0])
    emit(f"  rue bench table {out}")
    emit(f"  rue evaluate {first} --loss absolute")
