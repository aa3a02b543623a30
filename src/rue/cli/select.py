"""rue select: Theorem 1's optimal selector on the points of a file."""

import math

import typer

from rue._text import ESCAPES, JsonObject
from rue.cli import emit_either
from rue.cli.inputs import Budgets, Matched, OneLoss, method_of, require_none
from rue.cli.options import DEFER_FEE, FORMAT, ONE_METHOD, TableOrJson
from rue.components import Run
from rue.deploy.kind import Kind, largest_loss
from rue.errors import InputError
from rue.io.predictions import read_method
from rue.io.runs import make_run
from rue.losses import Loss
from rue.selectors.optimal import TeamSelector, solve, team_selector
from rue.selectors.selector import require_reachable
from rue.truth.realized import person_kind

EXAMPLE = (
    "rue select ensemble.npz --truth counts.npy --maximize coverage --risk-max 0.1 "
    "--regret-max 0.02"
)


def select(
    matched: Matched,
    losses: OneLoss,
    budgets: Budgets,
    file: str = ONE_METHOD,
    defer_fee: float | None = DEFER_FEE,
    format: TableOrJson = FORMAT,
) -> None:
    """Find the best accept/reject rule if the truth is known.

    This is the rule of Theorem 1; with --minimize team, the one under which the model costs least
    together with a person who gets the deferred points. It uses the realised components, so it
    shows what the best possible uncertainty could attain on these points. It cannot be deployed:
    for a rule that can, see rue rule fit.

    Exit code 0: the selector accepts something; 1: no selector meets the budgets, or none that
    accepts anything; 2: invalid input.
    """
    team = budgets.minimize == "team"
    if team:
        given = {"--coverage-min": budgets.coverage_min, "--risk-max": budgets.risk_max}
        given["--regret-max"] = budgets.regret_max
        require_none("--minimize team has no budgets: leave out", given)
    elif defer_fee is not None:
        raise InputError("--defer-fee needs --minimize team")
    problem = None if team else budgets.problem
    name, files = method_of(file)
    read = read_method(files, name=name, matching=matched.matching)
    run = make_run(
        read, matched.answers(), losses.chosen, values=losses.scale, matching=matched.matching
    )
    if problem is None:
        deciding = team_selector(run.star, defer_fee=defer_fee or 0.0)
        _print_team(deciding, run, format)
        if not deciding.coverage > 0:
            raise typer.Exit(1)
        return
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
    numbers = ("lam", "tau", "alpha", "beta", "coverage", "risk", "regret")
    accepted = selector.acceptance
    facts: JsonObject = {
        **{name: getattr(selector, name) for name in numbers},
        "tau": None if math.isinf(selector.tau) else selector.tau,  # JSON has no infinity
        "normalized": selector.normalized,
        "n_points": len(accepted),
        "n_accepted": int((accepted == 1).sum()),
        "n_fractional": int(((accepted > 0) & (accepted < 1)).sum()),
        "rule": str(selector),
        "method": run.method,
        "loss": losses.loss,
        "constraints": constraints,
        "notes": list(run.notes),
    }
    per = "mean loss" if selector.normalized else "loss"
    meanings = {
        "coverage": "share accepted",
        "risk": f"{per} of the accepted",
        "regret": "the part of it that could have been avoided",
        "lam": "weight of epistemic; 1/2 is the total, 1 epistemic alone",
        "tau": "threshold on (1 - lam) aleatoric + lam epistemic",
        "alpha": f"multiplier of the {constraints[0]}",
        "beta": f"multiplier of the {constraints[1]}",
    }
    emit_either(format, facts, _text(facts, meanings, 10))
    if not selector.coverage > 0:
        raise typer.Exit(1)


def _print_team(selector: TeamSelector, run: Run, format: str) -> None:
    """Print whom to ask and what the team costs, beside the model and a person alone."""
    meanings = {
        "team_risk": "loss of model and person together, with the fee",
        "coverage": "share that the model keeps",
        "risk": "loss of the accepted",
        "regret": "the part of it that could have been avoided",
        "accept_all": "loss of the model on all points",
        "defer_all": "loss of the person on all points, with the fee",
    }
    facts: JsonObject = {
        **{key: getattr(selector, key) for key in ("team_risk", "coverage", "risk", "regret")},
        "accept_all": float(run.star.total.mean()),
        "defer_all": selector.person_risk + selector.defer_fee,
        "person_risk": selector.person_risk,
        "defer_fee": selector.defer_fee,
        "person_kind": person_kind(run.loss),
        "n_points": len(run),
        "n_accepted": int(selector.acceptance.sum()),
        "rule": str(selector),
        "method": run.method,
        "loss": run.loss_name,
        "notes": list(run.notes),
    }
    emit_either(format, facts, _text(facts, meanings, 11, f" · {facts['person_kind']}"))


def _text(facts: JsonObject, meanings: dict[str, str], width: int, about: str = "") -> str:
    """Return the numbers of a selector with what they mean, its rule and the notes."""
    name = facts["method"].translate(ESCAPES)
    lines = [f"{name} · {facts['loss']} loss · {facts['n_points']:,} points{about}"]
    for key, meaning in meanings.items():
        number = "inf" if facts[key] is None else f"{facts[key]:.6g}"
        lines.append(f"  {key:<{width}}{number:>12}   {meaning}")
    notes = [f"note: {note}" for note in facts["notes"]]
    return "\n".join([*lines, "", facts["rule"], *([""] if notes else []), *notes])
