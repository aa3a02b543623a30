"""rue inversions: all criteria side by side, and where they disagree about methods."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from rue._text import JsonObject
from rue.bench.resampling import compare_methods, draw
from rue.bench.store import Store
from rue.bench.tables import read_results, table_rows
from rue.cli import emit, emit_json, print_notes, terminal_width
from rue.cli.options import FOLDER, FORMAT, NAME, WIDE, argument, option
from rue.errors import InputError
from rue.metrics.columns import COLUMNS
from rue.metrics.table import Format, format_grid, format_rows, with_title
from rue.published import TABLES, read_published
from rue.ranking.inversions import (
    Contest,
    Inversion,
    Inversions,
    PValue,
    compare_over_seeds,
    find_inversions,
)
from rue.ranking.scores import CRITERIA, Score, find_criterion, read_scores, to_scores

EXAMPLE = "rue inversions --published --dataset 'cifar10*' --plot ranks.png"

# What is compared unless --criterion says otherwise.
_USUAL = (
    *("near_ood", "far_ood", "auac", "auac_labels", "nauc_epistemic", "nauc_total"),
    *("aurec", "n_aurec", "pareto_gap", "n_aurec_total", "spearman_hat"),
)


def inversions(
    path: Path | None = argument(
        None, "The folder of a run, or a scores.csv file, or a folder that has one.", metavar=FOLDER
    ),
    published: bool = option(
        False, "Use the paper's tables 1 to 5 instead of a run.", "--published"
    ),
    dataset: list[str] | None = option(
        None, "Only these data sets, or patterns such as 'dcic-*'; repeatable.", metavar=NAME
    ),
    criterion: list[str] | None = option(
        None, "Only these criteria, as named in the csv output; repeatable.", metavar=NAME
    ),
    across: bool = option(
        False, "Also compare criteria of different data sets, as --published does.", "--across"
    ),
    test: bool = option(
        True, "Test inversions: over test points of a run, else over seeds; * is p <= 0.05."
    ),
    top: int = option(15, "How many inversions to list in a table.", min=0),
    all_taus: bool = option(
        False, "Print tau between all criteria, not only proxies and regret.", "--all"
    ),
    format: Format = FORMAT,
    wide: bool = WIDE,
    plot: Path | None = option(None, "Draw the ranks as a bump chart: .png, .pdf or .svg."),
) -> None:
    """Compare how different criteria rank the methods.

    Print ranks, Kendall's tau, and inversions: pairs of methods that two criteria order
    differently. The csv output has the inversions, the json output everything. An inversion has
    strength 1 if one criterion ranks a method first and another method last, and the other
    criterion reverses them. Where one of the two orders cannot be tested, as with one seed, a
    table of its own says why, and they are not called inversions.
    """
    scores, notes = _read(path, published, bool(dataset))
    scores = _choose(scores, dataset, criterion)
    names = dict.fromkeys(score.dataset for score in scores)
    groups = (
        [scores]
        if across or published
        else [[score for score in scores if score.dataset == name] for name in names]
    )
    p_value = _p_value(path, scores) if test and path is not None else None
    results = [find_inversions(group, p_value=p_value) for group in groups]
    if plot is not None:
        from rue.plots.comparison import plot_ranks
        from rue.plots.style import save

        save(plot_ranks(results), plot)
    if format == "json":
        emit_json([result.to_dict() for result in results])
    elif format == "csv":
        rows = [_csv_row(inversion) for result in results for inversion in result.inversions]
        emit(format_rows(rows, "csv") if rows else "")
    else:
        tested = p_value is not None
        blocks = [_blocks(result, top, format, tested, all_taus, wide) for result in results]
        emit("\n\n".join(block for part in blocks for block in part))
    if published:
        notes.append("the paper's tables have no spread over seeds, so inversions have no p-values")
    print_notes(notes, format)


_LEFT = ("criterion", "data set", "loss", "method", "beats", "under", "but loses under", "why")
_TAU = "Kendall's tau (1 is the same order, -1 the opposite)"


def _blocks(
    result: Inversions,
    top: int,
    format: Literal["table", "latex", "markdown"],
    tested: bool,
    all_taus: bool,
    wide: bool,
) -> list[str]:
    """Return ranks, tau and the strongest inversions as text, a title above each.

    With ``tested``, opposite orders without a p-value are not among the inversions.
    """
    inversions = [i for i in result.inversions if not tested or i.p_value is not None]
    others = [i for i in result.inversions if tested and i.p_value is None]
    names = {column.dataset for column in result.columns}
    where, several = (next(iter(names)), False) if len(names) == 1 else ("", True)
    brief = format == "table" and not wide
    ranks = "Values, and ranks in brackets (1 is best)"
    grids = [(f"{where} · {ranks}" if where else ranks, ranks_grid(result, several))]
    chosen = {} if all_taus else _regret_against_proxies(result)
    title = f"{_TAU}, regret against proxies" if chosen else _TAU
    grids.append((title, tau_grid(result, several, **chosen)))
    title = f"Inversions, {_listed(len(inversions), top)}"
    grids.append((title, inversions_grid(inversions[:top], several, margins=not brief)))
    if others:
        title = f"Opposite orders that are not tested, {_listed(len(others), top)}"
        grids.append((title, inversions_grid(others[:top], several, margins=not brief, why=True)))
    texts = []
    for title, grid in grids:
        table = format_grid(grid, format, left=("", *_LEFT), width=terminal_width(wide))
        texts.append(with_title(title, table, format) if len(grid) > 1 else title)
    return texts


def _listed(n: int, top: int) -> str:
    return f"the strongest {top} of {n:,}" if n > top else f"all {n:,}"


def _why_untested(inversion: Inversion) -> str:
    """Return why there is no p-value of an inversion whose orders were to be tested."""
    if inversion.n_seeds > 1:
        return "the same difference in all seeds"
    return f"{'one' if inversion.n_seeds else 'no'} seed: no test over seeds"


def ranks_grid(result: Inversions, datasets: bool = True) -> list[list[str]]:
    """Return a line for each criterion: the value and rank of each method."""
    arrows = {"high": "↑", "low": "↓", "zero": "→0"}
    grid = [["", "criterion", *["data set"] * datasets, "loss", *result.methods]]
    for number, (column, values, ranks) in enumerate(
        zip(result.columns, result.values.tolist(), result.ranks.tolist(), strict=True), start=1
    ):
        rule = CRITERIA[column.criterion]
        cells = [
            "-" if value != value else f"{value:.{rule.digits}f} ({rank:g})"
            for value, rank in zip(values, ranks, strict=True)
        ]
        title = f"{arrows[rule.better]} {rule.title}"
        grid.append([str(number), title, *[column.dataset] * datasets, column.loss or "-", *cells])
    return grid


def tau_grid(
    result: Inversions,
    datasets: bool = True,
    *,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
) -> list[list[str]]:
    """Return a line for each criterion: its tau with each criterion, by their numbers."""
    everything = range(len(result.columns))
    columns = everything if columns is None else columns
    tau = result.tau.tolist()
    grid = [["", "criterion", *(str(j + 1) for j in columns)]]
    for i in everything if rows is None else rows:
        cells = ["-" if tau[i][j] != tau[i][j] else f"{tau[i][j]:.2f}" for j in columns]
        grid.append([str(i + 1), name(result.columns[i], datasets), *cells])
    return grid


def _regret_against_proxies(result: Inversions) -> dict[str, list[int]]:
    """Return the regret criteria as rows and the proxies as columns; empty without both."""
    kinds = [CRITERIA[column.criterion].kind for column in result.columns]
    rows = [i for i, kind in enumerate(kinds) if kind == "regret"]
    columns = [j for j, kind in enumerate(kinds) if kind == "proxy"]
    return {"rows": rows, "columns": columns} if rows and columns else {}


def inversions_grid(
    inversions: Sequence[Inversion],
    datasets: bool = True,
    *,
    margins: bool = True,
    why: bool = False,
) -> list[list[str]]:
    """Return a line for each inversion; seeds and p-values where there are any.

    With ``why``, the reason why there is no p-value is at the end.
    """
    grid = [["method", "beats", "under", "by", "but loses under", "by ", "strength", "seeds", "p"]]
    for i in inversions:
        digits = [CRITERIA[column.criterion].digits for column in (i.first, i.second)]
        seeds = f"{i.n_inverted}/{i.n_seeds}" if i.n_seeds else "-"
        p = "-" if i.p_value is None else f"{i.p_value:.3f}" + "*" * (i.p_value <= 0.05)
        grid.append(
            [
                *(i.method, i.rival, name(i.first, datasets), f"{i.first_margin:.{digits[0]}f}"),
                *(name(i.second, datasets), f"{i.second_margin:.{digits[1]}f}"),
                *(f"{i.strength:.2f}", seeds, p),
            ]
        )
        if why:
            grid[-1].append(_why_untested(i))
    if why:
        grid[0].append("why")
    empty = [j for j in range(len(grid[0])) if all(row[j] == "-" for row in grid[1:])]
    drop = {*empty, *([] if margins else [3, 5])}
    return [[cell for j, cell in enumerate(row) if j not in drop] for row in grid]


def name(column: Contest, dataset: bool = True) -> str:
    """Return a criterion's title with its loss, and its data set unless all have the same."""
    words = (CRITERIA[column.criterion].title, column.dataset * dataset, column.loss)
    return " ".join(filter(None, words))


