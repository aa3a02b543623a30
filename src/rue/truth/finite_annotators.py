"""Estimate the Bayes risk, and so the regret, of a point from finitely many answers.

p* is not known, only m answers drawn from it. The mean loss of an action over the answers is an
unbiased estimate of its risk. The Bayes risk has no such estimate: the best action for the
answers has too low a loss on the same answers (``plugin``, biased low), and the best action for
the other m - 1 answers has at least the true Bayes risk on the one left out (``leave_one_out``,
biased high). So in expectation

    total - leave-one-out Bayes risk  <=  true regret  <=  total - plug-in Bayes risk

for each point and, since the ranking does not depend on the answers, for AuReC. This holds if
the answers about a point are independent draws from its p*, and actions and scores do not depend
on them. It does not hold for excess AuReC, n-AuReC, the oracle, Spearman or the Pareto-gap,
which are not linear in the regret.
"""

from typing import Literal, get_args

import numpy as np

from rue._arrays import FloatArray, round_to_scale
from rue.errors import InputError
from rue.losses import Brier, CostMatrix, Log, Loss, QuantileLoss, Squared, ZeroOne
from rue.losses._ranked import RankedProbability
from rue.losses.base import TOLERANCE, first_least
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["ESTIMATORS", "Estimator", "bracket_end", "estimate_bayes_risk"]

