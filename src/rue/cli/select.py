"""rue select: Theorem 1's optimal selector on the points of a file."""

import math
from typing import TYPE_CHECKING, Any

import typer

from rue._text import ESCAPES
from rue.cli import emit, emit_json
from rue.cli.inputs import Budgets, Matched, OneLoss, OneMethod, TableOrJson, method_of

if TYPE_CHECKING:
    from rue.selectors.selector import Selector

EXAMPLE = (
    "rue select ensemble.npz --truth counts.npy --maximize coverage --risk-max 0.1 "
    "--regret-max 0.02"
)


def select(
    file: OneMethod,
    matched: Matched,
    losses: OneLoss,
    budgets: Budgets,
    format: TableOrJson = "table",
) -> None:
    """Find the best accept/reject rule if the truth is known.

    This is the rule of Theorem 1. It uses the realised components, so it shows what the best
    possible uncertainty could attain on these points. It cannot be deployed: for a rule that can,
    see rue rule fit.

    Exit code 0: the selector accepts something; 1: no selector meets the budgets, or none that
    accepts anything; 2: invalid input.
    """
    from rue.deploy.kind import Kind, largest_loss
    from rue.io.align import make_run
    from rue.io.predictions import read_method
    from rue.losses import Loss
    from rue.selectors.optimal import solve
    from rue.selectors.problem import require_reachable

    problem = budgets.problem
    name, files = method_of(file)
    read = read_method(files, name=name, matching=matched.matching)
    run = make_run(
        read, matched.answers(), losses.chosen, values=losses.scale, matching=matched.matching
    )
    kind = Kind(loss=run.loss_name or None)
    if run.belief is not None and isinstance(run.loss, Loss):
        limits = None if run.annotations is None else run.annotations.range
        kind = Kind.of(run.belief, run.loss, limits=limits)
    require_reachable(problem, max(largest_loss(kind), float(run.star.total.max())), kind.loss)
    selector = solve(run.star, problem)
    constraints = {
        "coverage": ["risk budget", "regret budget"],
        "risk": ["coverage floor", "regret budget"],
        "regret": ["coverage floor", "risk budget"],
    }[problem.objective]
    facts = {"method": run.method, "loss": losses.loss, "constraints": constraints}
    facts = _numbers(selector) | facts | {"notes": list(run.notes)}
    if format == "json":
        emit_json(facts)
    else:
        emit(_table(facts))
    if not selector.coverage > 0:
        raise typer.Exit(1)


def _numbers(selector: "Selector") -> dict[str, Any]:
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


def _table(facts: dict[str, Any]) -> str:
    meanings = {
        "coverage": "share accepted",
        "risk": "mean loss of the accepted" if facts["normalized"] else "loss of the accepted",
        "regret": "the part of it that could have been avoided",
        "lam": "weight of epistemic; 1/2 is the total, 1 epistemic alone",
        "tau": "threshold on (1 - lam) aleatoric + lam epistemic",
        "alpha": f"multiplier of the {facts['constraints'][0]}",
        "beta": f"multiplier of the {facts['constraints'][1]}",
    }
    name = facts["method"].translate(ESCAPES)
    lines = [f"{name} · {facts['loss']} loss · {facts['n_points']:,} points"]
    for name, meaning in meanings.items():
        text = "inf" if facts[name] is None else f"{facts[name]:.6g}"
        lines.append(f"  {name:<10}{text:>12}   {meaning}")
    notes = [f"note: {note}" for note in facts["notes"]]
    return "\n".join([*lines, "", facts["rule"], *([""] if notes else []), *notes])
