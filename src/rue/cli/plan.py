"""rue plan: how many points and annotators a study needs, from a pilot."""

import math

from rue._text import ESCAPES
from rue.cli import emit_either, print_notes, terminal_width
from rue.cli.inputs import Matched, OneLoss
from rue.cli.options import FILES, FORMAT, WIDE, TableOrJson, option
from rue.errors import InputError
from rue.inference.plan_pilot import LEAST_POINTS
from rue.inference.power import ANNOTATORS, Plan
from rue.inference.power import plan as plan_runs
from rue.io.runs import make_runs
from rue.metrics.columns import title
from rue.metrics.table import format_grid

EXAMPLE = "rue plan ensemble.npz ddu.npz --truth counts.npy --loss zero_one --width 0.01"


def plan(
    matched: Matched,
    losses: OneLoss,
    files: list[str] = FILES,
    criterion: str = option("aurec", "The column to compare methods by."),
    ci: float = option(0.95, "Level of the test."),
    power: float = option(0.8, "Power of the test."),
    width: float | None = option(None, "Largest acceptable width of the bracket of AuReC."),
    annotators: str | None = option(None, "Numbers of annotators per point to consider: 5,10,20."),
    seed: int = option(0, "Seed of the draws.", min=0),
    format: TableOrJson = FORMAT,
    wide: bool = WIDE,
) -> None:
    """Plan a study: how many points and annotators it needs.

    The study is to separate two methods, or to narrow the bracket of the true AuReC. The files are
    a pilot: predictions for a few hundred points that have answers. Every number has its standard
    error, and nothing is recommended from a width or a difference that may be 0.
    """
    numbers = ANNOTATORS if annotators is None else _whole_numbers(annotators)
    runs = make_runs(
        matched.read_methods(files),
        matched.answers(),
        losses.chosen,
        values=losses.scale,
        with_answers=True,
        matching=matched.matching,
    )
    study = plan_runs(
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
    notes = {run.method: list(run.notes) for run in runs if run.notes}
    facts = {"loss": losses.loss, "methods": methods} | study.to_dict() | {"notes": notes}
    emit_either(format, facts, _table(losses.loss, methods, study, terminal_width(wide)))
    print_notes([f"{name}: {note}" for name, own in notes.items() for note in own], format)


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"--annotators must be whole numbers like 5,10,20, got {text!r}") from None


def _table(loss: str, methods: list[str], study: Plan, columns: int | None) -> str:
    two = len(methods) == 2
    compared = ["difference", "points", "answers"] if two else []
    rows = [["annotators", "bracket width", *compared]]
    for row in study.rows:
        width = _number(row.bracket_width, row.bracket_width_se, ".3g")
        numbers = [
            f"{row.n_annotators}{'*' * row.extrapolated}",
            "~" * (not row.width_reliable) + width,
        ]
        if two:
            unsure = "~" * (not row.reliable and math.isfinite(row.n_points))
            numbers += [
                unsure + _number(row.difference, row.difference_se, ".3g", sign="+"),
                unsure + _number(row.n_points, row.n_points_se, ",.0f"),
                "-" if not math.isfinite(row.n_answers) else f"{row.n_answers:,.0f}",
            ]
        rows.append(numbers)
    names = " against ".join(methods).translate(ESCAPES)
    lines = [
        f"{names} · {loss} loss · pilot with {study.pilot_points:,} points,\nnine of ten with "
        f"{study.pilot_annotators} or more annotators",
        format_grid(rows, left=0, width=columns),
        "",
    ]
    if two:
        lines.append(_advice(study, title(study.criterion)))
    if study.width is not None and study.annotators_needed is None:
        lines.append(f"A million annotators per point do not bring the bracket to {study.width:g}.")
    elif study.width is not None and study.annotators_needed is not None:
        error = study.annotators_needed_se
        assert error is not None  # given with the number
        needed = f"{study.annotators_needed:,}"
        needed += " ± " + (f"{error:,.0f}" if math.isfinite(error) else "?") if error else ""
        lines.append(
            f"A bracket of at most {study.width:g} needs {needed} annotators per point."
            if study.annotators_needed_reliable
            else "The pilot is too small to say how many annotators per point a bracket of at most "
            f"{study.width:g} needs: {needed}. No number of annotators is recommended."
        )
    if study.single_points:
        lines.append(f"note: points with a single answer are left out: {study.single_points:,}")
    text = "\n".join(lines)
    signs = {
        "±": "is one standard error",
        "± ?": "an unknown one",
        "*": "is extrapolated, beyond the annotators of the pilot",
        "~": "is too uncertain to plan with",
    }
    legend = [f"{sign} {meaning}" for sign, meaning in signs.items() if sign in text]
    return f"{text}\n{', '.join(legend)}."


def _advice(study: Plan, criterion: str) -> str:
    """Return what to do, or why the pilot does not say it."""
    best = study.best()
    if best is not None:
        return (
            f"To separate them by {criterion} at level {study.level:g} with power "
            f"{study.power:g}, {best.n_annotators} annotators per point need the fewest answers: "
            f"{_number(best.n_points, best.n_points_se, ',.0f')} points."
        )
    if math.isnan(study.difference) or study.difference == 0:
        return f"The pilot shows no difference in {criterion}."
    if study.pilot_points < LEAST_POINTS:
        return (
            f"No number of points is recommended: the pilot has {study.pilot_points}, and the "
            f"standard errors of fewer than {LEAST_POINTS} are too uncertain themselves."
        )
    apart = _number(study.difference, study.difference_se, ".3g", sign="+")
    return (
        f"The pilot is too small to say how many points separate them by {criterion}: with "
        f"infinitely many annotators the difference is {apart}. No number of points is recommended."
    )


def _number(value: float, error: float, form: str, sign: str = "") -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:{sign}{form}} ± " + (f"{error:{form}}" if math.isfinite(error) else "?")
