"""fit_selector: from calibration points with answers to a rule that needs only the model.

Without delta the rule is the best for the calibration points. With delta its risk and regret
budgets are promised for new points: some of the calibration points choose the weights, and the
others test thresholds from the smallest up (``promise.py``).

- The regret is the plug-in estimate, which errs on the safe side: the risk of an action is linear
  in p* and the Bayes risk concave, so a few answers per point overestimate the regret on average.
- Over all points every threshold is tested, so fixed weights need no points to learn from.
- Per accepted point, a few accepted points show nothing about the rate among them, so the points
  that learn also choose the first threshold to test, and the sequence from there up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray, as_vector, require_whole
from rue.components import Components
from rue.deploy.candidates import Bins, Thresholds, best_cut, directions, losses_of
from rue.deploy.decisions import attained, cluster_means
from rue.deploy.kind import Kind, largest_loss
from rue.deploy.promise import Clusters, Promise, floor_at
from rue.deploy.rule import TOTAL, Rule, Weights, weighted_score
from rue.errors import InputError, ShapeError
from rue.metrics.clusters import label_codes
from rue.selectors.selector import Problem, require_reachable, require_realized

_N_FOLDS = 5

# By how many standard errors learned weights must beat those of the total: the best of 123
# directions looks better than it is.
_MARGIN = 3.0

# Points learn the weights only if this many times the fewest points are left to test.
_SPARE = 4


def fit_selector(
    star_cal: Components,
    hat_cal: Components,
    *,
    maximize: Literal["coverage"] | None = None,
    minimize: Literal["risk", "regret"] | None = None,
    coverage_min: float | None = None,
    risk_max: float | None = None,
    regret_max: float | None = None,
    normalized: bool = False,
    delta: float | None = None,
    bound: float | None = None,
    weights: Weights | None = None,
    learn_share: float = 0.25,
    cluster: ArrayLike | None = None,
    seed: int = 0,
    kind: Kind | None = None,
) -> Rule:
    """Learn a rule to deploy: accept iff w1 aleatoric + w2 epistemic <= tau.

    Parameters
    ----------
    star_cal, hat_cal
        Realised and estimated components of n_points calibration points: independent draws with
        annotators' answers, on which the model was not trained.
    maximize, minimize, coverage_min, risk_max, regret_max, normalized
        One of Theorem 1's problems, as in :func:`rue.optimal_selector`. A coverage floor is aimed
        at but never promised; a note in the rule reports if it is missed.
    delta
        Promise that all given budgets hold on new points, with probability at least 1 - delta over
        the draw of the calibration points, whatever the distribution (:func:`rue.deploy.betting`).
        If no threshold passes, the rule accepts nothing, and its notes say how many points would be
        needed. None promises nothing: the rule is the best for the calibration points, and about
        half of such rules break their budgets on new ones.
    bound
        The largest possible loss (:meth:`rue.losses.Loss.bound`); required with ``delta``.
    weights
        Fixed weights of the aleatoric and the epistemic component; the larger one is scaled to 1.
        None learns them.
    learn_share
        With ``delta``, the share of the points that choose the weights; the others test. Fixed
        weights need none, unless ``normalized``. If less than four times the minimum that the
        budgets require would be left to test, all points test, and the weights are those of the
        total.
    cluster
        With ``delta``, labels of shape (n_points,) of points that belong together, such as the
        images of a patient. Clusters must be independent, their points need not be: the promise
        is for a random point of a new cluster.
    seed
        Seed of the split, and of the points of clusters. Trying several seeds and keeping the
        best rule breaks the promise.
    kind
        What the rule is made for; it is stored in the rule and checked when the rule is applied.

    Returns
    -------
    Rule
        The rule; ``rule.accept(hat)`` returns decisions of shape (n_points,).

    Raises
    ------
    InputError
        If the problem, the components or an option are invalid, or a budget is above the largest
        possible loss, where ``bound`` or ``kind`` tell it.

    Examples
    --------
    >>> import numpy as np
    >>> from rue import Components, fit_selector
    >>> doubt = np.linspace(0, 1, 400)
    >>> zero = np.zeros(400)
    >>> star = Components(total=doubt**3, aleatoric=zero, epistemic=doubt**3)
    >>> hat = Components(total=doubt, aleatoric=zero, epistemic=doubt)
    >>> rule = fit_selector(star, hat, maximize="coverage", risk_max=0.1, delta=0.1, bound=1)
    >>> print(str(rule).partition(". ")[0])
    Accept where epistemic uncertainty is at most 0.760652
    """
    problem = Problem(maximize, minimize, coverage_min, risk_max, regret_max, normalized)
    require_realized(star_cal)
    seed = require_whole("seed", seed)
    kind = kind or Kind()
    if not isinstance(hat_cal, Components):
        raise InputError(f"hat_cal must be Components, got {type(hat_cal).__name__}")
    n_points = len(star_cal)
    if len(hat_cal) != n_points:
        raise ShapeError(f"hat_cal must have {n_points} points as star_cal has, got {len(hat_cal)}")
    if n_points < 2:
        raise InputError(f"there must be at least 2 calibration points, got {n_points}")
    if not 0 < learn_share < 1:
        raise InputError(f"learn_share must be between 0 and 1, got {learn_share}")
    promise = None if delta is None else _promise(problem, delta, bound, star_cal)
    if delta is None and bound is not None:
        raise InputError(f"bound is used only with delta, got bound={bound} without delta")
    largest = max(largest_loss(kind), star_cal.total.max()) if bound is None else bound
    require_reachable(problem, float(largest), kind.loss)
    candidates = None if weights is None else [_as_weights(weights)]
    codes = None if cluster is None else label_codes(cluster, n_points)
    if codes is not None and promise is None:
        raise InputError("cluster is used only with delta")
    if codes is not None and int(codes.max()) + 1 == n_points:  # each has one point
        codes = None
    points = _Points(star_cal, hat_cal, candidates, seed, codes)
    if promise is None:
        return _fit_empirical(points, problem, kind)
    return _fit_promised(points, promise, learn_share, kind)


def _promise(problem: Problem, delta: float, bound: float | None, star: Components) -> Promise:
    """Return the promise; raise unless the losses keep a bound that it can rest on."""
    if not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {delta}")
    if not problem.budgets:
        raise InputError("a promise (delta) needs a budget of risk or regret")
    if bound is None or not 0 < bound < math.inf:
        raise InputError(
            "a promise needs a bound on the loss, finite and positive (for log loss: -log of a "
            f"floor on probabilities), got {bound}"
        )
    if star.total.max() > bound * (1 + 1e-9):
        row = int(np.argmax(star.total > bound * (1 + 1e-9)))
        raise InputError(
            f"star_cal.total must be at most the bound, {bound:g}, "
            f"got {star.total[row]:g} at row {row}"
        )
    return Promise(problem, delta, bound)


@dataclass(frozen=True, eq=False)
class _Points:
    """Calibration points, the weights to choose from if they are given, and the clusters."""

    star: Components
    hat: Components
    candidates: list[Weights] | None
    seed: int
    codes: IntArray | None = None


def _fit_empirical(points: _Points, problem: Problem, kind: Kind) -> Rule:
    """Return the rule that is best for these points; five-fold cross-fitting estimates it."""
    star, hat = points.star, points.hat
    candidates = points.candidates or directions(hat)
    losses, n_folds = losses_of(star), min(_N_FOLDS, len(star))
    fold = np.empty(len(star), dtype=np.int64)
    dealt = np.random.default_rng(points.seed).permutation(len(star))
    fold[dealt] = np.sort(np.arange(len(star)) % n_folds)
    bins = Bins.of_many(losses, hat, candidates, fold, n_folds)
    weights, tau = best_cut(losses, hat, problem, candidates, bins=bins)
    accepted = np.zeros(len(star), dtype=bool)
    for i in range(n_folds):
        others, held_out = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        rest = {name: column[others] for name, column in losses.items()}
        without = None if bins is None else bins.without(i)
        w, t = best_cut(rest, hat[others], problem, candidates, bins=without)
        accepted[held_out] = weighted_score(hat[held_out], w) <= t
    if tau == -math.inf:
        notes = ["No threshold keeps the budgets on the calibration points: nothing is accepted."]
    else:
        notes = _missed_floor(problem, float(np.mean(weighted_score(hat, weights) <= tau)))
    return Rule(
        weights,
        tau,
        problem,
        attained(star, accepted, normalized=problem.normalized),
        n_points=len(star),
        n_learned=len(star),
        seed=points.seed,
        kind=kind,
        notes=tuple(notes),
    )


def _fit_promised(points: _Points, promise: Promise, learn_share: float, kind: Kind) -> Rule:
    """Return a rule with promised budgets; with clusters, they learn or test and are counted."""
    star, hat, codes, problem = points.star, points.hat, points.codes, promise.problem
    least = max(promise.least.values())

    def n_learners(n_points: int) -> int:
        """Return how many points choose the weights: none if too few would be left to test."""
        too_few = (1 - learn_share) * n_points < _SPARE * least
        if not problem.normalized and (points.candidates is not None or too_few):
            return 0
        return min(max(1, round(learn_share * n_points)), n_points - 1)

    n_points = len(star) if codes is None else int(codes.max()) + 1
    n_learned = n_learners(n_points)
    n_tested = n_points - n_learned
    order = np.random.default_rng(points.seed).permutation(n_points)
    learn, test = order[:n_learned], order[n_learned:]
    clusters, notes = None, []
    if codes is not None:
        place = np.argsort(order)[codes]  # of each point's cluster in the order
        learn, test = np.flatnonzero(place < n_learned), np.flatnonzero(place >= n_learned)
        clusters = Clusters(place[test] - n_learned, n_tested)
        notes = [
            f"Fitted on {n_points:,} clusters of {len(star):,} points: numbers of calibration "
            "points are those of clusters."
        ]
    weights = TOTAL if points.candidates is None else points.candidates[0]
    taus: FloatArray | None = None
    references = np.empty(0)
    if n_learned:
        own = None if codes is None else codes[learn]
        learners = _Points(star[learn], hat[learn], points.candidates, points.seed, own)
        weights, sequence = _learned(learners, promise, n_tested)
        taus = sequence if problem.normalized else None
        references = weighted_score(hat[learn], weights)
    scores = weighted_score(hat[test], weights)
    losses = losses_of(star[test], squares=True)
    tested = promise.test(losses, scores, taus, references, clusters)
    estimate = attained(
        star[test],
        scores <= tested.tau,
        normalized=problem.normalized,
        cluster=None if clusters is None else clusters.codes,
    )
    needed: int | None = None
    if tested.p_value is not None:
        notes += _missed_floor(problem, estimate.coverage)
    else:
        unit = "points" if codes is None else "clusters"
        needed, note = promise.needed_points(tested, n_points, n_learners, unit)
        notes.append(note)
    return Rule(
        weights,
        tested.tau,
        problem,
        estimate,
        n_points=n_points,
        n_learned=n_learned,
        n_tested=n_tested,
        seed=points.seed,
        delta=promise.delta,
        test="betting",
        bound=promise.bound,
        p_value=tested.p_value,
        n_needed=needed,
        kind=kind,
        notes=tuple(notes),
    )


def _learned(points: _Points, promise: Promise, n_tested: int) -> tuple[Weights, FloatArray]:
    """Choose the weights, and the thresholds to test per accepted point, from the smallest up."""
    problem, hat, losses = promise.problem, points.hat, losses_of(points.star, squares=True)
    candidates = points.candidates or directions(hat)

    def fits(thresholds: Thresholds, _: Problem) -> NDArray[np.bool_]:
        return np.asarray(promise.expected_p_values(thresholds, n_tested) <= promise.delta)

    weights, tau = best_cut(losses, hat, problem, candidates, fits)
    if tau == -math.inf:
        weights, tau = best_cut(losses, hat, problem, candidates[:1])
    elif weights != candidates[0]:
        plain = best_cut(losses, hat, problem, candidates[:1], fits)
        if not _clearly_better(points, problem, (weights, tau), plain):
            weights, tau = plain
    if not problem.normalized:
        return weights, np.empty(0)
    ranked = Thresholds.of(losses, weighted_score(hat, weights))
    last = max(floor_at(ranked, problem), int(np.searchsorted(ranked.taus, tau)))
    ranked = ranked[: last + 1]
    start = int(np.argmin(promise.expected_p_values(ranked, n_tested)))
    return weights, ranked.taus[start:]


def _clearly_better(
    points: _Points, problem: Problem, cut: tuple[Weights, float], other: tuple[Weights, float]
) -> bool:
    """Return whether one cut accepts more, or loses less, by a margin of standard errors."""
    star, hat = points.star, points.hat
    first, second = (weighted_score(hat, weights) <= tau for weights, tau in (cut, other))
    gain = first.astype(np.float64) - second
    reach = min(first.mean(), second.mean())
    if problem.minimize is not None and reach >= problem.floor - 1e-12:
        gain *= -(star.total if problem.minimize == "risk" else star.epistemic)
    gain = cluster_means(gain, points.codes)
    return bool(gain.mean() > _MARGIN * gain.std() / math.sqrt(len(gain)))


def _missed_floor(problem: Problem, coverage: float) -> list[str]:
    """Return a note if the coverage floor is missed, otherwise nothing."""
    floor = problem.coverage_min
    if floor is None or coverage >= floor - 1e-12:
        return []
    return [
        f"The coverage floor of {floor:g} is not reached: {coverage:.4g}. "
        "Coverage is never promised."
    ]


def _as_weights(weights: Weights) -> Weights:
    w = as_vector("weights", weights)
    if len(w) != 2 or not w.any():
        raise InputError(f"weights must be two numbers, not both 0, got {weights}")
    w = w / np.abs(w).max()
    return float(w[0]), float(w[1])
