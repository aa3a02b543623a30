"""One formatter for the rows of evaluate, bench and published."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from rue.errors import InputError

if TYPE_CHECKING:
    import pandas

    from rue.evaluation import Evaluation

__all__ = ["FORMATS", "Format", "describe", "format_rows", "to_frame", "to_latex"]

Format = Literal["table", "json", "csv", "latex", "markdown"]
FORMATS: tuple[Format, ...] = get_args(Format)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Column:
    key: str
    title: str
    latex: str
    digits: int
    meaning: str
    better: Literal["low", "high", ""] = ""


_NAMES = ("dataset", "method", "loss", "group")
_COLUMNS = (
    _Column("aurec", "AuReC", "AuReC", 4, "area under the regret-coverage curve", "low"),
    _Column("excess_aurec", "ex-AuReC", "ex-AuReC", 4, "AuReC above that of a perfect rank", "low"),
    _Column("n_aurec", "n-AuReC", "$n$-AuReC", 3, "0 is a perfect ranking, 1 a random one", "low"),
    _Column("aurc", "AuRC", "AuRC", 4, "area under the risk-coverage curve", "low"),
    _Column(
        "pareto_gap", "P-gap", "P-gap", 4, "distance to the optimal accept/reject rules", "low"
    ),
    _Column("spearman_hat", "r_s hat", r"$r_s(\hat A, \hat E)$", 3, "of the estimated components"),
    _Column("spearman_star", "r_s star", r"$r_s(A^*, E^*)$", 3, "of the realised components"),
)
_FURTHER = (
    _Column("aurc_total", "AuRC total", "", 4, "the same, ranking by the estimated total"),
    _Column("regret_calibration", "calibration", "", 4, "mean gap of estimate and regret"),
    _Column("risk", "risk", "", 4, "mean loss when everything is accepted"),
    _Column("regret", "regret", "", 4, "the part of it that could have been avoided"),
)
_SUMMARY = (_Column("best", "best", "Best", 0, "on how many data sets it is best", "high"),)
_PROXIES = (
    _Column("near_ood", "near-OOD", "Near-OOD", 3, "AUROC against similar data", "high"),
    _Column("far_ood", "far-OOD", "Far-OOD", 3, "AUROC against other data", "high"),
    _Column("auac", "AuAC", "AuAC", 3, "area under the accuracy-coverage curve", "high"),
    _Column("nauc_epistemic", "NAUC epi", "NAUC, EU", 3, "queried by the epistemic part", "high"),
    _Column("nauc_total", "NAUC total", "NAUC, TU", 3, "queried by the total", "high"),
)
_ARROWS = {"low": "↓ ", "high": "↑ ", "": ""}


def format_rows(rows: "Iterable[Evaluation | Row]", format: Format = "table") -> str:
    """Give rows as text: a table for people, JSON, CSV, LaTeX (booktabs) or Markdown.

    A column is shown if a row has it. Within each data set, loss and group the best value of a
    column is bold and the second underlined.
    """
    dicts = [_as_dict(row) for row in rows]
    if not dicts:
        raise InputError("there must be at least one row, got none")
    match format:
        case "json":
            return json.dumps(dicts, indent=2, allow_nan=False)
        case "csv":
            return _csv(dicts)
        case "latex":
            return to_latex(dicts)
        case "markdown":
            return _markdown(dicts)
        case "table":
            return _plain(dicts)
    raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")


def to_frame(rows: "Iterable[Evaluation | Row]") -> "pandas.DataFrame":
    """Give rows as a DataFrame, undefined numbers as NaN."""
    import pandas as pd

    return pd.DataFrame([_as_dict(row) for row in rows])


def to_latex(rows: "Iterable[Evaluation | Row]") -> str:
    """Give rows as a LaTeX table in the layout of the paper (needs booktabs)."""
    dicts = [_as_dict(row) for row in rows]
    columns = _shown(dicts)
    names, cells = _cells(
        dicts,
        bold=r"\textbf{{{}}}".format,
        second=r"\underline{{{}}}".format,
        spread=r" {{\scriptsize$\pm${}}}",
    )
    arrow = {"low": r"$\downarrow$ ", "high": r"$\uparrow$ ", "": ""}
    head = [name.capitalize() for name in names] + [arrow[c.better] + c.latex for c in columns]
    lines = [
        r"\begin{tabular}{" + "l" * len(names) + "c" * len(columns) + "}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
    ]
    for row, texts in zip(dicts, cells, strict=True):
        lines.append(" & ".join([_escape(str(row[n])) for n in names] + texts) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def describe(row: "Evaluation") -> str:
    """Give one row as a small table with a word on each number."""
    values = row.to_dict()
    title = " · ".join(filter(None, (row.method, f"{row.loss} loss" * bool(row.loss), row.group)))
    lines = [f"{title} · {row.n_points:,} points".removeprefix(" · ")]
    for column in (*_COLUMNS, *_FURTHER):
        text = _number(values[column.key], column.digits) or "-"
        lines.append(f"  {column.title:<12}{text:>10}   {column.meaning}")
    return "\n".join([*lines, *(f"  note: {note}" for note in row.notes)])


def notes(rows: "Iterable[Evaluation | Row]") -> list[str]:
    """Give the notes of all rows, each with the row's name."""
    dicts = [_as_dict(row) for row in rows]
    return [
        " ".join(str(row[n]) for n in _NAMES if row.get(n)) + f": {note}"
        for row in dicts
        for note in row.get("notes", ())
    ]


