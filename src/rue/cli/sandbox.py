"""rue sandbox: figure 1 and its numbers; needs no data."""

import json
from pathlib import Path
from typing import Literal

import typer

from rue._text import JsonObject
from rue.cli import emit, emit_json, terminal_width
from rue.cli.options import FOLDER, FORMAT, TableOrJson, option
from rue.errors import InputError
from rue.io.atomic import replacing
from rue.metrics.table import format_grid
from rue.sandbox import Sandbox, run_sandbox

EXAMPLE = "rue sandbox --out out/sandbox --loss log"


def _folder(text: str) -> Path:
    """Return a folder; raise for an empty name, which would mean the current folder."""
    if not text.strip():
        raise typer.BadParameter(f"must be a folder, got {text!r}")
    return Path(text)


def sandbox(
    out: Path = option(
        ..., "Folder for the files; created if missing.", parser=_folder, metavar=FOLDER
    ),
    coverage: float = option(0.8, "Share of inputs that is accepted."),
    seed: int = option(0, "Seed of the training sample."),
    loss: Literal["squared", "absolute", "log"] = option("squared", "Loss of the predictions."),
    format: TableOrJson = FORMAT,
) -> None:
    """Draw figure 1: five optimal scores reject different inputs.

    Each is optimal for its own task, in a simulation where everything is known. Write sandbox.png,
    sandbox_curves.png, sandbox.csv and sandbox.json, and print the numbers.
    """
    result = run_sandbox(coverage=coverage, seed=seed, loss=loss)
    if out.exists() and not out.is_dir():
        raise InputError(f"--out must be a directory, got the file {out}")
    out.mkdir(parents=True, exist_ok=True)
    summary = write_sandbox(result, out)
    if format == "json":
        emit_json(summary)
    else:
        _print(summary)


def write_sandbox(result: Sandbox, out: Path) -> JsonObject:
    """Write the figures, the table and the numbers of a sandbox; return the numbers."""
    from rue.plots.sandbox import plot_sandbox, plot_sandbox_curves
    from rue.plots.style import save

    columns, summary = result.columns(), result.to_dict()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    with replacing(out / "sandbox.csv") as file:
        lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
        file.write("\n".join(lines).encode() + b"\n")
    with replacing(out / "sandbox.json") as file:
        file.write(json.dumps(summary, indent=2).encode() + b"\n")
    save(plot_sandbox(result), out / "sandbox.png")
    save(plot_sandbox_curves(result), out / "sandbox_curves.png")
    return summary


def _print(summary: JsonObject) -> None:
    scorers = list(summary["areas"])
    columns = {
        "regret": ("left", "regret"),
        "risk": ("left", "risk"),
        "AuReC": ("areas", "aurec"),
        "AuRC": ("areas", "aurc"),
        "regret*": ("left", "regret_star"),
        "AuReC*": ("areas", "aurec_star"),
    }
    _print_table(
        f"Risk and regret at coverage {summary['coverage']:g}, and areas ({summary['loss']} loss, "
        f"seed {summary['seed']}); * is under f*",
        ["scorer", *columns],
        [
            [s, *(f"{summary[part][s][key]:#.3g}" for part, key in columns.values())]
            for s in scorers
        ],
    )
    both = {s: summary["regions"][s] | summary["overlap"][s] for s in scorers}
    _print_table(
        "Share of each region rejected, and Jaccard overlap",
        ["scorer", *both[scorers[0]]],
        [[s, *(f"{value:.2f}" for value in row.values())] for s, row in both.items()],
    )
    parts = {
        "regret*": "regret",
        "approximation": "approximation",
        "estimation": "estimation",
        "regret expected": "epistemic",
    }
    _print_table(
        "Regret of smaller model classes under squared loss",
        ["features", *parts],
        [
            [str(row["n_features"]), *(f"{row[part]:.6f}" for part in parts.values())]
            for row in summary["split"]
        ],
    )


def _print_table(title: str, header: list[str], rows: list[list[str]]) -> None:

    emit(f"{title}\n{format_grid([header, *rows], width=terminal_width())}\n")
