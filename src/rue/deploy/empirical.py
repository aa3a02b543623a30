"""The best rule for the calibration points themselves, without a promise for new ones."""

import math

import numpy as np

from rue._arrays import IntArray
from rue.components import Components
from rue.deploy.attained import attained
from rue.deploy.candidates import Weights, best_cut, directions, weighted_score
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

    def cut(rows: IntArray) -> tuple[Weights, float]:
        return best_cut(star[rows], hat[rows], problem, candidates or directions(hat[rows]))

    order = np.random.default_rng(seed).permutation(len(star))
    weights, tau = cut(np.sort(order))
    accepted = np.zeros(len(star), dtype=bool)
    for held_out in np.array_split(order, min(N_FOLDS, len(star))):
        w, t = cut(np.setdiff1d(order, held_out))
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
