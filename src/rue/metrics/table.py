"""Format the rows of evaluate, bench and published as text."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from rue._text import ESCAPES, protected
from rue.errors import InputError
from rue.metrics.columns import COLUMNS, Column

if TYPE_CHECKING:
    import pandas

    from rue.metrics.evaluation import Evaluation

__all__ = [
    "BY_COMPONENT",
    "FORMATS",
    "Format",
    "describe",
    "escape_latex",
    "format_rows",
    "notes",
    "to_frame",
    "to_latex",
]

Format = Literal["table", "json", "csv", "latex", "markdown"]
"""What :func:`format_rows` writes."""
FORMATS: tuple[Format, ...] = get_args(Format)
Row = Mapping[str, Any]
_NAMES = ("dataset", "method", "loss", "group")
BY_COMPONENT = (
    *("n_aurec", "n_aurec_total", "n_aurec_aleatoric"),
    *("aurec", "aurec_total", "aurec_aleatoric"),
)
"""The columns that say which component finds regret best: epistemic, total or aleatoric."""
_ARROWS = {"low": "↓ ", "high": "↑ "}
_LATEX_ARROWS = {"low": r"$\downarrow$ ", "high": r"$\uparrow$ "}


def format_rows(
    rows: "Iterable[Evaluation | Row]",
    format: Format = "table",
    *,
    columns: Sequence[str] | None = None,
) -> str:
    """Return rows as text: a plain table, JSON, CSV, LaTeX (booktabs) or Markdown.

    A column is shown if a row has it. Within each data set, loss and group the best value of a
    column is bold and the second underlined.

    Parameters
    ----------
    rows : iterable of Evaluation or mapping
        The rows.
    format : {"table", "json", "csv", "latex", "markdown"}
        The format.
    columns : sequence of str, optional
        Show these columns, for example :data:`BY_COMPONENT`, and not the usual ones.

    Returns
    -------
    str
        The text, without a final newline.

    Raises
    ------
    InputError
        If there are no rows, or the format is unknown.

    Examples
    --------
    >>> from rue.metrics import format_rows
    >>> print(format_rows([{"method": "a", "aurec": 0.25}, {"method": "b", "aurec": 0.5}], "csv"))
    method,aurec
    a,0.25
    b,0.5
    """
    dicts = [_as_dict(row) for row in rows]
    if not dicts:
        raise InputError("there must be at least one row, got none")
    if columns is not None:
        kept = {f"{key}{end}" for key in columns for end in ("", "_std", "_ci_low", "_ci_high")}
        dicts = [{k: v for k, v in row.items() if k in kept or k in _NAMES} for row in dicts]
    match format:
        case "json":
            return json.dumps(dicts, indent=2, allow_nan=False)
        case "csv":
            return _csv(dicts)
        case "latex":
            return to_latex(dicts, columns=columns)
        case "markdown":
            return _markdown(dicts, columns)
        case "table":
            return _plain(dicts, columns)
    raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")


def to_frame(rows: "Iterable[Evaluation | Row]") -> "pandas.DataFrame":
    """Return rows as a DataFrame, with undefined numbers as NaN.

    Parameters
    ----------
    rows : iterable of Evaluation or mapping
        The rows.

    Returns
    -------
    pandas.DataFrame
        One row each.

    Examples
    --------
    >>> from rue.metrics import to_frame
    >>> to_frame([{"method": "a", "aurec": 0.25}]).shape
    (1, 2)
    """
    import pandas as pd

    return pd.DataFrame([_as_dict(row) for row in rows])


def to_latex(rows: "Iterable[Evaluation | Row]", *, columns: Sequence[str] | None = None) -> str:
    r"""Return rows as a LaTeX table in the layout of the paper (it needs booktabs).

    Parameters
    ----------
    rows : iterable of Evaluation or mapping
        The rows.
    columns : sequence of str, optional
        Show these columns, and not the usual ones.

    Returns
    -------
    str
        A ``tabular`` environment.

    Examples
    --------
    >>> from rue.metrics import to_latex
    >>> print(to_latex([{"method": "a", "aurec": 0.25}]).splitlines()[4])
    a & 0.2500 \\
    """
    dicts = [_as_dict(row) for row in rows]
    names, titles, cells = _cells(
        dicts,
        columns,
        bold=r"\textbf{{{}}}".format,
        second=r"\underline{{{}}}".format,
        latex=True,
    )
    head = [name.capitalize() for name in names] + titles
    lines = [
        r"\begin{tabular}{" + "l" * len(names) + "c" * len(titles) + "}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
    ]
    for row, texts in zip(dicts, cells, strict=True):
        lines.append(" & ".join([escape_latex(_name(row, n)) for n in names] + texts) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def describe(row: "Evaluation") -> str:
    """Return one row as a small table with a short description of each number."""
    values = row.to_dict()
    title = " · ".join(filter(None, (row.method, f"{row.loss} loss" * bool(row.loss), row.group)))
    lines = [f"{title} · {row.n_points:,} points".removeprefix(" · ")]
    own = [column for column in COLUMNS.values() if column.key in values]
    for column in sorted(own, key=lambda column: not column.in_table):
        text = _number(values[column.key], column.digits) or "-"
        lines.append(f"  {column.title:<16}{text:>10}   {column.meaning}")
    return "\n".join([*lines, *(f"  note: {note}" for note in row.notes)])


def notes(rows: "Iterable[Evaluation | Row]") -> list[str]:
    """Return the notes of all rows, each with the row's name."""
    dicts = [_as_dict(row) for row in rows]
    return [
        " ".join(_name(row, n) for n in _NAMES if row.get(n)) + f": {note}"
        for row in dicts
        for note in row.get("notes", ())
    ]


