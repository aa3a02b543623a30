"""The best rule for the calibration points themselves, without a promise for new ones."""

import math

import numpy as np

from rue.components import Components
from rue.deploy.attained import attained
from rue.deploy.best_cut import Bins, best_cut
from rue.deploy.candidates import Weights, directions, losses_of, weighted_score
from rue.deploy.kind import Kind
from rue.deploy.rule import Rule, missed_floor
from rue.selectors.problem import Problem

__all__ = ["fit_empirical"]

N_FOLDS = 5


def fit_empirical(
    star: Components,
    hat: Components,
    problem: Problem,
    *,
    candidates: list[Weights] | None,
    seed: int,
    kind: Kind,
) -> Rule:
    """Return the rule that is best for these points; five-fold cross-fitting estimates it."""
    candidates = candidates or directions(hat)
    losses = losses_of(star)
    order = np.random.default_rng(seed).permutation(len(star))
    fold = np.empty(len(star), dtype=np.int64)
    n_folds = min(N_FOLDS, len(star))
    for i, rows in enumerate(np.array_split(order, n_folds)):
        fold[rows] = i
    bins = Bins.of_many(losses, hat, candidates, fold, n_folds)
    weights, tau = best_cut(losses, hat, problem, candidates, bins=bins)
    accepted = np.zeros(len(star), dtype=bool)
    for i in range(n_folds):
        others, held_out = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        kept = {name: column[others] for name, column in losses.items()}
        without = None if bins is None else bins.without(i)
        w, t = best_cut(kept, hat[others], problem, candidates, bins=without)
        accepted[held_out] = weighted_score(hat[held_out], w) <= t
    if tau == -math.inf:
        notes = ["No threshold keeps the budgets on the calibration points: nothing is accepted."]
    else:
        notes = missed_floor(problem, float(np.mean(weighted_score(hat, weights) <= tau)))
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
