"""fit_selector: from calibration points with answers to a rule that needs only the model.

With delta, learn then test (Angelopoulos et al. 2021): some of the points choose the weights; the
others test thresholds from the smallest up. That a threshold breaks its risk or its regret budget
is rejected where both p-values are at most delta.

- The regret is the plug-in, which errs on the safe side: the risk of an action is linear in p*,
  the Bayes risk concave, so that few answers a point make the regret larger on average.
- Not divided, risk and regret grow with the threshold, and so do the p-values. All thresholds on
  the line are tested, an order that no data chose; p-values change only at the scores of points
  tested. Fixed weights then need no points to learn from.
- Per accepted point, "risk <= budget" says E[C (loss - budget)] <= 0. Given which points are
  accepted, their losses are independent and have the mean E[loss | accepted], so the test is that
  of a mean over them. By the convexity of the divergence its exponent is never smaller than that
  of a test on C (loss - budget) over all points. Few points accepted show nothing about the rate
  among them, so the points that learn choose where to begin, and the thresholds from there up.
"""

import math

import numpy as np

from rue._arrays import FloatArray, IntArray, as_vector
from rue.components import Components
from rue.deploy.candidates import (
    TOTAL,
    Problem,
    Ranking,
    Weights,
    best_cut,
    directions,
    score,
    would_pass,
)
from rue.deploy.kind import Kind
from rue.deploy.p_values import hoeffding_bentkus, n_passed, points_needed
from rue.deploy.rule import Rule, attained
from rue.deploy.sample_size import needed_points
from rue.errors import InputError, ShapeError
from rue.selectors.optimal import check_problem

__all__ = ["fit_selector"]

N_FOLDS = 5


def fit_selector(
    star_cal: Components,
    hat_cal: Components,
    *,
    maximize: str | None = None,
    minimize: str | None = None,
    coverage_min: float | None = None,
    risk_max: float | None = None,
    regret_max: float | None = None,
    normalized: bool = False,
    delta: float | None = None,
    bound: float | None = None,
    weights: Weights | None = None,
    learn_share: float = 0.25,
    seed: int = 0,
    kind: Kind | None = None,
) -> Rule:
    """Learn a rule, accept iff w1 aleatoric + w2 epistemic <= tau, that one may deploy.

    Parameters
    ----------
    star_cal, hat_cal
        Realised and estimated components of calibration points: independent draws, with
        people's answers, on which the model was not trained.
    maximize, minimize, coverage_min, risk_max, regret_max, normalized
        One of Theorem 1's problems, as :func:`rue.optimal_selector` takes it. A coverage floor is
        aimed at and never promised; where it is missed a note says so.
    delta
        Promise: with probability at least 1 - delta over the draw of the calibration points, all
        budgets given hold on new points. If no threshold passes, the rule accepts nothing, and
        its notes say how many points would be needed. Without delta the rule is the best for the
        calibration points, and about half of such rules break their budgets on new ones.
    bound
        The largest loss there can be (:meth:`rue.losses.Loss.bound`); needed for a promise.
    weights
        Fixed weights of the aleatoric and the epistemic component; None learns them.
    learn_share
        With delta, the share of the points that choose the weights; the others test. Fixed
        weights need none, unless ``normalized``. Where the others would be fewer than twice what
        the budgets take at the least, all points test, and the weights are those of the total.
    seed
        Of the split. To try several and keep the best breaks the promise.
    kind
        What the rule is made for; kept in it.

    Examples
    --------
    >>> import numpy as np
    >>> from rue import Components
    >>> doubt = np.linspace(0, 1, 400)
    >>> zero = np.zeros(400)
    >>> star = Components(total=doubt**3, aleatoric=zero, epistemic=doubt**3)
    >>> hat = Components(total=doubt, aleatoric=zero, epistemic=doubt)
    >>> rule = fit_selector(star, hat, maximize="coverage", risk_max=0.1, delta=0.1, bound=1)
    >>> print(rule)
    Accept where epistemic uncertainty is at most 0.712.
    Promised for new points: risk <= 0.1, with probability 0.9 over the calibration draw.
    """
    check_problem(star_cal, maximize, minimize, coverage_min, risk_max, regret_max)
    problem = Problem(minimize, coverage_min, risk_max, regret_max, normalized)
    _check(star_cal, hat_cal, problem, delta, bound, learn_share, seed)
    candidates = None if weights is None else [_as_weights(weights)]
    if delta is None:
        return _empirical(star_cal, hat_cal, problem, candidates, seed, kind or Kind())
    assert bound is not None
    return _promised(
        star_cal, hat_cal, problem, candidates, delta, bound, learn_share, seed, kind or Kind()
    )


