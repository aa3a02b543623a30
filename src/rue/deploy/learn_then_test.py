"""Learn then test: a rule whose risk and regret budgets are promised for new points.

Some of the calibration points choose the weights; the others test thresholds from the smallest up
(``promises.py``).

- The regret is the plug-in estimate, which errs on the safe side: the risk of an action is linear
  in p* and the Bayes risk concave, so a few answers per point overestimate the regret on average.
- Over all points every threshold is tested, so fixed weights need no points to learn from.
- Per accepted point, a few accepted points show nothing about the rate among them, so the points
  that learn also choose the first threshold to test, and the sequence from there up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.deploy.attained import attained
from rue.deploy.best_cut import best_cut
from rue.deploy.betting_promise import Betting
from rue.deploy.candidates import TOTAL, Thresholds, Weights, directions, losses_of, weighted_score
from rue.deploy.kind import Kind
from rue.deploy.promises import Clusters, HoeffdingBentkus, Promise, PromiseName, floor_at
from rue.deploy.rule import Rule, missed_floor
from rue.deploy.sample_size import needed_points
from rue.inference.clusters import cluster_means
from rue.selectors.problem import Problem

__all__ = ["PROMISES", "fit_promised"]

PROMISES: dict[PromiseName, type[Promise]] = {
    "betting": Betting,
    "hoeffding_bentkus": HoeffdingBentkus,
}


def fit_promised(
    star: Components,
    hat: Components,
    problem: Problem,
    *,
    candidates: list[Weights] | None,
    delta: float,
    bound: float,
    promise: PromiseName,
    learn_share: float,
    seed: int,
    kind: Kind,
    codes: IntArray | None = None,
) -> Rule:
    """Return a rule whose budgets hold on new points with probability at least 1 - delta.

    ``codes`` are the numbers of the points' clusters, from 0. Then clusters learn or test, and all
    numbers of points in the rule are of clusters.
    """
    promised = PROMISES[promise](problem, delta, bound)
    least = max(promised.fewest_points(limit) or 0 for limit in promised.limits.values())
    fixed = candidates is not None

    def n_learners(n_points: int) -> int:
        """How many choose the weights: none where too few would test. No answer decides this."""
        too_few = (1 - learn_share) * n_points < promised.spare * least
        if not problem.normalized and (fixed or too_few):
            return 0
        return min(max(1, round(learn_share * n_points)), n_points - 1)

    n_points = len(star) if codes is None else int(codes.max()) + 1
    n_learned = n_learners(n_points)
    n_tested = n_points - n_learned
    order = np.random.default_rng(seed).permutation(n_points)
    learn, test = order[:n_learned], order[n_learned:]
    clusters = None
    if codes is not None:
        place = np.argsort(order)[codes]  # of each point's cluster in the order
        learn, test = np.flatnonzero(place < n_learned), np.flatnonzero(place >= n_learned)
        clusters = Clusters(place[test] - n_learned, n_tested)
    weights = TOTAL if candidates is None else candidates[0]
    taus: FloatArray | None = None
    references = np.empty(0)
    if n_learned:
        own = None if codes is None else codes[learn]
        weights, sequence = _learned(star[learn], hat[learn], promised, candidates, n_tested, own)
        taus = sequence if problem.normalized else None
        references = weighted_score(hat[learn], weights)
    scores = weighted_score(hat[test], weights)
    tested = promised.test(
        losses_of(star[test], squares=promised.squares), scores, taus, references, clusters
    )
    estimate = attained(
        star[test],
        scores <= tested.tau,
        normalized=problem.normalized,
        cluster=None if clusters is None else clusters.codes,
    )
    needed: int | None = None
    if tested.p_value is not None:
        notes = missed_floor(problem, estimate.coverage)
    else:
        unit = "points" if codes is None else "clusters"
        needed, note = needed_points(tested, promised, n_points, n_learners, unit=unit)
        notes = [note]
    return Rule(
        weights,
        tested.tau,
        problem,
        estimate,
        n_points=n_points,
        n_learned=n_learned,
        n_tested=n_tested,
        seed=seed,
        delta=delta,
        test=promise,
        bound=bound,
        p_value=tested.p_value,
        n_needed=needed,
        kind=kind,
        notes=tuple(notes),
    )


def _learned(
    star: Components,
    hat: Components,
    promise: Promise,
    candidates: list[Weights] | None,
    n_tested: int,
    codes: IntArray | None,
) -> tuple[Weights, FloatArray]:
    """Choose the weights, and the thresholds to test per accepted point, from the smallest up.

    The weights are those that would get furthest if the test points were like these, provided they
    clearly beat the total; otherwise those of the total. The first threshold is the one most likely
    to pass.
    """
    problem, losses = promise.problem, losses_of(star, squares=promise.squares)
    candidates = candidates or directions(hat)

    def fits(thresholds: Thresholds, _: Problem) -> NDArray[np.bool_]:
        return np.asarray(promise.expected_p_values(thresholds, n_tested) <= promise.delta)

    weights, tau = best_cut(losses, hat, problem, candidates, fits)
    if tau == -math.inf:
        weights, tau = best_cut(losses, hat, problem, candidates[:1])
    elif weights != candidates[0]:
        plain = best_cut(losses, hat, problem, candidates[:1], fits)
        if not _clearly_better(star, hat, promise, (weights, tau), plain, codes):
            weights, tau = plain
    if not problem.normalized:
        return weights, np.empty(0)
    ranked = Thresholds.of(losses, weighted_score(hat, weights))
    last = max(floor_at(ranked, problem), int(np.searchsorted(ranked.taus, tau)))
    ranked = ranked[: last + 1]
    start = int(np.argmin(promise.expected_p_values(ranked, n_tested)))
    return weights, ranked.taus[start:]


def _clearly_better(
    star: Components,
    hat: Components,
    promise: Promise,
    one: tuple[Weights, float],
    other: tuple[Weights, float],
    codes: IntArray | None,
) -> bool:
    """Whether one rule accepts more, or loses less, than another by a margin of standard errors."""
    problem = promise.problem
    first, second = (weighted_score(hat, weights) <= tau for weights, tau in (one, other))
    gain = first.astype(np.float64) - second
    reach = min(first.mean(), second.mean())
    if problem.minimize is not None and reach >= problem.floor - 1e-12:
        gain *= -(star.total if problem.minimize == "risk" else star.epistemic)
    gain = cluster_means(gain, codes)
    return bool(gain.mean() > promise.margin * gain.std() / math.sqrt(len(gain)))
