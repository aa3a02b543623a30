"""rue select: Theorem 1 on the points of a file."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue.cli.options import emit, parse_values

if TYPE_CHECKING:
    from rue.selectors import Selector

EXAMPLE = (
    "rue select ensemble.npz --truth counts.npy --maximize coverage --risk-max 0.1 "
    "--regret-max 0.02"
)


def select(
    file: Annotated[Path, typer.Argument(help="A prediction file, as rue evaluate reads it.")],
    truth: Annotated[
        Path | None, typer.Option(help="What people said: .npy, .npz, .csv or .parquet.")
    ] = None,
    loss: Annotated[str, typer.Option(help="log, brier, zero_one, squared or absolute.")] = "log",
    values: Annotated[
        str | None, typer.Option(help="The classes' scale, as in -1,0,1 (squared, absolute).")
    ] = None,
    maximize: Annotated[
        Literal["coverage"] | None, typer.Option(help="Accept as much as the budgets allow.")
    ] = None,
    minimize: Annotated[
        Literal["risk", "regret"] | None, typer.Option(help="Of so much coverage, the best.")
    ] = None,
    coverage_min: Annotated[float | None, typer.Option(help="Accept at least so much.")] = None,
    risk_max: Annotated[float | None, typer.Option(help="The risk budget.")] = None,
    regret_max: Annotated[float | None, typer.Option(help="The regret budget.")] = None,
    normalized: Annotated[
        bool, typer.Option("--normalized", help="Risk and regret per accepted point.")
    ] = False,
    format: Annotated[Literal["table", "json"], typer.Option(help="How to print.")] = "table",
) -> None:
    """Find the best accept/reject rule under coverage, risk and regret budgets (Theorem 1).

    The rule knows the realised components, so it is what the best possible uncertainty could
    attain on these points, and not one to deploy.
    """
    from rue.files import read_truth
    from rue.matching import read_components
    from rue.selectors import optimal_selector

    people = None if truth is None else read_truth(truth)
    columns = read_components(file, people, loss, values=parse_values(values))
    selector = optimal_selector(
        columns.star,
        maximize=maximize,
        minimize=minimize,
        coverage_min=coverage_min,
        risk_max=risk_max,
        regret_max=regret_max,
        normalized=normalized,
    )
    constraints = {
        None: ["risk budget", "regret budget"],
        "risk": ["coverage floor", "regret budget"],
        "regret": ["coverage floor", "risk budget"],
    }[minimize]
    about = {"method": columns.method, "loss": loss, "constraints": constraints}
    found = _found(selector) | about
    emit(json.dumps(found, indent=2) if format == "json" else _table(found))


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
    lines = [f"{found['method']} · {found['loss']} loss · {found['n_points']:,} points"]
    for name, meaning in meanings.items():
        text = "inf" if found[name] is None else f"{found[name]:.6g}"
        lines.append(f"  {name:<10}{text:>12}   {meaning}")
    return "\n".join([*lines, "", found["rule"]])
