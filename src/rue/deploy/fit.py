"""fit_selector: from calibration points with answers to a rule that needs only the model.

Without delta the rule is the best for the calibration points (``empirical.py``). With delta its
risk and regret budgets are promised for new points (``learn_then_test.py``).
"""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_vector, require_whole
from rue.components import Components
from rue.deploy.candidates import Weights
from rue.deploy.empirical import fit_empirical
from rue.deploy.kind import Kind
from rue.deploy.learn_then_test import PROMISES, fit_promised
from rue.deploy.promises import PromiseName
from rue.deploy.rule import Rule
from rue.errors import InputError, ShapeError
from rue.inference.clusters import label_codes, one_of_each
from rue.selectors.optimal import require_realized
from rue.selectors.problem import Problem

__all__ = ["fit_rule", "fit_selector"]


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
    promise: PromiseName = "betting",
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
        the draw of the calibration points. If no threshold passes, the rule accepts nothing, and
        its notes say how many points would be needed. None promises nothing: the rule is the best
        for the calibration points, and about half of such rules break their budgets on new ones.
    bound
        The largest possible loss (:meth:`rue.losses.Loss.bound`); required with ``delta``.
    promise
        With ``delta``, the p-values that test thresholds: ``"betting"`` adapts to the variance of
        the losses (:func:`rue.deploy.betting`), ``"hoeffding_bentkus"`` knows only their range
        (:func:`rue.deploy.hoeffding_bentkus`). Both promises hold for every distribution; betting
        accepts more.
    weights
        Fixed weights of the aleatoric and the epistemic component; the larger one is scaled to 1.
        None learns them.
    learn_share
        With ``delta``, the share of the points that choose the weights; the others test. Fixed
        weights need none, unless ``normalized``. If less than four times the minimum that the
        budgets require would be left to test (twice, for Hoeffding-Bentkus), all points test, and
        the weights are those of the total.
    cluster
        With ``delta``, labels of shape (n_points,) of points that belong together, such as the
        images of a patient. Clusters must be independent, their points need not be: the promise
        is for a random point of a new cluster. Betting tests the means of clusters over all their
        points, and Hoeffding-Bentkus a random point of each.
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
        If the problem, the components or an option are invalid.

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
    return fit_rule(
        star_cal,
        hat_cal,
        Problem(maximize, minimize, coverage_min, risk_max, regret_max, normalized),
        delta=delta,
        bound=bound,
        promise=promise,
        weights=weights,
        learn_share=learn_share,
        cluster=cluster,
        seed=seed,
        kind=kind,
    )


def fit_rule(
    star_cal: Components,
    hat_cal: Components,
    problem: Problem,
    *,
    delta: float | None = None,
    bound: float | None = None,
    promise: PromiseName = "betting",
    weights: Weights | None = None,
    learn_share: float = 0.25,
    cluster: ArrayLike | None = None,
    seed: int = 0,
    kind: Kind | None = None,
) -> Rule:
    """Learn a rule to deploy for a :class:`rue.Problem`; see :func:`fit_selector`.

    Parameters
    ----------
    star_cal, hat_cal
        Realised and estimated components of n_points calibration points.
    problem
        The objective, the floor and the budgets.
    delta, bound, promise, weights, learn_share, cluster, seed, kind
        As in :func:`fit_selector`.

    Returns
    -------
    Rule
        The rule; ``rule.accept(hat)`` returns decisions of shape (n_points,).

    Raises
    ------
    InputError
        If the components or an option are invalid.

    Examples
    --------
    >>> from rue import Components, Problem
    >>> from rue.deploy import fit_rule
    >>> points = Components([0.1, 0.2, 0.9], [0.1, 0.2, 0.1], [0.0, 0.0, 0.8])
    >>> fit_rule(points, points, Problem(maximize="coverage", risk_max=0.1)).accept(points)
    array([ True,  True, False])
    """
    require_realized(star_cal)
    seed = require_whole("seed", seed)
    _check(star_cal, hat_cal, problem, delta, bound, learn_share)
    if promise not in PROMISES:
        raise InputError(f"promise must be one of {', '.join(PROMISES)}, got {promise!r}")
    candidates = None if weights is None else [_as_weights(weights)]
    kind = kind or Kind()
    codes, note = None, ""
    if cluster is not None:
        codes = label_codes(cluster, len(star_cal))
        if delta is None:
            raise InputError("cluster is used only with delta")
        n_clusters = int(codes.max()) + 1
        if n_clusters == len(star_cal):
            codes = None  # clusters of one point
        elif promise == "hoeffding_bentkus":
            rows = one_of_each(codes, seed)
            star_cal, hat_cal, codes = star_cal[rows], hat_cal[rows], None
            note = f"Fitted on a random point of each of {n_clusters:,} clusters."
        else:
            note = (
                f"Fitted on {n_clusters:,} clusters of {len(star_cal):,} points: numbers of "
                "calibration points are those of clusters."
            )
    if delta is None:
        return fit_empirical(
            star_cal, hat_cal, problem, candidates=candidates, seed=seed, kind=kind
        )
    assert bound is not None
    rule = fit_promised(
        star_cal,
        hat_cal,
        problem,
        candidates=candidates,
        delta=delta,
        bound=bound,
        promise=promise,
        learn_share=learn_share,
        seed=seed,
        kind=kind,
        codes=codes,
    )
    return replace(rule, notes=(note, *rule.notes)) if note else rule


def _as_weights(weights: Weights) -> Weights:
    w = as_vector("weights", weights)
    if len(w) != 2 or not w.any():
        raise InputError(f"weights must be two numbers, not both 0, got {weights}")
    w = w / np.abs(w).max()
    return float(w[0]), float(w[1])


def _check(
    star: Components,
    hat: Components,
    problem: Problem,
    delta: float | None,
    bound: float | None,
    learn_share: float,
) -> None:
    if not isinstance(hat, Components):
        raise InputError(f"hat_cal must be Components, got {type(hat).__name__}")
    if len(hat) != len(star):
        raise ShapeError(f"hat_cal must have {len(star)} points as star_cal has, got {len(hat)}")
    if len(star) < 2:
        raise InputError(f"there must be at least 2 calibration points, got {len(star)}")
    if not 0 < learn_share < 1:
        raise InputError(f"learn_share must be between 0 and 1, got {learn_share}")
    if delta is None:
        if bound is not None:
            raise InputError(f"bound is used only with delta, got bound={bound} without delta")
        return
    if not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {delta}")
    if not problem.budgets:
        raise InputError("delta needs a budget to promise: give risk_max or regret_max")
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
