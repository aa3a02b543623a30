"""rue evaluate: a row of the paper's table for each prediction file and loss."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rue._text import JsonObject
from rue.beliefs import Belief, Convention
from rue.cli import emit, print_notes, progress, terminal_width, warn
from rue.cli.inputs import (
    CommandLosses,
    Matched,
    files_by_name,
    read_columns,
    read_limits,
    require_level,
    require_none,
)
from rue.cli.options import (
    ALSO_CORRECTED,
    AT,
    CLUSTER,
    COLUMN,
    CONVENTION,
    COVERAGE_AT,
    DEFER_FEE,
    FILES,
    FORMAT,
    INPUT,
    INTERVALS,
    OUTPUT,
    WIDE,
    option,
)
from rue.components import Run
from rue.errors import InputError
from rue.inference.intervals import combined_row, intervals
from rue.io.runs import make_run
from rue.io.several_truths import read_annotator_groups, read_label_beliefs, read_label_truths
from rue.metrics.columns import CORRECTED_TITLES, EVALUATED, PERSON, SHORT, SOURCES
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.metrics.limits import limit_titles
from rue.metrics.table import Format, format_grid, format_rows, notes, with_title
from rue.pareto.gap import pareto_gap
from rue.truth.base import Truth

EXAMPLE = "rue evaluate ensemble.npz ddu.npz --truth counts.npy --loss log --loss zero_one"

Problems = dict[str, list[tuple[str, Belief | Run, Truth | None]]]
"""By method, its predictions and the answers: about everything (""), or about each label."""


def evaluate(
    matched: Matched,
    losses: CommandLosses,
    files: list[str] = FILES,
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
    cluster: str | None = CLUSTER,
    seed: int = option(
        0, "Seed of --ci, and of cost under Dirichlet beliefs.", panel=INTERVALS, min=0
    ),
    gap: bool = option(True, "Compute the Pareto-gap.", panel=OUTPUT),
    corrected: bool = ALSO_CORRECTED,
    defer_fee: float | None = DEFER_FEE,
    at: float | None = AT,
    coverage_at: list[str] | None = COVERAGE_AT,
    references: bool | None = option(
        None,
        "Compute what n-AuReC is measured against for any number of points, or never.",
        "--references/--quick",
        panel=OUTPUT,
    ),
    convention: Convention = CONVENTION,
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
    format: Format = FORMAT,
    wide: bool = WIDE,
    plot: Path | None = option(None, "Draw the coverage curves: .png, .pdf or .svg.", panel=OUTPUT),
) -> None:
    """Test how well epistemic uncertainty finds avoidable errors."""
    chosen = losses.chosen
    limits = read_limits(at, coverage_at)
    shown = _shown_columns(columns, format, limits)
    require_level("--ci", ci)
    combining = "--multi-label" if multi_label else ""
    if by_annotator is not None and not multi_label:
        combining = "--by-annotator"
    if resample_annotators and combining:
        raise InputError(f"{combining} resamples items: leave out --resample-annotators")
    if resample_annotators and ci is None:
        raise InputError("--resample-annotators needs --ci")
    if cluster is not None and ci is None:
        raise InputError("--cluster needs --ci")
    study = None
    if against is not None:
        from rue.cli._against import baselines_for, beside_baselines  # rue.bench loads slowly

        study = baselines_for(against, matched.truth, list(chosen), by=by, convention=convention)
        # A study evaluates the test part of a data set, so its other points may be missing.
        matched = replace(matched, common=matched.common or not matched.by_position)
    problems: Problems
    if multi_label:
        others = {"--by": by, "--by-annotator": by_annotator, "--against": against}
        others["--positive"] = matched.positive
        require_none("--multi-label has a row for each label, so leave out", others)
        problems = _read_labels(matched, files, cluster)
    elif by_annotator is not None:
        others = {"--by": by, "--against": against}
        require_none("--by-annotator has a row for each group: leave out", others)
        problems = _read_groups(matched, files, by_annotator, cluster)
    else:
        answers = matched.answers(by, cluster)
        methods = matched.read_methods(files, by, cluster)
        problems = {method: [("", read, answers)] for method, read in methods.items()}
        del methods
    how: JsonObject = {"values": losses.scale, "matching": matched.matching, "seed": seed}
    how |= {"with_answers": resample_annotators, "convention": convention}
    bootstrap: JsonObject = {"level": ci, "n_replicates": replicates, "cluster": cluster}
    bootstrap |= {"gap": gap, "seed": seed}
    rows: list[Evaluation] = []
    runs = []
    # A row of all points needs the predictions only for its first columns.
    single = len(chosen) == 1 and by is None and not (corrected or combining)
    with progress(len(problems) * len(chosen)) as step:
        for method, parts in problems.items():
            predictions = parts[0][1]
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
                pairs = []
                for label, belief, truth in parts:
                    run = make_run(belief, truth, loss, **how)
                    run = replace(run, method=method, defer_fee=defer_fee or 0.0, at=limits)
                    if is_run:
                        own = loss_of_components(run, name if losses.loss else "")
                        run = replace(run, loss=own)
                    if single:
                        parts.clear()
                        del belief, predictions
                    whole = [run]  # nothing else may hold a run whose belief is to be freed
                    pieces = (
                        ((label, whole.pop()) for _ in range(1)) if by is None else _groups(run, by)
                    )
                    for group, part in pieces:
                        row = evaluate_run(
                            part,
                            group=group,
                            gap=gap and not single,
                            corrected=corrected,
                            references=references,
                            seed=seed,
                        )
                        if single:
                            known = {source: run.once(source) for source in SOURCES if ci}
                            run = part = replace(run, belief=None, ids=None).with_points(known)
                            if gap:
                                distance = pareto_gap(run.star, run.hat, convention=convention)
                                row = replace(row, numbers={**row.numbers, "pareto_gap": distance})
                        if ci is not None:
                            bounds = intervals(
                                part,
                                row=row,
                                resample_annotators=resample_annotators,
                                progress=True,
                                **bootstrap,
                            )
                            row = replace(row, intervals=bounds)
                        rows.append(row)
                        pairs.append((part, row))
                    runs.append(run)
                if combining:
                    several = [pairs] if multi_label else itertools.combinations(pairs, 2)
                    for combined in several:
                        some_runs, some_rows = zip(*combined, strict=True)
                        rows.append(
                            combined_row(
                                some_runs, some_rows, difference=not multi_label, **bootstrap
                            )
                        )
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
        title = f"With a person who is asked about deferred points, for a fee of {defer_fee:g}"
        emit("\n" + with_title(title, _teams(rows, format), format))
        about |= {*PERSON}
    for sentence in sentences if format != "json" else ():  # JSON holds them
        (emit if format == "table" else warn)(sentence)
    print_notes(notes(rows, about), format)


def _read_groups(matched: Matched, files: list[str], column: str, cluster: str | None) -> Problems:
    """Read each method's predictions with the answers of each group of annotators."""
    if matched.truth is None or not Path(matched.truth).exists():
        raise InputError("--by-annotator needs --truth FILE, with one row per answer")
    if matched.by_position:
        raise InputError("--by-annotator matches points by id: leave out --by-position")
    by = [] if cluster is None else [cluster]
    groups = read_annotator_groups(matched.truth, column, by=by, matching=matched.matching)
    problems: Problems = {}
    for name, belief in matched.read_methods(files, cluster).items():
        part = groups.on_points(belief, matched.matching)
        problems[name] = [(group, part, truth) for group, truth in groups.truths.items()]
    return problems


