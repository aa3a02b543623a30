"""Candidate rules: directions of the weights, all thresholds on a score, and the best of them.

A deployed rule accepts a point or rejects it, so points with equal scores are decided together: a
threshold lies halfway between two neighbouring scores, or above all of them.

Every direction would take one sort. With many points most directions are ruled out without sorting:
points are counted in bins of the score, and no threshold inside a bin accepts more than the whole
bin or loses less than the bins before it. So each direction has a bound on what it can reach, and
only directions whose bound is at least the best value found so far are sorted. The result is the
same as without bins.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.deploy.rule import ALEATORIC, TOTAL, Weights, weighted_score
from rue.selectors.selector import Problem

Losses = Mapping[str, FloatArray]
"""Columns of the points: ``"risk"`` and ``"regret"``, perhaps ``"risk_squared"`` and so on."""

# Number of directions on the circle, besides total, epistemic and aleatoric alone.
N_DIRECTIONS = 120

# Scores closer than this share of the largest are equal: rounding is not ranking.
_SAME_SCORE = 1e-10

Fits = Callable[["Thresholds", Problem], NDArray[np.bool_]]
"""Which thresholds keep the budgets: the more accepted and the smaller the sums, the more."""

Value = tuple[float, float]
"""How good a threshold is: (1, -risk) if the floor is reached, otherwise (0, number accepted)."""

# Number of scores ranked at once; from so many points on, bins come first.
_AT_ONCE = 1 << 20
_MANY = 20_000

_N_BINS = 2_048
_NOTHING: Value = (-1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """All thresholds on a score, and what accepting up to each of them attains."""

    taus: FloatArray
    accepted: IntArray
    sums: dict[str, FloatArray]
    n_points: int

    @staticmethod
    def of(losses: Losses, scores: FloatArray) -> "Thresholds":
        """Return every threshold that separates two of these scores."""
        from rue._kernels.sorting import argsort

        order = argsort(scores)
        s = scores[order]
        accepted = np.append(np.flatnonzero(np.diff(s) > nearest_apart(s)) + 1, len(s))
        between = accepted[:-1]
        taus = np.append((s[between - 1] + s[between]) / 2, math.inf)
        sums = {name: np.cumsum(column[order])[accepted - 1] for name, column in losses.items()}
        return Thresholds(taus, accepted, sums, len(s))

    def at(self, losses: Losses, scores: FloatArray) -> "Thresholds":
        """Return the same thresholds on other points."""
        from rue._kernels.sorting import argsort

        order = argsort(scores)
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
    """Return candidate weights: total, epistemic and aleatoric alone, then a circle."""
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


def best_cut(
    losses: Losses,
    hat: Components,
    problem: Problem,
    candidates: Sequence[Weights],
    fits: Fits = keeps_budgets,
    *,
    bins: "Bins | None" = None,
) -> tuple[Weights, float]:
    """Return the weights and the threshold that solve the problem best; -inf if none does."""
    if bins is None:
        bins = Bins.of_many(losses, hat, candidates)
    if bins is None:
        return _best(losses, hat, problem, candidates, fits)[1]
    bounds = bins.bounds(problem, fits)
    best, best_candidate, first = _NOTHING, (candidates[0], -math.inf), len(candidates)
    for i in sorted(range(len(candidates)), key=lambda i: bounds[i], reverse=True):
        if bounds[i] < best or bounds[i] == _NOTHING:
            break
        if bounds[i] == best and i > first:  # a tie at best, and those go to the first
            continue
        value, cut = _best(losses, hat, problem, candidates[i : i + 1], fits)
        if value > best or (value == best and i < first):
            best, best_candidate, first = value, cut, i
    return best_candidate


@dataclass(frozen=True, eq=False)
class Bins:
    """Points counted in bins of the score, for every candidate direction."""

    count: FloatArray
    sums: dict[str, FloatArray]

    @staticmethod
    def of_many(
        losses: Losses,
        hat: Components,
        candidates: Sequence[Weights],
        parts: IntArray | None = None,
        n_parts: int = 1,
    ) -> "Bins | None":
        """Count the points if sorting them in each direction would take longer; otherwise None."""
        from rue._kernels.sorting import binned_sums

        if len(hat) < _MANY or len(candidates) < 3:
            return None
        few = hat[:: len(hat) // (4 * _N_BINS)]
        places = np.arange(1, _N_BINS) * len(few) // _N_BINS
        edges = np.stack([np.sort(weighted_score(few, w))[places] for w in candidates])
        bin_sums = binned_sums(
            hat.aleatoric,
            hat.epistemic,
            np.array(candidates),
            edges,
            np.stack(list(losses.values()), axis=1),
            np.zeros(len(hat), dtype=np.int64) if parts is None else parts,
            n_parts,
        )
        sums = {name: bin_sums[..., i + 1] for i, name in enumerate(losses)}
        return Bins(bin_sums[..., 0], sums)

    def without(self, part: int) -> "Bins":
        """Return the bins of all points but those of one part."""
        others = [p for p in range(self.count.shape[1]) if p != part]
        sums = {name: column[:, others] for name, column in self.sums.items()}
        return Bins(self.count[:, others], sums)

    def bounds(self, problem: Problem, fits: Fits) -> list[Value]:
        """Return for each direction a value that no threshold on its score exceeds."""
        count = np.cumsum(self.count.sum(axis=1), axis=1)
        n_points = int(count[0, -1])
        sums = {}
        for name, column in self.sums.items():
            before = np.cumsum(column.sum(axis=1), axis=1)[:, :-1]
            # Sums in another order differ in their last digits.
            sums[name] = np.pad(before, ((0, 0), (1, 0))) * (1 - 1e-9)
        inside = Thresholds(count, count.astype(np.int64), sums, n_points)
        possible = fits(inside, problem) & (count > 0)
        most = np.max(np.where(possible, count, 0.0), axis=1)
        bounds: list[Value] = [(0.0, float(k)) if k else _NOTHING for k in most]
        if problem.minimize is not None:
            possible &= count / n_points >= problem.floor - 1e-9
            rate = np.where(possible, inside.rate(problem.minimize, problem.normalized), np.inf)
            for i, least in enumerate(rate.min(axis=1)):
                bounds[i] = (1.0, -float(least)) if np.isfinite(least) else bounds[i]
        return bounds


def _best(
    losses: Losses, hat: Components, problem: Problem, candidates: Sequence[Weights], fits: Fits
) -> tuple[Value, tuple[Weights, float]]:
    """Sort the points in each direction; return the best value and its weights and threshold."""
    n = len(hat)
    accepted = np.arange(1, n + 1)
    reaches = accepted / n >= problem.floor - 1e-12
    best = _NOTHING
    best_candidate = candidates[0], -math.inf
    step = max(1, _AT_ONCE // n)
    for first in range(0, len(candidates), step):
        some = candidates[first : first + step]
        scores = np.stack([weighted_score(hat, weights) for weights in some])
        order = np.argsort(scores, axis=1, kind="stable")
        scores = np.take_along_axis(scores, order, axis=1)
        sums = {name: np.cumsum(column[order], axis=1) for name, column in losses.items()}
        ranked = Thresholds(scores, accepted, sums, n)
        good = fits(ranked, problem)
        good[:, :-1] &= np.diff(scores, axis=1) > nearest_apart(scores)
        last = n - 1 - np.argmax(good[:, ::-1], axis=1)
        if problem.minimize is not None:
            rates = ranked.rate(problem.minimize, problem.normalized)
            least = np.argmin(np.where(good & reaches, rates, np.inf), axis=1)
        for i, weights in enumerate(some):
            if not good[i].any():
                continue
            at, value = last[i], (0.0, float(last[i] + 1))
            if problem.minimize is not None and (good[i] & reaches).any():
                at, value = least[i], (1.0, -float(rates[i, least[i]]))  # better than no floor
            if value > best:
                middle = math.inf if at == n - 1 else scores[i, at : at + 2].mean()
                best, best_candidate = value, (weights, float(middle))
    return best, best_candidate
