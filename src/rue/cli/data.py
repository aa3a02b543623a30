"""rue data: which data sets there are, what they hold, and fetching them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rue.cli.options import align

if TYPE_CHECKING:
    from rue.data.entry import Entry

app = typer.Typer(help="Data sets: list them, look at one, fetch some.", no_args_is_help=True)


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    json = "json"


Root = Annotated[
    Path | None, typer.Option(help="A data root, looked in before RUE_DATA and the cache.")
]
Into = Annotated[Path | None, typer.Option(help="Fetch into this folder, not into the cache.")]
How = Annotated[Format, typer.Option(help="How to print.")]


@app.command("list", epilog="Example:  rue data list")
def list_(root: Root = None, format: How = Format.table) -> None:
    """List the data sets, and whether each is here."""
    from rue.data.registry import ENTRIES
    from rue.errors import PluginError

    entries: dict[str, Entry] = {}
    broken: list[PluginError] = []
    for name in ENTRIES:
        try:
            entries[name] = ENTRIES[name]
        except PluginError as error:  # the others are listed all the same
            broken.append(error)
    print(_facts(entries, root) if format is Format.json else _table(entries, root), flush=True)
    if broken:
        raise broken[0]


@app.command(epilog="Example:  rue data info sentiment-movies --format json")
def info(
    name: Annotated[str, typer.Argument(help="As `rue data list` shows it.")],
    root: Root = None,
    format: How = Format.table,
) -> None:
    """Say what a data set holds: measured if it is here, else what is known of it."""
    import json
    from dataclasses import asdict

    from rue.data.info import info as describe

    facts = asdict(describe(name, root))
    if format is Format.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            value = (
                "  ".join(f"{name} {'-' if fact is None else fact}" for name, fact in value.items())
                or "-"
            )
        elif isinstance(value, float):
            value = f"{value:.2f}"
        print(f"{key:<16} {'-' if value is None else value}")


@app.command(epilog="Example:  rue data fetch 'sentiment-*' cifar10h")
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names, or patterns such as 'dcic-*'.")],
    root: Into = None,
) -> None:
    """Fetch data sets: with progress, checked, and from where an earlier try broke off."""
    import sys

    from rue.data.registry import expand, flaw
    from rue.data.registry import fetch as fetch_one

    for name in expand(names):
        there = root is None and flaw(name) is None
        if not there:
            print(f"{name}: fetching", file=sys.stderr)
            fetch_one(name, root, progress=sys.stderr.isatty())
        print(f"{name}: {'already here' if there else 'here'}")


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