def _as_dict(row: "Evaluation | Row") -> dict[str, Any]:
    return dict(row) if isinstance(row, Mapping) else row.to_dict()


def _name(row: Row, key: str) -> str:
    """Return a name in a row, such as that of a file, on one line."""
    return str(row.get(key, "")).translate(ESCAPES)


def _race(row: Row) -> tuple[Any, Any, Any]:
    return row.get("dataset"), row.get("loss"), row.get("group")


def _shown(dicts: Sequence[Row], columns: Sequence[str] | None) -> list[Column]:
    if columns is not None:
        return [COLUMNS[key] for key in columns if any(key in row for row in dicts)]
    return [
        column
        for column in COLUMNS.values()
        if any(
            (column.in_table and column.key in row)
            or (column.on_request and row.get(column.key) is not None)
            for row in dicts
        )
    ]


def _number(value: Any, digits: int) -> str:
    if value is None or math.isnan(value):
        return ""
    if digits and value != 0 and abs(value) < 10 ** (1 - digits):
        return f"{value:.{digits - 2}e}"  # decimals would show too few digits
    return f"{value:.{digits}f}"


def _cells(
    dicts: Sequence[Row],
    wanted: Sequence[str] | None,
    *,
    bold: Callable[[str], str],
    second: Callable[[str], str],
    latex: bool = False,
) -> tuple[list[str], list[str], list[list[str]]]:
    """Return the keys of the names, the titles of the columns and the cells of each row.

    The two best cells of a column are marked. The bracket of AuReC, if any, follows AuReC, and
    the number of annotators comes last. Standard deviations and confidence intervals follow
    their numbers.
    """
    names = [n for n in _NAMES if any(row.get(n) for row in dicts)]
    columns = _shown(dicts, wanted)
    cells = [[_number(row.get(c.key), c.digits) for c in columns] for row in dicts]
    races: dict[tuple[Any, Any, Any], list[int]] = {}
    for i, row in enumerate(dicts):
        races.setdefault(_race(row), []).append(i)
    for j, column in enumerate(columns):
        for race in races.values() if column.better in _ARROWS else ():
            # Numbers that print alike get the same mark.
            found = {float(cells[i][j]) for i in race if cells[i][j]}
            ranked = sorted(found, reverse=column.better == "high")
            if len([i for i in race if cells[i][j]]) < 2 or len(ranked) < 2:
                continue
            for i in race:
                if cells[i][j] and float(cells[i][j]) in ranked[:2]:
                    mark = bold if float(cells[i][j]) == ranked[0] else second
                    cells[i][j] = mark(cells[i][j])
    for line, row in zip(cells, dicts, strict=True):
        for j, column in enumerate(columns):
            line[j] += _spread(row, column, r" {{\scriptsize$\pm${}}}" if latex else " ±{}")
            line[j] += _interval(row, column, r" {{\scriptsize {}}}" if latex else " {}")
    arrow = _LATEX_ARROWS if latex else _ARROWS
    titles = [arrow.get(c.better, "") + (c.latex * latex or c.title) for c in columns]
    first = 1 + next((j for j, c in enumerate(columns) if c.key == "aurec"), 0)
    further = ((first, "bracket", _bracket), (len(titles) + 1, "annotators", _annotators))
    for place, title, text in further:
        texts = [text(row) for row in dicts]
        if any(texts):
            titles.insert(place, title)
            for line, cell in zip(cells, texts, strict=True):
                line.insert(place, re.sub(r"(\d)-", r"\1--", cell) if latex else cell)
    return names, titles, cells