def _read_labels(matched: Matched, files: list[str], cluster: str | None) -> Problems:
    """Read each method's predictions of each label, with the answers about it."""
    if matched.truth is None:
        raise InputError("--multi-label needs --truth FILE, with the labels that people chose")
    by = [] if cluster is None else [cluster]
    truths = read_label_truths(matched.truth, by=by, matching=matched.matching)
    problems: Problems = {}
    for name, paths in files_by_name(files).items():
        if len(paths) > 1:
            raise InputError(f"--multi-label takes one file per method, got {len(paths)}")
        beliefs = read_label_beliefs(paths[0], list(truths), matching=matched.matching)
        problems[name] = [(label, belief, truths[label]) for label, belief in beliefs.items()]
    return problems


def _shown_columns(
    columns: str | None, format: str, limits: Mapping[str, float]
) -> Sequence[str] | Mapping[str, str] | None:
    """Return the columns to show: those asked for, the short answer, or None for all (a file)."""
    if columns is None:
        return None if format in ("json", "csv") else SHORT | limit_titles(limits)
    return read_columns(columns, format, EVALUATED)


def _teams(rows: list[Evaluation], format: Format) -> str:
    """Return what model and person cost, alone and together."""
    head = ["method", "loss", "asked", "accept all", "defer all", "team", "at coverage", "parity"]
    grid = [head]
    for row in rows:
        person_cost = row.person_risk + row.defer_fee
        numbers = (row.risk, person_cost, row.team_risk, row.team_coverage, row.person_parity)
        texts = ["-" if number != number else f"{number:.4f}" for number in numbers]
        name = " ".join(filter(None, (row.method, row.group)))
        grid.append([name, row.loss, row.person_kind or "-", *texts])
    return format_grid(grid, format, left=head[:3], width=terminal_width())


def _groups(run: Run, by: str) -> Iterator[tuple[str, Run]]:
    """Yield the name and the points of each group."""
    if by not in run.groups:
        raise InputError(
            f"--by must be a column of the files, got {by!r}; "
            f"{run.path} and its truth have {', '.join(run.groups) or 'none'}",
            advice={"--by-annotator": "groups the answers by a column about annotators"},
        )
    column = run.groups[by]
    is_number = column.dtype.kind == "f"
    if is_number and np.isnan(column).any():
        row = int(np.argmax(np.isnan(column)))
        raise InputError(f"--by {by}: the column has a missing value at row {row}")
    for group in np.unique(column):
        yield str(int(group) if is_number and group % 1 == 0 else group), run[column == group]


def loss_of_components(run: Run, asked: str) -> str:
    """Return the loss of a table of components: the one it names, or the one that was asked for."""
    if asked and run.loss_name and run.loss_name != asked:
        raise InputError(
            f"{run.path}: holds components of {run.loss_name} loss, so --loss cannot be {asked}"
        )
    return run.loss_name or asked