def _empirical(
    star: Components,
    hat: Components,
    problem: Problem,
    candidates: list[Weights] | None,
    seed: int,
    kind: Kind,
) -> Rule:
    def cut(rows: IntArray) -> tuple[Weights, float]:
        return best_cut(star[rows], hat[rows], problem, candidates or directions(hat[rows]))

    order = np.random.default_rng(seed).permutation(len(star))
    weights, tau = cut(np.sort(order))
    accepted = np.zeros(len(star), dtype=bool)
    for held_out in np.array_split(order, min(N_FOLDS, len(star))):
        w, t = cut(np.setdiff1d(order, held_out))
        accepted[held_out] = score(hat[held_out], w) <= t
    if tau == -math.inf:
        notes = ["No threshold keeps the budgets on the calibration points: nothing is accepted."]
    else:
        notes = _floor_missed(problem, float(np.mean(score(hat, weights) <= tau)))
    return Rule(
        weights,
        tau,
        problem,
        attained(star, accepted, normalized=problem.normalized),
        n_points=len(star),
        n_learned=len(star),
        seed=seed,
        kind=kind,
        notes=tuple(notes),
    )


def _promised(
    star: Components,
    hat: Components,
    problem: Problem,
    candidates: list[Weights] | None,
    delta: float,
    bound: float,
    learn_share: float,
    seed: int,
    kind: Kind,
) -> Rule:
    least = max(points_needed(limit / bound, delta) or 0 for limit in problem.budgets.values())
    fixed = candidates is not None

    def n_learners(n_points: int) -> int:
        """How many choose the weights: none where too few would test; no answer chose this."""
        too_few = (1 - learn_share) * n_points < 2 * least
        if not problem.normalized and (fixed or too_few):
            return 0
        return min(max(1, round(learn_share * n_points)), n_points - 1)

    n_learned = n_learners(len(star))
    order = np.random.default_rng(seed).permutation(len(star))
    learn, test = order[:n_learned], order[n_learned:]
    if n_learned:
        weights, ranking = _sequence(
            star[learn], hat[learn], problem, candidates, len(test), delta, bound
        )
    else:
        weights = TOTAL if candidates is None else candidates[0]
    if problem.normalized:
        tested = ranking.at(star[test], hat[test], weights)
    else:  # every threshold there is: p-values change only at scores of points tested
        tested = Ranking.of(star[test], hat[test], weights)
        tested = tested[: _floor_at(tested, problem) + 1]
    p_values = _p_values(tested, problem, bound)
    passed = n_passed(p_values, delta)
    tau = float(tested.taus[passed - 1]) if passed else -math.inf
    accepted = score(hat[test], weights) <= tau
    estimate = attained(star[test], accepted, normalized=problem.normalized)
    needed: int | None = None
    if passed:
        notes = _floor_missed(problem, estimate.coverage)
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
) -> tuple[Weights, Ranking]:
    """Choose the weights, and the thresholds to test from the smallest up.

    The weights are those that would get furthest, were the points tested like these, if they get
    further than the total by two standard errors; else those of the total. The first threshold
    is the one that is surest to pass.
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
    ranking = Ranking.of(star, hat, weights)
    last = max(_floor_at(ranking, problem), int(np.searchsorted(ranking.taus, tau)))
    ranking = ranking[: last + 1]
    n = np.rint(ranking.accepted / ranking.n_points * n_tested)
    sums = {name: ranking.rate(name, True) * n for name in ranking.sums}
    expected = Ranking(ranking.taus, n.astype(np.int64), sums, n_tested)
    return weights, ranking[int(np.argmin(_p_values(expected, problem, bound))) :]


def _clearly_better(
    star: Components,
    hat: Components,
    problem: Problem,
    one: tuple[Weights, float],
    other: tuple[Weights, float],
) -> bool:
    """Whether one rule accepts more, or loses less, than another by two standard errors."""
    first, second = (score(hat, weights) <= tau for weights, tau in (one, other))
    gain = first.astype(np.float64) - second
    floor = problem.coverage_min or 0.0
    if problem.minimize is not None and min(first.mean(), second.mean()) >= floor - 1e-12:
        gain *= -(star.total if problem.minimize == "risk" else star.epistemic)
    return bool(gain.mean() > 2 * gain.std() / math.sqrt(len(gain)))


def _floor_at(ranking: Ranking, problem: Problem) -> int:
    """The first threshold that reaches the coverage to be had; the last if it is maximised."""
    last = len(ranking.taus) - 1
    if problem.minimize is None:
        return last
    floor = (problem.coverage_min or 0.0) * ranking.n_points - 1e-9
    return min(int(np.searchsorted(ranking.accepted, floor)), last)


def _p_values(ranking: Ranking, problem: Problem, bound: float) -> FloatArray:
    """Of "risk or regret is above its budget" at each threshold: the larger of both."""
    n = ranking.accepted if problem.normalized else ranking.n_points
    each = [
        hoeffding_bentkus(ranking.sums[name] / bound, n, limit / bound)
        for name, limit in problem.budgets.items()
    ]
    return np.asarray(np.max(each, axis=0))


def _floor_missed(problem: Problem, coverage: float) -> list[str]:
    floor = problem.coverage_min
    if floor is None or coverage >= floor - 1e-12:
        return []
    return [f"The coverage floor of {floor:g} is not reached: {coverage:.4g}. None is promised."]


def _as_weights(weights: Weights) -> Weights:
    w = as_vector("weights", weights)
    if len(w) != 2 or not w.any():
        raise InputError(f"weights must be two numbers, not both 0, got {weights}")
    w = w / np.abs(w).sum()
    return float(w[0]), float(w[1])


def _check(
    star: Components,
    hat: Components,
    problem: Problem,
    delta: float | None,
    bound: float | None,
    learn_share: float,
    seed: int,
) -> None:
    if not isinstance(hat, Components):
        raise InputError(f"hat_cal must be Components, got {type(hat).__name__}")
    if len(hat) != len(star):
        raise ShapeError(f"hat_cal must have {len(star)} points as star_cal has, got {len(hat)}")
    if len(star) < 2:
        raise InputError(f"there must be at least 2 calibration points, got {len(star)}")
    if not 0 < learn_share < 1:
        raise InputError(f"learn_share must be between 0 and 1, got {learn_share}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}")
    if delta is None:
        if bound is not None:
            raise InputError("bound is of use with delta only")
        return
    if not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {delta}")
    if not problem.budgets:
        raise InputError("delta needs a budget to promise: risk_max or regret_max")
    if bound is None or not 0 < bound < math.inf:
        raise InputError(
            "a promise needs a bound on the loss, finite and above 0 (of log loss: -log of a "
            f"floor on probabilities), got {bound}"
        )
    if star.total.max() > bound * (1 + 1e-9):
        row = int(np.argmax(star.total > bound * (1 + 1e-9)))
        raise InputError(
            f"star_cal.total must be at most the bound, {bound:g}, "
            f"got {star.total[row]:g} at row {row}"
        )
