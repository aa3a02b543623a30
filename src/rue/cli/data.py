"""rue data: which data sets there are, what they hold, fetching them, and checking your own."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rue._text import ESCAPES
from rue.cli import align, emit, warn
from rue.cli.options import MaxMemory

if TYPE_CHECKING:
    from rue.data.entry import Entry
    from rue.data.own.check import Check

app = typer.Typer(
    help="Data sets: list, describe, download, and check your own.", no_args_is_help=True
)


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    json = "json"


Root = Annotated[
    Path | None, typer.Option(help="A data folder that is searched before RUE_DATA and the cache.")
]
Into = Annotated[Path | None, typer.Option(help="Download into this folder instead of the cache.")]
How = Annotated[Format, typer.Option(help="Output format.")]


@app.command("list", epilog="Example:  rue data list")
def list_(root: Root = None, format: How = Format.table) -> None:
    """List the data sets, and whether each is on this machine."""
    from rue.data.registry import ENTRIES
    from rue.errors import PluginError

    entries: dict[str, Entry] = {}
    broken: list[PluginError] = []
    for name in ENTRIES:
        try:
            entries[name] = ENTRIES[name]
        except PluginError as error:  # the others are listed all the same
            broken.append(error)
    emit(_facts(entries, root) if format is Format.json else _table(entries, root))
    if broken:
        raise broken[0]


@app.command(epilog="Example:  rue data info sentiment-movies --format json")
def info(
    name: Annotated[str, typer.Argument(help="The name of a data set, as in `rue data list`.")],
    root: Root = None,
    format: How = Format.table,
) -> None:
    """Describe a data set.

    The numbers are measured if it is on this machine, otherwise those of the registry.
    """
    import json
    from dataclasses import asdict

    from rue.data.info import info as describe

    facts = asdict(describe(name, root))
    if format is Format.json:
        emit(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            value = (
                "  ".join(f"{name} {'-' if fact is None else fact}" for name, fact in value.items())
                or "-"
            )
        elif isinstance(value, float):
            value = f"{value:.2f}"
        emit(f"{key:<16} {'-' if value is None else value}".translate(ESCAPES))


@app.command(epilog="Example:  rue data fetch 'sentiment-*' cifar10h")
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names, or patterns such as 'dcic-*'.")],
    root: Into = None,
) -> None:
    """Download data sets and check them; an interrupted download resumes."""
    import sys

    from rue.data.registry import expand, find_problem
    from rue.data.registry import fetch as fetch_one

    for name in expand(names):
        there = root is None and find_problem(name) is None
        if not there:
            warn(f"{name}: fetching")
            fetch_one(name, root, progress=sys.stderr.isatty())
        emit(f"{name}: {'already here' if there else 'here'}")


@app.command(epilog="Example:  rue data check my-folder --label answer --out mine.toml")
def check(
    path: Annotated[
        Path,
        typer.Argument(help="A file of answers or counts, or a folder that has one, and inputs."),
    ],
    inputs: Annotated[
        Path | None, typer.Option(help="Texts, images or features, if not beside the answers.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The TOML file to write; by default NAME.toml in the current folder."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the data set; by default that of the file.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The column of ids.")] = None,
    label: Annotated[str | None, typer.Option(help="The column of answers, as classes.")] = None,
    rating: Annotated[str | None, typer.Option(help="The column of answers, as numbers.")] = None,
    annotator: Annotated[str | None, typer.Option(help="The column of annotators.")] = None,
    text: Annotated[str | None, typer.Option(help="The column of texts.")] = None,
    image: Annotated[str | None, typer.Option(help="The column of image files.")] = None,
    split: Annotated[str | None, typer.Option(help="The column of splits.")] = None,
    group: Annotated[
        str | None, typer.Option(help="The column of groups that must not be split.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The classes in their order, e.g. no,maybe,yes.")
    ] = None,
    max_memory: MaxMemory = None,
    format: How = Format.table,
) -> None:
    """Check your own data set, and describe it in a TOML file.

    rue bench accepts this file as a data set.
    """
    from rue.data.own.check import check as check_own
    from rue.data.own.saving import save_description
    from rue.io.memory import parse_size

    found = check_own(
        path,
        name=out.stem if name is None and out is not None else name,
        inputs=inputs,
        columns={
            "id": id_,
            "label": label,
            "rating": rating,
            "annotator": annotator,
            "text": text,
            "image": image,
            "split": split,
            "group": group,
        },
        classes=None if classes is None else [word.strip() for word in classes.split(",")],
        folder=None if out is None else out.parent,
        max_memory=None if max_memory is None else parse_size(max_memory),
    )
    target = out or Path(f"{found.name}.toml")
    save_description(found.description, target)
    print(_check_json(found, target) if format is Format.json else _check_table(found, target))


def _facts(entries: "dict[str, Entry]", root: Path | None) -> str:
    import json
    from dataclasses import asdict

    from rue.data.info import known
    from rue.data.registry import is_here

    facts = [
        {
            **asdict(known(entry)),
            "task": entry.task,
            "size": entry.size,
            "here": is_here(name, root),
        }
        for name, entry in entries.items()
    ]
    return json.dumps(facts, indent=2, ensure_ascii=False)


def _check_json(found: "Check", target: Path) -> str:
    import json
    from dataclasses import asdict

    facts = asdict(found)
    del facts["description"]
    return json.dumps({**facts, "written": str(target)}, indent=2, ensure_ascii=False)


def _check_table(found: "Check", target: Path) -> str:
    """Set the facts one a line, then the warnings."""
    from rue.data.dataset import count

    def show(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    answers = f"{found.annotators_min} / {found.annotators_mean:.1f} / {found.annotators_max}"
    if found.n_annotators is not None:
        answers += f", {found.n_annotators:,} annotators"
    lines = [
        ("answers", f"{found.answers}: {found.layout}"),
        ("inputs", found.inputs),
        ("points", f"{found.n_points:,}"),
        ("answers a point", f"{answers}, {found.n_answers:,} in all"),
    ]
    if found.classes:
        shares = [f"{name} {share:.1%}" for name, share in found.classes.items()]
        more = [f"and {len(shares) - 12} more"] if len(shares) > 12 else []
        lines += [
            ("classes", f"{len(shares)}: {', '.join([*shares[:12], *more])}"),
            ("agreement", f"{show(found.agreement)} of pairs, alpha {show(found.alpha)}"),
            ("entropy", f"{show(found.entropy)} nats on average"),
            ("Bayes error", show(found.bayes_error)),
            ("unanimous", f"{found.unanimous:.1%} of points"),
        ]
    else:
        lines += [
            ("classes", "none: the answers are numbers"),
            ("agreement", f"alpha {show(found.alpha)}"),
            ("spread", f"{show(found.spread)}, the mean standard deviation of a point's answers"),
        ]
    origin = "as the files say" if found.official else "folds of rue's own, at seed 0"
    sizes = "  ".join(f"{split} {size:,}" for split, size in found.splits.items())
    lines += [
        ("duplicates", f"{count(found.duplicates, 'point')} with the input of another"),
        ("splits", f"{sizes} ({origin})"),
        ("leaks", f"{count(found.leaks, 'point')} with an input of another split"),
    ]
    width = max(len(key) for key, _ in lines) + 2
    return "\n".join(
        (
            *(f"{key:<{width}}{value}" for key, value in lines),
            *(f"note: {note}" for note in found.notes),
            *(f"warning: {warning}" for warning in found.warnings),
            f'wrote {target}: in a suite, datasets = ["{target}"]',
        )
    )


def _table(entries: "dict[str, Entry]", root: Path | None) -> str:
    from rue.data.registry import is_complete, is_here

    here = {
        name: "yes" if is_complete(name, root) else "partly" if is_here(name, root) else "no"
        for name in entries
    }
    header = ["name", "task", "points", "classes", "annotators", "size", "licence", "here"]
    rows = [header, *(_row(entry, here[name]) for name, entry in entries.items())]
    return align(rows, left=("name", "task", "licence", "here"), rule=True)


def _row(entry: "Entry", here: str) -> list[str]:
    annotators = "-"
    if entry.annotators is not None:
        fewest, mean, most = entry.annotators
        annotators = f"{fewest} / {mean:.1f} / {most}"
    return [
        entry.name,
        entry.task,
        f"{entry.n_points:,}",
        str(entry.n_classes or "-"),
        annotators,
        _size(entry.size) if entry.size else "-",
        entry.licence,
        here,
    ]


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.1f} MB"
