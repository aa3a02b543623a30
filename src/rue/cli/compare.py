"""rue compare: paired tests between methods, and the probabilities of their ranks."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue._text import ESCAPES
from rue.cli import (
    align,
    chosen_losses,
    emit,
    matching_of,
    parse_values,
    print_notes,
    read_methods,
    reads_files,
    truth_of,
)
from rue.cli.evaluate import loss_of_components
from rue.cli.options import (
    ByPosition,
    Classes,
    ClusterName,
    Common,
    Costs,
    Files,
    IdName,
    Losses,
    Scale,
    TruthFile,
)
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.inference.method_ranking import Ranking

EXAMPLE = "rue compare ensemble.npz ddu.npz evidential.npz --truth counts.npy --plot ranks.png"


@reads_files
def compare(
    files: Files,
    truth: TruthFile = None,
    loss: Losses = None,
    values: Scale = None,
    cost: Costs = None,
    id_name: IdName = None,
    classes: Classes = None,
    common: Common = False,
    by_position: ByPosition = False,
    criterion: Annotated[
        list[str] | None,
        typer.Option(help="A column of which lower is better; repeat for several."),
    ] = None,
    ci: Annotated[float, typer.Option(help="Level of intervals and tests.")] = 0.95,
    replicates: Annotated[int, typer.Option(help="Bootstrap samples.", min=2)] = 2000,
    cluster: ClusterName = None,
    format: Annotated[
        Literal["table", "json", "csv", "latex"], typer.Option(help="Output format.")
    ] = "table",
    plot: Annotated[
        Path | None, typer.Option(help="Draw the rankings: .png, .pdf or .svg.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.", min=0)] = 0,
) -> None:
    """Compare methods on the same points by paired tests.

    Print differences, p-values and ranks. The default criteria are AuReC, n-AuReC, AuRC and the
    Pareto-gap.
    """
    from rue.inference.comparison import DEFAULT
    from rue.inference.comparison import compare as compare_runs
    from rue.io.runs import make_runs
    from rue.metrics.table import format_rows, notes

    if not 0 < ci < 1:
        raise InputError(f"--ci must be between 0 and 1, got {ci}")
    matching = matching_of(id_name, classes, common, by_position)
    answers = truth_of(truth, matching, by=(cluster,))
    methods = read_methods(files, matching)
    if len(methods) < 2:
        raise InputError(f"there must be at least two methods to compare, got {len(methods)}")
    found: list[dict[str, Any]] = []
    noted: list[dict[str, Any]] = []
    drawn = []
    for name, each in chosen_losses(loss, cost).items():
        runs = make_runs(
            methods, answers, each, values=parse_values(values), seed=seed, matching=matching
        )
        for run in runs:
            loss_of_components(run, name if loss else "")
        comparison = compare_runs(
            runs,
            criteria=criterion or DEFAULT,
            level=ci,
            n_replicates=replicates,
            cluster=cluster,
            seed=seed,
            progress=True,
        )
        own = {run.method: list(run.notes) for run in runs if run.notes}
        found.append({"loss": name} | comparison.to_dict() | {"notes": own})
        drawn += [(name, ranking) for ranking in comparison.rankings.values()]
        noted += [{"method": run.method, "loss": name, "notes": run.notes} for run in runs]
        if format == "table":
            for ranking in comparison.rankings.values():
                emit(_table(name, comparison.n_points, ranking) + "\n")
    if plot is not None:
        from rue.metrics.columns import title
        from rue.plots.comparison import plot_rankings
        from rue.plots.style import save

        titles = [(f"{title(ranking.criterion)} ({name} loss)", ranking) for name, ranking in drawn]
        save(plot_rankings(titles), plot)
    match format:
        case "json":
            emit(json.dumps(found, indent=2, allow_nan=False))
        case "csv":
            rows = [row for each_loss in found for row in _csv_rows(each_loss)]
            emit(format_rows(rows, "csv"))
        case "latex":
            emit("\n\n".join(_latex(name, ranking) for name, ranking in drawn))
    print_notes(notes(noted), format)


def _cells(ranking: "Ranking") -> tuple[list[list[str]], list[list[str]]]:
    """Return two tables with their headers, one row per method and one per pair."""
    from rue.metrics.columns import title

    n = len(ranking.methods)
    percent = f"{100 * ranking.level:g} %"
    rows = [["method", title(ranking.criterion), percent, *(f"rank {r + 1}" for r in range(n))]]
    probability = dict(zip(ranking.methods, ranking.rank_probability, strict=True))
    for method in (*ranking.order, *(m for m in ranking.methods if m not in ranking.order)):
        defined = method in ranking.order
        rows.append(
            [
                method,
                f"{ranking.estimate[method]:.4f}" if defined else "-",
                _ends(ranking.low[method], ranking.high[method]) if defined else "-",
                *(f"{p:.2f}" if defined else "-" for p in probability[method]),
            ]
        )
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
    return rows, pairs


def _table(loss: str, n_points: int, ranking: "Ranking") -> str:
    from rue.metrics.columns import title

    rows, pairs = _cells(ranking)
    return "\n".join(
        [
            f"{title(ranking.criterion)} · {loss} loss · {n_points:,} points",
            align(rows, left=["method"], rule=True),
            "",
            align(pairs, left=["pair"], rule=True),
            "",
            str(ranking).translate(ESCAPES),
        ]
    )


def _ends(low: float, high: float) -> str:
    return f"[{low:.4f}, {high:.4f}]"


def _latex(loss: str, ranking: "Ranking") -> str:
    """Return the tables of a ranking as two LaTeX tables (they need booktabs)."""
    from rue.metrics.columns import title
    from rue.metrics.table import escape_latex

    lines = [f"% {title(ranking.criterion)}, {loss} loss"]
    for header, *rows in _cells(ranking):
        texts = [" & ".join(map(escape_latex, row)) + r" \\" for row in (header, *rows)]
        lines += [r"\begin{tabular}{l" + "c" * (len(header) - 1) + "}", r"\toprule", texts[0]]
        lines += [r"\midrule", *texts[1:], r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


def _csv_rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row per method, and one per pair with the second method in ``against``."""
    rows = []
    for criterion, ranking in found["criteria"].items():
        common = {"loss": found["loss"], "criterion": criterion}
        for method, own in ranking["methods"].items():
            row = {"value": own["estimate"], "low": own["low"], "high": own["high"]}
            row |= {f"rank_{r + 1}": p for r, p in enumerate(own["rank_probability"])}
            rows.append(common | {"method": method, "against": ""} | row)
        for pair in ranking["differences"]:
            row = {"value": pair["difference"], "low": pair["low"], "high": pair["high"]}
            row |= {"p": pair["p_value"], "p_holm": pair["p_holm"]}
            rows.append(common | {"method": pair["first"], "against": pair["second"]} | row)
    return rows
