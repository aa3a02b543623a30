"""rue inversions: all criteria side by side, and where they disagree about methods."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue._text import protected
from rue.cli import align, emit, reads_files, warn
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.ranking.inversions import Contest, Inversion, Inversions, PValue
    from rue.ranking.scores import Score

EXAMPLE = "rue inversions --published --dataset 'cifar10*' --plot ranks.png"

# What is compared unless --criterion says otherwise.
_USUAL = (
    *("near_ood", "far_ood", "auac", "auac_labels", "nauc_epistemic", "nauc_total"),
    *("aurec", "n_aurec", "pareto_gap", "n_aurec_total", "spearman_hat"),
)
_BLOCK = 12  # columns of tau that stand side by side in a terminal


@reads_files
def inversions(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="The folder of a run, or a scores.csv file, or a folder that has one.",
        ),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Use the paper's tables 1 to 5 instead of a run.")
    ] = False,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only these data sets, or patterns such as 'dcic-*'; repeatable."
        ),
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only these criteria, as named in the csv output; repeatable."
        ),
    ] = None,
    across: Annotated[
        bool,
        typer.Option(
            "--across", help="Also compare criteria of different data sets, as --published does."
        ),
    ] = False,
    test: Annotated[
        bool,
        typer.Option(
            help="Test inversions: over test points of a run, else over seeds; * is p <= 0.05."
        ),
    ] = True,
    top: Annotated[int, typer.Option(min=0, help="How many inversions to list in a table.")] = 15,
    format: Annotated[
        Literal["table", "json", "csv", "markdown"], typer.Option(help="Output format.")
    ] = "table",
    plot: Annotated[
        Path | None, typer.Option(help="Draw the ranks as a bump chart: .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Compare how different criteria rank the methods.

    Print ranks, Kendall's tau, and inversions: pairs of methods that two criteria order
    differently. The csv output has the inversions, the json output everything. An inversion has
    strength 1 if one criterion ranks a method first and another method last, and the other
    criterion reverses them. Where one of the two orders cannot be tested, as with one seed, a
    table of its own says why, and they are not called inversions.
    """
    from rue.ranking.inversions import find_inversions

    scores = _choose(_read(path, published, bool(dataset)), dataset, criterion)
    names = dict.fromkeys(score.dataset for score in scores)
    groups = (
        [scores]
        if across or published
        else [[score for score in scores if score.dataset == name] for name in names]
    )
    p_value = _p_value(path, scores) if test and path is not None else None
    found = [find_inversions(group, p_value=p_value) for group in groups]
    if plot is not None:
        from rue.plots.inversions import plot_ranks
        from rue.plots.style import save

        save(plot_ranks(found), plot)
    if format == "json":
        emit(json.dumps([each.to_dict() for each in found], indent=2))
    elif format == "csv":
        emit(_csv([inversion for each in found for inversion in each.inversions]))
    else:
        tested = p_value is not None
        emit("\n\n".join(block for each in found for block in blocks(each, top, format, tested)))
        if published:
            note = "the paper's tables have no spread over seeds, so inversions have no p-values"
            warn(f"note: {note}")


def blocks(
    found: "Inversions",
    top: int,
    format: Literal["table", "markdown"] = "table",
    tested: bool = False,
) -> list[str]:
    """Return ranks, tau and the strongest inversions as text, a title above each.

    With ``tested``, opposite orders without a p-value are not among the inversions.
    """
    known = [each for each in found.inversions if not tested or each.p_value is not None]
    others = [each for each in found.inversions if tested and each.p_value is None]
    grids = [("Values, and ranks in brackets (1 is best)", ranks_grid(found))]
    width = _BLOCK if format == "table" else len(found.columns)
    for start in range(0, len(found.columns), width):
        title = "Kendall's tau (1 is the same order, -1 the opposite)"
        grids.append((title if start == 0 else "tau, continued", tau_grid(found, start, width)))
    grids.append((_listed("Inversions", len(known), top), inversions_grid(known[:top])))
    if others:
        title = _listed("Opposite orders that are not tested", len(others), top)
        grids.append((title, inversions_grid(others[:top], why=True)))
    texts = []
    for title, grid in grids:
        if len(grid) == 1:
            texts.append(title)
        elif format == "markdown":
            texts.append(f"{title}:\n\n{to_markdown(grid)}")
        else:
            texts.append(f"{title}\n{align(grid, left=_LEFT, rule=True)}")
    return texts


