"""rue select: Theorem 1 on the points of a file, or a rule to deploy."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue.cli.options import Costs, Scale, Truth, emit, parse_values
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.deploy import Rule
    from rue.losses import Loss
    from rue.selectors.optimal import Selector

EXAMPLE = (
    "rue select ensemble.npz --truth counts.npy --maximize coverage --risk-max 0.1 "
    "--regret-max 0.02"
)


def select(
    file: Annotated[
        Path | None, typer.Argument(help="A prediction file, as rue evaluate reads it.")
    ] = None,
    fit: Annotated[
        Path | None, typer.Option(help="Learn a rule to deploy from these calibration points.")
    ] = None,
    rule: Annotated[Path | None, typer.Option(help="Take a rule that --save wrote.")] = None,
    apply: Annotated[
        Path | None, typer.Option(help="Decide on these new points; they need no answers.")
    ] = None,
    truth: Truth = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="log (the default), brier, zero_one, squared, absolute, rps, pinball:Q or cost."
        ),
    ] = None,
    values: Scale = None,
    cost: Costs = None,
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
    delta: Annotated[
        float | None,
        typer.Option(help="With --fit: promise the budgets with probability 1 - delta."),
    ] = None,
    bound: Annotated[
        float | None, typer.Option(help="With --delta: the largest loss, if not the loss's own.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option(help="Of predicted probabilities: it bounds the log loss.")
    ] = None,
    score: Annotated[
        Literal["learned", "total", "epistemic"],
        typer.Option(help="With --fit: learn the weights, or take one score."),
    ] = "learned",
    seed: Annotated[int, typer.Option(help="With --fit: of the split of the points.", min=0)] = 0,
    save: Annotated[Path | None, typer.Option(help="With --fit: write the rule, JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="With --apply: write decisions, .csv.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="With --fit and --apply: beside one-score rules.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --fit and --apply: draw promised, attained and possible."),
    ] = None,
    format: Annotated[Literal["table", "json"], typer.Option(help="How to print.")] = "table",
) -> None:
    """Find the best accept/reject rule under coverage, risk and regret budgets.

    Of a FILE, Theorem 1's: it knows the realised components, so it is what the best possible
    uncertainty could attain on these points, and not one to deploy.

    With --fit, a rule to deploy: accept where a weighted sum of the estimated components is at
    most a threshold. With --delta its risk and regret budgets are promised for new points, as in
    rue select --fit cal.npz --apply new.npz --loss zero_one --risk-max 0.05 --delta 0.1
    """
    for_rules = {
        "--delta": delta is not None,
        "--bound": bound is not None,
        "--score": score != "learned",
        "--save": save is not None,
        "--compare": compare,
        "--plot": plot is not None,
        "--seed": seed != 0,
    }
    if fit is None and any(for_rules.values()):
        raise InputError(f"{next(k for k, v in for_rules.items() if v)} needs --fit")
    if (file is not None) + (fit is not None) + (rule is not None) != 1:
        raise InputError("give one of FILE, --fit FILE and --rule FILE")
    for name, given in (("--out", out), ("--compare", compare or None), ("--plot", plot)):
        if given is not None and apply is None:
            raise InputError(f"{name} needs --apply")
    if file is not None and apply is not None:
        raise InputError("--apply needs --fit or --rule: the rule of a FILE is not one to deploy")
    asked = {
        "maximize": maximize,
        "minimize": minimize,
        "coverage_min": coverage_min,
        "risk_max": risk_max,
        "regret_max": regret_max,
        "normalized": normalized,
    }
    unsaid = rule is not None and loss is None and cost is None and floor is None
    chosen = None if unsaid else _loss(loss or "log", cost, floor)
    scale = parse_values(values)
    if file is not None:
        assert chosen is not None
        _optimum(file, truth, chosen, scale, loss or "log", asked, format)
        return
    from rue.cli.rule import calibrate, report

    if rule is not None:
        for name, value in (*asked.items(), ("truth", truth)):
            if value is not None and value is not False:
                raise InputError(f"--{name.replace('_', '-')} is for --fit: a rule has its own")
        points, found = None, _saved(rule, chosen, scale)
    else:
        assert fit is not None
        assert chosen is not None
        if maximize is None and minimize is None:
            asked["maximize"] = "coverage"
        found, points = calibrate(
            fit, truth, chosen, scale, score=score, bound=bound, delta=delta, seed=seed, **asked
        )
        if save is not None:
            found.save(save)
    report(found, points, apply=apply, out=out, compare=compare, plot=plot, format=format)


def _loss(name: str, cost: Path | None, floor: float | None) -> "str | Loss":
    from rue.io.cost import read_cost
    from rue.losses import Log, get_loss

    if (cost is not None) != (name == "cost"):
        raise InputError("--loss cost and --cost FILE go together")
    if floor is not None and name != "log":
        raise InputError(f"--floor is for the log loss, got --loss {name}")
    if cost is not None:
        return read_cost(cost)
    if floor is not None:
        return Log(floor)
    get_loss(name)
    return name


def _saved(path: Path, loss: "str | Loss | None", values: list[float] | None) -> "Rule":
    """Read a rule; what the command line says of loss and values must be what it is made for."""
    from dataclasses import replace

    from rue.deploy import Kind, Rule

    rule = Rule.load(path)
    said = Kind(loss=loss) if isinstance(loss, str) else Kind() if loss is None else Kind.say(loss)
    scale = None if values is None else tuple(values)
    rule.kind.require(replace(said, values=scale), "the options")
    return rule


def _optimum(
    file: Path,
    truth: Path | None,
    loss: "str | Loss",
    values: list[float] | None,
    name: str,
    asked: dict[str, Any],
    format: str,
) -> None:
    from rue.io.align import read_components
    from rue.io.truth import read_truth
    from rue.selectors.optimal import optimal_selector

    people = None if truth is None else read_truth(truth)
    columns = read_components(file, people, loss, values=values)
    selector = optimal_selector(columns.star, **asked)
    constraints = {
        None: ["risk budget", "regret budget"],
        "risk": ["coverage floor", "regret budget"],
        "regret": ["coverage floor", "risk budget"],
    }[asked["minimize"]]
    about = {"method": columns.method, "loss": name, "constraints": constraints}
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