Estimator = Literal["plugin", "leave_one_out", "unbiased"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

STRENGTHS = 2.0 ** np.arange(-10, 13)
"""The grid for the weight s of the pooled answers: octaves first, then eighths of an octave."""


def estimate_bayes_risk(
    annotations: Annotations | Ratings, loss: Loss, estimator: Estimator = "plugin"
) -> FloatArray:
    """Estimate the Bayes risk of each point's p* from its answers.

    - ``plugin``: the Bayes risk of the frequencies of the answers, biased low.
    - ``leave_one_out``: the mean loss of each answer under the best action for the other
      answers, biased high. Under log loss the frequencies of the others may give an answer
      probability 0, so a smoothed distribution is used: (n_others + s q) / (m - 1 + s). Here q
      are the mean frequencies of the other points with the same majority as the other answers,
      and s is the weight with the least loss on the other points. A point with several
      majorities counts in part for each, and if the other answers have several, q is the mean
      over them. The estimate is never below the plug-in. Under 0/1 loss the best action is drawn
      from the majorities of the other answers. So neither the order of the points nor that of
      the classes matters.
    - ``unbiased``: m/(m - 1) times the plug-in, under squared, Brier, rps and crps loss; it does
      not exist for other losses.

    The latter two need two answers per point. If p* is known, all three are its Bayes risk.

    Parameters
    ----------
    annotations : Annotations or Ratings
        The answers.
    loss : Loss
        The loss.
    estimator : {"plugin", "leave_one_out", "unbiased"}
        The estimator.

    Returns
    -------
    array of shape (n_points,)
        The estimates.

    Raises
    ------
    InputError
        If the estimator does not exist for the loss, or a point has too few answers.

    Examples
    --------
    >>> annotations = Annotations([[3, 1]])
    >>> for estimator in ESTIMATORS:
    ...     print(estimator, estimate_bayes_risk(annotations, Brier(), estimator))
    plugin [0.375]
    leave_one_out [0.66666667]
    unbiased [0.5]
    """
    if estimator not in ESTIMATORS:
        raise InputError(f"estimator must be one of {', '.join(ESTIMATORS)}, got {estimator!r}")
    if isinstance(annotations, Ratings):
        return _of_ratings(annotations, loss, estimator)
    counts = annotations.counts
    if estimator == "plugin" or counts is None:
        return loss.bayes_risk(annotations.probs)
    if estimator == "unbiased" and not isinstance(loss, Squared | Brier | RankedProbability):
        raise InputError(
            f"no unbiased estimate of the Bayes risk exists under {loss.name} loss; the plug-in "
            'and estimator="leave_one_out" bracket it'
        )
    m = counts.sum(axis=1)
    _require_two(m, estimator)
    if estimator == "unbiased":
        return np.asarray(loss.bayes_risk(annotations.probs) * (m / (m - 1)))
    match loss:
        case Log():  # smoothing may rarely fall below the plug-in; the larger is a bound too
            from rue._kernels.draws import leave_one_out_log

            high = leave_one_out_log(np.ascontiguousarray(counts), STRENGTHS, TOLERANCE)
            return np.asarray(np.maximum(high, loss.bayes_risk(annotations.probs)))
        case Brier():
            squares = (counts**2).sum(axis=1)
            others = (squares - 2 * squares / m + 1) / (m - 1) ** 2  # mean of sum a^2
            return np.asarray(others - 2 * (squares / m - 1) / (m - 1) + 1)
        case Squared() | RankedProbability():
            # v - mean of the others = (v - mean) m/(m - 1), and so with 1[y <= j] and F_j.
            return np.asarray(loss.bayes_risk(annotations.probs) * (m / (m - 1)) ** 2)
        case ZeroOne():
            return _zero_one(counts)
        case QuantileLoss():
            return _quantile(annotations, loss)
        case CostMatrix():
            return _cost(counts, loss)
    return _one_by_one(counts, loss)


def bracket_end(annotations: Annotations, loss: Loss) -> FloatArray | None:
    """Return the leave-one-out Bayes risk of each point, shape (n_points,).

    Return None if a point has a single answer.
    """
    if annotations.n_annotators.min() < 2:
        return None
    high = estimate_bayes_risk(annotations, loss, "leave_one_out")
    return round_to_scale(high, loss.scale(annotations.n_classes))


def _require_two(m: FloatArray, estimator: Estimator) -> None:
    if m.min() < 2:
        raise InputError(
            f'estimator="{estimator}" needs at least 2 annotators per point, '
            f"{int((m < 2).sum())} of {len(m)} points have one, first at row {int(np.argmin(m))}"
        )


def _of_ratings(ratings: Ratings, loss: Loss, estimator: Estimator) -> FloatArray:
    real = loss.real()
    if estimator == "plugin":
        return real.bayes_risk(ratings.answers)
    _require_two(ratings.n_annotators, estimator)
    if estimator == "unbiased":
        return real.unbiased(ratings.answers)
    return real.leave_one_out(ratings.answers)


def _zero_one(counts: FloatArray) -> FloatArray:
    """Return the share of answers that a majority of the other answers gets wrong.

    An answer is among the majorities of the others only if it is ahead of every other class: by
    two or more it is the only one, by one it shares with those in second place.
    """
    m, top = counts.sum(axis=1), counts.max(axis=1)
    behind = counts == top[:, None] - 1
    right = np.where((counts == top[:, None]).sum(axis=1) == 1, top / (behind.sum(axis=1) + 1), 0.0)
    return np.asarray(1 - right / m)


def _quantile(annotations: Annotations, loss: QuantileLoss) -> FloatArray:
    """Return the plug-in plus max((1 - q) k, q (m - k))/m times the step from answer k to k + 1.

    Let k be the rank of the quantile among m - 1 answers, and x_1..x_m the sorted answers. The
    quantile of the others is x_k+1 if one of the lowest k answers is left out, else x_k.
    """
    counts = annotations.counts
    assert counts is not None  # checked by the caller
    v, m, q = loss.offsets(counts.shape[1]), counts.sum(axis=1), loss.q
    below, k = np.cumsum(counts, axis=1), np.ceil((q - TOLERANCE) * (m - 1)).clip(1)
    lower = np.argmax(below >= k[:, None], axis=1)
    upper = np.argmax(below >= k[:, None] + 1, axis=1)
    share = loss.weight * np.maximum((1 - q) * k, q * (m - k)) / m
    return np.asarray(loss.bayes_risk(annotations.probs) + share * (v[upper] - v[lower]))


def _cost(counts: FloatArray, loss: CostMatrix) -> FloatArray:
    """Return the mean cost of each answer under the best action for the other answers."""
    C, m = loss.costs, counts.sum(axis=1)
    loss.bayes_risk(counts[:1])  # raises if the number of classes differs
    paid = counts @ C.T
    point, answer = np.nonzero(counts)
    action = np.empty(len(point), np.int64)
    step = max(1, (1 << 22) // len(C))
    for start in range(0, len(point), step):
        i, y = point[start : start + step], answer[start : start + step]
        others = (paid[i] - C[:, y].T) / (m[i] - 1)[:, None]
        action[start : start + step] = first_least(others, TOLERANCE * C.max())
    terms = counts[point, answer] * C[action, answer]
    return np.asarray(np.bincount(point, terms, len(counts)) / m)


def _one_by_one(counts: FloatArray, loss: Loss) -> FloatArray:
    """Return the mean loss of each answer under the best action for the others, for any loss."""
    n_points, n_classes = counts.shape
    m, paid = counts.sum(axis=1), np.zeros(n_points)
    for k in range(n_classes):
        chosen = np.flatnonzero(counts[:, k])
        sure = np.eye(n_classes)[np.full(len(chosen), k)]
        others = (counts[chosen] - sure) / (m[chosen] - 1)[:, None]
        paid[chosen] += counts[chosen, k] * loss.risk(sure, loss.action(others))
    return np.asarray(paid / m)
