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

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.losses import Loss
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["ESTIMATORS", "Estimator", "estimate_bayes_risk"]

Estimator = Literal["plugin", "leave_one_out", "unbiased"]
"""How the Bayes risk is estimated from answers; see :func:`estimate_bayes_risk`."""
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)


def estimate_bayes_risk(
    annotations: Annotations | Ratings, loss: Loss, estimator: Estimator = "plugin"
) -> FloatArray:
    """Estimate the Bayes risk of each point's p* from its answers.

    - ``plugin``: the Bayes risk of the frequencies of the answers, biased low.
    - ``leave_one_out``: the mean loss of each answer under the best action for the other
      answers, biased high; each loss has it as :meth:`rue.losses.Loss.leave_one_out`. Log loss
      smooths the frequencies of the others, and is never below the plug-in. Neither the order of
      the points nor that of the classes matters.
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
    >>> from rue import Brier
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
    estimate = loss.unbiased if estimator == "unbiased" else loss.leave_one_out
    estimate(counts[:0])  # if the loss has no such estimate, more answers would not help
    _require_two(counts.sum(axis=1), estimator)
    return estimate(counts)


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
