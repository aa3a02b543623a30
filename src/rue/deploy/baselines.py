"""What the learned rule attains beside rules of one score, and beside what is possible."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.components import Components
from rue.deploy.fit import fit_selector
from rue.deploy.rule import Rule, attained
from rue.errors import InfeasibleError
from rue.selectors.optimal import optimal_selector

__all__ = ["Outcome", "compare_rules"]


@dataclass(frozen=True)
class Outcome:
    """What one rule attains on new points.

    Attributes
    ----------
    name
        ``"learned"``; ``"total"``, ``"epistemic"`` and ``"confidence"`` alone; ``"no promise"``,
        learned without delta; ``"possible"``, Theorem 1's selector of the new points' truth.
    promised
        Whether the budgets were promised.
    coverage, risk, regret
        What is attained on the new points.
    n_tested
        How many calibration points tested the thresholds.
    rule
        The rule; None for what is possible.
    """

    name: str
    promised: bool
    coverage: float
    risk: float
    regret: float
    n_tested: int
    rule: Rule | None = None


def compare_rules(
    star_cal: Components,
    hat_cal: Components,
    star_new: Components,
    hat_new: Components,
    *,
    doubt_cal: ArrayLike | None = None,
    doubt_new: ArrayLike | None = None,
    delta: float | None = None,
    bound: float | None = None,
    normalized: bool = False,
    seed: int = 0,
    **asked: Any,
) -> tuple[Outcome, ...]:
    """Fit each rule on the calibration points and measure it on new points with answers.

    A rule of one score has no weights to learn, so that all calibration points test it, unless
    risk and regret are those per accepted point.

    Parameters
    ----------
    star_cal, hat_cal, star_new, hat_new
        Components of the calibration and the new points.
    doubt_cal, doubt_new
        One minus the largest predicted probability of each point, where confidence is to be
        compared.
    delta, bound, normalized, seed, asked
        As :func:`rue.fit_selector` takes them.
    """
    asked = {**asked, "normalized": normalized}
    promise: dict[str, Any] = {} if delta is None else {"delta": delta, "bound": bound}
    outcomes = []

    def add(name: str, cal: Components, new: Components, **options: Any) -> None:
        rule = fit_selector(star_cal, cal, seed=seed, **asked, **options)
        found = attained(star_new, rule.accept(new), normalized=normalized)
        outcomes.append(
            Outcome(
                name,
                rule.delta is not None,
                found.coverage,
                found.risk,
                found.regret,
                rule.n_tested,
                rule,
            )
        )

    add("learned", hat_cal, hat_new, **promise)
    add("total", hat_cal, hat_new, weights=(1.0, 1.0), **promise)
    add("epistemic", hat_cal, hat_new, weights=(0.0, 1.0), **promise)
    if doubt_cal is not None and doubt_new is not None:
        cal, new = (as_vector("doubt", doubt) for doubt in (doubt_cal, doubt_new))
        add("confidence", _only(cal), _only(new), weights=(0.0, 1.0), **promise)
    if delta is not None:
        add("no promise", hat_cal, hat_new)
    try:
        best = optimal_selector(star_new, **asked)
        best_values = best.coverage, best.risk, best.regret
    except InfeasibleError:
        best_values = 0.0, float("nan"), float("nan")
    outcomes.append(Outcome("possible", False, *best_values, 0))
    return tuple(outcomes)


def _only(doubt: FloatArray) -> Components:
    """A score in the place of the epistemic component."""
    return Components(doubt, np.zeros(len(doubt)), doubt)
