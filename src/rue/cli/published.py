"""rue published: the numbers of the paper."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rue.cli import emit
from rue.cli.options import Format

if TYPE_CHECKING:
    from rue.published import PublishedTable

EXAMPLE = "rue published --table cifar10h --format csv"


def published(
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One table, by name or number; default all tables."),
    ] = None,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.table,
) -> None:
    """Print tables 1 to 13 of the paper.

    As csv and json, all tables are one list.
    """
    from rue.published import TABLES, read_published

    rows = [row.to_dict() for row in read_published(table)]
    if format in (Format.csv, Format.json):
        emit(_text(rows, format))
        return
    blocks = []
    for each in TABLES:
        own = [row for row in rows if row["table"] == each.name]
        if own:
            blocks.append(f"{_title(each, format)}\n{_text(_together(own), format)}")
    emit("\n\n".join(blocks))


def _text(rows: list[dict[str, Any]], format: Format) -> str:
    from rue.metrics.table import format_rows

    return format_rows(rows, format.value)


def _title(table: "PublishedTable", format: Format) -> str:
    text = f"Table {table.number} ({table.name}): {table.title}"
    return {Format.markdown: f"**{text}**\n", Format.latex: f"% {text}"}.get(format, text)


def _together(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the rows by loss; omit columns that are empty or the same in all rows."""
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    empty = {key for key in rows[0] if all(row[key] is None for row in rows)}
    if len({row["dataset"] for row in rows}) == 1:
        empty.add("dataset")
    rows = sorted(rows, key=lambda row: losses.index(row["loss"]))
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]
