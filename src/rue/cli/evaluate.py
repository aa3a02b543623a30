"""rue evaluate: a row of the paper's table for each prediction file and loss."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rue.cli import emit, print_notes, progress, terminal_width, warn
from rue.cli.inputs import (
    COLUMN,
    AnyFormat,
    Cluster,
    Convention,
    Corrected,
    DeferFee,
    Files,
    Losses,
    Matched,
    Wide,
    require_level,
)
from rue.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rue.components import Run
    from rue.metrics.evaluation import Evaluation

EXAMPLE = "rue evaluate ensemble.npz ddu.npz --truth counts.npy --loss log --loss zero_one"


def evaluate(
    files: Files,
    matched: Matched,
    losses: Losses,
    by: Annotated[
        str | None,
        typer.Option(
            metavar=COLUMN,
            help="One row per group of this column; 'class' is the majority class.",
            rich_help_panel="Input",
        ),
    ] = None,
    ci: Annotated[
        float | None,
        typer.Option(
            help="Add bootstrap intervals of this level, e.g. 0.95.", rich_help_panel="Intervals"
        ),
    ] = None,
    replicates: Annotated[
        int,
        typer.Option(help="Bootstrap samples for --ci.", min=2, rich_help_panel="Intervals"),
    ] = 2000,
    resample_annotators: Annotated[
        bool,
        typer.Option(
            "--resample-annotators",
            help="For --ci, resample annotators within points too.",
            rich_help_panel="Intervals",
        ),
    ] = False,
    cluster: Cluster = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Seed of --ci, and of cost under Dirichlet beliefs.",
            min=0,
            rich_help_panel="Intervals",
        ),
    ] = 0,
    gap: Annotated[
        bool, typer.Option(help="Compute the Pareto-gap.", rich_help_panel="Output")
    ] = True,
    corrected: Corrected = False,
    defer_fee: DeferFee = None,
    references: Annotated[
        bool | None,
        typer.Option(
            "--references/--quick",
            help="Compute what n-AuReC is measured against for any number of points, or never.",
            rich_help_panel="Output",
        ),
    ] = None,
    convention: Convention = "definition",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY",
            help="Add the rows of a study on the same data, as atlas, and your rank.",
            rich_help_panel="Output",
        ),
    ] = None,
    format: AnyFormat = "table",
    wide: Wide = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the coverage curves: .png, .pdf or .svg.", rich_help_panel="Output"
        ),
    ] = None,
) -> None:
    """Test how well epistemic uncertainty finds avoidable errors."""
    from rue.components import Run
    from rue.io.runs import make_run
    from rue.metrics.evaluation import evaluate_run
    from rue.metrics.table import format_rows, notes, with_title

    chosen = losses.chosen
    scale = losses.scale
    require_level("--ci", ci)
    if resample_annotators and ci is None:
        raise InputError("--resample-annotators needs --ci")
    if cluster is not None and ci is None:
        raise InputError("--cluster needs --ci")
    study = None
    if against is not None:
        from rue.cli._against import baselines_for

        study = baselines_for(against, matched.truth, list(chosen), by=by, convention=convention)
        # A study evaluates the test part of a data set, so its other points may be missing.
        matched = replace(matched, common=matched.common or not matched.by_position)
    answers = matched.answers(by, cluster)
    methods = matched.read_methods(files)
    rows: list[Evaluation] = []
    runs = []
    with progress(len(methods) * len(chosen)) as step:
        for method, predictions in methods.items():
            given = isinstance(predictions, Run)
            if given and study is not None:
                raise InputError(
                    f"{predictions.path} contains components, and --against needs predictions"
                )
            if given and len(chosen) > 1:
                raise InputError(
                    f"{predictions.path} contains components of one loss: pass one --loss"
                )
            for name, loss in chosen.items():
                run = make_run(
                    predictions,
                    answers,
                    loss,
                    values=scale,
                    seed=seed,
                    with_answers=resample_annotators,
                    matching=matched.matching,
                    convention=convention,
                )
                run = replace(run, method=method, defer_fee=defer_fee or 0.0)
                if given:
                    run = replace(run, loss=loss_of_components(run, name if losses.loss else ""))
                for group, rows_in in _groups(run, by):
                    part = run if rows_in is None else run[rows_in]
                    row = evaluate_run(
                        part,
                        group=group,
                        gap=gap,
                        corrected=corrected,
                        references=references,
                        seed=seed,
                    )
                    if ci is not None:
                        from rue.inference.intervals import intervals

                        bounds = intervals(
                            part,
                            row=row,
                            level=ci,
                            n_replicates=replicates,
                            gap=gap,
                            resample_annotators=resample_annotators,
                            cluster=cluster,
                            seed=seed,
                            progress=True,
                        )
                        row = replace(row, intervals=bounds)
                    rows.append(row)
                runs.append(run)
                step(f"{method} {name}")
    if plot is not None:
        from rue.plots.curves import plot_curves
        from rue.plots.style import save

        save(plot_curves(runs), plot)
    order = list(dict.fromkeys(["", *chosen, *(row.loss for row in rows)]))
    groups = list(dict.fromkeys(row.group for row in rows))
    rows.sort(key=lambda row: (order.index(row.loss), groups.index(row.group)))
    table: list[Evaluation] | list[dict[str, Any]] = rows
    sentences: list[str] = []
    if study is not None and matched.truth is not None:
        from rue.cli._against import beside_baselines

        table, sentences = beside_baselines(rows, study, matched.truth)
    emit(format_rows(table, format, width=terminal_width(wide)))
    if format == "table":
        emit("\n" + with_title("n-AuReC when ranking by", _ranked_by(rows), format))
        if defer_fee is not None:
            asked = f"With a person who is asked about deferred points, for a fee of {defer_fee:g}"
            emit("\n" + with_title(asked, _teams(rows), format))
    for sentence in sentences if format != "json" else ():  # JSON holds them
        (emit if format == "table" else warn)(sentence)
    print_notes(notes(rows), format)


def _ranked_by(rows: "list[Evaluation]") -> str:
    """Return n-AuReC by each of the three components: which of them finds regret best."""
    from rue.metrics.table import format_grid

    scores = {"epistemic": "n_aurec", "total": "n_aurec_total", "aleatoric": "n_aurec_aleatoric"}
    grouped = any(row.group for row in rows)
    names = ["method", "loss", *(["group"] if grouped else [])]
    grid = [[*names, *scores]]
    for row in rows:
        numbers = [getattr(row, key) for key in scores.values()]
        texts = ["-" if number != number else f"{number:.3f}" for number in numbers]
        grid.append([*(getattr(row, name) for name in names), *texts])
    return format_grid(grid, left=names, width=terminal_width())


def _teams(rows: "list[Evaluation]") -> str:
    """Return what model and person cost, alone and together."""
    from rue.metrics.table import format_grid

    head = ["method", "loss", "asked", "accept all", "defer all", "team", "at coverage", "parity"]
    grid = [head]
    for row in rows:
        asked = row.person_risk + row.defer_fee
        numbers = (row.risk, asked, row.team_risk, row.team_coverage, row.person_parity)
        texts = ["-" if number != number else f"{number:.4f}" for number in numbers]
        name = " ".join(filter(None, (row.method, row.group)))
        grid.append([name, row.loss, row.person_kind or "-", *texts])
    return format_grid(grid, left=head[:3], width=terminal_width())


def _groups(run: "Run", by: str | None) -> "list[tuple[str, NDArray[Any] | None]]":
    """Return the name and rows of each group; without groups, one without a name."""
    import numpy as np

    if by is None:
        return [("", None)]
    if by not in run.groups:
        raise InputError(
            f"--by must be a column of the files, got {by!r}; "
            f"{run.path} and its truth have {', '.join(run.groups) or 'none'}"
        )
    column = run.groups[by]
    if column.dtype.kind == "f" and np.isnan(column).any():
        row = int(np.argmax(np.isnan(column)))
        raise InputError(f"--by {by}: the column has a missing value at row {row}")
    return [
        (
            str(int(group)) if column.dtype.kind == "f" and group % 1 == 0 else str(group),
            column == group,
        )
        for group in np.unique(column)
    ]


def loss_of_components(run: "Run", asked: str) -> str:
    """Return the loss of a table of components: the one it names, or the one that was asked for."""
    if asked and run.loss_name and run.loss_name != asked:
        raise InputError(
            f"{run.path}: holds components of {run.loss_name} loss, so --loss cannot be {asked}"
        )
    return run.loss_name or asked