def _spread(row: Row, column: Column, form: str) -> str:
    std = row.get(f"{column.key}_std")
    if std is None or row.get(column.key) is None:
        return ""
    return form.format(f"{std:.{column.digits}f}".removeprefix("0"))


def _interval(row: Row, column: Column, form: str) -> str:
    low, high = (row.get(f"{column.key}_ci_{end}") for end in ("low", "high"))
    if low is None or high is None:
        return ""
    shown = 0.5 * 10**-column.digits
    ends = (
        f"{end:.{column.digits}f}" if abs(end) >= shown else _number(end, column.digits)
        for end in (low, high)
    )
    # Without the 0 before the point, so that seven intervals fit into a line.
    return form.format("[" + ", ".join(re.sub(r"^(-?)0\.", r"\1.", end) for end in ends) + "]")


def _bracket(row: Row) -> str:
    low, high = (row.get(f"aurec_{end}") for end in ("low", "high"))
    return "" if low is None or high is None else f"[{_number(low, 4)}, {_number(high, 4)}]"


def _annotators(row: Row) -> str:
    fewest, mean, most = (row.get(f"annotators_{what}") for what in ("min", "mean", "max"))
    if fewest is None or mean is None or most is None:
        return ""
    return f"{fewest:.0f}" if fewest == most else f"{fewest:.0f}-{most:.0f}, {mean:.1f}"


def _plain(dicts: Sequence[Row], columns: Sequence[str] | None = None) -> str:
    names, titles, cells = _cells(
        dicts, columns, bold="\x1b[1m{}\x1b[0m".format, second="\x1b[4m{}\x1b[0m".format
    )
    head = names + titles
    body = []
    for row, texts in zip(dicts, cells, strict=True):
        parts = [text.partition(" [") for text in texts]  # intervals get their own line
        body.append([[_name(row, n) for n in names] + [part[0] for part in parts]])
        if any(part[1] for part in parts):
            body[-1].append([""] * len(names) + [(p[1] + p[2]).strip() for p in parts])
    every = [head, *(line for lines in body for line in lines)]
    widths = [max(len(_bare(line[j])) for line in every) for j in range(len(head))]
    lines = [_line(head, widths, len(names)), "  ".join("─" * w for w in widths)]
    for i, block in enumerate(body):
        if i and _race(dicts[i]) != _race(dicts[i - 1]):
            lines.append("")
        lines += [_line(line, widths, len(names)) for line in block]
    return "\n".join(lines)


def _line(texts: Sequence[str], widths: Sequence[int], n_names: int) -> str:
    padded = []
    for j, (text, width) in enumerate(zip(texts, widths, strict=True)):
        space = " " * (width - len(_bare(text)))
        padded.append(text + space if j < n_names else space + text)
    return "  ".join(padded).rstrip()


def _bare(text: str) -> str:
    return text.replace("\x1b[1m", "").replace("\x1b[4m", "").replace("\x1b[0m", "")


def _csv(dicts: Sequence[Row]) -> str:
    buffer = io.StringIO()
    keys = [key for key in dict.fromkeys(k for row in dicts for k in row) if key != "notes"]
    writer = csv.DictWriter(buffer, keys, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in dicts:
        writer.writerow({k: protected(v) if isinstance(v, str) else v for k, v in row.items()})
    return buffer.getvalue().rstrip("\n")


def _markdown(dicts: Sequence[Row], columns: Sequence[str] | None = None) -> str:
    names, titles, cells = _cells(dicts, columns, bold="**{}**".format, second="<u>{}</u>".format)
    head = names + titles
    rule = ["---"] * len(names) + ["---:"] * len(titles)
    body = [
        [_name(row, n).replace("|", r"\|") for n in names] + texts
        for row, texts in zip(dicts, cells, strict=True)
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *body])


_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def escape_latex(text: str) -> str:
    r"""Return text with the characters escaped that LaTeX reads as commands.

    Examples
    --------
    >>> print(escape_latex("a_b"))
    a\_b
    """
    return text.translate(_LATEX)
