"""How a promise is tested: thresholds from the smallest up, until one does not pass.

A threshold is to pass only if its risk and its regret are within budget. The null hypothesis at a
threshold is that one of them is not; it is rejected if both p-values are at most delta. Thresholds
are tested in a fixed order, each at the full delta, and testing stops at the first that fails. A
threshold that breaks a budget passes only if the first such threshold in the order does, which has
probability at most delta (Angelopoulos et al. 2021).

Over all points, risk and regret grow with the threshold, and every threshold of the real line is
tested: an order that no data chose. What is accepted changes only at the scores of the test points.
Per accepted point, the thresholds to test come from other points (``learn_then_test.py``).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.deploy.candidates import Losses, Thresholds
from rue.deploy.p_values import hoeffding_bentkus, n_passed, points_needed
from rue.selectors.problem import Problem

__all__ = ["Clusters", "HoeffdingBentkus", "Promise", "PromiseName", "Tested"]

PromiseName = Literal["betting", "hoeffding_bentkus"]
"""Which p-values a promise rests on."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which cluster each test point is in.

    Attributes
    ----------
    codes : ndarray of shape (n_points,)
        The place of the point's cluster in the random order of the clusters.
    n_clusters : int
        How many clusters there are.
    """

    codes: IntArray
    n_clusters: int

    @cached_property
    def sizes(self) -> FloatArray:
        """How many points each cluster has."""
        return np.bincount(self.codes, minlength=self.n_clusters).astype(np.float64)

    def means(self, values: FloatArray) -> FloatArray:
        """Return the mean over the points of each cluster, shape (n_clusters,)."""
        return np.asarray(np.bincount(self.codes, values, self.n_clusters) / self.sizes)

    def weighted(self, thresholds: Thresholds, losses: Losses, scores: FloatArray) -> Thresholds:
        """Return thresholds with sums over clusters of the means of their points.

        Then ``accepted`` is the sum of the shares that are accepted, and ``n_points`` the number
        of clusters, so that rates are those of a random point of a random cluster.
        """
        share = 1.0 / self.sizes[self.codes]
        columns = {name: column * share for name, column in losses.items()}
        found = thresholds.at({**columns, "accepted": share}, scores)
        shares: Any = found.sums.pop("accepted")  # no whole numbers, unlike those of points
        return replace(found, accepted=shares, n_points=self.n_clusters)


@dataclass(frozen=True, eq=False)
class Tested:
    """What the test found.

    Attributes
    ----------
    tau : float
        The largest threshold that passed, with all before it; -inf if none did.
    p_value : float or None
        Its p-value; None if none passed.
    thresholds : Thresholds
        The thresholds on the test points.
    passing : ndarray of bool, shape (n_thresholds,)
        Which of them are known to pass on their own, whatever the order.
    """

    tau: float
    p_value: float | None
    thresholds: Thresholds
    passing: NDArray[np.bool_]


@dataclass(frozen=True)
class Promise(ABC):
    """Budgets that are to hold on new points with probability 1 - delta.

    Attributes
    ----------
    problem : Problem
        The budgets.
    delta : float
        The probability with which one may be broken.
    bound : float
        The largest possible loss.
    """

    problem: Problem
    delta: float
    bound: float

    squares = False
    """Whether the sums must include those of squared losses."""
    margin = 2.0
    """By how many standard errors learned weights must beat those of the total."""
    spare = 2
    """Points learn the weights only if this many times the fewest points are left to test."""

    @property
    def limits(self) -> dict[str, float]:
        """The budgets in units of the largest loss."""
        return {name: limit / self.bound for name, limit in self.problem.budgets.items()}

    @abstractmethod
    def fewest_points(self, limit: float) -> int | None:
        """Return the least number of test points that pass if none has a loss; None if none do."""

    @abstractmethod
    def expected_p_values(self, thresholds: Thresholds, n_tested: int) -> FloatArray:
        """Return about which p-values ``n_tested`` points would have, were they like these."""

    @abstractmethod
    def points_for(self, thresholds: Thresholds, name: str) -> FloatArray:
        """Return about how many points with these rates would pass; infinity if no number does."""

    def points_at(self, thresholds: Thresholds, name: str, at: int) -> float:
        """Return how many points with the rate at one threshold would pass, as well as is known."""
        return float(self.points_for(thresholds, name)[at])

    @abstractmethod
    def test(
        self,
        losses: Losses,
        scores: FloatArray,
        taus: FloatArray | None,
        references: FloatArray,
        clusters: Clusters | None = None,
    ) -> Tested:
        """Test thresholds on points in random order.

        Parameters
        ----------
        losses, scores
            Losses and scores of the test points, shape (n_points,) each.
        taus
            The thresholds, increasing, chosen without these points; None tests every threshold.
        references
            Scores of other points, which may guide the test; shape (n_references,), perhaps empty.
        clusters
            The clusters of the points, which are independent; None if the points are.
        """

    def _up_to_the_floor(self, thresholds: Thresholds) -> Thresholds:
        """Return the thresholds up to the first that reaches the coverage floor, to minimise."""
        return thresholds[: floor_at(thresholds, self.problem) + 1]


def floor_at(thresholds: Thresholds, problem: Problem) -> int:
    """Return the first threshold that reaches the floor; the last if coverage is maximised."""
    last = len(thresholds) - 1
    if problem.minimize is None:
        return last
    floor = problem.floor * thresholds.n_points - 1e-9
    return min(int(np.searchsorted(thresholds.accepted, floor)), last)


@final
class HoeffdingBentkus(Promise):
    """A promise by p-values that know only the range of a loss.

    Per accepted point, the test is that of the mean over the accepted: given which points are
    accepted, their losses are independent and have the mean E[loss | accepted]. By the convexity of
    the divergence its exponent is never smaller than that of a test on C (loss - budget) over all
    points.
    """

    def fewest_points(self, limit: float) -> int | None:
        """Return the least number of test points that pass if none has a loss."""
        return points_needed(limit, self.delta)

    def expected_p_values(self, thresholds: Thresholds, n_tested: int) -> FloatArray:
        """Return the p-values of so many points with these rates."""
        n: FloatArray | int = n_tested
        if self.problem.normalized:
            n = np.rint(thresholds.accepted / thresholds.n_points * n_tested)
        each = [
            hoeffding_bentkus(
                thresholds.rate(name, self.problem.normalized) / self.bound * n, n, limit
            )
            for name, limit in self.limits.items()
        ]
        return np.asarray(np.max(each, axis=0))

    def points_for(self, thresholds: Thresholds, name: str) -> FloatArray:
        """Return n such that n KL(rate, limit) is log(1/delta)."""
        from scipy.special import xlogy

        limit = self.limits[name]
        rate = thresholds.rate(name, self.problem.normalized) / self.bound
        r = np.minimum(rate, limit)
        divergence = (
            xlogy(r, r / limit) + xlogy(1 - r, (1 - r) / (1 - limit)) if limit < 1 else np.inf
        )
        with np.errstate(divide="ignore"):
            n = math.log(1 / self.delta) / divergence
        return np.asarray(np.where(rate < limit, n, np.inf))

    def points_at(self, thresholds: Thresholds, name: str, at: int) -> float:
        """Return the least number of points with the rate at one threshold that pass."""
        rate = float(thresholds.rate(name, self.problem.normalized)[at]) / self.bound
        exact = points_needed(self.limits[name], self.delta, rate)
        return float(exact or super().points_at(thresholds, name, at))

    def test(
        self,
        losses: Losses,
        scores: FloatArray,
        taus: FloatArray | None,
        references: FloatArray,
        clusters: Clusters | None = None,
    ) -> Tested:
        """Test thresholds by the sums of their losses; the order of the points does not matter."""
        assert clusters is None  # its test per accepted point needs independent points
        if taus is None:
            tested = self._up_to_the_floor(Thresholds.of(losses, scores))
        else:
            empty = np.zeros(len(taus), dtype=np.int64)
            tested = Thresholds(taus, empty, {}, 0).at(losses, scores)
        n = tested.accepted if self.problem.normalized else tested.n_points
        each = [
            hoeffding_bentkus(tested.sums[name] / self.bound, n, limit)
            for name, limit in self.limits.items()
        ]
        p_values = np.max(each, axis=0)
        passed = n_passed(p_values, self.delta)
        good = p_values <= self.delta
        if not passed:
            return Tested(-math.inf, None, tested, good)
        return Tested(float(tested.taus[passed - 1]), float(p_values[passed - 1]), tested, good)
