"""A promise about new points: thresholds tested from the smallest up, by betting (``wagers.py``).

A threshold passes only if its risk and its regret are within budget: the null hypothesis that one
of them is not is rejected if both p-values are at most delta. Thresholds are tested in a fixed
order, each at the full delta, up to the first that fails. A threshold that breaks a budget passes
only if the first such threshold does, which has probability at most delta (Angelopoulos et al.
2021). Over all points every threshold of the real line is tested: an order that no data chose. Per
accepted point, the thresholds to test come from other points (``fit.py``).

Over all points, the loss at a threshold tau is X_t(tau) = loss_t if the point is accepted, else 0.
Per accepted point, "rate <= limit" means E[C (loss - limit)] <= 0, and the wealth of all points,
prod 1 + l_t C_t (limit - loss_t), changes only at accepted ones.

With up to 2,000 test points each threshold has its own bets. With more points, thresholds share
them: the real line is cut at references, scores of points that do not bet, and all thresholds
between two references take the bets of the upper one, which depend on earlier points only. X_t
grows with tau, so the wealth under the same bets falls: if the reference passes, so do all
thresholds before it down to the one before, and if it fails, the last that passes is found by
bisection. References are scores of the points that learned the weights; without any, those of the
first test points, which then do not bet.

With clusters, a cluster bets once, on the mean of its points. Its X_c(tau) = mean of X_i(tau), or
limit + mean of C_i (loss_i - limit) per accepted point, is in [0, 1] as its terms are; clusters are
independent; and E[X_c] is the expectation for a random point of a random cluster. So the wealth is
a supermartingale under the null hypothesis for such a point. X_c grows with tau over all points.
Means vary less than losses of 0 or 1, so the variance before the first cluster is not 1/4 but
limit (1 - limit), the largest that a mean at the limit allows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.deploy.candidates import Losses, Thresholds
from rue.deploy.wagers import fewest_points, profile
from rue.selectors.selector import Problem

# With more test points than this, thresholds share bets; in clusters, with five times as many.
_OWN_BETS = 2_000

# At most so many references, or thresholds per accepted point.
_MOST = 500

# The share of the test points whose scores are the references, if no others are.
_SHARE = 20

_NO_BETS = np.empty(0)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which cluster each test point is in, as its place in the random order of the clusters."""

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
        """Return thresholds whose rates are those of a random point of a random cluster."""
        share = 1.0 / self.sizes[self.codes]
        columns = {name: column * share for name, column in losses.items()}
        ranked = thresholds.at({**columns, "accepted": share}, scores)
        shares: Any = ranked.sums.pop("accepted")  # no whole numbers, unlike those of points
        return replace(ranked, accepted=shares, n_points=self.n_clusters)


@dataclass(frozen=True, eq=False)
class Tested:
    """What the test found.

    ``tau`` is the largest threshold that passed with all before it, -inf if none did, and
    ``p_value`` is its p-value, None if none passed; ``thresholds`` are those on the test points.
    """

    tau: float
    p_value: float | None
    thresholds: Thresholds


@dataclass(frozen=True, eq=False)
class _Budget:
    """Losses of the test points in units of the largest loss, in their order, and the limit."""

    losses: FloatArray
    limit: float
    per_accepted: bool
    clusters: Clusters | None

    def bettors(self, ranks: IntArray, at: int) -> tuple[FloatArray, IntArray, int, bool]:
        """Return the losses, ranks, rank and option of kernels, where ranks up to ``at`` accept."""
        if self.clusters is None:
            return self.losses, ranks, at, self.per_accepted
        zero = self.limit if self.per_accepted else 0.0  # what a rejected point has
        means = self.clusters.means(np.where(ranks <= at, self.losses - zero, 0.0)) + zero
        return means, np.zeros(len(means), np.int64), 0, False