def to_markdown(grid: list[list[str]]) -> str:
    """Return a grid, header first, as a Markdown table."""
    return format_grid(grid, "markdown", left=_LEFT)


def _read(path: Path | None, published: bool, chosen: bool) -> tuple[list[Score], list[str]]:
    """Return the scores, and notes about cells that are not among them."""
    if published == (path is not None):
        raise InputError(f"give a folder or --published, got {'both' if published else 'neither'}")
    if path is not None and _is_run(path):
        results = read_results(Store(path))
        return to_scores(results.rows), results.notes()
    if path is not None:
        return read_scores(path), []
    tables = TABLES if chosen else TABLES[:5]
    rows = (row.to_dict() for table in tables for row in read_published(table.name))
    return to_scores(rows), []


def _is_run(path: Path) -> bool:
    return (path / "suite.toml").is_file()


def _p_value(path: Path, scores: list[Score]) -> PValue:
    """Return the test of two methods: over the test points of a run if it can be, else over seeds.

    A run by Definition 1 has a paired bootstrap of its regret criteria and rank correlations.
    """
    by_seeds = compare_over_seeds(scores)
    if not (_is_run(path) and Store(path).suite().convention == "definition"):
        return by_seeds
    store = Store(path)
    rows = table_rows(read_results(store).rows)
    ranking = compare_methods(rows, draw(store, rows, progress=True))

    def p_value(column: Contest, better: str, worse: str) -> float | None:
        has_test = bool(COLUMNS[column.criterion].interval)
        order = ranking(column.dataset, column.loss, column.criterion) if has_test else None
        pairs = () if order is None else order.differences
        p = next((d.p_holm for d in pairs if {d.first, d.second} == {better, worse}), math.nan)
        return by_seeds(column, better, worse) if math.isnan(p) else p

    return p_value


def _choose(
    scores: list[Score], datasets: list[str] | None, criteria: list[str] | None
) -> list[Score]:
    for criterion in criteria or ():
        find_criterion(criterion)
    names = list(dict.fromkeys(score.dataset for score in scores))
    for pattern in datasets or ():
        if not any(fnmatchcase(dataset, pattern) for dataset in names):
            raise InputError(f"--dataset must be one of {', '.join(names)}, got {pattern!r}")
    chosen = [
        score
        for score in scores
        if score.criterion in (criteria or _USUAL)
        and any(fnmatchcase(score.dataset, pattern) for pattern in datasets or ["*"])
    ]
    if not chosen:
        raise InputError(f"there must be scores of {', '.join(criteria or _USUAL)}, got none")
    return chosen


def _csv_row(inversion: Inversion) -> JsonObject:
    fields = asdict(inversion)
    sides = {
        f"{side}_{key}": fields[side][key]
        for side in ("first", "second")
        for key in ("dataset", "criterion", "loss")
    }
    return sides | {key: value for key, value in fields.items() if key not in ("first", "second")}
