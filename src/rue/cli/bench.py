"""rue bench: run data sets x methods x seeds, and print the paper's tables of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import typer

from rue._text import JsonObject
from rue.bench.engine import Engine, Local, RayCluster
from rue.bench.resampling import draw, with_intervals
from rue.bench.run import SuiteRun
from rue.bench.store import Store, with_convention
from rue.bench.suite import Suite, read_suite, shipped
from rue.bench.tables import beside_published, in_paper, read_results, summarize, table_rows
from rue.cli import App, emit, emit_either, emit_json, print_notes, terminal_width
from rue.cli._progress import only_stderr, run_with_progress
from rue.cli.inputs import read_columns
from rue.cli.options import FOLDER, FORMAT, ROOT, WIDE, TableOrJson, argument, option
from rue.errors import InputError
from rue.metrics.columns import BLOCKS, COLUMNS
from rue.metrics.table import Format, format_grid, format_rows, with_title

Columns = Sequence[str] | Mapping[str, str] | None
app = App(help="Benchmarks: list suites, run one, print its tables.")


@app.command("list", epilog="Example:  rue bench list")
def list_(format: TableOrJson = FORMAT, wide: bool = WIDE) -> None:
    """List the suites that come with rue."""
    suites = [read_suite(name) for name in shipped()]
    rows = [["suite", *["data sets", "methods", "seeds"] * wide, "cells", *["losses"] * wide]]
    rows[0].append("what it is")
    for suite in suites:
        parts = (suite.datasets, suite.methods, suite.seeds) if wide else ()
        counts = [*(str(len(part)) for part in parts), str(suite.n_cells)]
        losses = [", ".join(_losses(suite))] * wide
        rows.append([suite.name, *counts, *losses, suite.description])
    left = ("suite", "losses", "what it is")
    text = format_grid(rows, left=left, wrap="what it is", width=terminal_width(wide))
    emit_either(format, [_facts(suite) for suite in suites], text)


@app.command("run", epilog="Example:  rue bench run demo --out out/demo --workers 2")
def run(
    suite: str = argument(..., "A suite by name, or the path of its .toml file."),
    out: Path | None = option(
        None, "Folder for the results. By default out/bench/SUITE.", metavar=FOLDER
    ),
    engine: Literal["local", "ray"] = option("local", "Where tasks run."),
    workers: int | None = option(
        None, "Number of parallel tasks. By default one per core for probes, else one.", min=1
    ),
    threads: int | None = option(
        None, "Threads per task. By default 1 for probes, else the cores per worker.", min=1
    ),
    address: str | None = option(
        None, "Address of a running Ray cluster, e.g. 10.0.0.1:6379 or auto."
    ),
    gpus_per_run: float = option(0.0, "GPUs per task, e.g. 0.5.", min=0),
    only: list[str] | None = option(
        None, "Run only some cells, e.g. method=ensemble or seed=0,1; repeatable."
    ),
    force: bool = option(False, "Run finished cells again."),
    root: Path | None = ROOT,
    format: TableOrJson = FORMAT,
) -> None:
    """Run the cells of a suite that are missing or stale.

    A cell is one data set, method and seed. An interrupted run resumes if you call it again.
    """
    chosen = read_suite(suite)
    with only_stderr():
        report = run_with_progress(
            chosen,
            out or Path("out/bench") / chosen.name,
            make_engine=lambda n: _engine(engine, n, address, gpus_per_run, explicit=workers),
            workers=workers,
            threads=threads,
            only=_only(only or []),
            force=force,
            root=None if root is None else str(root),
        )
    facts = {
        "suite": chosen.name,
        "folder": str(report.folder),
        "kept": list(map(str, report.kept)),
        "done": list(map(str, report.done)),
        "failed": {str(cell): error for cell, error in report.failed.items()},
        "redone": {str(cell): why for cell, why in report.redone.items()},
    }
    emit_either(format, facts, "\n".join(_summary(report)))
    if report.failed:
        raise typer.Exit(1)


@app.command("table", epilog="Example:  rue bench table out/bench/demo --format latex")
def table(
    folder: Path = argument(..., "The folder of a run.", metavar=FOLDER),
    summary: bool = option(
        False, "Only the summary over data sets, as a single table.", "--summary"
    ),
    seeds: bool = option(False, "One row per seed instead of their mean."),
    ci: float | None = option(
        None, "Add bootstrap intervals of this level, e.g. 0.95.", min=0, max=1
    ),
    against: Literal["published"] | None = option(
        None,
        "Show the paper's numbers beside these; these by the published convention and "
        "by Definition 1.",
    ),
    convention: Literal["definition", "published"] | None = option(
        None,
        "Definition 1, or what the authors' own code computes, from the stored "
        "predictions. By default that of the suite.",
    ),
    columns: str | None = option(
        None, "Show these columns, or all, and not the usual blocks.", metavar="KEY,..."
    ),
    format: Format = FORMAT,
    wide: bool = WIDE,
) -> None:
    """Print the tables of a run: means over seeds.

    Each mean comes with its standard deviation over the seeds.
    """
    if seeds and (ci is not None or against is not None):
        other = "--ci" if ci is not None else "--against"
        raise InputError(f"--seeds prints single runs and cannot go with {other}")
    if against is not None and convention is not None:
        raise InputError("--against published shows both conventions: leave out --convention")
    if columns is not None and summary:
        raise InputError("--summary has columns of its own: leave out --columns")
    wanted = None if columns is None else read_columns(columns, format, [*COLUMNS][1:])
    store = Store(folder)
    results = read_results(store)
    single: list[JsonObject] = list(results.rows)
    if against is not None or convention is not None:
        single = with_convention(store, single, convention or "definition", progress=True)
    rows = table_rows(single)
    if ci is not None:
        rows = with_intervals(rows, draw(store, rows, progress=True), level=ci)
    total = summarize(rows)
    table_of: list[JsonObject] = rows
    if seeds:
        table_of = [{**row, "group": f"seed {row['seed']}"} for row in single]
    elif against is not None:
        theirs = with_convention(store, in_paper(single), "published", progress=True)
        table_of = beside_published(rows, table_rows(theirs))
    if format == "json":
        emit_json(
            {
                "suite": results.suite,
                "regimes": results.regimes,
                "rows": table_of,
                "summary": total,
                "missing": list(map(str, results.missing)),
                "damaged": list(map(str, results.damaged)),
                "stale": list(map(str, results.stale)),
            }
        )
        return
    blocks = []
    if format == "csv":
        blocks.append(format_rows(total if summary else table_of, "csv", columns=wanted))
    elif not summary:
        for dataset in dict.fromkeys(row["dataset"] for row in table_of):
            own = [
                {key: value for key, value in row.items() if key != "dataset"}
                for row in table_of
                if row["dataset"] == dataset
            ]
            regret = [row for row in own if row["loss"]]
            follows = {row.get("convention") for row in regret} - {None}
            whose = ", published convention" if follows == {"published"} else ""
            where = f"{dataset} ({results.regimes[dataset]}{whose})"
            proxies = [row for row in own if not row["loss"]]
            tables: list[tuple[str, list[JsonObject], Columns]]
            tables = [(where, regret, wanted), (f"{dataset}, proxy tasks", proxies, wanted)]
            if wanted is None:
                tables[1:1] = [(f"{dataset}, {name}", regret, own) for name, own in BLOCKS.items()]
            for title, part, shown in tables:
                filled = [row for row in part if _has_own(row, shown)]
                if filled:
                    width = terminal_width(wide)
                    text = format_rows(filled, format, columns=shown, width=width)
                    blocks.append(with_title(title, text, format))
    if (
        format != "csv"
        and wanted is None
        and total
        and (summary or len({row["dataset"] for row in rows}) > 1)
    ):
        text = format_rows(total, format, width=terminal_width(wide))
        blocks.append(with_title("all data sets", text, format))
    emit("\n\n".join(blocks))
    print_notes(results.notes(wanted), format)


def _engine(
    name: str, workers: int, address: str | None, gpus: float, *, explicit: int | None
) -> Engine:
    if name == "ray":
        return RayCluster(address=address, workers=explicit, gpus_per_run=gpus)
    if address is not None:
        raise InputError("--address needs --engine ray")
    if not gpus:
        return Local(workers)
    from rue.methods._training.networks import gpu_names

    return Local(workers, gpus_per_run=gpus, gpus=gpu_names())


def _only(choices: list[str]) -> dict[str, list[str]]:
    only: dict[str, list[str]] = {}
    for text in choices:
        key, sign, values = text.partition("=")
        if not sign or not values:
            raise InputError(f"--only must look like method=ensemble, got {text!r}")
        only.setdefault(key, []).extend(values.split(","))
    return only


def _summary(report: SuiteRun) -> list[str]:
    lines = [
        f"{len(report.done)} cells done, {len(report.kept)} were there, "
        f"{len(report.failed)} failed; in {report.folder}"
    ]
    for why in ("stale", "corrupt"):
        again = [cell for cell, state in report.redone.items() if state == why]
        if again:
            lines.append(f"note: {len(again)} cells were {why}, first {again[0]}")
    lines += [f"failed: {cell}: {error}" for cell, error in report.failed.items()]
    if not report.failed:
        lines.append(f"  rue bench table {report.folder}")
    return lines


def _has_own(row: JsonObject, shown: Columns) -> bool:
    """Return whether a row has a column that was asked for, or one that only this block has."""
    if shown is None:
        return True
    if isinstance(shown, Mapping):
        shown = [key for key in shown if not COLUMNS[key].in_table and key != "risk"]
    return any(row.get(key) is not None for key in shown)


def _facts(suite: Suite) -> JsonObject:
    return {
        "name": suite.name,
        "description": suite.description,
        "datasets": list(suite.datasets),
        "methods": list(suite.methods),
        "losses": _losses(suite),
        "seeds": list(suite.seeds),
        "networks": list(dict.fromkeys(suite.network_of(name) for name in suite.datasets)),
        "regimes": list(dict.fromkeys(suite.regime_of(name) for name in suite.datasets)),
        "criteria": list(suite.criteria),
        "n_cells": suite.n_cells,
    }


def _losses(suite: Suite) -> list[str]:
    return list(dict.fromkeys(loss for name in suite.datasets for loss in suite.losses_of(name)))
