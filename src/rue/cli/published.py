"""rue published: the numbers of the paper."""

from collections.abc import Sequence

from rue._text import JsonObject
from rue.cli import emit, terminal_width
from rue.cli.options import FORMAT, NAME, WIDE, argument, option
from rue.errors import InputError
from rue.metrics.table import Format, format_rows, with_title
from rue.published import TABLES, read_published

EXAMPLE = "rue published cifar10h --format csv"


def published(
    name: str | None = argument(None, "As --table.", metavar=NAME),
    table: str | None = option(
        None, "One table, by name or number. By default all tables.", metavar=NAME
    ),
    format: Format = FORMAT,
    wide: bool = WIDE,
) -> None:
    """Print tables 1 to 13 of the paper.

    As csv and json, all tables are one list.
    """
    if name is not None and table not in (None, name):
        raise InputError(f"there must be one table, got {name} and --table {table}")
    rows = [row.to_dict() for row in read_published(table or name)]
    if format in ("csv", "json"):
        emit(format_rows(rows, format))
        return
    blocks = []
    for part in TABLES:
        own = [row for row in rows if row["table"] == part.name]
        if own:
            own = _together(own, hidden=() if wide or format != "table" else ("excess_aurec",))
            text = format_rows(own, format, width=terminal_width(wide))
            title = f"Table {part.number} ({part.name}): {part.title}"
            blocks.append(with_title(title, text, format))
    emit("\n\n".join(blocks))


def _together(rows: list[JsonObject], hidden: Sequence[str]) -> list[JsonObject]:
    """Sort the rows by loss; omit hidden columns, and empty ones or those the same in all rows."""
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    empty = {key for key in rows[0] if all(row[key] is None for row in rows)} | set(hidden)
    if len({row["dataset"] for row in rows}) == 1:
        empty.add("dataset")
    rows = sorted(rows, key=lambda row: losses.index(row["loss"]))
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]
