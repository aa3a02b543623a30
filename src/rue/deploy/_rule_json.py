"""Rules as JSON: written completely, and checked field by field when read."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_args

from rue.deploy.attained import Attained
from rue.deploy.kind import Kind
from rue.deploy.promises import PromiseName
from rue.deploy.rule import Rule
from rue.errors import InputError
from rue.selectors.problem import Problem

__all__ = ["FORMAT", "from_dict", "to_dict"]

FORMAT = "rue rule 2"
_EARLIER = "rue rule 1"  # it did not name the test, of which there was one

_DECLARED = {bool: "true or false", int: "a whole number", str | None: "a word"}


def to_dict(rule: Rule) -> dict[str, Any]:
    """Return everything in a rule, as JSON represents it."""
    infinite = math.isinf(rule.tau)
    promise = None
    if rule.delta is not None:
        promise = {
            "delta": rule.delta,
            "test": rule.test,
            "holds_for": list(rule.problem.budgets),
            "bound": rule.bound,
            "p_value": rule.p_value,
            "n_needed": rule.n_needed,
        }
    return {
        "format": FORMAT,
        "rule": rule.rule,
        "accepts": ("everything" if rule.tau > 0 else "nothing") if infinite else "score<=tau",
        "weights": {"aleatoric": rule.weights[0], "epistemic": rule.weights[1]},
        "tau": None if infinite else rule.tau,
        "made_for": rule.kind.to_dict(),
        "asked": rule.problem.to_dict(),
        "promise": promise,
        "calibration": {
            "n_points": rule.n_points,
            "n_learned": rule.n_learned,
            "n_tested": rule.n_tested,
            "seed": rule.seed,
        },
        "estimate": {
            k: None if isinstance(v, float) and math.isnan(v) else v
            for k, v in asdict(rule.estimate).items()
        },
        "notes": list(rule.notes),
    }


def from_dict(known: Mapping[str, Any]) -> Rule:
    """Return the rule that :func:`to_dict` gave; raise at the first field that is invalid."""
    if known.get("format") == _EARLIER:
        promise = known["promise"] and {**known["promise"], "test": "hoeffding_bentkus"}
        known = {**known, "format": FORMAT, "promise": promise}
    if known.get("format") != FORMAT:
        raise InputError(f"format must be {FORMAT!r}, got {known.get('format')!r}")
    tau = {"everything": math.inf, "nothing": -math.inf}.get(known["accepts"], known["tau"])
    weights = float(known["weights"]["aleatoric"]), float(known["weights"]["epistemic"])
    if isinstance(tau, bool) or not isinstance(tau, int | float) or math.isnan(tau):
        raise InputError(f"tau must be a number, got {tau!r}")
    if not all(map(math.isfinite, weights)) or not any(weights):
        raise InputError(f"weights must be finite and not both 0, got {weights}")
    estimate: dict[str, Any] = {
        k: math.nan if v is None else v for k, v in known["estimate"].items()
    }
    promise = {k: v for k, v in (known["promise"] or {}).items() if k != "holds_for"}
    rule = Rule(
        weights,
        float(tau),
        Problem(**known["asked"]),
        Attained(**estimate),
        **known["calibration"],
        **promise,
        kind=Kind.from_dict(known["made_for"]),
        notes=tuple(known["notes"]),
    )
    _require_types(rule, [*known["calibration"], *(k for k in promise if k != "test")])
    _require_types(rule.estimate, estimate)
    if rule.delta is not None and not 0 < rule.delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {rule.delta}")
    if known["promise"] is not None and known["promise"]["test"] not in get_args(PromiseName):
        names = " or ".join(get_args(PromiseName))
        raise InputError(f"test must be {names}, got {rule.test!r}")
    for name, value in json.loads(json.dumps(to_dict(rule))).items():
        if name != "rule" and value != known[name]:  # the sentence is for readers
            raise InputError(f"{name} contradicts the rest of the file, got {known[name]!r}")
    return rule


def _require_types(part: Any, names: Iterable[str]) -> None:
    """Raise where a field read from JSON has not its declared type, or is infinite."""
    for name in names:
        value, declared = getattr(part, name), part.__dataclass_fields__[name].type
        whole = type(value) is int and isinstance(0.0, declared)  # 1 for 1.0
        flag = isinstance(value, bool) and declared is not bool
        if flag or not (whole or isinstance(value, declared)) or value in (math.inf, -math.inf):
            raise InputError(f"{name} must be {_DECLARED.get(declared, 'a number')}, got {value!r}")
