"""How many calibration points a promise needs, if there were too few."""

import math
from collections.abc import Callable

import numpy as np

from rue._arrays import FloatArray
from rue.deploy.candidates import Thresholds
from rue.deploy.promises import Promise, Tested

__all__ = ["needed_points"]


def needed_points(
    found: Tested,
    promise: Promise,
    n_points: int,
    n_learners: Callable[[int], int],
    *,
    unit: str = "points",
) -> tuple[int | None, str]:
    """Return how many calibration points are needed, and a note why nothing passed.

    If even points without any loss would have been too few, that is the reason. Otherwise the
    number is that of the threshold that needs the fewest points at the observed rates.

    Parameters
    ----------
    found
        What the test found: nothing that passed.
    promise
        What was to be promised, and how it is tested.
    n_points, n_learners
        How many calibration points there are, and how many of any number of them would not test.
    unit
        What is counted: points or clusters.

    Returns
    -------
    tuple of (int or None, str)
        The number of points, None if no number suffices, and the note.
    """
    problem, tested = promise.problem, found.thresholds
    per = " per accepted point" if problem.normalized else ""
    too_few = f"Nothing is accepted: {n_points:,} calibration {unit} are too few to promise "
    for name, limit in problem.budgets.items():
        if limit == 0:
            return None, f"Nothing is accepted: no number of {unit} shows that {name} is 0."
    least = {name: promise.fewest_points(limit) or 0 for name, limit in promise.limits.items()}
    hardest = max(least, key=lambda name: least[name])
    if tested.n_points < least[hardest]:
        n = _in_all(least[hardest], n_learners)
        return n, (
            f"{too_few}{hardest} <= {problem.budgets[hardest]:g}{per}; at least {n:,} are needed, "
            "even if accepted points had no loss at all."
        )
    kept = tested.accepted / tested.n_points if problem.normalized else np.ones(len(tested))
    with np.errstate(divide="ignore"):  # where none is accepted no number suffices
        needs = {name: promise.points_for(tested, name) / kept for name in problem.budgets}
    total = np.max(list(needs.values()), axis=0)
    if not np.isfinite(total[~found.passing]).any():
        at = int(np.argmin(np.max([_ratio(tested, promise, k) for k in needs], axis=0)))
        worst = max(needs, key=lambda name: _ratio(tested, promise, name)[at])
        rate, limit = tested.rate(worst, problem.normalized)[at], problem.budgets[worst]
        return None, (
            f"Nothing is accepted: even at the best threshold the {worst} is {rate:.4g}{per} on "
            f"the test points, and the budget is {limit:g}."
        )
    at = int(np.argmin(np.where(found.passing, np.inf, total)))
    worst = max(needs, key=lambda name: needs[name][at])
    rate, limit = tested.rate(worst, problem.normalized)[at], problem.budgets[worst]
    n = _in_all(math.ceil(promise.points_at(tested, worst, at) / kept[at]), n_learners)
    n = max(n, n_points + 1)  # an approximation may suggest that there were enough
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


def _ratio(tested: Thresholds, promise: Promise, name: str) -> FloatArray:
    return tested.rate(name, promise.problem.normalized) / promise.problem.budgets[name]
