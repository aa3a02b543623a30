"""The rule to deploy: weights, a threshold, and what is promised about them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue._schema import Constraint, Count, build, plain, read_content
from rue._text import JsonObject
from rue.beliefs import Belief
from rue.components import Components, decompose
from rue.deploy.decisions import Attained
from rue.deploy.kind import Kind
from rue.errors import InputError
from rue.io.atomic import write_json
from rue.selectors.selector import Problem

PromiseName = Literal["betting", "hoeffding_bentkus"]
"""Which p-values a promise rests on; Hoeffding-Bentkus is that of earlier rules."""

Weights = tuple[float, float]
TOTAL: Weights = (1.0, 1.0)
ALEATORIC: Weights = (1.0, 0.0)


def weighted_score(hat: Components, weights: Weights) -> FloatArray:
    """Return w1 aleatoric + w2 epistemic of each point, shape (n_points,)."""
    w1, w2 = weights
    return np.asarray(w1 * hat.aleatoric + w2 * hat.epistemic)


@dataclass(frozen=True)
class Rule:
    """Accept iff w1 aleatoric + w2 epistemic <= tau, learned by :func:`rue.fit_selector`.

    The printed rule, its JSON, :meth:`score` and the file of decisions all use this score.

    Attributes
    ----------
    weights : tuple of two floats
        Weights of the estimated aleatoric and epistemic uncertainty. The larger absolute weight is
        1, so that (1, 1) is the total; (1, 0) if the epistemic part is an outside score.
    tau : float
        The threshold: inf accepts everything, -inf nothing.
    problem : Problem
        The objective, the floor and the budgets.
    estimate : Attained
        What the rule attains, estimated on held-out points: on those that tested it, or by
        five-fold cross-fitting if nothing is promised.
    n_points, n_learned, n_tested : int
        How many calibration points there were, how many of them chose the weights and the order
        of thresholds, and how many tested the thresholds.
    seed : int
        Seed of the split of the calibration points.
    delta : float or None
        The budgets hold on new points with probability at least 1 - delta over the draw of the
        calibration points; None if nothing is promised.
    test : str or None
        The p-values that the promise rests on, ``"betting"`` or ``"hoeffding_bentkus"``; None if
        nothing is promised.
    bound : float or None
        The largest possible loss, if something is promised.
    p_value : float or None
        P-value of the threshold in use, at most delta; None if nothing is promised or passed.
    n_needed : int or None
        If nothing passed, about how many calibration points would suffice; None if no number does.
    kind : Kind
        What the rule is made for.
    notes : tuple of str
        What you must know about this rule, one sentence each.
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
    test: PromiseName | None = None
    bound: float | None = None
    p_value: float | None = None
    n_needed: int | None = None
    kind: Kind = field(default_factory=Kind)
    notes: tuple[str, ...] = ()

    def score(self, hat: Components | Belief) -> FloatArray:
        """Return the score that the rule compares with tau.

        Parameters
        ----------
        hat
            Estimated components of n_points points (:func:`rue.decompose`), or the belief itself,
            which is decomposed under the rule's loss.

        Returns
        -------
        ndarray of shape (n_points,)
            w1 aleatoric + w2 epistemic of each point.

        Raises
        ------
        InputError
            If ``hat`` is neither, if the belief is not of the kind that the rule is made for, or if
            the rule does not know its loss.

        Examples
        --------
        >>> from rue import Components, Draws, Kind, fit_selector, losses
        >>> star = Components([0.1, 0.9], [0.1, 0.5], [0.0, 0.4])
        >>> belief = Draws([[[0.9, 0.1]], [[0.4, 0.6]]])
        >>> kind = Kind.of(belief, losses.get_loss("zero_one"))
        >>> rule = fit_selector(star, star, maximize="coverage", risk_max=0.1, kind=kind)
        >>> rule.score(belief)  # one minus the largest probability
        array([0.1, 0.4])
        """
        if isinstance(hat, Belief):
            try:
                loss = self.kind.get_loss()
            except InputError as error:
                raise InputError(f"{error}: pass components, or fit it with kind=") from None
            hat = self.kind.placed(hat)
            self.kind.require(Kind.of(hat, loss), "the belief")
            hat = decompose(hat, loss)
        if not isinstance(hat, Components):
            raise InputError(f"hat must be Components or a belief, got {type(hat).__name__}")
        return weighted_score(hat, self.weights)

    def accept(self, hat: Components | Belief) -> NDArray[np.bool_]:
        """Decide on new points by what the model says about them.

        Parameters
        ----------
        hat
            Estimated components of n_points points (:func:`rue.decompose`), or the belief itself.

        Returns
        -------
        ndarray of bool, shape (n_points,)
            True for accept, False for defer.

        Raises
        ------
        InputError
            As :meth:`score`.

        Examples
        --------
        >>> from rue import Components, fit_selector
        >>> star = Components([0.1, 0.9], [0.1, 0.5], [0.0, 0.4])
        >>> fit_selector(star, star, maximize="coverage", risk_max=0.1).accept(star)
        array([ True, False])
        """
        return np.asarray(self.score(hat) <= self.tau)

    def _repr_html_(self) -> str:
        """Return the same as ``str`` for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        return f"{self.rule}. {self.promise}."

    @property
    def rule(self) -> str:
        """The rule as a sentence."""
        if math.isinf(self.tau):
            return "Accept everything" if self.tau > 0 else "Accept nothing"
        terms = zip(self.weights, ("aleatoric", "epistemic"), strict=True)
        named = " + ".join(
            {1.0: name, -1.0: f"-{name}"}.get(weight, f"{weight:.4g} {name}")
            for weight, name in terms
            if weight
        )
        is_total = self.weights == TOTAL and not self.adds_outside_score
        named = "total" if is_total else named.replace("+ -", "- ")
        return f"Accept where {named} uncertainty is at most {self.tau:.6g}"

    @property
    def adds_outside_score(self) -> bool:
        """Whether the score is (1, 1) of a belief whose epistemic score has no unit of the loss."""
        return self.weights == TOTAL and self.kind.belief == "scored"

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        if self.delta is None:
            return "Nothing is promised: budgets hold on the calibration points"
        per = " per accepted point" if self.problem.normalized else ""
        limits = " and ".join(f"{k} <= {v:g}" for k, v in self.problem.budgets.items())
        return (
            f"Promised for new points: {limits}{per}, "
            f"with probability {1 - self.delta:g} over the calibration draw"
        )

    def to_dict(self) -> JsonObject:
        """Return everything in the rule, as JSON represents it."""
        promise: JsonObject | None = None
        if self.delta is not None:
            promise = {"delta": self.delta, "test": self.test}
            promise |= {"holds_for": [*self.problem.budgets], "bound": self.bound}
            promise |= {"p_value": self.p_value, "n_needed": self.n_needed}
        accepts = "everything" if self.tau > 0 else "nothing"
        content: JsonObject = plain(
            {
                "format": FORMAT,
                "rule": self.rule,
                "accepts": accepts if math.isinf(self.tau) else "score<=tau",
                "weights": _StoredWeights(*self.weights),
                "tau": self.tau,
                "made_for": self.kind,
                "asked": self.problem,
                "promise": promise,
                "calibration": _StoredCalibration(
                    self.n_points, self.n_learned, self.n_tested, self.seed
                ),
                "estimate": self.estimate,
                "notes": self.notes,
            }
        )
        return content

    @staticmethod
    def from_dict(known: Mapping[str, object]) -> "Rule":
        """Return the rule that :meth:`to_dict` gave; raise InputError at an invalid field."""
        promise = known.get("promise")
        if known.get("format") == _EARLIER and isinstance(promise, dict | None):
            promise = promise and {"test": "hoeffding_bentkus", **promise}
            known = {**known, "format": FORMAT, "promise": promise}
        return build(_Stored, known).rule_of()

    def save(self, path: str | Path) -> None:
        """Write the rule as JSON, completely or not at all.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        write_json(Path(path), self.to_dict())

    @staticmethod
    def load(path: str | Path) -> "Rule":
        """Read a rule that :meth:`save` wrote; every number is the same to the last bit.

        Parameters
        ----------
        path
            A JSON file.

        Returns
        -------
        Rule
            The rule.

        Raises
        ------
        FileError
            If the file cannot be read, or is not a valid rule.
        """
        return read_content(path, "a rule", Rule.from_dict)


