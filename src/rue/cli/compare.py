"""rue compare: paired tests between methods, and the probabilities of their ranks."""

import math
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Literal

from rue._text import ESCAPES, JsonObject
from rue.cli import emit, emit_json, print_notes, terminal_width
from rue.cli.evaluate import loss_of_components
from rue.cli.inputs import CommandLosses, Matched, read_limits, require_level
from rue.cli.options import AT, CLUSTER, COVERAGE_AT, FILES, FORMAT, OUTPUT, WIDE, option
from rue.errors import InputError
from rue.inference.comparison import DEFAULT
from rue.inference.comparison import compare as compare_runs
from rue.inference.method_ranking import Ranking
from rue.io.runs import make_runs
from rue.metrics.table import Format, format_grid, format_rows, notes, with_title

EXAMPLE = "rue compare ensemble.npz ddu.npz evidential.npz --truth counts.npy --plot ranks.png"


def compare(
    matched: Matched,
    losses: CommandLosses,
    files: list[str] = FILES,
    criterion: list[str] | None = option(
        None,
        "A column with a paired test; repeat for several. By default aurec, n_aurec, aurc and "
        "pareto_gap.",
        panel="Tests",
        metavar="KEY",
    ),
    ci: float = option(0.95, "Level of intervals and tests.", panel="Tests"),
    replicates: int = option(2000, "Bootstrap samples.", panel="Tests", min=2),
    cluster: str | None = CLUSTER,
    at: float | None = AT,
    coverage_at: list[str] | None = COVERAGE_AT,
    seed: int = option(0, "Seed of the samples.", panel="Tests", min=0),
    format: Format = FORMAT,
    wide: bool = WIDE,
    plot: Path | None = option(None, "Draw the rankings: .png, .pdf or .svg.", panel=OUTPUT),
) -> None:
    """Compare methods on the same points by paired tests.

    Print the verdicts, then each method's value with its interval and ranks, and the difference of
    each pair with its p-value.
    """
    require_level("--ci", ci)
    limits = read_limits(at, coverage_at)
    answers = matched.answers(cluster)
    methods = matched.read_methods(files, cluster)
    if len(methods) < 2:
        raise InputError(f"there must be at least two methods to compare, got {len(methods)}")
    comparisons: list[JsonObject] = []
    note_rows: list[JsonObject] = []
    rankings = []
    for name, loss in losses.chosen.items():
        runs = make_runs(
            methods, answers, loss, values=losses.scale, seed=seed, matching=matched.matching
        )
        for run in runs:
            loss_of_components(run, name if losses.loss else "")
        comparison = compare_runs(
            [replace(run, at=limits) for run in runs],
            criteria=criterion or DEFAULT,
            level=ci,
            n_replicates=replicates,
            cluster=cluster,
            seed=seed,
            progress=True,
        )
        own = {run.method: list(run.notes) for run in runs if run.notes}
        comparisons.append({"loss": name} | comparison.to_dict() | {"notes": own})
        rankings += [(name, ranking) for ranking in comparison.rankings.values()]
        note_rows += [{"method": run.method, "loss": name, "notes": run.notes} for run in runs]
    if plot is not None:
        from rue.plots.comparison import plot_rankings
        from rue.plots.style import save

        save(plot_rankings([(_titled(*pair), pair[1]) for pair in rankings]), plot)
    if format == "json":
        emit_json(comparisons)
    elif format == "csv":
        emit(format_rows([row for part in comparisons for row in _csv_rows(part)], "csv"))
    else:
        width = terminal_width(wide)
        verdicts = [f"{name} loss: {ranking}".translate(ESCAPES) for name, ranking in rankings]
        blocks = []
        if format == "table":
            head = f"{len(methods)} methods on {comparison.n_points:,} points"
            blocks = ["\n".join([head, *(textwrap.fill(v, width or 1000) for v in verdicts)])]
        for (name, ranking), verdict in zip(rankings, verdicts, strict=True):
            by_method, by_pair = _tables(ranking, format, wide)
            heading = _titled(name, ranking) if format == "table" else verdict
            blocks += [with_title(heading, by_method, format), by_pair]
        emit("\n\n".join(blocks))
    print_notes(notes(note_rows), format)


def _titled(loss: str, ranking: Ranking) -> str:
    return f"{ranking.title} ({loss} loss)"


def _tables(
    ranking: Ranking, format: Literal["table", "latex", "markdown"], wide: bool
) -> list[str]:
    """Return two tables, one row per method and one per pair."""
    n = len(ranking.methods)
    percent = f"{100 * ranking.level:g} %"
    all_ranks = wide or n <= 4  # otherwise the chance to be best says enough
    ranks = [f"rank {r + 1}" for r in range(n if all_ranks else 1)]
    rows = [["method", ranking.title, percent, *ranks]]
    probability = dict(zip(ranking.methods, ranking.rank_probability, strict=True))
    for method in (*ranking.order, *(m for m in ranking.methods if m not in ranking.order)):
        if method not in ranking.order:  # its value is undefined
            rows.append([method, *["-"] * (2 + len(ranks))])
            continue
        ends = _ends(ranking.low[method], ranking.high[method])
        shares = [f"{p:.2f}" for p in probability[method][: len(ranks)]]
        rows.append([method, f"{ranking.estimate[method]:.4f}", ends, *shares])
    pairs = [["pair", "difference", percent, "p", "p (Holm)"]]
    pairs += [
        [
            f"{d.first} - {d.second}",
            f"{d.difference:+.4f}",
            _ends(d.low, d.high),
            f"{d.p_value:.4f}",
            f"{d.p_holm:.4f}",
        ]
        for d in ranking.differences
        if not math.isnan(d.p_value)
    ]
    return [format_grid(grid, format, width=terminal_width(wide)) for grid in (rows, pairs)]


def _ends(low: float, high: float) -> str:
    return f"[{low:.4f}, {high:.4f}]"


def _csv_rows(comparison: JsonObject) -> list[JsonObject]:
    """Return a row per method, and one per pair with the second method in ``against``."""
    rows = []
    for criterion, ranking in comparison["criteria"].items():
        common = {"loss": comparison["loss"], "criterion": criterion}
        for method, own in ranking["methods"].items():
            row = {"value": own["estimate"], "low": own["low"], "high": own["high"]}
            row |= {f"rank_{r + 1}": p for r, p in enumerate(own["rank_probability"])}
            rows.append(common | {"method": method, "against": ""} | row)
        for pair in ranking["differences"]:
            row = {"value": pair["difference"], "low": pair["low"], "high": pair["high"]}
            row |= {"p": pair["p_value"], "p_holm": pair["p_holm"]}
            rows.append(common | {"method": pair["first"], "against": pair["second"]} | row)
    return rows