def _as_dict(row: "Evaluation | Row") -> dict[str, Any]:
    return dict(row) if isinstance(row, Mapping) else row.to_dict()


def _race(row: Row) -> tuple[Any, Any, Any]:
    return row.get("dataset"), row.get("loss"), row.get("group")


def _shown(dicts: Sequence[Row]) -> list[_Column]:
    columns = (*_SUMMARY, *_COLUMNS, *_PROXIES)
    return [column for column in columns if any(column.key in row for row in dicts)]


def _number(value: Any, digits: int) -> str:
    if value is None or math.isnan(value):
        return ""
    if digits and value != 0 and abs(value) < 10 ** (1 - digits):
        return f"{value:.{digits - 2}e}"  # would be lost in zeros
    return f"{value:.{digits}f}"


def _cells(
    dicts: Sequence[Row],
    *,
    bold: Callable[[str], str],
    second: Callable[[str], str],
    spread: str = " ±{}",
) -> tuple[list[str], list[list[str]]]:
    """Give the names that vary or matter, and each row's numbers with the two best marked.

    A number whose row has a standard deviation of it, ``<key>_std``, is shown with it.
    """
    names = [n for n in _NAMES if any(row.get(n) for row in dicts)]
    columns = _shown(dicts)
    cells = [[_number(row.get(c.key), c.digits) for c in columns] for row in dicts]
    races: dict[tuple[Any, Any, Any], list[int]] = {}
    for i, row in enumerate(dicts):
        races.setdefault(_race(row), []).append(i)
    for j, column in enumerate(columns):
        for race in races.values() if column.better else ():
            # What prints alike is marked alike.
            found = {float(cells[i][j]) for i in race if cells[i][j]}
            ranked = sorted(found, reverse=column.better == "high")
            if len([i for i in race if cells[i][j]]) < 2 or len(ranked) < 2:
                continue
            for i in race:
                if cells[i][j] and float(cells[i][j]) in ranked[:2]:
                    mark = bold if float(cells[i][j]) == ranked[0] else second
                    cells[i][j] = mark(cells[i][j])
    for i, row in enumerate(dicts):
        for j, column in enumerate(columns):
            std = row.get(f"{column.key}_std")
            if std is not None and cells[i][j]:
                cells[i][j] += spread.format(f"{std:.{column.digits}f}".removeprefix("0"))
    return names, cells


def _plain(dicts: Sequence[Row]) -> str:
    names, cells = _cells(dicts, bold="\x1b[1m{}\x1b[0m".format, second="\x1b[4m{}\x1b[0m".format)
    head = names + [_ARROWS[c.better] + c.title for c in _shown(dicts)]
    body = [[str(row.get(n, "")) for n in names] + t for row, t in zip(dicts, cells, strict=True)]
    widths = [max(len(_bare(line[j])) for line in [head, *body]) for j in range(len(head))]
    lines = [_line(head, widths, len(names)), "  ".join("─" * w for w in widths)]
    for i, line in enumerate(body):
        if i and _race(dicts[i]) != _race(dicts[i - 1]):
            lines.append("")
        lines.append(_line(line, widths, len(names)))
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
    writer.writerows(dicts)
    return buffer.getvalue().rstrip("\n")


def _markdown(dicts: Sequence[Row]) -> str:
    names, cells = _cells(dicts, bold="**{}**".format, second="<u>{}</u>".format)
    head = names + [_ARROWS[c.better] + c.title for c in _shown(dicts)]
    rule = ["---"] * len(names) + ["---:"] * len(_shown(dicts))
    body = [
        [str(row.get(n, "")).replace("|", r"\|") for n in names] + texts
        for row, texts in zip(dicts, cells, strict=True)
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *body])


_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def _escape(text: str) -> str:
    return text.translate(_LATEX)
