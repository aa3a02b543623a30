"""A promise by betting p-values (``betting.py``), over many thresholds at once.

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
a supermartingale under the null hypothesis for such a point, and p = 1 / max W is a p-value, as
with one random point of each cluster, but X_c varies less. It grows with tau over all points.
Means vary less than losses of 0 or 1, so the variance before the first cluster is not 1/4 but
limit (1 - limit), the largest that a mean at the limit allows.
"""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.deploy.betting import fewest_points, profile
from rue.deploy.candidates import Losses, Thresholds
from rue.deploy.promises import Clusters, Promise, Tested

__all__ = ["Betting"]

# With more test points than this, thresholds share bets; in clusters, with five times as many.
_OWN_BETS = 2_000

# At most so many references, or thresholds per accepted point.
_MOST = 500

# The share of the test points whose scores are the references, if no others are.
_SHARE = 20

_NO_BETS = np.empty(0)


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


@final
class Betting(Promise):
    """A promise by betting p-values, which adapt to the variance of the losses."""

    squares = True
    margin = 3.0  # the best of 123 directions looks better than it is
    spare = 4

    def fewest_points(self, limit: float) -> int | None:
        """Return the least number of test points that pass if none has a loss."""
        return fewest_points(limit, self.delta)

    def expected_p_values(self, thresholds: Thresholds, n_tested: int) -> FloatArray:
        """Return 1 - Phi(z), with z the standard errors between the rate and the limit.

        The error is that of the test, and of the rate here, which is not that of the test points.
        """
        from scipy.special import ndtr

        share = thresholds.accepted / thresholds.n_points if self.problem.normalized else 1.0
        worst = np.zeros(thresholds.sums["risk"].shape)
        for name, limit in self.limits.items():
            rate, variance = self._moments(thresholds, name)
            per_point = 1 / n_tested + 1 / thresholds.n_points
            p = ndtr((rate - limit) / np.sqrt(variance * per_point / np.maximum(share, 1e-12)))
            least = self.fewest_points(limit) or (math.inf if limit <= 0 else 0)
            enough = share * n_tested >= least
            worst = np.maximum(worst, np.where(enough, p if limit < 1 else 0.0, 1.0))
        return np.asarray(worst)

    def points_for(self, thresholds: Thresholds, name: str) -> FloatArray:
        """Return about how many points with these rates would pass; infinity if no number does.

        The limit must be z standard errors above the rate, 1 - Phi(z) = delta; and the largest bets
        that are possible must win enough even if all losses equal the rate.
        """
        from scipy.special import ndtri

        limit = self.limits[name]
        rate, variance = self._moments(thresholds, name)
        if limit >= 1:
            return np.zeros(rate.shape)
        room = np.maximum(limit - rate, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_error = variance * (ndtri(min(self.delta, 0.5)) / room) ** 2
            by_bets = -math.log1p(-limit) / np.log1p(room / (1 - limit))
            n = by_error + (self.fewest_points(limit) or 0) * by_bets
        return np.asarray(np.where(room > 0, n, np.inf))

    def test(
        self,
        losses: Losses,
        scores: FloatArray,
        taus: FloatArray | None,
        references: FloatArray,
        clusters: Clusters | None = None,
    ) -> Tested:
        """Test thresholds by the wealth of bets on points or clusters in the order given."""
        per = self.problem.normalized
        budgets = [
            _Budget(np.ascontiguousarray(losses[name] / self.bound), limit, per, clusters)
            for name, limit in self.limits.items()
            if limit < 1  # no loss is larger
        ]
        found = self._tested(losses, scores, taus, references, budgets, clusters)
        if clusters is None:
            return found
        return replace(found, thresholds=clusters.weighted(found.thresholds, losses, scores))

    def _tested(
        self,
        losses: Losses,
        scores: FloatArray,
        taus: FloatArray | None,
        references: FloatArray,
        budgets: list[_Budget],
        clusters: Clusters | None,
    ) -> Tested:
        if taus is not None:
            taus = taus[_spread(len(taus), _MOST)]
            empty = np.zeros(len(taus), dtype=np.int64)
            tested = Thresholds(taus, empty, {}, 0).at(losses, scores)
        else:
            tested = self._up_to_the_floor(Thresholds.of(losses, scores))
        ranks = np.searchsorted(tested.taus, scores, side="left")
        most = _OWN_BETS if clusters is None else 5 * _OWN_BETS
        if taus is None and len(scores) > most:
            return self._shared_bets(tested, ranks, scores, references, budgets, clusters)
        found = self._own_bets(tested, ranks, budgets)
        if taus is not None and found.p_value is None:  # another threshold may need fewer points
            every = Thresholds.of(losses, scores)
            found = replace(found, thresholds=every, passing=np.zeros(len(every), dtype=bool))
        return found

    def _own_bets(self, tested: Thresholds, ranks: IntArray, budgets: list[_Budget]) -> Tested:
        """Test each threshold with bets of its own."""
        tau, p_value = -math.inf, None
        for at in range(0 if self.problem.normalized else -1, len(tested)):
            p = max(self._p_values(budgets, ranks, at))
            if p > self.delta:
                break
            if at >= 0:  # before the first score nothing is accepted, but it must pass, too
                tau, p_value = float(tested.taus[at]), p
        return Tested(tau, p_value, tested, tested.taus <= tau)

    def _shared_bets(
        self,
        tested: Thresholds,
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
        top = np.sort(scores)[tested.accepted - 1]
        places = np.searchsorted(top, references, side="right") - 1
        last_of = np.append(places[1:] != places[:-1], True)  # the same points, the same bets
        tau, p_value, before = -math.inf, None, -1
        bets = np.zeros((len(budgets), n_bettors))
        for at, upper in zip(places[last_of], references[last_of], strict=True):
            found = self._p_values(budgets, ranks, int(at), first, bets)
            if max(found) <= self.delta:
                before = int(at)
                if before >= 0:
                    tau, p_value = float(min(upper, tested.taus[at])), max(found)
                continue
            failed = [i for i, p in enumerate(found) if p > self.delta]
            low, high = before - 1, int(at)  # bisect: low passes, or is one too low; high fails
            while high - low > 1:
                middle = (low + high) // 2
                p = max(self._p_of_bets(budgets[i], ranks, middle, bets[i]) for i in failed)
                low, high = (middle, high) if p <= self.delta else (low, middle)
                if p <= self.delta:
                    found = [p if i in failed else f for i, f in enumerate(found)]
            if low >= max(before, 0):
                tau, p_value = float(tested.taus[low]), max(found)
            break
        return Tested(tau, p_value, tested, tested.taus <= tau)

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

        found = []
        for i, budget in enumerate(budgets):
            made = _NO_BETS if bets is None else bets[i]
            limit, most = budget.limit, 1.0
            if limit > 0:  # a budget of 0 cannot be shown
                losses, of, last, per = budget.bettors(ranks, at)
                goal = 1.0 / self.delta
                prior = 0.5 if budget.clusters is None else min(limit, 0.5)
                most = wealth(
                    losses, of, last, limit, self.delta, first, per, goal, profile(), made, prior
                )
            found.append(1.0 / float(most))
        return found or [0.0]

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


def _spread(n: int, most: int) -> IntArray:
    """Return at most ``most`` indices of ``range(n)``, equally spaced, the last among them."""
    if n <= most:
        return np.arange(n)
    return np.arange(1, most + 1) * n // most - 1