_LEFT = ("criterion", "data set", "loss", "method", "beats", "under", "but loses under", "why")


def _listed(what: str, n: int, top: int) -> str:
    return f"{what}, the strongest {top} of {n:,}" if n > top else f"{what}, all {n:,}"


def _why_untested(each: "Inversion") -> str:
    """Return why there is no p-value of an inversion whose orders were to be tested."""
    if each.n_seeds > 1:
        return "the same difference in all seeds"
    return f"{'one' if each.n_seeds else 'no'} seed: no test over seeds"


def ranks_grid(found: "Inversions") -> list[list[str]]:
    """Return a line for each criterion: the value and rank of each method."""
    from rue.ranking.scores import CRITERIA

    arrows = {"high": "↑", "low": "↓", "zero": "→0"}
    grid = [["", "criterion", "data set", "loss", *found.methods]]
    for number, (column, values, ranks) in enumerate(
        zip(found.columns, found.values.tolist(), found.ranks.tolist(), strict=True), start=1
    ):
        rule = CRITERIA[column.criterion]
        cells = [
            "-" if value != value else f"{value:.{rule.digits}f} ({rank:g})"
            for value, rank in zip(values, ranks, strict=True)
        ]
        title = f"{arrows[rule.better]} {rule.title}"
        grid.append([str(number), title, column.dataset, column.loss or "-", *cells])
    return grid


def tau_grid(found: "Inversions", start: int = 0, width: int = _BLOCK) -> list[list[str]]:
    """Return a line for each criterion: its tau with each of some criteria, by their numbers."""
    stop = min(start + width, len(found.columns))
    grid = [["", "criterion", *(str(j + 1) for j in range(start, stop))]]
    for number, (column, row) in enumerate(
        zip(found.columns, found.tau[:, start:stop].tolist(), strict=True), start=1
    ):
        cells = ["-" if tau != tau else f"{tau:.2f}" for tau in row]
        grid.append([str(number), name(column), *cells])
    return grid


def inversions_grid(inversions: "Sequence[Inversion]", *, why: bool = False) -> list[list[str]]:
    """Return a line for each inversion; seeds and p-values where there are any.

    With ``why``, the reason why there is no p-value is at the end.
    """
    from rue.ranking.scores import CRITERIA

    grid = [["method", "beats", "under", "by", "but loses under", "by ", "strength", "seeds", "p"]]
    for each in inversions:
        margins = [
            f"{margin:.{CRITERIA[column.criterion].digits}f}"
            for column, margin in (
                (each.first, each.first_margin),
                (each.second, each.second_margin),
            )
        ]
        seeds = f"{each.n_inverted}/{each.n_seeds}" if each.n_seeds else "-"
        p = "-" if each.p_value is None else f"{each.p_value:.3f}" + "*" * (each.p_value <= 0.05)
        grid.append(
            [
                *(each.method, each.rival, name(each.first), margins[0]),
                *(name(each.second), margins[1], f"{each.strength:.2f}", seeds, p),
            ]
        )
        if why:
            grid[-1].append(_why_untested(each))
    if why:
        grid[0].append("why")
    empty = [j for j in range(len(grid[0])) if all(row[j] == "-" for row in grid[1:])]
    return [[cell for j, cell in enumerate(row) if j not in empty] for row in grid]


def name(column: "Contest") -> str:
    """Return a criterion's title with its data set and loss."""
    from rue.ranking.scores import CRITERIA

    words = (CRITERIA[column.criterion].title, column.dataset, column.loss)
    return " ".join(filter(None, words))


def to_markdown(grid: list[list[str]]) -> str:
    """Return a grid, header first, as a Markdown table."""
    rule = ["---" if title in _LEFT else "---:" for title in grid[0]]
    return "\n".join("| " + " | ".join(line) + " |" for line in [grid[0], rule, *grid[1:]])


