"""Candidate rules: directions of the weights, and all thresholds on a score.

A deployed rule accepts a point or rejects it, so points with equal scores are decided together: a
threshold lies halfway between two neighbouring scores, or above all of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.selectors.problem import Problem

__all__ = [
    "TOTAL",
    "Losses",
    "Thresholds",
    "Weights",
    "directions",
    "keeps_budgets",
    "losses_of",
    "nearest_apart",
    "total_weights",
    "weighted_score",
]

Weights = tuple[float, float]
TOTAL: Weights = (1.0, 1.0)
ALEATORIC: Weights = (1.0, 0.0)

Losses = Mapping[str, FloatArray]
"""Columns of the points: ``"risk"`` and ``"regret"``, perhaps ``"risk_squared"`` and so on."""

# Number of directions on the circle, besides total, epistemic and aleatoric alone.
N_DIRECTIONS = 120

# Scores closer than this share of the largest are equal: rounding is not ranking.
_SAME_SCORE = 1e-10


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
        Sums of the losses over the accepted points, by name. Several scores may lie on a first
        axis.
    n_points : int
        How many points there are.
    """

    taus: FloatArray
    accepted: IntArray
    sums: dict[str, FloatArray]
    n_points: int

    @staticmethod
    def of(losses: Losses, scores: FloatArray) -> "Thresholds":
        """Return every threshold that separates two of these scores."""
        order = np.argsort(scores, kind="stable")
        s = scores[order]
        accepted = np.append(np.flatnonzero(np.diff(s) > nearest_apart(s)) + 1, len(s))
        between = accepted[:-1]
        taus = np.append((s[between - 1] + s[between]) / 2, math.inf)
        sums = {name: np.cumsum(column[order])[accepted - 1] for name, column in losses.items()}
        return Thresholds(taus, accepted, sums, len(s))

    def at(self, losses: Losses, scores: FloatArray) -> "Thresholds":
        """Return the same thresholds on other points."""
        order = np.argsort(scores, kind="stable")
        accepted = np.searchsorted(scores[order], self.taus, side="right")
        sums = {
            name: np.append(0.0, np.cumsum(column[order]))[accepted]
            for name, column in losses.items()
        }
        return Thresholds(self.taus, accepted, sums, len(scores))

    def __len__(self) -> int:
        return len(self.taus)

    def __getitem__(self, part: slice | IntArray) -> "Thresholds":
        """Return some of the thresholds."""
        sums = {name: column[part] for name, column in self.sums.items()}
        return Thresholds(self.taus[part], self.accepted[part], sums, self.n_points)

    def rate(self, name: str, normalized: bool) -> FloatArray:
        """Return risk or regret at each threshold, per accepted point if ``normalized``."""
        per = np.maximum(self.accepted, 1) if normalized else self.n_points
        return np.asarray(self.sums[name] / per)


def losses_of(star: Components, *, squares: bool = False) -> Losses:
    """Return risk and regret of each point by name, and their squares if so requested."""
    losses = {"risk": star.total, "regret": star.epistemic}
    if squares:
        losses |= {f"{name}_squared": column**2 for name, column in losses.items()}
    return losses


def weighted_score(hat: Components, weights: Weights) -> FloatArray:
    """Return w1 aleatoric + w2 epistemic of each point, shape (n_points,)."""
    w1, w2 = weights
    return np.asarray(w1 * hat.aleatoric + w2 * hat.epistemic)


def total_weights(hat: Components) -> Weights:
    """Return the weights whose score is the total: an outside score is no part of it."""
    return ALEATORIC if hat.outside_score else TOTAL


def keeps_budgets(thresholds: Thresholds, problem: Problem) -> NDArray[np.bool_]:
    """Return which thresholds keep the budgets on their own points."""
    good = np.ones(thresholds.sums["risk"].shape, dtype=bool)
    for name, limit in problem.budgets.items():
        good &= thresholds.rate(name, problem.normalized) <= limit * (1 + 1e-12)
    return good


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
    total = total_weights(hat)
    if all(still):
        return [total]
    if any(still):
        return [(0.0, 1.0), (0.0, -1.0)] if still[0] else [(1.0, 0.0), (-1.0, 0.0)]
    angles = (np.arange(N_DIRECTIONS) + 0.5) * (2 * math.pi / N_DIRECTIONS)
    w = np.column_stack([np.cos(angles) / spread[0], np.sin(angles) / spread[1]])
    w /= np.abs(w).max(axis=1, keepdims=True)
    single = [weights for weights in ((0.0, 1.0), ALEATORIC) if weights != total]
    return [total, *single, *((float(a), float(b)) for a, b in w)]


def nearest_apart(scores: FloatArray) -> FloatArray:
    """Return the difference up to which scores, sorted along the last axis, are equal."""
    largest = np.maximum(np.abs(scores[..., :1]), np.abs(scores[..., -1:]))
    return np.asarray(_SAME_SCORE * np.maximum(largest, 1e-300))
