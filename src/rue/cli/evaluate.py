"""rue evaluate: a row of the paper's table for each prediction file and loss."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rue._text import JsonObject
from rue.cli import emit, print_notes, progress, terminal_width, warn
from rue.cli.inputs import (
    COLUMN,
    INPUT,
    INTERVALS,
    OUTPUT,
    AnyFormat,
    At,
    ClusterOption,
    CommandLosses,
    ConventionOption,
    CorrectedOption,
    CoverageAt,
    DeferFee,
    Files,
    Matched,
    Wide,
    option,
    read_columns,
    read_limits,
    require_level,
)
from rue.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rue.beliefs import Belief
    from rue.components import Run
    from rue.metrics.evaluation import Evaluation
    from rue.metrics.table import Format
    from rue.truth.base import Truth

EXAMPLE = "rue evaluate ensemble.npz ddu.npz --truth counts.npy --loss log --loss zero_one"


def evaluate(
    files: Files,
    matched: Matched,
    losses: CommandLosses,
    by: str | None = option(
        None,
        "One row per group of this column; 'class' is the majority class.",
        panel=INPUT,
        metavar=COLUMN,
    ),
    by_annotator: str | None = option(
        None,
        "One row per group of annotators, such as gender, a column of a truth with one "
        "row per answer; and the differences on the same points.",
        panel=INPUT,
        metavar=COLUMN,
    ),
    multi_label: bool = option(
        False,
        "Annotators choose any number of labels: one row for each label, as a binary "
        "problem, and their mean.",
        "--multi-label",
        panel=INPUT,
    ),
    ci: float | None = option(
        None, "Add bootstrap intervals of this level, e.g. 0.95.", panel=INTERVALS
    ),
    replicates: int = option(2000, "Bootstrap samples for --ci.", panel=INTERVALS, min=2),
    resample_annotators: bool = option(
        False,
        "For --ci, resample annotators within points too.",
        "--resample-annotators",
        panel=INTERVALS,
    ),
    cluster: ClusterOption = None,
    seed: int = option(
        0, "Seed of --ci, and of cost under Dirichlet beliefs.", panel=INTERVALS, min=0
    ),
    gap: bool = option(True, "Compute the Pareto-gap.", panel=OUTPUT),
    corrected: CorrectedOption = False,
    defer_fee: DeferFee = None,
    at: At = None,
    coverage_at: CoverageAt = None,
    references: bool | None = option(
        None,
        "Compute what n-AuReC is measured against for any number of points, or never.",
        "--references/--quick",
        panel=OUTPUT,
    ),
    convention: ConventionOption = "definition",
    against: str | None = option(
        None,
        "Add the rows of a study on the same data, as atlas, and your rank.",
        panel=OUTPUT,
        metavar="STUDY",
    ),
    columns: str | None = option(
        None,
        "Show these columns of the row, or all, and not the short answer.",
        panel=OUTPUT,
        metavar="KEY,...",
    ),
    format: AnyFormat = "table",
    wide: Wide = False,
    plot: Path | None = option(None, "Draw the coverage curves: .png, .pdf or .svg.", panel=OUTPUT),
) -> None:
    """Test how well epistemic uncertainty finds avoidable errors."""
    from rue.components import Run
    from rue.io.runs import make_run
    from rue.metrics.columns import CORRECTED_TITLES, PERSON
    from rue.metrics.evaluation import evaluate_run
    from rue.metrics.table import format_rows, notes, with_title

    chosen = losses.chosen
    scale = losses.scale
    limits = read_limits(at, coverage_at)
    shown = _shown_columns(columns, format, limits)
    require_level("--ci", ci)
    if resample_annotators and (multi_label or by_annotator is not None):
        name = "--multi-label" if multi_label else "--by-annotator"
        raise InputError(f"{name} resamples items: leave out --resample-annotators")
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
    # The predictions and answers of each method: about everything (""), or about each label.
    problems: dict[str, list[tuple[str, Belief | Run, Truth | None]]]
    if multi_label:
        for name, value in (
            ("--by", by),
            ("--by-annotator", by_annotator),
            ("--against", against),
            ("--positive", matched.positive),
        ):
            if value is not None:
                raise InputError(f"--multi-label has a row for each label, so leave out {name}")
        problems = matched.read_labels(files, cluster)
    elif by_annotator is not None:
        for name, value in (("--by", by), ("--against", against)):
            if value is not None:
                raise InputError(f"--by-annotator has a row for each group: leave out {name}")
        problems = matched.read_groups(files, by_annotator, cluster)
    else:
        answers = matched.answers(by, cluster)
        methods = matched.read_methods(files, by, cluster)
        problems = {method: [("", read, answers)] for method, read in methods.items()}
    rows: list[Evaluation] = []
    runs = []
    with progress(len(problems) * len(chosen)) as step:
        for method, parts in problems.items():
            _, predictions, _ = parts[0]
            is_run = isinstance(predictions, Run)
            if is_run and study is not None:
                raise InputError(
                    f"{predictions.source} contains components, and --against needs predictions"
                )
            if is_run and len(chosen) > 1:
                raise InputError(
                    f"{predictions.source} contains components of one loss: pass one --loss"
                )
            for name, loss in chosen.items():
                labelled = []
                for label, belief, truth in parts:
                    run = make_run(
                        belief,
                        truth,
                        loss,
                        values=scale,
                        seed=seed,
                        with_answers=resample_annotators,
                        matching=matched.matching,
                        convention=convention,
                    )
                    run = replace(run, method=method, defer_fee=defer_fee or 0.0, at=limits)
                    if is_run:
                        own = loss_of_components(run, name if losses.loss else "")
                        run = replace(run, loss=own)
                    for group, rows_in in [(label, None)] if label else _groups(run, by):
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
                        labelled.append((part, row))
                    runs.append(run)
                if multi_label or by_annotator is not None:
                    from rue.inference.combined_rows import combined_row

                    pairs = [labelled] if multi_label else itertools.combinations(labelled, 2)
                    rows += [
                        combined_row(
                            [part for part, _ in several],
                            [row for _, row in several],
                            difference=not multi_label,
                            level=ci,
                            n_replicates=replicates,
                            gap=gap,
                            cluster=cluster,
                            seed=seed,
                        )
                        for several in pairs
                    ]
                step(f"{method} {name}")
    if plot is not None:
        from rue.plots.curves import plot_curves
        from rue.plots.style import save

        save(plot_curves(runs), plot)
    order = list(dict.fromkeys(["", *chosen, *(row.loss for row in rows)]))
    groups = list(dict.fromkeys(row.group for row in rows))
    rows.sort(key=lambda row: (order.index(row.loss), groups.index(row.group)))
    table: list[Evaluation] | list[JsonObject] = rows
    sentences: list[str] = []
    if study is not None and matched.truth is not None:
        from rue.cli._against import beside_baselines

        table, sentences = beside_baselines(rows, study, matched.truth)
    width = terminal_width(wide)
    emit(format_rows(table, format, columns=shown, width=width))
    about = None if shown is None else {*shown}
    if about is not None and corrected and columns is None:
        title = "Corrected for finitely many annotators"
        text = format_rows(table, format, columns=CORRECTED_TITLES, width=width)
        emit("\n" + with_title(title, text, format))
        about |= {*CORRECTED_TITLES}
    if about is not None and format in ("table", "latex", "markdown") and defer_fee is not None:
        person_note = (
            f"With a person who is asked about deferred points, for a fee of {defer_fee:g}"
        )
        emit("\n" + with_title(person_note, _teams(rows, format), format))
        about |= {*PERSON}
    for sentence in sentences if format != "json" else ():  # JSON holds them
        (emit if format == "table" else warn)(sentence)
    print_notes(notes(rows, about), format)


def _shown_columns(
    columns: str | None, format: str, limits: "Mapping[str, float]"
) -> "Sequence[str] | Mapping[str, str] | None":
    """Return the columns to show: those asked for, the short answer, or None for all (a file)."""
    from rue.metrics.columns import EVALUATED, SHORT
    from rue.metrics.limits import limit_titles

    if columns is None:
        return None if format in ("json", "csv") else SHORT | limit_titles(limits)
    return read_columns(columns, format, EVALUATED)


def _teams(rows: "list[Evaluation]", format: "Format") -> str:
    """Return what model and person cost, alone and together."""
    from rue.metrics.table import format_grid

    head = ["method", "loss", "asked", "accept all", "defer all", "team", "at coverage", "parity"]
    grid = [head]
    for row in rows:
        person_cost = row.person_risk + row.defer_fee
        numbers = (row.risk, person_cost, row.team_risk, row.team_coverage, row.person_parity)
        texts = ["-" if number != number else f"{number:.4f}" for number in numbers]
        name = " ".join(filter(None, (row.method, row.group)))
        grid.append([name, row.loss, row.person_kind or "-", *texts])
    return format_grid(grid, format, left=head[:3], width=terminal_width())


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
