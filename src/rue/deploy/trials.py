"""What rules attain: beside simpler ones and what is possible, and over many calibration draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from rue._arrays import FloatArray, IntArray, as_seed, as_vector, require_whole
from rue._schema import Undefined
from rue.components import Components
from rue.deploy.candidates import total_weights
from rue.deploy.decisions import attained, budgets_kept
from rue.deploy.fit import fit_selector
from rue.deploy.rule import Rule, Weights
from rue.errors import InfeasibleError
from rue.selectors.optimal import solve
from rue.selectors.selector import Problem

DrawAnswers = Callable[[IntArray, np.random.Generator], Components]
"""Returns the realised components of the drawn rows, from answers drawn with the generator."""


@dataclass(frozen=True)
class Outcome:
    """What one rule attains on new points.

    Attributes
    ----------
    name : str
        ``"learned"``; ``"total"``, ``"epistemic"`` and ``"confidence"`` alone; ``"no promise"``,
        learned without delta; ``"predicted person"``, which accepts where the total is at most the
        predicted risk of a person; ``"accept all"`` and ``"defer all"``; ``"possible"``, Theorem
        1's selector with the new points' truth.
    promised : bool
        Whether the budgets are promised.
    coverage, risk, regret : float
        What is attained on the new points.
    n_tested : int
        How many calibration points tested the thresholds.
    rule : Rule or None
        The rule; None for what is not fitted.
    team : float
        What the accepted points and a person on the deferred ones cost together, with the fee;
        NaN if the risk of a person is unknown.
    """

    name: str
    promised: bool
    coverage: float
    risk: Undefined
    regret: Undefined
    n_tested: int
    rule: Rule | None = None
    team: Undefined = math.nan


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
    seed: int = 0,
    defer_fee: float = 0.0,
) -> tuple[Outcome, ...]:
    """Fit each rule on the calibration points and measure it on new points with answers.

    A rule of one score has no weights to learn, so all calibration points test it, unless risk and
    regret are per accepted point. If the risk of a person is known for the new points, every rule
    has the cost of the team, beside accepting and deferring everything.

    Parameters
    ----------
    star_cal, hat_cal, star_new, hat_new
        Realised and estimated components of the calibration and of the new points.
    problem
        The objective, the floor and the budgets.
    doubt_cal, doubt_new
        One minus the largest predicted probability of each point, shapes (n_cal,) and (n_new,), to
        compare a rule by confidence as well.
    delta, bound, seed
        As in :func:`rue.fit_selector`.
    defer_fee
        What asking a person about a deferred point costs beyond their risk.

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
        promised = {"delta": delta, "bound": bound}
    outcomes = []

    def measure(name: str, accepted: NDArray[Any], rule: Rule | None = None) -> None:
        outcome = attained(star_new, accepted, normalized=problem.normalized)
        values = outcome.coverage, outcome.risk, outcome.regret
        tested = (False, 0) if rule is None else (rule.delta is not None, rule.n_tested)
        team = _team(star_new, accepted, defer_fee)
        outcomes.append(Outcome(name, tested[0], *values, tested[1], rule, team))

    def add(name: str, cal: Components, new: Components, **options: Any) -> None:
        rule = fit_selector(star_cal, cal, **problem.to_dict(), seed=seed, **options)
        measure(name, rule.accept(new), rule)

    add("learned", hat_cal, hat_new, **promised)
    add("total", hat_cal, hat_new, weights=total_weights(hat_cal), **promised)
    add("epistemic", hat_cal, hat_new, weights=(0.0, 1.0), **promised)
    if doubt_cal is not None and doubt_new is not None:
        cal, new = (as_vector("doubt", doubt) for doubt in (doubt_cal, doubt_new))
        add("confidence", _only(cal), _only(new), weights=(0.0, 1.0), **promised)
    if delta is not None:
        add("no promise", hat_cal, hat_new)
    if star_new.person is not None:
        if hat_new.person is not None:
            measure("predicted person", hat_new.total <= hat_new.person + defer_fee)
        measure("accept all", np.ones(len(star_new), bool))
        measure("defer all", np.zeros(len(star_new), bool))
    try:
        best = solve(star_new, problem)
        best_values = best.coverage, best.risk, best.regret
        team = _team(star_new, best.acceptance, defer_fee)
    except InfeasibleError:
        best_values, team = (0.0, math.nan, math.nan), math.nan
    outcomes.append(Outcome("possible", False, *best_values, 0, team=team))
    return tuple(outcomes)


