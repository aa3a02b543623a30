"""What the learned rule attains, beside rules of one score and beside what is possible."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.components import Components
from rue.deploy.attained import attained
from rue.deploy.candidates import total_weights
from rue.deploy.fit import fit_rule
from rue.deploy.promises import PromiseName
from rue.deploy.rule import Rule
from rue.errors import InfeasibleError
from rue.selectors.optimal import solve
from rue.selectors.problem import Problem

__all__ = ["Outcome", "compare_rules"]


@dataclass(frozen=True)
class Outcome:
    """What one rule attains on new points.

    Attributes
    ----------
    name : str
        ``"learned"``; ``"total"``, ``"epistemic"`` and ``"confidence"`` alone; ``"no promise"``,
        learned without delta; ``"possible"``, Theorem 1's selector with the new points' truth.
    promised : bool
        Whether the budgets are promised.
    coverage, risk, regret : float
        What is attained on the new points.
    n_tested : int
        How many calibration points tested the thresholds.
    rule : Rule or None
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
    problem: Problem,
    *,
    doubt_cal: ArrayLike | None = None,
    doubt_new: ArrayLike | None = None,
    delta: float | None = None,
    bound: float | None = None,
    promise: PromiseName = "betting",
    seed: int = 0,
) -> tuple[Outcome, ...]:
    """Fit each rule on the calibration points and measure it on new points with answers.

    A rule of one score has no weights to learn, so all calibration points test it, unless risk and
    regret are per accepted point.

    Parameters
    ----------
    star_cal, hat_cal, star_new, hat_new
        Realised and estimated components of the calibration and of the new points.
    problem
        The objective, the floor and the budgets.
    doubt_cal, doubt_new
        One minus the largest predicted probability of each point, shapes (n_cal,) and (n_new,), to
        compare a rule by confidence as well.
    delta, bound, promise, seed
        As in :func:`rue.fit_selector`.

    Returns
    -------
    tuple of Outcome
        One for each rule, the learned one first and what is possible last.

    Raises
    ------
    InputError
        If the components or an option are invalid.

    Examples
    --------
    >>> from rue import Components, Problem, compare_rules
    >>> doubt = np.linspace(0, 1, 300)
    >>> star = Components(doubt**3, 0 * doubt, doubt**3)
    >>> hat = Components(doubt, 0 * doubt, doubt)
    >>> problem = Problem(maximize="coverage", risk_max=0.1)
    >>> [o.name for o in compare_rules(star, hat, star, hat, problem, delta=0.1, bound=1)]
    ['learned', 'total', 'epistemic', 'no promise', 'possible']
    """
    promised: dict[str, Any] = {}
    if delta is not None:
        promised = {"delta": delta, "bound": bound, "promise": promise}
    outcomes = []

    def add(name: str, cal: Components, new: Components, **options: Any) -> None:
        rule = fit_rule(star_cal, cal, problem, seed=seed, **options)
        found = attained(star_new, rule.accept(new), normalized=problem.normalized)
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

    add("learned", hat_cal, hat_new, **promised)
    add("total", hat_cal, hat_new, weights=total_weights(hat_cal), **promised)
    add("epistemic", hat_cal, hat_new, weights=(0.0, 1.0), **promised)
    if doubt_cal is not None and doubt_new is not None:
        cal, new = (as_vector("doubt", doubt) for doubt in (doubt_cal, doubt_new))
        add("confidence", _only(cal), _only(new), weights=(0.0, 1.0), **promised)
    if delta is not None:
        add("no promise", hat_cal, hat_new)
    try:
        best = solve(star_new, problem)
        best_values = best.coverage, best.risk, best.regret
    except InfeasibleError:
        best_values = 0.0, float("nan"), float("nan")
    outcomes.append(Outcome("possible", False, *best_values, 0))
    return tuple(outcomes)


def _only(doubt: FloatArray) -> Components:
    """Return a score in the place of the epistemic component."""
    return Components(doubt, np.zeros(len(doubt)), doubt)
