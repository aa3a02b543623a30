"""How often a promise is broken, and what it costs: many calibration draws from known points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from rue._arrays import IntArray, require_whole
from rue.components import Components
from rue.deploy.attained import attained, budgets_kept
from rue.deploy.candidates import Weights
from rue.deploy.fit import fit_rule
from rue.deploy.promises import PromiseName
from rue.selectors.problem import Problem

__all__ = ["DrawAnswers", "Trials", "try_promise"]

DrawAnswers = Callable[[IntArray, np.random.Generator], Components]
"""Returns the realised components of the drawn rows, from answers drawn with the generator."""


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
    promise: PromiseName = "betting",
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
    delta, bound, promise, weights, learn_share
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
    n_draws = require_whole("n_draws", n_draws, least=1)
    results = []
    for size in (int(size) for size in np.atleast_1d(n_points)):
        rng = np.random.default_rng([seed, size])
        coverage, broken = np.empty(n_draws), np.zeros(n_draws, dtype=bool)
        for i in tqdm(range(n_draws), f"{size:,} points", disable=not progress or None, delay=2):
            rows = rng.integers(0, len(star), size)
            drawn = star[rows] if answers is None else answers(rows, rng)
            rule = fit_rule(
                drawn,
                hat[rows],
                problem,
                delta=delta,
                bound=bound,
                promise=promise,
                weights=weights,
                learn_share=learn_share,
            )
            found = attained(star, rule.accept(hat), normalized=problem.normalized)
            coverage[i] = found.coverage
            broken[i] = not all(budgets_kept(found, problem).values())
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
