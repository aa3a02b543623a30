"""The one printer: any table as plain text, JSON, CSV, LaTeX (booktabs) or Markdown."""

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

from rue._text import ESCAPES, JsonObject, protected
from rue.errors import InputError
from rue.metrics.columns import COLUMNS, SHORT, Column
from rue.metrics.limits import limit_titles

if TYPE_CHECKING:
    import pandas

    from rue.metrics.evaluation import Evaluation

Format = Literal["table", "json", "csv", "latex", "markdown"]
"""What :func:`format_rows` writes."""
FORMATS: tuple[Format, ...] = get_args(Format)
Row = Mapping[str, Any]
_NAMES = ("dataset", "method", "loss", "group")
_ARROWS = {"low": "↓ ", "high": "↑ "}
_LATEX_ARROWS = {"low": r"$\downarrow$ ", "high": r"$\uparrow$ "}
_MARKS = {
    "table": {"best": "\x1b[1m{}\x1b[0m", "second": "\x1b[4m{}\x1b[0m"},
    "markdown": {"best": "**{}**", "second": "<u>{}</u>"},
    "latex": {"best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"},
}
_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)
# What Markdown would obey; an underscore between letters is itself.
_MARKDOWN = re.compile(r"[\\`*<|~]|\](?=[(\[])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_SPACE = 2  # between the columns of a plain table


@dataclass(frozen=True)
class NumberCell:
    """A number of a table: its text, its mark, its standard deviation and its interval."""

    text: str
    mark: Literal["", "best", "second"] = ""
    spread: str = ""
    interval: str = ""

    def shown(self, format: Format) -> str:
        """Return the cell in a format; plain tables have the interval on a line of its own."""
        marked = _MARKS.get(format, {}).get(self.mark, "{}").format(self.text)
        spread, interval = " ±{}", "" if format == "table" else " {}"
        if format == "latex":
            spread, interval = r" {{\scriptsize$\pm${}}}", r" {{\scriptsize {}}}"
        marked += spread.format(self.spread) if self.spread else ""
        return marked + (interval.format(self.interval) if self.interval else "")


def format_grid(
    rows: Sequence[Sequence[str | NumberCell] | None],
    format: Format = "table",
    *,
    left: Collection[str] | int = 1,
    wrap: str = "",
    width: int | None = None,
) -> str:
    """Return a table of texts, the header first, in a format."""
    header = [
        str(title.text if isinstance(title, NumberCell) else title) for title in rows[0] or ()
    ]
    lefts = [j < left if isinstance(left, int) else t in left for j, t in enumerate(header)]
    if format == "table":
        return _plain(rows, lefts, header.index(wrap) if wrap else None, width)
    texts = [[_shown(cell, format) for cell in row] for row in rows if row is not None]
    match format:
        case "json":
            return json.dumps([dict(zip(header, row, strict=True)) for row in texts[1:]], indent=2)
        case "csv":
            return _csv([header, *texts[1:]])
        case "markdown":
            texts.insert(1, ["---" if is_left else "---:" for is_left in lefts])
            return "\n".join("| " + " | ".join(row) + " |" for row in texts)
    lines = [" & ".join(row) + r" \\" for row in texts]
    kinds = "".join("l" if is_left else "c" for is_left in lefts)
    top = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}"])


def with_title(title: str, text: str, format: Format) -> str:
    """Return a table below its title."""
    head = {"markdown": f"**{title}**\n", "latex": f"% {title}"}.get(format, title)
    return f"{head}\n{text}"


