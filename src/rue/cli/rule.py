"""The part of rue select that learns, saves and applies rules for new points."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rue.cli.options import align, emit
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.deploy import Attained, Outcome, Rule
    from rue.deploy.points import DeployPoints
    from rue.losses import Loss

WEIGHTS = {"learned": None, "total": (1.0, 1.0), "epistemic": (0.0, 1.0)}


def calibrate(
    path: Path,
    truth: Path | None,
    loss: "str | Loss",
    values: list[float] | None,
    *,
    score: str,
    bound: float | None,
    **asked: Any,
) -> "tuple[Rule, DeployPoints]":
    """Learn a rule from a calibration file; give the points, too."""
    from rue.deploy import fit_selector
    from rue.deploy.points import read_calibration
    from rue.io.truth import read_truth

    people = None if truth is None else read_truth(truth)
    bounded = asked["delta"] is not None and bound is None
    points = read_calibration(path, people, loss, values=values, bounded=bounded)
    assert points.star is not None  # a calibration file has answers, or is refused
    weights = WEIGHTS[score]
    bound = points.bound if bound is None else bound
    rule = fit_selector(
        points.star, points.hat, bound=bound, weights=weights, kind=points.kind, **asked
    )
    return rule, points


def report(
    rule: "Rule",
    cal: "DeployPoints | None",
    *,
    apply: Path | None,
    out: Path | None,
    compare: bool,
    plot: Path | None,
    format: str,
) -> None:
    """Apply the rule to new points, compare, draw, and print."""
    from rue.deploy import attained, compare_rules
    from rue.deploy.points import read_new

    found: dict[str, Any] = {"rule": rule.to_dict()}
    lines = _rule_lines(rule, cal)
    outcomes: tuple[Outcome, ...] = ()
    if apply is not None:
        new = read_new(apply, rule)
        accepted = rule.accept(new.hat)
        found["new"] = {
            "method": new.path.stem,
            "n_points": len(new.hat),
            "n_accepted": int(accepted.sum()),
            "coverage": float(accepted.mean()),
        }
        lines += ["", _count(new.path.stem, int(accepted.sum()), len(accepted))]
        if out is not None:
            _write(out, new, rule)
            lines.append(f"decisions are in {out}")
        if new.star is not None:
            here = attained(new.star, accepted, normalized=rule.problem.normalized)
            found["new"]["attained"] = _plain(asdict(here))
            lines += _attained_lines(rule, here) if here.n_accepted else []
        if (compare or plot is not None) and cal is not None:
            if new.star is None or cal.star is None:
                raise InputError(f"{new.path}: to compare rules the new points need answers, too")
            asked = asdict(rule.problem)
            if asked["minimize"] is None:
                asked["maximize"] = "coverage"
            outcomes = compare_rules(
                cal.star,
                cal.hat,
                new.star,
                new.hat,
                doubt_cal=cal.doubt,
                doubt_new=new.doubt,
                delta=rule.delta,
                bound=rule.bound,
                seed=rule.seed,
                **asked,
            )
            found["comparison"] = [
                {k: v for k, v in _plain(asdict(o)).items() if k != "rule"} for o in outcomes
            ]
            lines += ["", _comparison(outcomes)] if compare else []
    if plot is not None:
        from rue.plots.deploy import plot_outcomes
        from rue.plots.style import save

        save(plot_outcomes(outcomes, rule.problem), plot)
    emit(json.dumps(found, indent=2, allow_nan=False) if format == "json" else "\n".join(lines))


def _rule_lines(rule: "Rule", cal: "DeployPoints | None") -> list[str]:
    loss = f" · {rule.kind.loss} loss" if rule.kind.loss else ""
    split = f" ({rule.n_learned:,} to learn, {rule.n_tested:,} to test)" if rule.delta else ""
    name = "rule" if cal is None else cal.path.stem
    lines = [f"{name}{loss} · {rule.n_points:,} calibration points{split}"]
    lines += [f"{rule.rule}.", f"{rule.promise}."]
    how = "on the points tested" if rule.delta else "cross-fitted"
    for name in ("coverage", "risk", "regret") if rule.estimate.n_accepted else ():
        value, error = getattr(rule.estimate, name), getattr(rule.estimate, f"{name}_error")
        lines.append(f"  {name:<10}{_number(value):>8} ± {_number(error):<8} {how}")
    return lines + [f"note: {note}" for note in rule.notes]


def _attained_lines(rule: "Rule", here: "Attained") -> list[str]:
    lines = []
    for name in ("risk", "regret"):
        limit = rule.problem.budgets.get(name)
        value, error = getattr(here, name), getattr(here, f"{name}_error")
        budget = "" if limit is None else f" budget {limit:g}"
        lines.append(f"  {name:<10}{_number(value):>8} ± {_number(error):<8}{budget}".rstrip())
    return lines


def _comparison(outcomes: "tuple[Outcome, ...]") -> str:
    header = ["rule", "promise", "tested on", "coverage", "risk", "regret"]
    rows = [
        [
            outcome.name,
            "yes" if outcome.promised else "no",
            f"{outcome.n_tested:,}" if outcome.n_tested else "-",
            *(_number(x) for x in (outcome.coverage, outcome.risk, outcome.regret)),
        ]
        for outcome in outcomes
    ]
    return align([header, *rows], left=("rule", "promise"), rule=True)


def _write(path: Path, new: "DeployPoints", rule: "Rule") -> None:
    import csv
    import io

    from rue.io.atomic import replacing

    ids = range(len(new.hat)) if new.ids is None else new.ids.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "score", "accept"])
    scores, accepted = rule.score(new.hat), rule.accept(new.hat)
    writer.writerows(
        [i, repr(s), int(a)] for i, s, a in zip(ids, scores.tolist(), accepted, strict=True)
    )
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _count(name: str, n_accepted: int, n_points: int) -> str:
    share = 100 * n_accepted / n_points
    return f"{name} · {n_points:,} new points: {n_accepted:,} accepted ({share:.1f} %)"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}
