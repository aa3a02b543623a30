"""rue evaluate: a row of the paper's table for each prediction file and loss."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

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
    warn,
)
from rue.cli.options import (
    ByPosition,
    Classes,
    ClusterName,
    Common,
    Corrected,
    Costs,
    Files,
    Format,
    IdName,
    Losses,
    Scale,
    TruthFile,
)
from rue.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rue.components import Run
    from rue.metrics.evaluation import Evaluation

EXAMPLE = "rue evaluate ensemble.npz ddu.npz --truth counts.npy --loss log --loss zero_one"


@reads_files
def evaluate(
    files: Files,
    truth: TruthFile = None,
    loss: Losses = None,
    values: Scale = None,
    cost: Costs = None,
    id_name: IdName = None,
    classes: Classes = None,
    common: Common = False,
    by_position: ByPosition = False,
    gap: Annotated[bool, typer.Option(help="Compute the Pareto-gap.")] = True,
    by: Annotated[
        str | None,
        typer.Option(help="One row per group of this column; 'class' is the majority class."),
    ] = None,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.table,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the coverage curves: .png, .pdf or .svg.")
    ] = None,
    ci: Annotated[
        float | None, typer.Option(help="Add bootstrap intervals of this level, e.g. 0.95.")
    ] = None,
    replicates: Annotated[int, typer.Option(help="Bootstrap samples for --ci.", min=2)] = 2000,
    resample_annotators: Annotated[
        bool,
        typer.Option(
            "--resample-annotators", help="For --ci, resample annotators within points too."
        ),
    ] = False,
    cluster: ClusterName = None,
    corrected: Corrected = False,
    convention: Annotated[
        Literal["definition", "published"],
        typer.Option(help="Definition 1, or what the authors' own code computes."),
    ] = "definition",
    against: Annotated[
        str | None,
        typer.Option(help="Add the rows of a study on the same data, as atlas, and your rank."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of --ci, and of cost under Dirichlet beliefs.", min=0)
    ] = 0,
) -> None:
    """Test how well epistemic uncertainty finds avoidable errors."""
    from tqdm import tqdm

    from rue.components import Run
    from rue.io.align import make_run
    from rue.metrics.evaluation import evaluate_run
    from rue.metrics.table import format_rows, notes

    losses = chosen_losses(loss, cost)
    scale = parse_values(values)
    if ci is not None and not 0 < ci < 1:
        raise InputError(f"--ci must be between 0 and 1, got {ci}")
    if resample_annotators and ci is None:
        raise InputError("--resample-annotators needs --ci")
    if cluster is not None and ci is None:
        raise InputError("--cluster needs --ci")
    study = None
    if against is not None:
        from rue.cli._against import baselines_for

        names = list(losses)
        study = baselines_for(against, truth, names, by=by, convention=convention)
    # A study evaluates the test part of a data set, so the other points of it may be missing.
    common = common or (study is not None and not by_position)
    matching = matching_of(id_name, classes, common, by_position)
    answers = truth_of(truth, matching, by=(by, cluster))
    methods = read_methods(files, matching)
    rows: list[Evaluation] = []
    runs = []
    with tqdm(total=len(methods) * len(losses), delay=2, disable=None, leave=False) as bar:
        for method, predictions in methods.items():
            given = isinstance(predictions, Run)
            if given and study is not None:
                raise InputError(
                    f"{predictions.path} contains components, and --against needs predictions"
                )
            if given and len(losses) > 1:
                raise InputError(
                    f"{predictions.path} contains components of one loss: pass one --loss"
                )
            for name, each in losses.items():
                bar.set_description(f"{method} {name}")
                run = make_run(
                    predictions,
                    answers,
                    each,
                    values=scale,
                    seed=seed,
                    with_answers=resample_annotators or (None if corrected else False),
                    matching=matching,
                    convention=convention,
                )
                run = replace(run, method=method)
                if given:
                    run = replace(run, loss=loss_of_components(run, name if loss else ""))
                for group, rows_in in _groups(run, by):
                    part = run if rows_in is None else run[rows_in]
                    row = evaluate_run(part, group=group, gap=gap, corrected=corrected)
                    if ci is not None:
                        from rue.inference.intervals import intervals

                        found = intervals(
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
                        row = replace(row, intervals=found)
                    rows.append(row)
                runs.append(run)
                bar.update()
    if plot is not None:
        from rue.plots.curves import plot_curves
        from rue.plots.style import save

        save(plot_curves(runs), plot)
    order = list(dict.fromkeys(["", *losses, *(row.loss for row in rows)]))
    groups = list(dict.fromkeys(row.group for row in rows))
    rows.sort(key=lambda row: (order.index(row.loss), groups.index(row.group)))
    shown: list[Evaluation] | list[dict[str, Any]] = rows
    said: list[str] = []
    if study is not None and truth is not None:
        from rue.cli._against import beside_baselines

        shown, said = beside_baselines(rows, study, truth)
    emit(format_rows(shown, format.value))
    if format is Format.table:
        emit("\n" + _ranked_by(rows) + "\n")
    for sentence in said if format is not Format.json else ():  # JSON holds them
        (emit if format is Format.table else warn)(sentence)
    print_notes(notes(rows), format.value)


def _ranked_by(rows: "list[Evaluation]") -> str:
    """Return n-AuReC by each of the three components: which of them finds regret best."""
    scores = {"epistemic": "n_aurec", "total": "n_aurec_total", "aleatoric": "n_aurec_aleatoric"}
    grouped = any(row.group for row in rows)
    names = ["method", "loss", *(["group"] if grouped else [])]
    table = [[*names, *scores]]
    for row in rows:
        numbers = [getattr(row, key) for key in scores.values()]
        table.append(
            [
                *(getattr(row, name) for name in names),
                *("-" if number != number else f"{number:.3f}" for number in numbers),
            ]
        )
    return "n-AuReC when ranking by\n" + align(table, left=names, rule=True)


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