FORMAT = "rue rule 2"
_EARLIER = "rue rule 1"  # it did not name the test, of which there was one


@dataclass(frozen=True)
class _StoredPromise:
    """What is promised; ``holds_for`` is for readers."""

    delta: Annotated[float, Constraint("between 0 and 1", lambda delta: 0 < delta < 1)]
    test: PromiseName
    holds_for: tuple[str, ...]
    bound: float
    p_value: float | None
    n_needed: int | None


@dataclass(frozen=True)
class _StoredWeights:
    aleatoric: float
    epistemic: float

    def __post_init__(self) -> None:
        if self.aleatoric == self.epistemic == 0:
            raise InputError("aleatoric must not be 0 if epistemic is, got 0 for both")


@dataclass(frozen=True)
class _StoredCalibration:
    n_points: Count
    n_learned: Count
    n_tested: Count
    seed: Count


@dataclass(frozen=True)
class _Stored:
    """The content of a rule's JSON file; the sentence ``rule`` is for readers."""

    format: Literal["rue rule 2"]
    rule: str
    accepts: Literal["everything", "nothing", "score<=tau"]
    weights: _StoredWeights
    tau: float | None
    made_for: Kind
    asked: Problem
    promise: _StoredPromise | None
    calibration: _StoredCalibration
    estimate: Attained
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        if (self.tau is None) == (self.accepts == "score<=tau"):
            raise InputError(f"tau contradicts accepts, {self.accepts!r}, got {self.tau}")
        budgets = tuple(self.asked.budgets)
        if self.promise is not None and self.promise.holds_for != budgets:
            raise InputError(
                f"promise.holds_for must be the budgets, {', '.join(budgets)}, "
                f"got {', '.join(self.promise.holds_for)}"
            )

    def rule_of(self) -> Rule:
        """Return the rule that is stored."""
        tau = self.tau
        if tau is None:
            tau = math.inf if self.accepts == "everything" else -math.inf
        promise = {} if self.promise is None else asdict(self.promise)
        promise.pop("holds_for", None)
        return Rule(
            (self.weights.aleatoric, self.weights.epistemic),
            tau,
            self.asked,
            self.estimate,
            **asdict(self.calibration),
            **promise,
            kind=self.made_for,
            notes=self.notes,
        )
