"""The rule one deploys: weights, a threshold, and what is promised of them."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.components import Components
from rue.deploy.candidates import TOTAL, Problem, Weights, score
from rue.deploy.kind import Kind
from rue.errors import FileError, InputError, ShapeError
from rue.io.atomic import replacing

__all__ = ["Attained", "Rule", "attained"]

FORMAT = "rue rule 1"


@dataclass(frozen=True)
class Attained:
    """Coverage, risk and regret of decisions on some points, each with its standard error.

    Risk and regret are those per accepted point if so asked, and NaN where none is accepted.
    """

    coverage: float
    coverage_error: float
    risk: float
    risk_error: float
    regret: float
    regret_error: float
    n_points: int
    n_accepted: int


@dataclass(frozen=True)
class Rule:
    """Accept iff w1 aleatoric + w2 epistemic <= tau, found by :func:`rue.fit_selector`.

    Attributes
    ----------
    weights, tau
        Weights of the estimated aleatoric and epistemic uncertainty, and the threshold: inf
        accepts everything, -inf nothing.
    problem
        What was asked for.
    delta
        With probability at least 1 - delta over the calibration draw the budgets hold on new
        points; None where nothing is promised.
    bound
        The largest loss that there can be, where something is promised.
    n_points, n_learned, n_tested
        How many calibration points there were, how many of them chose the weights and the order
        of thresholds, and how many tested these.
    p_value
        Of the threshold that is used, at most delta; None where nothing is promised or passed.
    n_needed
        If nothing passed: about how many calibration points would do; None if no number would.
    estimate
        What the rule attains, estimated on held-out points: on those that tested it, else by
        five-fold cross-fitting.
    kind
        What the rule is made for.
    notes
        What a user must know, a sentence each.
    """

    weights: Weights
    tau: float
    problem: Problem
    estimate: Attained
    n_points: int
    n_learned: int
    n_tested: int = 0
    seed: int = 0
    delta: float | None = None
    bound: float | None = None
    p_value: float | None = None
    n_needed: int | None = None
    kind: Kind = field(default_factory=Kind)
    notes: tuple[str, ...] = ()

    def score(self, hat: Components) -> NDArray[np.float64]:
        """w1 aleatoric + w2 epistemic of each point."""
        if not isinstance(hat, Components):
            raise InputError(f"hat must be Components, got {type(hat).__name__}")
        return score(hat, self.weights)

    def accept(self, hat: Components) -> NDArray[np.bool_]:
        """Decide on new points by their estimated components: True for accept."""
        return np.asarray(self.score(hat) <= self.tau)

    def __str__(self) -> str:
        return f"{self.rule}. {self.promise}."

    @property
    def rule(self) -> str:
        """The rule in words."""
        if math.isinf(self.tau):
            return "Accept everything" if self.tau > 0 else "Accept nothing"
        w1, w2 = self.weights
        if (w1, w2) == TOTAL:
            return f"Accept where total uncertainty is at most {2 * self.tau:.6g}"
        terms = [(w1, "aleatoric"), (w2, "epistemic")]
        said = " + ".join(
            name if weight == 1 else f"{weight:.4g} {name}" for weight, name in terms if weight
        )
        return f"Accept where {said} uncertainty is at most {self.tau:.6g}".replace("+ -", "- ")

    @property
    def promise(self) -> str:
        """What is promised, in words."""
        if self.delta is None:
            return "Nothing is promised: budgets hold on the calibration points"
        per = " per accepted point" if self.problem.normalized else ""
        limits = " and ".join(f"{k} <= {v:g}" for k, v in self.problem.budgets.items())
        return (
            f"Promised for new points: {limits}{per}, "
            f"with probability {1 - self.delta:g} over the calibration draw"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        infinite = math.isinf(self.tau)
        problem = {k: v for k, v in asdict(self.problem).items() if v is not None}
        if self.problem.minimize is None:
            problem = {"maximize": "coverage", **problem}
        promise = None
        if self.delta is not None:
            promise = {
                "delta": self.delta,
                "holds_for": list(self.problem.budgets),
                "bound": self.bound,
                "p_value": self.p_value,
                "n_needed": self.n_needed,
            }
        return {
            "format": FORMAT,
            "rule": self.rule,
            "accepts": ("everything" if self.tau > 0 else "nothing") if infinite else "score<=tau",
            "weights": {"aleatoric": self.weights[0], "epistemic": self.weights[1]},
            "tau": None if infinite else self.tau,
            "made_for": self.kind.to_dict(),
            "asked": problem,
            "promise": promise,
            "calibration": {
                "n_points": self.n_points,
                "n_learned": self.n_learned,
                "n_tested": self.n_tested,
                "seed": self.seed,
            },
            "estimate": {
                k: None if isinstance(v, float) and math.isnan(v) else v
                for k, v in asdict(self.estimate).items()
            },
            "notes": list(self.notes),
        }

    @staticmethod
    def from_dict(known: dict[str, Any]) -> "Rule":
        """Take what :meth:`to_dict` gives."""
        if known.get("format") != FORMAT:
            raise InputError(f"format must be {FORMAT!r}, got {known.get('format')!r}")
        tau = {"everything": math.inf, "nothing": -math.inf}.get(known["accepts"], known["tau"])
        weights = float(known["weights"]["aleatoric"]), float(known["weights"]["epistemic"])
        if isinstance(tau, bool) or not isinstance(tau, int | float) or math.isnan(tau):
            raise InputError(f"tau must be a number, got {tau!r}")
        if not all(map(math.isfinite, weights)) or not any(weights):
            raise InputError(f"weights must be finite and not both 0, got {weights}")
        asked = {k: v for k, v in known["asked"].items() if k != "maximize"}
        estimate: dict[str, Any] = {
            k: math.nan if v is None else v for k, v in known["estimate"].items()
        }
        promise = {k: v for k, v in (known["promise"] or {}).items() if k != "holds_for"}
        rule = Rule(
            weights,
            float(tau),
            Problem(**asked),
            Attained(**estimate),
            **known["calibration"],
            **promise,
            kind=Kind.from_dict(known["made_for"]),
            notes=tuple(known["notes"]),
        )
        _require_types(rule, [*known["calibration"], *promise])
        _require_types(rule.problem, asked)
        _require_types(rule.estimate, estimate)
        if rule.delta is not None and not 0 < rule.delta < 1:
            raise InputError(f"delta must be between 0 and 1, got {rule.delta}")
        for name, limit in rule.problem.budgets.items():
            if not limit >= 0:
                raise InputError(f"{name}_max must not be negative, got {limit}")
        for name, value in json.loads(json.dumps(rule.to_dict())).items():
            if name != "rule" and value != known[name]:  # that is a sentence for people
                raise InputError(f"{name} contradicts the rest of the file, got {known[name]!r}")
        return rule

    def save(self, path: str | Path) -> None:
        """Write the rule as JSON, whole or not at all."""
        path = Path(path)
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        with replacing(path) as file:
            file.write(text.encode() + b"\n")

    @staticmethod
    def load(path: str | Path) -> "Rule":
        """Read a rule that :meth:`save` wrote; a number in it is the same to the last bit."""
        path = Path(path)
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(known, dict):
                raise InputError(f"must hold an object, got {type(known).__name__}")
            return Rule.from_dict(known)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror}") from None
        except KeyError as error:
            raise FileError(f"{path}: is no rule: lacks {error}") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise FileError(f"{path}: is no rule: {error}") from None


def _require_types(part: Any, names: Iterable[str]) -> None:
    """Raise where a field read from JSON is not what it is declared to be, or infinite."""
    for name in names:
        value, declared = getattr(part, name), part.__dataclass_fields__[name].type
        whole = type(value) is int and isinstance(0.0, declared)  # 1 for 1.0
        flag = isinstance(value, bool) and declared is not bool
        if flag or not (whole or isinstance(value, declared)) or value in (math.inf, -math.inf):
            raise InputError(f"{name} must be {_SAID.get(declared, 'a number')}, got {value!r}")


_SAID = {bool: "true or false", int: "a whole number", str | None: "a word"}


def attained(
    star: Components, accepted: NDArray[np.bool_], *, normalized: bool = False
) -> Attained:
    """Give what decisions attain on points whose truth is known.

    Examples
    --------
    >>> star = Components(total=[0.2, 0.4], aleatoric=[0.1, 0.4], epistemic=[0.1, 0.0])
    >>> attained(star, [True, False]).risk, attained(star, [True, False], normalized=True).risk
    (0.1, 0.2)
    """
    accepted = np.asarray(accepted, dtype=bool)
    if accepted.shape != (len(star),):
        raise ShapeError(f"accepted must have shape ({len(star)},), got {accepted.shape}")
    n_points, n_accepted = len(star), int(accepted.sum())
    coverage = n_accepted / n_points
    root = math.sqrt(n_points)
    rates = {}
    for name, values in (("risk", star.total), ("regret", star.epistemic)):
        kept = accepted * values
        rate, error = float(kept.mean()), float(kept.std()) / root
        if normalized:  # a ratio of two means
            rate = rate / coverage if n_accepted else math.nan
            spread = float((accepted * (values - rate)).std()) if n_accepted else math.nan
            error = spread / coverage / root if n_accepted else math.nan
        rates[name], rates[f"{name}_error"] = rate, error
    return Attained(
        coverage=coverage,
        coverage_error=float(accepted.std()) / root,
        n_points=n_points,
        n_accepted=n_accepted,
        **rates,
    )