def _read(path: Path | None, published: bool, chosen: bool) -> "list[Score]":
    from rue.published import TABLES, read_published
    from rue.ranking.scores import read_scores, to_scores

    if published == (path is not None):
        raise InputError(f"give a folder or --published, got {'both' if published else 'neither'}")
    if path is not None and _is_run(path):
        from rue.bench.store import Store
        from rue.bench.tables import read_results

        return to_scores(read_results(Store(path)).rows)
    if path is not None:
        return read_scores(path)
    tables = TABLES if chosen else TABLES[:5]
    return to_scores(row.to_dict() for table in tables for row in read_published(table.name))


def _is_run(path: Path) -> bool:
    return (path / "suite.toml").is_file()


def _can_test(path: Path) -> bool:
    """Return whether a path is a run by Definition 1; only its numbers have tests."""
    from rue.bench.store import Store

    return _is_run(path) and Store(path).suite().convention == "definition"


def _p_value(path: Path, scores: "list[Score]") -> "PValue":
    """Return the test of two methods: over the test points of a run if it can be, else over seeds.

    A run by Definition 1 has a paired bootstrap of its regret criteria and rank correlations.
    """
    from rue.ranking.seed_tests import compare_over_seeds

    by_seeds = compare_over_seeds(scores)
    if not _can_test(path):
        return by_seeds
    by_points = _over_points(path)

    def p_value(column: "Contest", better: str, worse: str) -> float | None:
        p = by_points(column, better, worse)
        return by_seeds(column, better, worse) if p is None else p

    return p_value


def _over_points(path: Path) -> "PValue":
    """Return the paired test of two methods of a run: bootstrap over test points, Holm."""
    from rue.bench.resampling import compare_methods, draw
    from rue.bench.store import Store
    from rue.bench.tables import read_results, table_rows
    from rue.metrics.columns import COLUMNS

    store = Store(path)
    rows = table_rows(read_results(store).rows)
    ranking = compare_methods(rows, draw(store, rows, progress=True))

    def p_value(column: "Contest", better: str, worse: str) -> float | None:
        if not COLUMNS[column.criterion].interval:
            return None
        found = ranking(column.dataset, column.loss, column.criterion)
        pairs = () if found is None else found.differences
        p = next((d.p_holm for d in pairs if {d.first, d.second} == {better, worse}), math.nan)
        return None if math.isnan(p) else p

    return p_value


def _choose(
    scores: "list[Score]", datasets: list[str] | None, criteria: list[str] | None
) -> "list[Score]":
    from rue.ranking.scores import find_criterion

    for criterion in criteria or ():
        find_criterion(criterion)
    known = list(dict.fromkeys(score.dataset for score in scores))
    for pattern in datasets or ():
        if not any(fnmatchcase(each, pattern) for each in known):
            raise InputError(f"--dataset must be one of {', '.join(known)}, got {pattern!r}")
    kept = [
        score
        for score in scores
        if score.criterion in (criteria or _USUAL)
        and any(fnmatchcase(score.dataset, pattern) for pattern in datasets or ["*"])
    ]
    if not kept:
        raise InputError(f"there must be scores of {', '.join(criteria or _USUAL)}, got none")
    return kept


def _csv(inversions: "Sequence[Inversion]") -> str:
    sides, parts = ("first", "second"), ("dataset", "criterion", "loss")
    keys = [
        *(f"{side}_{part}" for side in sides for part in parts),
        *("method", "rival", "first_margin", "second_margin", "strength"),
        *("n_seeds", "n_inverted", "p_value"),
    ]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, keys, lineterminator="\n")
    writer.writeheader()
    for each in inversions:
        row: dict[str, Any] = asdict(each)
        for side in sides:
            row |= {f"{side}_{key}": value for key, value in row.pop(side).items()}
        writer.writerow({k: protected(v) if isinstance(v, str) else v for k, v in row.items()})
    return buffer.getvalue().rstrip("\n")
