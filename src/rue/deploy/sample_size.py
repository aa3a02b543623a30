"""How many calibration points a promise needs, if there were too few."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.deploy.candidates import Thresholds
from rue.deploy.p_values import points_needed
from rue.selectors.problem import Problem

__all__ = ["needed_points"]


def needed_points(
    tested: Thresholds,
    failed: NDArray[np.bool_],
    problem: Problem,
    delta: float,
    bound: float,
    n_points: int,
    n_learners: Callable[[int], int],
) -> tuple[int | None, str]:
    """Return how many calibration points are needed, and a note why nothing passed.

    If even points without any loss would have been too few, that is the reason. Otherwise the
    number is that of the failed threshold that needs the fewest points at the observed rates:
    n KL(rate, budget) must reach log(1/delta).

    Parameters
    ----------
    tested, failed
        The thresholds on the test points, and which of them did not pass, shape (n_thresholds,).
    problem, delta, bound
        What was to be promised.
    n_points, n_learners
        How many calibration points there are, and how many of any number of them would not test.

    Returns
    -------
    tuple of (int or None, str)
        The number of points, None if no number suffices, and the note.
    """
    per = " per accepted point" if problem.normalized else ""
    too_few = f"Nothing is accepted: {n_points:,} calibration points are too few to promise "
    for name, limit in problem.budgets.items():
        if limit == 0:
            return None, f"Nothing is accepted: no number of points shows that {name} is 0."
    least = {name: points_needed(x / bound, delta) or 0 for name, x in problem.budgets.items()}
    hardest = max(least, key=lambda name: least[name])
    if tested.n_points < least[hardest]:
        n = _in_all(least[hardest], n_learners)
        return n, (
            f"{too_few}{hardest} <= {problem.budgets[hardest]:g}{per}; at least {n:,} are needed, "
            "even if accepted points had no loss at all."
        )
    kept = tested.accepted / tested.n_points if problem.normalized else np.ones(len(tested.taus))
    with np.errstate(divide="ignore"):  # where none is accepted no number suffices
        needs = {
            name: _about(tested.rate(name, problem.normalized) / bound, limit / bound, delta) / kept
            for name, limit in problem.budgets.items()
        }
    total = np.max(list(needs.values()), axis=0)
    if not np.isfinite(total[failed]).any():
        at = int(np.argmin(np.max([_ratio(tested, problem, k) for k in needs], axis=0)))
        worst = max(needs, key=lambda name: _ratio(tested, problem, name)[at])
        rate, limit = tested.rate(worst, problem.normalized)[at], problem.budgets[worst]
        return None, (
            f"Nothing is accepted: even at the best threshold the {worst} is {rate:.4g}{per} on "
            f"the test points, and the budget is {limit:g}."
        )
    at = int(np.argmin(np.where(failed, total, np.inf)))
    worst = max(needs, key=lambda name: needs[name][at])
    rate, limit = tested.rate(worst, problem.normalized)[at], problem.budgets[worst]
    exact = points_needed(limit / bound, delta, rate / bound)
    n = _in_all(math.ceil((exact or needs[worst][at] * kept[at]) / kept[at]), n_learners)
    n = max(n, n_points + 1)  # steps of the p-value may suggest that there were enough
    return n, (
        f"{too_few}{worst} <= {limit:g}{per}; about {n:,} are needed "
        f"at the {worst} of {rate:.4g}{per} that the test points have."
    )


def _in_all(n_tested: int, n_learners: Callable[[int], int]) -> int:
    """Return the least number of points of which ``n_tested`` test."""
    n = n_tested
    while (short := n_tested - (n - n_learners(n))) > 0:
        n += max(1, short // 2)
    while n > n_tested and n - 1 - n_learners(n - 1) >= n_tested:
        n -= 1
    return n


def _about(rate: FloatArray, limit: float, delta: float) -> FloatArray:
    """Return about how many points a mean of ``rate`` needs; infinity from the limit up."""
    from scipy.special import xlogy

    r = np.minimum(rate, limit)
    divergence = xlogy(r, r / limit) + xlogy(1 - r, (1 - r) / (1 - limit)) if limit < 1 else np.inf
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(rate < limit, math.log(1 / delta) / divergence, np.inf))


def _ratio(tested: Thresholds, problem: Problem, name: str) -> FloatArray:
    return tested.rate(name, problem.normalized) / problem.budgets[name]
