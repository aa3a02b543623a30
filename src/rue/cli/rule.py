"""rue rule: learn a rule to deploy, apply it to new points, show it."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import typer

from rue._schema import plain
from rue._text import ESCAPES, JsonObject
from rue.cli import App, emit_either, terminal_width
from rue.cli.inputs import Budgets, Matched, OneLoss, method_of, require_other_file
from rue.cli.options import COLUMN, DEFER_FEE, FORMAT, ONE_METHOD, TableOrJson, argument, option
from rue.deploy import Attained, Outcome, Rule, attained, budgets_kept, compare_rules, fit_selector
from rue.deploy.candidates import total_weights
from rue.deploy.points import read_calibration, read_of_kind
from rue.errors import InputError
from rue.io.saving import save_table
from rue.metrics.clusters import cluster_column
from rue.metrics.table import format_grid
from rue.selectors.selector import Problem

app = App(help="Rules to deploy: learn one, apply it to new points, show it.")

RULE = argument(..., "A rule that rue rule fit --save wrote.")


@app.command(
    epilog="Example:  rue rule fit cal.npz --loss zero_one --risk-max 0.05 --delta 0.1 "
    "--save rule.json"
)
def fit(
    matched: Matched,
    losses: OneLoss,
    budgets: Budgets,
    file: str = ONE_METHOD,
    delta: float | None = option(None, "Promise the budgets with probability 1 - delta."),
    bound: float | None = option(
        None, "With --delta: the largest possible loss; by default that of the loss."
    ),
    limits: str | None = option(
        None, "With --delta: the range of real-valued answers, as in 0,100.", "--range"
    ),
    score: Literal["learned", "total", "epistemic"] = option(
        "learned", "Learn the weights of both components, or take one score."
    ),
    cluster: str | None = option(
        None,
        "With --delta: points with the same value belong together, e.g. a patient's; "
        "promise for a random point of a new cluster.",
        metavar=COLUMN,
    ),
    seed: int = option(0, "Seed of the split of the points.", min=0),
    save: Path | None = option(None, "Write the rule to this file, JSON."),
    compare: Path | None = option(
        None,
        "File of further points, with answers in it or in --truth: measure this rule "
        "and simpler ones on them.",
    ),
    plot: Path | None = option(
        None, "With --compare: draw the promised, attained and best possible values."
    ),
    defer_fee: float | None = DEFER_FEE,
    format: TableOrJson = FORMAT,
) -> None:
    """Learn when to accept a prediction and when to defer it.

    The rule accepts where a weighted sum of the model's own aleatoric and epistemic uncertainty is
    at most a threshold. Without --maximize and --minimize it maximises coverage. With --delta its
    risk and regret budgets are promised for new points.

    Exit code 0: the rule accepts something; 1: it accepts nothing, and a note says why (it is saved
    all the same); 2: invalid input.
    """
    if plot is not None and compare is None:
        raise InputError("--plot needs --compare")
    if defer_fee is not None and compare is None:
        raise InputError("--defer-fee needs --compare, which prints what the team costs")
    if budgets.maximize is None and budgets.minimize is None:
        budgets = replace(budgets, maximize="coverage")
    problem = budgets.problem
    name, files = method_of(file)
    require_other_file("--save", save, [*files, matched.truth, losses.cost, compare])
    points = read_calibration(
        files,
        matched.answers(cluster),
        losses.chosen,
        name=name,
        values=losses.scale,
        bounded=delta is not None and bound is None,
        limits=_range_of(limits),
        matching=matched.matching_for(cluster),
        others=compare is not None,
    )
    assert points.star is not None  # calibration points have answers
    weights = {"learned": None, "total": total_weights(points.hat), "epistemic": (0.0, 1.0)}
    rule = fit_selector(
        points.star,
        points.hat,
        **problem.to_dict(),
        delta=delta,
        bound=points.bound if bound is None else bound,
        weights=weights[score],
        cluster=None if cluster is None else cluster_column(points.groups, cluster),
        seed=seed,
        kind=points.kind,
    )
    if save is not None:
        rule.save(save)
    facts: JsonObject = {"rule": rule.to_dict(), "notes": list(points.notes)}
    lines = rule_lines(rule, points.method) + [f"note: {note}" for note in points.notes]
    if compare is not None:
        matching = replace(matched.matching, common=False, by_position=False)
        new = read_of_kind(
            compare, rule.kind, matched.answers(), matching=matching, bound=rule.bound, others=True
        )
        if new.star is None:
            raise InputError(
                f"{new.path}: has no answers, and --compare needs them, in the file or by id in "
                "--truth"
            )
        outcomes = compare_rules(
            points.star,
            points.hat,
            new.star,
            new.hat,
            rule.problem,
            doubt_cal=points.doubt,
            doubt_new=new.doubt,
            delta=rule.delta,
            bound=rule.bound,
            seed=rule.seed,
            defer_fee=defer_fee or 0.0,
        )
        facts["comparison"] = [plain(replace(outcome, rule=None)) for outcome in outcomes]
        lines += ["", _comparison(outcomes, problem)]
        if plot is not None:
            from rue.plots.comparison import plot_outcomes
            from rue.plots.style import save as save_plot

            drawn = [o for o in outcomes if o.rule is not None or o.name == "possible"]
            save_plot(plot_outcomes(drawn, problem), plot)
    emit_either(format, facts, "\n".join(lines))
    if rule.tau == -math.inf:
        raise typer.Exit(1)


@app.command(epilog="Example:  rue rule apply rule.json new.npz --out decisions.csv")
def apply(
    matched: Matched,
    rule: Path = RULE,
    file: str = ONE_METHOD,
    out: Path | None = option(None, "Write id, score and decision of each point, .csv."),
    format: TableOrJson = FORMAT,
) -> None:
    """Decide on new points by a saved rule.

    The points must be of the kind that the rule is made for: the same method, loss, classes and
    number of draws. If they have answers, each budget is reported as kept or broken on them.

    Exit code 0: something is accepted, and no budget is broken where there are answers; 1: nothing
    is accepted, or a budget is broken; 2: invalid input.
    """
    loaded = Rule.load(rule)
    name, files = method_of(file)
    require_other_file("--out", out, [*files, matched.truth, rule])
    new = read_of_kind(
        files,
        loaded.kind,
        matched.answers(),
        name=name,
        matching=matched.matching,
        bound=loaded.bound,
    )
    accepted = loaded.accept(new.hat)
    facts: JsonObject = {
        "rule": loaded.to_dict(),
        "new": {
            "method": new.method,
            "n_points": len(accepted),
            "n_accepted": int(accepted.sum()),
            "coverage": float(accepted.mean()),
            "notes": list(new.notes),
        },
    }
    count = f"{len(accepted):,} new points: {int(accepted.sum()):,} accepted"
    line = f"{new.method} · {count} ({100 * float(accepted.mean()):.1f} %)".translate(ESCAPES)
    lines = [*rule_lines(loaded, loaded.kind.method or rule.stem), "", line]
    if out is not None:
        ids = np.arange(len(new.hat)) if new.ids is None else new.ids
        save_table(out, {"id": ids, "score": loaded.score(new.hat), "accept": accepted})
        lines.append(f"decisions are in {out}")
    within: dict[str, bool] = {}
    if new.star is not None:
        here = attained(new.star, accepted, normalized=loaded.problem.normalized)
        within = budgets_kept(here, loaded.problem)
        facts["new"] |= {"attained": plain(here), "kept": within}
        lines += _attained_lines(loaded.problem, here, within) if here.n_accepted else []
    emit_either(format, facts, "\n".join(lines), new.notes)
    if not accepted.any() or not all(within.values()):
        raise typer.Exit(1)


@app.command(epilog="Example:  rue rule show rule.json --format json")
def show(rule: Path = RULE, format: TableOrJson = FORMAT) -> None:
    """Print a saved rule, its promise, and its held-out results.

    Exit code 0: the rule accepts something; 1: it accepts nothing; 2: invalid input.
    """
    loaded = Rule.load(rule)
    lines = rule_lines(loaded, loaded.kind.method or rule.stem)
    emit_either(format, {"rule": loaded.to_dict()}, "\n".join(lines))
    if loaded.tau == -math.inf:
        raise typer.Exit(1)


_OUTSIDE = (
    "The weights (1, 1) add a score without the unit of the loss to the Bayes risk, as the total "
    "of such beliefs once did. The decisions stay as they are; rue rule fit --score total now has "
    "the weights (1, 0)."
)


def rule_lines(rule: Rule, name: str) -> list[str]:
    """Return a rule as lines: the points it comes from, the rule, its promise, its estimate."""
    loss = f" · {rule.kind.loss} loss" if rule.kind.loss else ""
    split = f" ({rule.n_learned:,} to learn, {rule.n_tested:,} to test)" if rule.delta else ""
    lines = [f"{name}{loss} · {rule.n_points:,} calibration points{split}"]
    lines += [f"{rule.rule}.", f"{rule.promise}."]
    how = " on the test points" if rule.delta else " cross-fitted"
    if rule.estimate.n_accepted:
        lines += _number_lines(rule.estimate, dict.fromkeys(("coverage", "risk", "regret"), how))
    notes = [*rule.notes, *([_OUTSIDE] if rule.adds_outside_score else [])]
    return [line.translate(ESCAPES) for line in (*lines, *(f"note: {note}" for note in notes))]


def _attained_lines(problem: Problem, here: Attained, within: dict[str, bool]) -> list[str]:
    """Return coverage, risk and regret on new points, and whether floor and budgets are kept."""
    marks = {
        name: f" budget {limit:g}: {'kept' if within[name] else 'broken'}"
        for name, limit in problem.budgets.items()
    }
    if problem.coverage_min is not None:
        reached = here.coverage >= problem.floor - 1e-12
        marks["coverage"] = f" floor {problem.floor:g}: {'reached' if reached else 'missed'}"
    return _number_lines(here, marks)


def _number_lines(numbers: Attained, marks: dict[str, str]) -> list[str]:
    """Return coverage, risk and regret with their standard errors, and what follows each."""
    lines = []
    for key in ("coverage", "risk", "regret"):
        value, error = getattr(numbers, key), getattr(numbers, f"{key}_error")
        number = f"  {key:<10}{_number(value):>8} ± {_number(error):<8}"
        lines.append(f"{number}{marks.get(key, '')}".rstrip())
    return lines


def _comparison(outcomes: tuple[Outcome, ...], problem: Problem) -> str:
    """Return a table of rules and what each attains on new points."""
    team = any(not math.isnan(outcome.team) for outcome in outcomes)
    header = ["rule", "promise", "tested on", "coverage", "risk", "regret", "budgets"]
    header += ["team"] if team else []
    rows = [
        [
            outcome.name,
            "yes" if outcome.promised else "no",
            f"{outcome.n_tested:,}" if outcome.n_tested else "-",
            *(_number(x) for x in (outcome.coverage, outcome.risk, outcome.regret)),
            "kept" if all(budgets_kept(outcome, problem).values()) else "broken",
            *([_number(outcome.team)] if team else []),
        ]
        for outcome in outcomes
    ]
    left = ("rule", "promise", "budgets")
    return format_grid([header, *rows], left=left, width=terminal_width())


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _range_of(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a range, separated by a comma."""
    if text is None:
        return None
    try:
        low, high = (float(number) for number in text.split(","))
    except ValueError:
        raise InputError(f"--range must be two numbers as in 0,100, got {text!r}") from None
    return low, high
