"""The best rule of the form w1 aleatoric + w2 epistemic <= tau on some points.

A deployed rule accepts a point or rejects it, so points with equal scores are decided together: a
threshold lies halfway between two neighbouring scores, or above all of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.deploy.p_values import allowed
from rue.selectors.problem import Problem

__all__ = ["TOTAL", "Fits", "Thresholds", "Weights", "best_cut", "directions", "weighted_score"]

Weights = tuple[float, float]
TOTAL: Weights = (1.0, 1.0)

# Number of directions on the circle, besides total, epistemic and aleatoric alone.
N_DIRECTIONS = 120

# Scores closer than this share of the largest are equal: rounding is not ranking.
_SAME_SCORE = 1e-10

# Number of scores ranked at once.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Thresholds:
    """All thresholds on a score, and what accepting up to each of them attains.

    Attributes
    ----------
    taus : ndarray of shape (n_thresholds,)
        The thresholds, increasing; the last is infinite.
    accepted : ndarray of shape (n_thresholds,)
        How many points have a score of at most ``taus``.
    sums : dict of ndarray
        Sums of ``"risk"`` and ``"regret"`` over the accepted points. Several scores may lie on a
        first axis.
    n_points : int
        How many points there are.
    """

    taus: FloatArray
    accepted: IntArray
    sums: dict[str, FloatArray]
    n_points: int

    @staticmethod
    def of(star: Components, hat: Components, weights: Weights) -> "Thresholds":
        """Return every threshold that separates two scores of these points."""
        s = weighted_score(hat, weights)
        order = np.argsort(s, kind="stable")
        s = s[order]
        accepted = np.append(np.flatnonzero(np.diff(s) > _near(s)) + 1, len(s))
        between = accepted[:-1]
        taus = np.append((s[between - 1] + s[between]) / 2, math.inf)
        sums = {
            "risk": np.cumsum(star.total[order])[accepted - 1],
            "regret": np.cumsum(star.epistemic[order])[accepted - 1],
        }
        return Thresholds(taus, accepted, sums, len(s))

    def at(self, star: Components, hat: Components, weights: Weights) -> "Thresholds":
        """Return the same thresholds on other points."""
        s = weighted_score(hat, weights)
        order = np.argsort(s, kind="stable")
        accepted = np.searchsorted(s[order], self.taus, side="right")
        sums = {
            "risk": np.append(0.0, np.cumsum(star.total[order]))[accepted],
            "regret": np.append(0.0, np.cumsum(star.epistemic[order]))[accepted],
        }
        return Thresholds(self.taus, accepted, sums, len(s))

    def __len__(self) -> int:
        return len(self.taus)

    def __getitem__(self, part: slice) -> "Thresholds":
        """Return some of the thresholds."""
        sums = {name: column[part] for name, column in self.sums.items()}
        return Thresholds(self.taus[part], self.accepted[part], sums, self.n_points)

    def rate(self, name: str, normalized: bool) -> FloatArray:
        """Return risk or regret at each threshold, per accepted point if ``normalized``."""
        per = np.maximum(self.accepted, 1) if normalized else self.n_points
        return np.asarray(self.sums[name] / per)


Fits = Callable[[Thresholds, Problem], NDArray[np.bool_]]
"""Which thresholds keep the budgets."""


def weighted_score(hat: Components, weights: Weights) -> FloatArray:
    """Return w1 aleatoric + w2 epistemic of each point, shape (n_points,)."""
    w1, w2 = weights
    return np.asarray(w1 * hat.aleatoric + w2 * hat.epistemic)


def keeps_budgets(thresholds: Thresholds, problem: Problem) -> NDArray[np.bool_]:
    """Return which thresholds keep the budgets on their own points."""
    good = np.ones(thresholds.sums["risk"].shape, dtype=bool)
    for name, limit in problem.budgets.items():
        good &= thresholds.rate(name, problem.normalized) <= limit * (1 + 1e-12)
    return good


def would_pass(n_tested: int, delta: float, bound: float) -> Fits:
    """Return which thresholds would pass the test at delta on ``n_tested`` similar points."""

    def fits(thresholds: Thresholds, problem: Problem) -> NDArray[np.bool_]:
        good = np.ones(thresholds.sums["risk"].shape, dtype=bool)
        share = thresholds.accepted / thresholds.n_points
        n = np.rint(share * n_tested).astype(np.int64) if problem.normalized else n_tested
        for name, limit in problem.budgets.items():
            most = allowed(n_tested, limit / bound, delta)[n]
            good &= thresholds.rate(name, problem.normalized) / bound * n <= most + 1e-9
        return good

    return fits


def directions(hat: Components) -> list[Weights]:
    """Return candidate weights: total, epistemic and aleatoric alone, then a circle.

    The circle is in units of the components' standard deviations. A constant component ranks
    nothing and has weight 0. The larger absolute weight is 1, so that the score of the total is the
    total itself.
    """
    spread = np.std(hat.aleatoric), np.std(hat.epistemic)
    still = [
        s <= 1e-12 * np.abs(c).max()
        for s, c in zip(spread, (hat.aleatoric, hat.epistemic), strict=True)
    ]
    if all(still):
        return [TOTAL]
    if any(still):
        return [(0.0, 1.0), (0.0, -1.0)] if still[0] else [(1.0, 0.0), (-1.0, 0.0)]
    angles = (np.arange(N_DIRECTIONS) + 0.5) * (2 * math.pi / N_DIRECTIONS)
    w = np.column_stack([np.cos(angles) / spread[0], np.sin(angles) / spread[1]])
    w /= np.abs(w).max(axis=1, keepdims=True)
    return [TOTAL, (0.0, 1.0), (1.0, 0.0), *((float(a), float(b)) for a, b in w)]


def best_cut(
    star: Components,
    hat: Components,
    problem: Problem,
    candidates: list[Weights],
    fits: Fits = keeps_budgets,
) -> tuple[Weights, float]:
    """Return the weights and the threshold that solve the problem best; -inf if none does.

    If coverage is maximised, the threshold that accepts most among those that fit. Otherwise the
    one with the least risk or regret among those that also reach the coverage floor. Ties go to
    the first candidate.
    """
    n = len(star)
    accepted = np.arange(1, n + 1)
    reaches = accepted / n >= problem.floor - 1e-12
    best: tuple[float, float] = (-1.0, 0.0)
    found = candidates[0], -math.inf
    step = max(1, _AT_ONCE // n)
    for first in range(0, len(candidates), step):
        some = candidates[first : first + step]
        scores = np.stack([weighted_score(hat, weights) for weights in some])
        order = np.argsort(scores, axis=1, kind="stable")
        scores = np.take_along_axis(scores, order, axis=1)
        sums = {
            "risk": np.cumsum(star.total[order], axis=1),
            "regret": np.cumsum(star.epistemic[order], axis=1),
        }
        ranked = Thresholds(scores, accepted, sums, n)
        good = fits(ranked, problem)
        good[:, :-1] &= np.diff(scores, axis=1) > _near(scores)
        last = n - 1 - np.argmax(good[:, ::-1], axis=1)
        if problem.minimize is not None:
            rates = ranked.rate(problem.minimize, problem.normalized)
            least = np.argmin(np.where(good & reaches, rates, np.inf), axis=1)
        for i, weights in enumerate(some):
            if not good[i].any():
                continue
            at, value = last[i], (0.0, float(last[i]))
            if problem.minimize is not None and (good[i] & reaches).any():
                at, value = least[i], (1.0, -float(rates[i, least[i]]))  # better than no floor
            if value > best:
                middle = math.inf if at == n - 1 else scores[i, at : at + 2].mean()
                best, found = value, (weights, float(middle))
    return found


def _near(scores: FloatArray) -> FloatArray:
    """Return the difference up to which scores, sorted along the last axis, are equal."""
    largest = np.maximum(np.abs(scores[..., :1]), np.abs(scores[..., -1:]))
    return np.asarray(_SAME_SCORE * np.maximum(largest, 1e-300))
