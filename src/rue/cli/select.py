"""rue select: Theorem 1's optimal selector on the points of a file."""

import json
import math
from typing import TYPE_CHECKING, Any

import typer

from rue._text import ESCAPES
from rue.cli import chosen_loss, emit, matching_of, method_of, parse_values, reads_files, truth_of
from rue.cli.options import (
    ByPosition,
    Classes,
    Common,
    Costs,
    CoverageMin,
    Floor,
    IdName,
    LossName,
    Maximize,
    Minimize,
    Normalized,
    OneMethod,
    RegretMax,
    RiskMax,
    Scale,
    TableOrJson,
    TruthFile,
)

if TYPE_CHECKING:
    from rue.selectors.selector import Selector

EXAMPLE = (
    "rue select ensemble.npz --truth counts.npy --maximize coverage --risk-max 0.1 "
    "--regret-max 0.02"
)


@reads_files
def select(
    file: OneMethod,
    truth: TruthFile = None,
    loss: LossName = "log",
    values: Scale = None,
    cost: Costs = None,
    id_name: IdName = None,
    classes: Classes = None,
    common: Common = False,
    by_position: ByPosition = False,
    floor: Floor = None,
    maximize: Maximize = None,
    minimize: Minimize = None,
    coverage_min: CoverageMin = None,
    risk_max: RiskMax = None,
    regret_max: RegretMax = None,
    normalized: Normalized = False,
    format: TableOrJson = "table",
) -> None:
    """Find the best accept/reject rule if the truth is known.

    This is the rule of Theorem 1. It uses the realised components, so it shows what the best
    possible uncertainty could attain on these points. It cannot be deployed: for a rule that can,
    see rue rule fit.

    Exit code 0: the selector accepts something; 1: no selector meets the budgets, or none that
    accepts anything; 2: invalid input.
    """
    from rue.io.align import make_run
    from rue.io.predictions import read_method
    from rue.selectors.optimal import solve
    from rue.selectors.problem import Problem

    problem = Problem(maximize, minimize, coverage_min, risk_max, regret_max, normalized)
    matching = matching_of(id_name, classes, common, by_position)
    answers = truth_of(truth, matching)
    paid = chosen_loss(loss, cost, floor)
    name, files = method_of(file)
    read = read_method(files, name=name, matching=matching)
    run = make_run(read, answers, paid, values=parse_values(values), matching=matching)
    selector = solve(run.star, problem)
    constraints = {
        "coverage": ["risk budget", "regret budget"],
        "risk": ["coverage floor", "regret budget"],
        "regret": ["coverage floor", "risk budget"],
    }[problem.objective]
    about = {"method": run.method, "loss": loss, "constraints": constraints}
    found = _found(selector) | about | {"notes": list(run.notes)}
    emit(json.dumps(found, indent=2) if format == "json" else _table(found))
    if not selector.coverage > 0:
        raise typer.Exit(1)


def _found(selector: "Selector") -> dict[str, Any]:
    numbers = ("lam", "tau", "alpha", "beta", "coverage", "risk", "regret")
    accepted = selector.acceptance
    return {
        **{name: getattr(selector, name) for name in numbers},
        "tau": None if math.isinf(selector.tau) else selector.tau,  # JSON has no infinity
        "normalized": selector.normalized,
        "n_points": len(accepted),
        "n_accepted": int((accepted == 1).sum()),
        "n_fractional": int(((accepted > 0) & (accepted < 1)).sum()),
        "rule": str(selector),
    }


def _table(found: dict[str, Any]) -> str:
    meanings = {
        "coverage": "share accepted",
        "risk": "mean loss of the accepted" if found["normalized"] else "loss of the accepted",
        "regret": "the part of it that could have been avoided",
        "lam": "weight of epistemic; 1/2 is the total, 1 epistemic alone",
        "tau": "threshold on (1 - lam) aleatoric + lam epistemic",
        "alpha": f"multiplier of the {found['constraints'][0]}",
        "beta": f"multiplier of the {found['constraints'][1]}",
    }
    name = found["method"].translate(ESCAPES)
    lines = [f"{name} · {found['loss']} loss · {found['n_points']:,} points"]
    for name, meaning in meanings.items():
        text = "inf" if found[name] is None else f"{found[name]:.6g}"
        lines.append(f"  {name:<10}{text:>12}   {meaning}")
    notes = [f"note: {note}" for note in found["notes"]]
    return "\n".join([*lines, "", found["rule"], *([""] if notes else []), *notes])