def format_rows(
    rows: "Iterable[Evaluation | Row]",
    format: Format = "table",
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    width: int | None = None,
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
    columns : sequence of str or mapping, optional
        Show these columns and not the usual ones; a mapping gives them titles, and those that are
        empty are left out. Corrected columns are in a table of their own if others are simulated
        (floor, expectation), because the two have different scales.
    width : int, optional
        The columns of a plain table that do not fit into so many characters go to a further block.

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
    if format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    if columns is not None:
        keys = {f"{key}{end}" for key in columns for end in ("", "_std", "_ci_low", "_ci_high")}
        if format not in ("json", "csv"):  # groups show the first, titles the others
            keys |= {"n_points", "at_coverage", "at_risk", "at_regret"}
        dicts = [{k: v for k, v in row.items() if k in keys or k in _NAMES} for row in dicts]
    match format:
        case "json":
            return json.dumps(dicts, indent=2, allow_nan=False)
        case "csv":
            head = list(dict.fromkeys(key for row in dicts for key in row if key != "notes"))
            return _csv([head, *([row.get(key) for key in head] for row in dicts)])
    tables = _scales(_columns_of(dicts, columns))
    return "\n\n".join(_result_grid(dicts, own, format, width) for own in tables)


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
    return format_rows(rows, "latex", columns=columns)


def describe(row: "Evaluation") -> str:
    """Return one row in at most 12 lines: a sentence, the main numbers and the notes."""
    title, sentence, numbers, remarks = _short_answer(row)
    lines = [title, *textwrap.wrap(sentence, 96, initial_indent="  ", subsequent_indent="  ")]
    lines += [f"  {name:<9}{number:>9}   {meaning}".rstrip() for name, number, meaning in numbers]
    room = 12 - len(lines)
    if len(remarks) > room:
        remarks = [*remarks[: room - 1], f"{len(remarks) - room + 1} more in row.notes"]
    return "\n".join([*lines, *(f"  note: {note}" for note in remarks)])


def describe_html(row: "Evaluation") -> str:
    """Return one row as HTML, for a notebook."""
    title, sentence, numbers, remarks = _short_answer(row)
    notes = "".join(f"<li>{escape(note)}</li>" for note in remarks)
    return (
        f"<p><b>{escape(title)}</b><br>{escape(sentence)}</p>"
        + html_grid(numbers)
        + (f"<ul>{notes}</ul>" if notes else "")
    )


def html_grid(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Return texts as an HTML table."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{body}</table>"


def _short_answer(row: "Evaluation") -> tuple[str, str, list[tuple[str, str, str]], list[str]]:
    """Return the title of a row, one sentence, its main numbers and its notes."""
    values = row.to_dict()
    answers = f"{text} answers per point" if (text := _annotators(values)) else ""
    loss = f"{row.loss} loss" * bool(row.loss)
    parts = (row.method, loss, row.group, f"{row.n_points:,} points", answers)
    names = {key: SHORT[key] for key in ("n_aurec_floor", "n_aurec_total")}
    names["n_aurec_expected"] = "if the model is right"
    against = [
        f"{name} {_number(values[key], 3)}"
        for key, name in names.items()
        if values[key] is not None
    ]
    regret, low = _number(values["regret"], 4), max(values["aurec_low"] or 0.0, 0.0)
    bracket = f"; bracket {low:.4f} to {_number(values['aurec_high'], 4)}" * bool(_bracket(values))
    avoidable = f"{'at most ' * bool(answers)}{regret} of it was avoidable (regret)"
    if values["regret_unbiased"] is not None:
        avoidable = f"{_number(values['regret_unbiased'], 4)} of it was avoidable (regret)"
        avoidable += f", {regret} with the answers' noise" * bool(answers)
    meanings = {
        "n_aurec": "; ".join(["0 perfect, 1 random", ", ".join(against)]),
        "aurec": f"area under the regret-coverage curve{bracket}",
        "risk": f"mean loss; {avoidable}",
    }
    numbers = [
        (
            COLUMNS[key].title,
            _number(values[key], COLUMNS[key].digits) or "-",
            meanings.get(key, COLUMNS[key].meaning).strip("; "),
        )
        for key in ("n_aurec", "aurec", "aurc", "pareto_gap", "spearman_hat", "risk")
    ]
    remarks = list(filter(None, (_note_about(note, SHORT) for note in row.notes)))
    return " · ".join(filter(None, parts)), _sentence(values), numbers, remarks


def _note_about(note: str, shown: Collection[str]) -> str:
    """Return a note without the columns that are not shown; empty if it is about no others."""
    titles = {column.title: key for key, column in COLUMNS.items()}
    head = re.match(r"(.+?) (?:is|are) (.*)", note)
    names = head[1].split(", ") if head else []
    if head and all(name in titles for name in names):
        names = [name for name in names if titles[name] in shown]
        return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {head[2]}" if names else ""
    about = max((title for title in titles if note.startswith(f"{title} ")), key=len, default="")
    return note if not about or titles[about] in shown else ""


def _sentence(values: Row) -> str:
    """Return in words how well epistemic uncertainty ranks regret."""
    number, floor = values["n_aurec"], values["n_aurec_floor"]
    titles = _limit_titles([values])
    limits = "".join(
        f" {name.replace('cov.', 'coverage').capitalize()}: {values[key]:.4g}."
        for key, name in titles.items()
    )
    if number is None:
        return "n-AuReC is undefined: no ranking is better than another." + limits
    than = (
        "better than" if number < 0.95 else "about as well as" if number <= 1.05 else "worse than"
    )
    best = "0 a perfect ranking"
    if floor:
        best = f"{floor:.2f} the best that any ranking could show with these answers"
    return f"It ranks regret {than} chance: {number:.2f}, where 1 is random and {best}." + limits


_BELOW_FLOOR = (
    "expected is n-AuReC on answers simulated from the belief, the floor on answers like these, so "
    "expected can be lower"
)


def notes(rows: "Iterable[Evaluation | Row]", shown: Collection[str] | None = None) -> list[str]:
    """Return the notes of all rows, each with the row's name; only those about shown columns."""
    dicts = [_as_dict(row) for row in rows]
    keys = "n_aurec_expected", "n_aurec_floor"
    below = any((row.get(keys[0]) or math.inf) < (row.get(keys[1]) or 0.0) for row in dicts)
    about_all = [_BELOW_FLOOR] * (below and shown is not None and set(keys) <= set(shown))
    return about_all + [
        " ".join(_name(row, n) for n in _NAMES if row.get(n)) + f": {text}"
        for row in dicts
        for note in row.get("notes", ())
        if (text := note if shown is None else _note_about(note, shown))
    ]


def _as_dict(row: "Evaluation | Row") -> JsonObject:
    return dict(row) if isinstance(row, Mapping) else row.to_dict()


def _name(row: Row, key: str) -> str:
    """Return a name in a row, such as that of a file, on one line."""
    return str(row.get(key, "")).translate(ESCAPES)


def _is_difference(row: Row) -> bool:
    """Whether a row is the difference of two groups, so that none of its numbers is best."""
    group = str(row.get("group") or "")
    return group.startswith("(") and " - " in group


def _race(row: Row) -> tuple[Any, Any, Any]:
    return row.get("dataset"), row.get("loss"), row.get("group")


def _columns_of(
    dicts: Sequence[Row], columns: Sequence[str] | Mapping[str, str] | None
) -> list[Column]:
    if isinstance(columns, Mapping):
        full = [key for key in columns if any(row.get(key) is not None for row in dicts)]
        return [replace(COLUMNS[key], title=columns[key]) for key in full]
    if columns is not None:
        shown = [COLUMNS[key] for key in columns if any(key in row for row in dicts)]
    else:
        shown = [
            column
            for column in COLUMNS.values()
            if any(
                (column.in_table and column.key in row)
                or (column.on_request and row.get(column.key) is not None)
                for row in dicts
            )
        ]
    titles = _limit_titles(dicts)
    return [replace(c, title=titles[c.key]) if c.key in titles else c for c in shown]


def _limit_titles(dicts: Sequence[Row]) -> dict[str, str]:
    """Return the titles of columns that are read at a limit, where all rows have the same one."""
    limits: dict[str, set[float]] = {}
    for row in dicts:
        for key, limit in row.items():
            if key.startswith("at_"):
                limits.setdefault(key.removeprefix("at_"), set()).add(limit)
    return limit_titles(
        {name: min(several) for name, several in limits.items() if len(several) < 2}
    )


def _scales(columns: Sequence[Column]) -> list[Sequence[Column]]:
    """Return the columns of each table: corrected ones are not beside those that are simulated."""
    corrected = [c for c in columns if c.key.endswith("_corrected")]
    if not corrected or not any(c.simulated for c in columns):
        return [columns]
    return [[c for c in columns if c not in corrected], corrected]


def _number(value: Any, digits: int) -> str:
    if value is None or math.isnan(value):
        return ""
    if digits and value != 0 and abs(value) < 10 ** (1 - digits):
        return f"{value:.{digits - 2}e}"  # decimals would show too few digits
    return f"{value:.{digits}f}"


def _result_grid(
    dicts: Sequence[Row],
    columns: Sequence[Column],
    format: Format,
    width: int | None,
) -> str:
    """Return result rows as a table; blank lines separate data sets, losses and groups."""
    names = [n for n in _NAMES if any(row.get(n) for row in dicts)]
    marks = _marks(dicts, columns)
    cells = [
        [
            NumberCell(_number(row.get(c.key), c.digits), mark, _spread(row, c), _interval(row, c))
            for c, mark in zip(columns, line, strict=True)
        ]
        for row, line in zip(dicts, marks, strict=True)
    ]
    latex = format == "latex"
    arrow = _LATEX_ARROWS if latex else _ARROWS
    titles = [NumberCell(arrow.get(c.better, "") + (c.latex * latex or c.title)) for c in columns]
    first = 1 + next((j for j, c in enumerate(columns) if c.key == "aurec"), 0)
    further = (
        (first, "bracket", _bracket),
        (len(titles) + 1, "annotators", _annotators),
        (0, "points", _points_of_group),
    )
    for place, title, text in further:
        texts = [text(row) for row in dicts]
        if any(texts):
            titles.insert(place, NumberCell(title))
            for line, cell in zip(cells, texts, strict=True):
                line.insert(place, NumberCell(re.sub(r"(\d)-", r"\1--", cell) if latex else cell))
    heads = [name.capitalize() if latex else name for name in names]
    grid: list[Sequence[str | NumberCell] | None] = [[*heads, *titles]]
    for i, (row, line) in enumerate(zip(dicts, cells, strict=True)):
        if i and _race(row) != _race(dicts[i - 1]):
            grid.append(None)
        grid.append([*(str(row.get(name, "")) for name in names), *line])
    return format_grid(grid, format, left=len(names), width=width)


def _points_of_group(row: Row) -> str:
    """Return the number of points of a group."""
    n_points = row.get("n_points")
    return f"{n_points:,}" if row.get("group") and isinstance(n_points, int) else ""


def _marks(
    dicts: Sequence[Row], columns: Sequence[Column]
) -> list[list[Literal["", "best", "second"]]]:
    """Return which cells are best and second in their race; numbers that print alike are alike."""
    marks: list[list[Literal["", "best", "second"]]] = [[""] * len(columns) for _ in dicts]
    races: dict[tuple[Any, Any, Any], list[int]] = {}
    for i, row in enumerate(dicts):
        if not _is_difference(row):
            races.setdefault(_race(row), []).append(i)
    for j, column in enumerate(columns):
        for race in races.values() if column.better in _ARROWS else ():
            texts = {i: _number(dicts[i].get(column.key), column.digits) for i in race}
            numbers = {i: float(text) for i, text in texts.items() if text}
            ranked = sorted(set(numbers.values()), reverse=column.better == "high")
            for i, number in numbers.items() if len(ranked) > 1 else ():
                if number in ranked[:2]:
                    marks[i][j] = "best" if number == ranked[0] else "second"
    return marks


def _spread(row: Row, column: Column) -> str:
    std = row.get(f"{column.key}_std")
    if std is None or row.get(column.key) is None:
        return ""
    return f"{std:.{column.digits}f}".removeprefix("0")


def _interval(row: Row, column: Column) -> str:
    low, high = (row.get(f"{column.key}_ci_{end}") for end in ("low", "high"))
    if low is None or high is None:
        return ""
    least = 0.5 * 10**-column.digits
    ends = (
        f"{end:.{column.digits}f}" if abs(end) >= least else _number(end, column.digits)
        for end in (low, high)
    )
    # Without the 0 before the point, so that seven intervals fit into a line.
    return "[" + ", ".join(re.sub(r"^(-?)0\.", r"\1.", end) for end in ends) + "]"


def _bracket(row: Row) -> str:
    low, high = (row.get(f"aurec_{end}") for end in ("low", "high"))
    exact = low == high and row.get("annotators_min") is None  # p* is known
    if low is None or high is None or exact:
        return ""
    return f"[{_number(low, 4)}, {_number(high, 4)}]"


def _annotators(row: Row) -> str:
    fewest, mean, most = (row.get(f"annotators_{what}") for what in ("min", "mean", "max"))
    if fewest is None or mean is None or most is None:
        return ""
    return f"{fewest:.0f}" if fewest == most else f"{fewest:.0f}-{most:.0f}, {mean:.1f}"


def _shown(cell: str | NumberCell, format: Format) -> str:
    """Return a cell in a format; a text, such as a name from a file, is escaped."""
    if isinstance(cell, NumberCell):
        return cell.shown(format)
    if format == "csv":
        return cell
    text = cell.translate(ESCAPES)
    escaped = {"latex": text.translate(_LATEX), "markdown": _MARKDOWN.sub(r"\\\g<0>", text)}
    return escaped.get(format, text)


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([protected(c) if isinstance(c, str) else c for c in row] for row in rows)
    return buffer.getvalue().rstrip("\n")


def _plain(
    rows: Sequence[Sequence[str | NumberCell] | None],
    lefts: Sequence[bool],
    wrapped: int | None,
    width: int | None,
) -> str:
    """Return a table with aligned columns, a rule below the header, and blocks of this width."""
    lines = [[_lines(cell) for cell in row or ()] for row in rows]
    widths = [max(len(_bare(t)) for row in lines if row for t in row[j]) for j in range(len(lefts))]
    if wrapped is not None and width is not None:
        room = max(width - sum(widths) + widths[wrapped] - _SPACE * (len(widths) - 1), 20)
        widths[wrapped] = min(widths[wrapped], room)
        for row in filter(None, lines):
            row[wrapped] = textwrap.wrap(row[wrapped][0], room) or [""]
    blocks = []
    for block in _blocks(widths, lefts, width):
        texts = []
        for row in lines:
            n_lines = max((len(row[j]) for j in block), default=1) if row else 1
            for k in range(n_lines):
                parts = [
                    _padded(row[j][k] if k < len(row[j]) else "", widths[j], lefts[j])
                    for j in (block if row else ())
                ]
                texts.append((" " * _SPACE).join(parts).rstrip())
        texts.insert(1, (" " * _SPACE).join("─" * widths[j] for j in block))
        blocks.append("\n".join(texts))
    return "\n\n".join(blocks)


def _lines(cell: str | NumberCell) -> list[str]:
    """Return the lines of a cell in a plain table; an interval has a line of its own."""
    interval = cell.interval if isinstance(cell, NumberCell) else ""
    return [_shown(cell, "table"), *filter(None, [interval])]


def _blocks(
    widths: Sequence[int], lefts: Sequence[bool], width: int | None
) -> Iterator[Sequence[int]]:
    """Yield the columns of each block; the left ones in front are in all of them."""
    n_names = next((j for j, is_left in enumerate(lefts) if not is_left), len(lefts))
    block = list(range(n_names))
    for j in range(n_names, len(widths)):
        if width is not None and sum(widths[k] + _SPACE for k in block) + widths[j] > width:
            if len(block) > n_names:
                yield block
            block = list(range(n_names))
        block.append(j)
    yield block


def _padded(text: str, width: int, is_left: bool) -> str:
    space = " " * (width - len(_bare(text)))
    return text + space if is_left else space + text


def _bare(text: str) -> str:
    return text.replace("\x1b[1m", "").replace("\x1b[4m", "").replace("\x1b[0m", "")