@dataclass(frozen=True)
class Promise:
    """Budgets that are to hold on new points with probability 1 - delta, for losses to a bound."""

    problem: Problem
    delta: float
    bound: float

    @property
    def limits(self) -> dict[str, float]:
        """The budgets in units of the largest loss."""
        return {name: limit / self.bound for name, limit in self.problem.budgets.items()}

    @cached_property
    def least(self) -> dict[str, int]:
        """By budget, how many test points pass if none has a loss; 0 if no number does."""
        return {name: fewest_points(limit, self.delta) or 0 for name, limit in self.limits.items()}

    def expected_p_values(self, thresholds: Thresholds, n_tested: int) -> FloatArray:
        """Return about which p-values ``n_tested`` points would have, were they like these."""
        from scipy.special import ndtr

        share = thresholds.accepted / thresholds.n_points if self.problem.normalized else 1.0
        worst = np.zeros(thresholds.sums["risk"].shape)
        for name, limit in self.limits.items():
            rate, variance = self._moments(thresholds, name)
            per_point = 1 / n_tested + 1 / thresholds.n_points
            p = ndtr((rate - limit) / np.sqrt(variance * per_point / np.maximum(share, 1e-12)))
            enough = share * n_tested >= (self.least[name] or (math.inf if limit <= 0 else 0))
            worst = np.maximum(worst, np.where(enough, p if limit < 1 else 0.0, 1.0))
        return np.asarray(worst)

    def points_for(self, thresholds: Thresholds, name: str) -> FloatArray:
        """Return about how many points with these rates would pass; infinity if no number does."""
        from scipy.special import ndtri

        limit = self.limits[name]
        rate, variance = self._moments(thresholds, name)
        if limit >= 1:
            return np.zeros(rate.shape)
        room = np.maximum(limit - rate, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_error = variance * (ndtri(min(self.delta, 0.5)) / room) ** 2
            by_bets = -math.log1p(-limit) / np.log1p(room / (1 - limit))
            n = by_error + self.least[name] * by_bets
        return np.asarray(np.where(room > 0, n, np.inf))

    def test(
        self,
        losses: Losses,
        scores: FloatArray,
        taus: FloatArray | None,
        references: FloatArray,
        clusters: Clusters | None = None,
    ) -> Tested:
        """Test thresholds on points or clusters in random order."""
        from rue._kernels.sorting import argsort

        per = self.problem.normalized
        budgets = [
            _Budget(np.ascontiguousarray(losses[name] / self.bound), limit, per, clusters)
            for name, limit in self.limits.items()
            if limit < 1  # no loss is larger
        ]
        most = _OWN_BETS if clusters is None else 5 * _OWN_BETS
        if taus is None:
            every = Thresholds.of(losses, scores)
            tried = every[: floor_at(every, self.problem) + 1]
        else:
            taus = taus[_spread(len(taus), _MOST)]
            empty = np.zeros(len(taus), dtype=np.int64)
            tried = Thresholds(taus, empty, {}, 0).at(losses, scores)
        # Sorted scores are found several times faster than scores in any order.
        order, ranks = argsort(scores), np.empty(len(scores), np.int64)
        ranks[order] = np.searchsorted(tried.taus, scores[order], side="left")
        if taus is None and len(scores) > most:
            tested = self._shared_bets(tried, ranks, scores, references, budgets, clusters)
        else:
            tested = self._own_bets(tried, ranks, budgets)
            if taus is not None and tested.p_value is None:  # another may need fewer points
                tested = replace(tested, thresholds=Thresholds.of(losses, scores))
        if clusters is None:
            return tested
        return replace(tested, thresholds=clusters.weighted(tested.thresholds, losses, scores))

    def needed_points(
        self, tested: Tested, n_points: int, n_learners: Callable[[int], int], unit: str
    ) -> tuple[int | None, str]:
        """Return how many calibration points are needed, None if no number suffices, and a note."""
        problem, ranked, least = self.problem, tested.thresholds, self.least
        per = " per accepted point" if problem.normalized else ""
        too_few = f"Nothing is accepted: {n_points:,} calibration {unit} are too few to promise "
        for name, limit in problem.budgets.items():
            if limit == 0:
                return None, f"Nothing is accepted: no number of {unit} shows that {name} is 0."
        hardest = max(least, key=lambda name: least[name])
        if ranked.n_points < least[hardest]:
            n = _in_all(least[hardest], n_learners)
            return n, (
                f"{too_few}{hardest} <= {problem.budgets[hardest]:g}{per}; at least {n:,} are "
                "needed, even if accepted points had no loss at all."
            )
        share = ranked.accepted / ranked.n_points if problem.normalized else np.ones(len(ranked))
        with np.errstate(divide="ignore"):  # where none is accepted no number suffices
            needs = {name: self.points_for(ranked, name) / share for name in problem.budgets}
        total = np.max(list(needs.values()), axis=0)
        enough = np.isfinite(total).any()
        rates = {name: ranked.rate(name, problem.normalized) for name in needs}
        ratios = {name: rates[name] / problem.budgets[name] for name in needs}
        at = int(np.argmin(total if enough else np.max(list(ratios.values()), axis=0)))
        worst = max(needs, key=lambda name: (needs if enough else ratios)[name][at])
        rate, limit = rates[worst][at], problem.budgets[worst]
        if not enough:
            return None, (
                f"Nothing is accepted: even at the best threshold the {worst} is {rate:.4g}{per} "
                f"on the test points, and the budget is {limit:g}."
            )
        n = _in_all(math.ceil(needs[worst][at]), n_learners)
        n = max(n, n_points + 1)  # an approximation may suggest that there were enough
        return n, (
            f"{too_few}{worst} <= {limit:g}{per}; about {n:,} are needed "
            f"at the {worst} of {rate:.4g}{per} that the test points have."
        )

    def _own_bets(self, tried: Thresholds, ranks: IntArray, budgets: list[_Budget]) -> Tested:
        """Test each threshold with bets of its own."""
        tau, p_value = -math.inf, None
        for at in range(0 if self.problem.normalized else -1, len(tried)):
            p = max(self._p_values(budgets, ranks, at))
            if p > self.delta:
                break
            if at >= 0:  # before the first score nothing is accepted, but it must pass, too
                tau, p_value = float(tried.taus[at]), p
        return Tested(tau, p_value, tried)

    def _shared_bets(
        self,
        tried: Thresholds,
        ranks: IntArray,
        scores: FloatArray,
        references: FloatArray,
        budgets: list[_Budget],
        clusters: Clusters | None,
    ) -> Tested:
        """Test each reference; where one fails, find the last threshold before it that passes."""
        n_bettors = len(scores) if clusters is None else clusters.n_clusters
        first = 0
        if not len(references):
            first = min(n_bettors // _SHARE, _MOST)
            references = scores[:first] if clusters is None else scores[clusters.codes < first]
        references = np.append(np.sort(references)[_spread(len(references), _MOST)], math.inf)
        # The largest threshold that accepts no point above the reference; -1 accepts none.
        top = np.sort(scores)[tried.accepted - 1]
        places = np.searchsorted(top, references, side="right") - 1
        last_of = np.append(places[1:] != places[:-1], True)  # the same points, the same bets
        tau, p_value, before = -math.inf, None, -1
        bets = np.zeros((len(budgets), n_bettors))
        for at, upper in zip(places[last_of], references[last_of], strict=True):
            p_values = self._p_values(budgets, ranks, int(at), first, bets)
            if max(p_values) <= self.delta:
                before = int(at)
                if before >= 0:
                    tau, p_value = float(min(upper, tried.taus[at])), max(p_values)
                continue
            failed = [i for i, p in enumerate(p_values) if p > self.delta]
            low, high = before - 1, int(at)  # bisect: low passes, or is one too low; high fails
            while high - low > 1:
                middle = (low + high) // 2
                p = max(self._p_of_bets(budgets[i], ranks, middle, bets[i]) for i in failed)
                low, high = (middle, high) if p <= self.delta else (low, middle)
                if p <= self.delta:
                    p_values = [p if i in failed else other for i, other in enumerate(p_values)]
            if low >= max(before, 0):
                tau, p_value = float(tried.taus[low]), max(p_values)
            break
        return Tested(tau, p_value, tried)

    def _p_values(
        self,
        budgets: list[_Budget],
        ranks: IntArray,
        at: int,
        first: int = 0,
        bets: FloatArray | None = None,
    ) -> list[float]:
        """Return the p-value of each budget where points of rank ``at`` or less are accepted."""
        from rue._kernels.wealth import wealth

        p_values = []
        for i, budget in enumerate(budgets):
            limit, most = budget.limit, 1.0
            if limit > 0:  # a budget of 0 cannot be shown
                losses, of, last, per = budget.bettors(ranks, at)
                prior = 0.5 if budget.clusters is None else min(limit, 0.5)
                made, goal = _NO_BETS if bets is None else bets[i], 1.0 / self.delta
                most = wealth(
                    losses, of, last, limit, self.delta, first, per, goal, profile(), made, prior
                )
            p_values.append(1.0 / float(most))
        return p_values or [0.0]

    def _p_of_bets(self, budget: _Budget, ranks: IntArray, at: int, bets: FloatArray) -> float:
        from rue._kernels.wealth import wealth_of_bets

        losses, of, last, _ = budget.bettors(ranks, at)
        return 1.0 / float(wealth_of_bets(losses, of, last, budget.limit, bets))

    def _moments(self, thresholds: Thresholds, name: str) -> tuple[FloatArray, FloatArray]:
        """Return rate and variance, as the bets estimate it, in units of the largest loss."""
        normalized = self.problem.normalized
        per = thresholds.accepted if normalized else thresholds.n_points
        rate = thresholds.rate(name, normalized) / self.bound
        mean_square = thresholds.rate(f"{name}_squared", normalized) / self.bound**2
        squares = np.maximum(mean_square - rate**2, 0.0) * per
        return rate, (squares + 0.25) / (per + 1.0)


def floor_at(thresholds: Thresholds, problem: Problem) -> int:
    """Return the first threshold that reaches the floor; the last if coverage is maximised."""
    last = len(thresholds) - 1
    if problem.minimize is None:
        return last
    floor = problem.floor * thresholds.n_points - 1e-9
    return min(int(np.searchsorted(thresholds.accepted, floor)), last)


def _in_all(n_tested: int, n_learners: Callable[[int], int]) -> int:
    """Return the least number of points of which ``n_tested`` test."""
    n = n_tested
    while (short := n_tested - (n - n_learners(n))) > 0:
        n += max(1, short // 2)
    while n > n_tested and n - 1 - n_learners(n - 1) >= n_tested:
        n -= 1
    return n


def _spread(n: int, most: int) -> IntArray:
    """Return at most ``most`` indices of ``range(n)``, equally spaced, the last among them."""
    if n <= most:
        return np.arange(n)
    return np.arange(1, most + 1) * n // most - 1
