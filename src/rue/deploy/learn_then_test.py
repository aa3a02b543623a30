"""Learn then test: a rule whose risk and regret budgets are promised for new points.

Some of the calibration points choose the weights; the others test thresholds from the smallest up
(Angelopoulos et al. 2021). A threshold passes if both p-values of "this threshold breaks its risk
budget" and "... its regret budget" are at most delta, and testing stops at the first that fails.

- The regret is the plug-in estimate, which errs on the safe side: the risk of an action is linear
  in p* and the Bayes risk concave, so a few answers per point overestimate the regret on average.
- Over all points, risk and regret grow with the threshold, so the p-values do, too. All thresholds
  of the real line are tested, an order that no data chose; p-values change only at the scores of
  the test points. Fixed weights then need no points to learn from.
- Per accepted point, "risk <= budget" means E[C (loss - budget)] <= 0. Given which points are
  accepted, their losses are independent and have the mean E[loss | accepted], so the test is that
  of a mean over them. By the convexity of the divergence its exponent is never smaller than that
  of a test on C (loss - budget) over all points. A few accepted points show nothing about the rate
  among them, so the points that learn choose the first threshold, and the sequence from there up.
"""

import math

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components
from rue.deploy.attained import attained
from rue.deploy.candidates import (
    TOTAL,
    Thresholds,
    Weights,
    best_cut,
    directions,
    weighted_score,
    would_pass,
)
from rue.deploy.kind import Kind
from rue.deploy.p_values import hoeffding_bentkus, n_passed, points_needed
from rue.deploy.rule import Rule, missed_floor
from rue.deploy.sample_size import needed_points
from rue.selectors.problem import Problem

__all__ = ["fit_promised"]


def fit_promised(
    star: Components,
    hat: Components,
    problem: Problem,
    *,
    candidates: list[Weights] | None,
    delta: float,
    bound: float,
    learn_share: float,
    seed: int,
    kind: Kind,
) -> Rule:
    """Return a rule whose budgets hold on new points with probability at least 1 - delta."""
    least = max(points_needed(limit / bound, delta) or 0 for limit in problem.budgets.values())
    fixed = candidates is not None

    def n_learners(n_points: int) -> int:
        """How many choose the weights: none where too few would test. No answer decides this."""
        too_few = (1 - learn_share) * n_points < 2 * least
        if not problem.normalized and (fixed or too_few):
            return 0
        return min(max(1, round(learn_share * n_points)), n_points - 1)

    n_learned = n_learners(len(star))
    order = np.random.default_rng(seed).permutation(len(star))
    learn, test = order[:n_learned], order[n_learned:]
    if n_learned:
        weights, sequence = _sequence(
            star[learn], hat[learn], problem, candidates, len(test), delta, bound
        )
    else:
        weights = TOTAL if candidates is None else candidates[0]
    if problem.normalized:
        tested = sequence.at(star[test], hat[test], weights)
    else:  # every threshold there is: p-values change only at scores of test points
        tested = Thresholds.of(star[test], hat[test], weights)
        tested = tested[: _floor_at(tested, problem) + 1]
    p_values = _p_values(tested, problem, bound)
    passed = n_passed(p_values, delta)
    tau = float(tested.taus[passed - 1]) if passed else -math.inf
    accepted = weighted_score(hat[test], weights) <= tau
    estimate = attained(star[test], accepted, normalized=problem.normalized)
    needed: int | None = None
    if passed:
        notes = missed_floor(problem, estimate.coverage)
    else:
        needed, note = needed_points(
            tested, p_values > delta, problem, delta, bound, len(star), n_learners
        )
        notes = [note]
    return Rule(
        weights,
        tau,
        problem,
        estimate,
        n_points=len(star),
        n_learned=n_learned,
        n_tested=len(test),
        seed=seed,
        delta=delta,
        bound=bound,
        p_value=float(p_values[passed - 1]) if passed else None,
        n_needed=needed,
        kind=kind,
        notes=tuple(notes),
    )


def _sequence(
    star: Components,
    hat: Components,
    problem: Problem,
    candidates: list[Weights] | None,
    n_tested: int,
    delta: float,
    bound: float,
) -> tuple[Weights, Thresholds]:
    """Choose the weights, and the thresholds to test from the smallest up.

    The weights are those that would get furthest if the test points were like these, provided they
    beat the total by two standard errors; otherwise those of the total. The first threshold is the
    one most likely to pass.
    """
    candidates = candidates or directions(hat)
    fits = would_pass(n_tested, delta, bound)
    weights, tau = best_cut(star, hat, problem, candidates, fits)
    if tau == -math.inf:
        weights, tau = best_cut(star, hat, problem, candidates[:1])
    elif weights != candidates[0]:
        plain = best_cut(star, hat, problem, candidates[:1], fits)
        if not _clearly_better(star, hat, problem, (weights, tau), plain):
            weights, tau = plain
    ranked = Thresholds.of(star, hat, weights)
    last = max(_floor_at(ranked, problem), int(np.searchsorted(ranked.taus, tau)))
    ranked = ranked[: last + 1]
    n = np.rint(ranked.accepted / ranked.n_points * n_tested)
    sums = {name: ranked.rate(name, True) * n for name in ranked.sums}
    expected = Thresholds(ranked.taus, n.astype(np.int64), sums, n_tested)
    return weights, ranked[int(np.argmin(_p_values(expected, problem, bound))) :]


def _clearly_better(
    star: Components,
    hat: Components,
    problem: Problem,
    one: tuple[Weights, float],
    other: tuple[Weights, float],
) -> bool:
    """Whether one rule accepts more, or loses less, than another by two standard errors."""
    first, second = (weighted_score(hat, weights) <= tau for weights, tau in (one, other))
    gain = first.astype(np.float64) - second
    reach = min(first.mean(), second.mean())
    if problem.minimize is not None and reach >= problem.floor - 1e-12:
        gain *= -(star.total if problem.minimize == "risk" else star.epistemic)
    return bool(gain.mean() > 2 * gain.std() / math.sqrt(len(gain)))


def _floor_at(thresholds: Thresholds, problem: Problem) -> int:
    """Return the first threshold that reaches the floor; the last if coverage is maximised."""
    last = len(thresholds) - 1
    if problem.minimize is None:
        return last
    floor = problem.floor * thresholds.n_points - 1e-9
    return min(int(np.searchsorted(thresholds.accepted, floor)), last)


def _p_values(thresholds: Thresholds, problem: Problem, bound: float) -> FloatArray:
    """Return the p-value of "risk or regret is above its budget" at each threshold."""
    n = thresholds.accepted if problem.normalized else thresholds.n_points
    each = [
        hoeffding_bentkus(thresholds.sums[name] / bound, n, limit / bound)
        for name, limit in problem.budgets.items()
    ]
    return np.asarray(np.max(each, axis=0))
