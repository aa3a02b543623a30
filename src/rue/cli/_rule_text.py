"""Rules, and what they attain, as text and as JSON numbers."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rue._text import ESCAPES
from rue.cli import terminal_width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rue.deploy import Attained, Outcome, Rule
    from rue.selectors.selector import Problem

__all__ = ["attained_lines", "comparison", "new_line", "numbers", "rule_lines"]

_OUTSIDE = (
    "The weights (1, 1) add a score without the unit of the loss to the Bayes risk, as the total "
    "of such beliefs once did. The decisions stay as they are; rue rule fit --score total now has "
    "the weights (1, 0)."
)


def rule_lines(rule: "Rule", name: str) -> list[str]:
    """Return a rule as lines: the points it comes from, the rule, its promise, its estimate."""
    loss = f" · {rule.kind.loss} loss" if rule.kind.loss else ""
    split = f" ({rule.n_learned:,} to learn, {rule.n_tested:,} to test)" if rule.delta else ""
    lines = [f"{name}{loss} · {rule.n_points:,} calibration points{split}"]
    lines += [f"{rule.rule}.", f"{rule.promise}."]
    how = "on the test points" if rule.delta else "cross-fitted"
    for key in ("coverage", "risk", "regret") if rule.estimate.n_accepted else ():
        value, error = getattr(rule.estimate, key), getattr(rule.estimate, f"{key}_error")
        lines.append(f"  {key:<10}{_number(value):>8} ± {_number(error):<8} {how}")
    notes = [*rule.notes, *([_OUTSIDE] if rule.adds_outside_score else [])]
    return [line.translate(ESCAPES) for line in (*lines, *(f"note: {note}" for note in notes))]


def attained_lines(problem: "Problem", here: "Attained") -> list[str]:
    """Return coverage, risk and regret on new points, and whether floor and budgets are kept."""
    from rue.deploy import budgets_kept

    within = budgets_kept(here, problem)
    marks = {
        name: f" budget {limit:g}: {'kept' if within[name] else 'broken'}"
        for name, limit in problem.budgets.items()
    }
    if problem.coverage_min is not None:
        reached = here.coverage >= problem.floor - 1e-12
        marks["coverage"] = f" floor {problem.floor:g}: {'reached' if reached else 'missed'}"
    lines = []
    for key in ("coverage", "risk", "regret"):
        value, error = getattr(here, key), getattr(here, f"{key}_error")
        mark = marks.get(key, "")
        lines.append(f"  {key:<10}{_number(value):>8} ± {_number(error):<8}{mark}".rstrip())
    return lines


def new_line(name: str, accepted: "NDArray[np.bool_]") -> str:
    """Return how many new points are accepted, as a line."""
    share = 100 * float(accepted.mean())
    count = f"{len(accepted):,} new points: {int(accepted.sum()):,} accepted"
    return f"{name} · {count} ({share:.1f} %)".translate(ESCAPES)


def comparison(outcomes: "tuple[Outcome, ...]", problem: "Problem") -> str:
    """Return a table of rules and what each attains on new points."""
    from rue.deploy import budgets_kept
    from rue.metrics.table import format_grid

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


def numbers(result: "Attained | Outcome") -> dict[str, Any]:
    """Return the fields of a result, NaN as None."""
    return {
        k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(result).items()
    }


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
