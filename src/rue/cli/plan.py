"""rue plan: how many points and annotators a study needs, from a pilot."""

import json
import math
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rue._text import printable
from rue.cli.evaluate import named_loss
from rue.cli.options import (
    ByPosition,
    Classes,
    Common,
    Costs,
    Files,
    IdName,
    LossName,
    Scale,
    TruthFile,
    align,
    emit,
    matching_of,
    parse_values,
    read_methods,
    truth_of,
)
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.inference.power import Plan

EXAMPLE = "rue plan ensemble.npz ddu.npz --truth counts.npy --loss zero_one --width 0.01"


def plan(
    files: Files,
    truth: TruthFile = None,
    loss: LossName = "log",
    values: Scale = None,
    cost: Costs = None,
    id_name: IdName = None,
    classes: Classes = None,
    common: Common = False,
    by_position: ByPosition = False,
    criterion: Annotated[str, typer.Option(help="The column to compare methods by.")] = "aurec",
    ci: Annotated[float, typer.Option(help="Level of the test.")] = 0.95,
    power: Annotated[float, typer.Option(help="Power of the test.")] = 0.8,
    width: Annotated[
        float | None, typer.Option(help="Largest acceptable width of the bracket of AuReC.")
    ] = None,
    annotators: Annotated[
        str | None, typer.Option(help="Numbers of annotators per point to consider: 5,10,20.")
    ] = None,
    format: Annotated[Literal["table", "json"], typer.Option(help="Output format.")] = "table",
    seed: Annotated[int, typer.Option(help="Seed of the subsamples.", min=0)] = 0,
) -> None:
    """Plan a study: how many points and annotators it needs.

    The study is to separate two methods, or to narrow the bracket of the true AuReC. The files are
    a pilot: predictions for a few hundred points that have answers.
    """
    from rue.inference.power import ANNOTATORS
    from rue.inference.power import plan as plan_runs
    from rue.io.runs import make_runs

    numbers = ANNOTATORS if annotators is None else _whole_numbers(annotators)
    matching = matching_of(id_name, classes, common, by_position)
    answers = truth_of(truth, matching)
    _, each = named_loss(loss, cost)
    runs = make_runs(
        read_methods(files, matching),
        answers,
        each,
        values=parse_values(values),
        with_answers=True,
        matching=matching,
    )
    found = plan_runs(
        runs,
        criterion=criterion,
        level=ci,
        power=power,
        width=width,
        annotators=numbers,
        seed=seed,
        progress=True,
    )
    methods = [run.method for run in runs]
    if format == "json":
        told = {run.method: list(run.notes) for run in runs if run.notes}
        whole = {"loss": loss, "methods": methods} | found.to_dict() | {"notes": told}
        emit(json.dumps(whole, indent=2, allow_nan=False))
    else:
        emit(_table(loss, methods, found))
        for run in runs:
            for note in run.notes:
                emit(f"note: {run.method}: {note}")


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"--annotators must be whole numbers like 5,10,20, got {text!r}") from None


def _table(loss: str, methods: list[str], found: "Plan") -> str:
    from rue.metrics.columns import title

    two = len(methods) == 2
    compared = ["difference", "points", "answers"] if two else []
    head = ["annotators", "bracket width", *compared, ""]
    rows = [head]
    for row in found.rows:
        numbers = [str(row.n_annotators), f"{row.bracket_width:.4g}"]
        if two:
            apart = "-" if math.isnan(row.difference) else f"{row.difference:+.4g}"
            numbers += [apart, _count(row.n_points), _count(row.n_answers)]
        rows.append([*numbers, "extrapolated" if row.extrapolated else "from the pilot"])
    names = printable(" against ".join(methods))
    lines = [
        f"{names} · {loss} loss · pilot with {found.pilot_points:,} points, "
        f"{found.pilot_annotators} or more annotators each",
        align(rows, left=[""], rule=True),
        "",
    ]
    possible = [row for row in found.rows if math.isfinite(row.n_answers)]
    if two and not possible:
        lines.append(f"The pilot shows no difference in {title(found.criterion)}.")
    elif two:
        best = min(possible, key=lambda row: row.n_answers)
        lines.append(
            f"To separate them by {title(found.criterion)} at level {found.level:g} with power "
            f"{found.power:g}, {best.n_annotators} annotators per point need the fewest answers: "
            f"{_count(best.n_points)} points."
        )
    if found.width is not None and found.annotators_needed is None:
        lines.append(f"A million annotators per point do not bring the bracket to {found.width:g}.")
    elif found.width is not None:
        needed = f"{found.annotators_needed:,} annotators per point"
        lines.append(f"A bracket of at most {found.width:g} needs {needed}.")
    return "\n".join(lines)


def _count(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:,.0f}"