def _team(star: Components, accepted: NDArray[Any], fee: float) -> float:
    """Return what accepted points and a person on the others cost, over all points."""
    if star.person is None:
        return math.nan
    return float((accepted * star.total + (1.0 - accepted) * (star.person + fee)).mean())


@dataclass(frozen=True)
class Trials:
    """What the rules of many calibration draws attain on all points.

    Attributes
    ----------
    n_points, n_draws : int
        Calibration points per draw, and number of draws.
    broken : float
        Share of draws whose rule breaks a budget.
    nothing : float
        Share of draws whose rule accepts nothing.
    coverage, coverage_low, coverage_high : float
        Mean coverage, and its 5 % and 95 % quantile over the draws.
    """

    n_points: int
    n_draws: int
    broken: float
    nothing: float
    coverage: float
    coverage_low: float
    coverage_high: float


def try_promise(
    star: Components,
    hat: Components,
    problem: Problem,
    *,
    n_points: int | Sequence[int],
    n_draws: int = 500,
    seed: int = 0,
    answers: DrawAnswers | None = None,
    progress: bool = False,
    delta: float | None = None,
    bound: float | None = None,
    weights: Weights | None = None,
    learn_share: float = 0.25,
) -> tuple[Trials, ...]:
    """Fit rules to calibration sets drawn with replacement, and measure each on all points.

    The given points are the whole population, so the risk and the regret of a rule are known
    exactly. Use it to find how many points to annotate before a rule accepts enough.

    Parameters
    ----------
    star, hat
        Realised and estimated components of the population.
    problem
        The objective, the floor and the budgets.
    n_points
        Calibration points per draw; several numbers give one result each.
    n_draws, seed
        Number of draws, and the seed that draws them.
    answers
        Returns the realised components of the drawn rows if answers are drawn anew; None takes
        those of ``star``.
    progress
        Whether to show a progress bar.
    delta, bound, weights, learn_share
        As in :func:`rue.fit_selector`.

    Returns
    -------
    tuple of Trials
        One for each number of calibration points.

    Raises
    ------
    InputError
        If an option is invalid.

    Examples
    --------
    >>> from rue import Components, Problem, try_promise
    >>> doubt = np.linspace(0, 1, 500)
    >>> star = Components(doubt**3, 0 * doubt, doubt**3)
    >>> hat = Components(doubt, 0 * doubt, doubt)
    >>> problem = Problem(maximize="coverage", risk_max=0.1)
    >>> (found,) = try_promise(star, hat, problem, n_points=200, n_draws=20, delta=0.1, bound=1)
    >>> found.broken
    0.0
    """
    n_draws, seed = require_whole("n_draws", n_draws, least=1), as_seed(seed)
    results = []
    for size in (int(size) for size in np.atleast_1d(n_points)):
        rng = np.random.default_rng([seed, size])
        coverage, broken = np.empty(n_draws), np.zeros(n_draws, dtype=bool)
        for i in tqdm(range(n_draws), f"{size:,} points", disable=not progress or None, delay=2):
            rows = rng.integers(0, len(star), size)
            drawn = star[rows] if answers is None else answers(rows, rng)
            rule = fit_selector(
                drawn,
                hat[rows],
                **problem.to_dict(),
                delta=delta,
                bound=bound,
                weights=weights,
                learn_share=learn_share,
            )
            outcome = attained(star, rule.accept(hat), normalized=problem.normalized)
            coverage[i] = outcome.coverage
            broken[i] = not all(budgets_kept(outcome, problem).values())
        low, high = np.quantile(coverage, (0.05, 0.95))
        results.append(
            Trials(
                size,
                n_draws,
                float(broken.mean()),
                float(np.mean(coverage == 0)),
                float(coverage.mean()),
                float(low),
                float(high),
            )
        )
    return tuple(results)


def _only(doubt: FloatArray) -> Components:
    """Return a score in the place of the epistemic component."""
    return Components(doubt, np.zeros(len(doubt)), doubt)
