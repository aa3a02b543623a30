"""How a study fills a page: text between marks, and the pieces of Markdown that it puts there.

A page marks the place of a block with two comments, and :func:`fill` replaces what is between::

    <!-- begin NAME -->
    ...
    <!-- end NAME -->
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Columns = Mapping[str, str | Callable[[Any], str]]
"""Of a table: under each heading a format of a row's values, or a function of a row."""


def fill(page: str, blocks: Mapping[str, str]) -> str:
    """Return the page with each block between its marks.

    Raises
    ------
    ValueError
        If the page does not have the marks of a block exactly once.
    """
    for name, text in blocks.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        marks = f"{re.escape(begin)}.*?{re.escape(end)}"
        parts = re.split(marks, page, flags=re.DOTALL)
        if len(parts) != 2:
            n = len(parts) - 1
            raise ValueError(f"a page needs one block {name!r} between marks, found {n}")
        page = f"{parts[0]}{begin}\n{text}\n{end}{parts[1]}"
    return page


def fill_file(path: Path, blocks: Mapping[str, str]) -> None:
    """Fill a page on disk."""
    path.write_text(fill(path.read_text(), blocks))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, text: int = 1) -> str:
    """Return a Markdown table whose first `text` columns are words, and the others numbers."""
    marks = ["---"] * text + ["--:"] * (len(head) - text)
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(marks)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def table_of(rows: Iterable[Any], columns: Columns, *, text: int = 1) -> str:
    """Return the table of some rows."""
    cells = [
        [form.format_map(row) if isinstance(form, str) else form(row) for form in columns.values()]
        for row in rows
    ]
    return table(list(columns), cells, text=text)


def code(text: str, language: str = "text") -> str:
    """Return a fenced block of code."""
    return f"```{language}\n{text.strip()}\n```"


def old_totals(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return which proxies of stored rows rank by a total that had an outside score in it."""
    # Their AuRC by total is empty until the next run, because it could not be computed again.
    methods = {row["method"] for row in rows if row["loss"] and row.get("aurc_total", 0.0) is None}
    if not methods:
        return ""
    return (
        f"*AuAC and active learning by total of {listed(sorted(methods))} are of an earlier "
        "definition, which added the outside score to the total; the next run will replace them.*"
    )


def trained_again(record: Mapping[str, Any]) -> str:
    """Return which cells were trained again for their totals, and how close they are."""
    again = record.get("again", ())
    if not again:
        return ""
    methods = listed(sorted({one["cell"]["method"] for one in again}))
    same = sum(one["same_bits"] for one in again)
    inputs = sum(one["same_inputs"] for one in again)
    text = (
        f"*The {len(again)} cells of {methods} were trained again, on another machine, because "
        "AuAC and active learning by total had the outside score in them. Of these cells "
        f"{same} have the former predictions to the bit"
    )
    if inputs < len(again):
        text += f", and {inputs} the former inputs"
    if same < len(again):
        aurec, n_aurec = (max(one[key] for one in again) for key in ("aurec", "n_aurec"))
        text += (
            f"; AuReC moved by at most {aurec:.1g}, n-AuReC by at most {n_aurec:.1g}. Intervals "
            "and tests are those of the former predictions"
        )
    return f"{text}.*"


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Return the mean and the standard deviation of some values."""
    values = list(values)
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


def interval(value: Sequence[float], digits: int = 2, sign: str = "") -> str:
    """Return a number with the ends of its interval."""
    number, low, high = (f"{one:{sign}.{digits}f}" for one in value)
    return f"{number} [{low}, {high}]"


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.{digits}f} %"
