"""Test the order of two methods over seeds, for criteria that have no bootstrap over points.

For each seed that both methods have, take the difference of their costs. Their mean is the margin
of the inversion, and a paired t-test says whether it is 0. Within a criterion the p-values are
corrected for all pairs of methods by Holm's method.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from rue.inference.method_ranking import holm
from rue.metrics.columns import Column
from rue.ranking.inversions import Contest, PValue
from rue.ranking.scores import CRITERIA, Score, find_criterion

__all__ = ["compare_over_seeds"]


def compare_over_seeds(
    scores: Iterable[Score], *, criteria: Mapping[str, Column] = CRITERIA
) -> PValue:
    """Return a function that tests the order of two methods by their seeds.

    Parameters
    ----------
    scores : iterable of Score
        The scores; those without a seed do not count.
    criteria : mapping of str to Column
        The criteria by key.

    Returns
    -------
    callable
        A function from (criterion, method, other method) to the p-value of a paired t-test over
        their common seeds, corrected by Holm's method; None with fewer than two common seeds, or
        if the difference is the same in all of them, which says nothing about other seeds.

    Raises
    ------
    InputError
        If a criterion is unknown.

    Examples
    --------
    >>> scores = [
    ...     Score("d", method, seed, "near_ood", "", value)
    ...     for method, values in {"a": (0.9, 0.8, 0.85), "b": (0.7, 0.7, 0.7)}.items()
    ...     for seed, value in enumerate(values)
    ... ]
    >>> round(compare_over_seeds(scores)(Contest("d", "near_ood", ""), "a", "b"), 3)
    0.035
    """
    values: dict[Contest, dict[str, dict[int, float]]] = {}
    for score in scores:
        find_criterion(score.criterion, criteria)
        if score.seed is not None:
            contest = Contest(score.dataset, score.criterion, score.loss)
            values.setdefault(contest, {}).setdefault(score.method, {})[score.seed] = score.value
    p_value_of: dict[tuple[Contest, frozenset[str]], float] = {}
    for contest, methods in values.items():
        pairs = list(combinations(methods, 2))
        better = criteria[contest.criterion].better
        p_values = holm([_paired(methods[a], methods[b], better) for a, b in pairs])
        p_value_of |= {
            (contest, frozenset(pair)): p for pair, p in zip(pairs, p_values, strict=True)
        }

    def p_value(contest: Contest, method: str, rival: str) -> float | None:
        p = p_value_of.get((contest, frozenset((method, rival))), np.nan)
        return None if np.isnan(p) else p

    return p_value


def _paired(first: Mapping[int, float], second: Mapping[int, float], better: str) -> float:
    """Return the p-value of a paired t-test over common seeds; NaN if there is none."""
    from scipy.stats import t

    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return float("nan")
    a, b = (np.array([values[seed] for seed in seeds]) for values in (first, second))
    if better == "zero":  # then the mean difference is that of the means' sizes
        a, b = a * np.sign(a.mean()), b * np.sign(b.mean())
    difference = a - b
    error = difference.std(ddof=1) / len(seeds) ** 0.5
    if error <= 1e-12 * np.abs([a, b]).max():
        return float("nan")
    return float(2 * t.sf(abs(difference.mean()) / error, len(seeds) - 1))
