"""rue data: which data sets there are, what they hold, fetching them, and checking your own."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from rue.cli import App, emit, emit_either, emit_json, terminal_width, warn
from rue.cli.options import (
    FOLDER,
    FORMAT,
    MAX_MEMORY,
    NAME,
    ROOT,
    WIDE,
    TableOrJson,
    argument,
    option,
)
from rue.data.dataset import count
from rue.data.entry import Entry
from rue.data.own.check import Check
from rue.data.own.check import check as check_own
from rue.data.own.description import save_description
from rue.data.registry import ENTRIES, expand, find_problem, is_complete, is_here, stated_info
from rue.data.registry import fetch as fetch_one
from rue.data.registry import info as describe
from rue.errors import PluginError
from rue.io.memory import parse_size
from rue.metrics.table import format_grid

app = App(help="Data sets: list, describe, download, and check your own.")


@app.command("list", epilog="Example:  rue data list")
def list_(root: Path | None = ROOT, format: TableOrJson = FORMAT, wide: bool = WIDE) -> None:
    """List the data sets, and whether each is on this machine."""
    entries: dict[str, Entry] = {}
    broken: list[PluginError] = []
    for name in ENTRIES:
        try:
            entries[name] = ENTRIES[name]
        except PluginError as error:  # the others are listed all the same
            broken.append(error)
    if format == "json":
        emit_json(
            [
                asdict(stated_info(e))
                | {"task": e.task, "size": e.size, "here": is_here(name, root)}
                for name, e in entries.items()
            ]
        )
    else:
        emit(_table(entries, root, wide))
    if broken:
        raise broken[0]


@app.command(epilog="Example:  rue data info sentiment-movies --format json")
def info(
    name: str = argument(..., "The name of a data set, as in `rue data list`.", metavar=NAME),
    root: Path | None = ROOT,
    format: TableOrJson = FORMAT,
) -> None:
    """Describe a data set.

    The numbers are measured if it is on this machine, otherwise those of the registry.
    """
    facts = asdict(describe(name, root))
    lines = []
    for key, value in facts.items():
        if isinstance(value, dict):
            parts = (f"{name} {'-' if fact is None else fact}" for name, fact in value.items())
            value = "  ".join(parts) or None
        elif isinstance(value, tuple):
            value = ", ".join([*value[:2], "...", *value[2:]]) if len(value) > 2 else None
        elif isinstance(value, float):
            value = f"{value:.2f}"
        lines.append(f"{key:<16} {'-' if value is None else value}")
    emit_either(format, facts, "\n".join(lines))


@app.command(epilog="Example:  rue data fetch 'sentiment-*' cifar10h")
def fetch(
    names: list[str] = argument(..., "Names, or patterns such as 'dcic-*'.", metavar=NAME),
    root: Path | None = option(
        None, "Download into this folder instead of the cache.", metavar=FOLDER
    ),
) -> None:
    """Download data sets and check them; an interrupted download resumes."""
    for name in expand(names):
        there = root is None and find_problem(name) is None
        if not there:
            warn(f"{name}: fetching")
            fetch_one(name, root, progress=sys.stderr.isatty())
        emit(f"{name}: {'already here' if there else 'here'}")


@dataclass(frozen=True)
class OwnColumns:
    """The columns of a data set, by what they hold."""

    panel: ClassVar[str] = "Columns"
    id: str | None = option(None, "The column of ids.")
    label: str | None = option(None, "The column of answers, as classes.")
    rating: str | None = option(None, "The column of answers, as numbers.")
    annotator: str | None = option(None, "The column of annotators.")
    text: str | None = option(None, "The column of texts.")
    image: str | None = option(None, "The column of image files.")
    split: str | None = option(None, "The column of splits.")
    group: str | None = option(None, "The column of groups that must not be split.")


@app.command(epilog="Example:  rue data check my-folder --label answer --out mine.toml")
def check(
    columns: OwnColumns,
    path: Path = argument(
        ...,
        "A file of answers or counts, a folder of datasets, or one that has answers and inputs.",
    ),
    inputs: Path | None = option(None, "Texts, images or features, if not beside the answers."),
    out: Path | None = option(
        None, "The TOML file to write; by default NAME.toml in the current folder."
    ),
    name: str | None = option(None, "Name of the data set; by default that of the file."),
    classes: str | None = option(None, "The classes in their order, e.g. no,maybe,yes."),
    max_memory: str | None = MAX_MEMORY,
    format: TableOrJson = FORMAT,
) -> None:
    """Check your own data set, and describe it in a TOML file.

    rue bench accepts this file as a data set.
    """
    checked = check_own(
        path,
        name=out.stem if name is None and out is not None else name,
        inputs=inputs,
        columns=asdict(columns),
        classes=None if classes is None else [word.strip() for word in classes.split(",")],
        folder=None if out is None else out.parent,
        max_memory=None if max_memory is None else parse_size(max_memory),
    )
    target = out or Path(f"{checked.name}.toml")
    save_description(checked.description, target)
    facts = {**asdict(checked), "written": str(target)}
    del facts["description"]
    emit_either(format, facts, _check_table(checked, target))


def _check_table(checked: Check, target: Path) -> str:
    """Set the facts one a line, then the warnings."""

    def show(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    answers = f"{checked.annotators_min} / {checked.annotators_mean:.1f} / {checked.annotators_max}"
    if checked.n_annotators is not None:
        answers += f", {checked.n_annotators:,} annotators"
    lines = [
        ("answers", f"{checked.answers}: {checked.layout}"),
        ("inputs", checked.inputs),
        ("points", f"{checked.n_points:,}"),
        ("answers a point", f"{answers}, {checked.n_answers:,} in all"),
    ]
    if checked.classes:
        shares = [f"{name} {share:.1%}" for name, share in checked.classes.items()]
        more = [f"and {len(shares) - 12} more"] if len(shares) > 12 else []
        lines += [
            ("classes", f"{len(shares)}: {', '.join([*shares[:12], *more])}"),
            ("agreement", f"{show(checked.agreement)} of pairs, alpha {show(checked.alpha)}"),
            ("entropy", f"{show(checked.entropy)} nats on average"),
            ("Bayes error", show(checked.bayes_error)),
            ("unanimous", f"{checked.unanimous:.1%} of points"),
        ]
    else:
        lines += [
            ("classes", "none: the answers are numbers"),
            ("agreement", f"alpha {show(checked.alpha)}"),
            ("spread", f"{show(checked.spread)}, the mean standard deviation of a point's answers"),
        ]
    origin = "as the files say" if checked.official else "folds of rue's own, at seed 0"
    sizes = "  ".join(f"{split} {size:,}" for split, size in checked.splits.items())
    lines += [
        ("duplicates", f"{count(checked.duplicates, 'point')} with the input of another"),
        ("splits", f"{sizes} ({origin})"),
        ("leaks", f"{count(checked.leaks, 'point')} with an input of another split"),
    ]
    width = max(len(key) for key, _ in lines) + 2
    return "\n".join(
        (
            *(f"{key:<{width}}{value}" for key, value in lines),
            *(f"note: {note}" for note in checked.notes),
            *(f"warning: {warning}" for warning in checked.warnings),
            f'wrote {target}: in a suite, datasets = ["{target}"]',
        )
    )


def _table(entries: dict[str, Entry], root: Path | None, wide: bool) -> str:

    rows = [["name", "task", "points", "classes", "annotators", "size", "here"]]
    rows[0] += ["licence"] if wide else []
    for name, entry in entries.items():
        here = "yes" if is_complete(name, root) else "partly" if is_here(name, root) else "no"
        annotators = "-"
        if entry.annotators is not None:
            fewest, mean, most = entry.annotators
            annotators = f"{fewest} / {mean:.1f} / {most}" if wide else f"{mean:.1f}"
        size = f"{entry.size / 1e6:.{1 if entry.size < 1e7 else 0}f} MB" if entry.size else "-"
        rows.append([name, entry.task, f"{entry.n_points:,}", str(entry.n_classes or "-")])
        rows[-1] += [annotators, size, here, *([entry.licence] if wide else [])]
    left = ("name", "task", "here", "licence")
    return format_grid(rows, left=left, width=terminal_width(wide))
