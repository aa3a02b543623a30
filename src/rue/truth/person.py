"""What a point costs if a person is asked instead of the model.

Under 0/1, squared and absolute loss and cost matrices, a *person* plays the Bayes action of their
own answer and is judged by another annotator, averaged over ordered pairs of answers. Actions of
the other losses are distributions or quantiles, which one answer does not give: there a *panel* of
the m - 1 other answers is asked, which costs the leave-one-out Bayes risk.
"""

from typing import Literal

import numpy as np

from rue._arrays import FloatArray, round_to_scale, stream
from rue.beliefs import Belief, ClassBelief, Dirichlet, Draws, RealBelief, Scored
from rue.losses import CostMatrix, Loss, get_loss
from rue.truth.annotations import Annotations
from rue.truth.base import Truth
from rue.truth.finite_annotators import estimate_bayes_risk
from rue.truth.ratings import Ratings

__all__ = ["PersonKind", "person_kind", "person_risk", "predicted_person"]

PersonKind = Literal["person", "panel", ""]

_SPREADS: dict[str, tuple[float, str]] = {
    "zero_one": (1.0, "brier"),
    "squared": (2.0, "squared"),
    "absolute": (2.0, "crps"),
}
"""The risk of a person is so many times the Bayes risk under another loss: of two answers, one
differs from the other with probability 1 - sum p^2, and their mean square and absolute distances
are twice the variance and twice the CRPS of p."""


def person_kind(loss: str | Loss) -> PersonKind:
    """Return who is asked under a loss, a person or a panel; empty if the loss is not known."""
    name = loss.name if isinstance(loss, Loss) else loss
    if not name:
        return ""
    return "person" if name in _SPREADS or name == "cost" else "panel"


def person_risk(truth: Truth, loss: Loss) -> FloatArray | None:
    """Return the risk of a person, or of a panel, at each point.

    Parameters
    ----------
    truth : Annotations or Ratings
        The answers; if p* is known, two answers are drawn from it, and a panel has its Bayes risk.
    loss : Loss
        The loss, on the classes of the truth.

    Returns
    -------
    array of shape (n_points,), or None
        The risks; None if a point has a single answer.

    Examples
    --------
    >>> from rue import Annotations, ZeroOne
    >>> person_risk(Annotations([[3, 1], [4, 0]]), ZeroOne())
    array([0.5, 0. ])
    """
    if truth.n_annotators.min() < 2:
        return None
    if isinstance(loss, CostMatrix):
        assert isinstance(truth, Annotations)  # as costs are of classes
        return _of_pairs(truth, _cost_of_answers(loss, truth.n_classes))
    assert isinstance(truth, Annotations | Ratings)
    factor, other = _spread(loss)
    if other is None:
        return estimate_bayes_risk(truth, loss, "leave_one_out")
    return factor * estimate_bayes_risk(truth, other, "unbiased")


def predicted_person(belief: Belief, loss: Loss) -> FloatArray | None:
    """Return the risk of a person that a belief predicts at each point.

    Parameters
    ----------
    belief : Belief
        The predictions.
    loss : Loss
        The loss, on the classes of the belief.

    Returns
    -------
    array of shape (n_points,), or None
        The expected loss of one answer judged by another, both drawn from the same p; None for a
        panel, and for an outside score, which says nothing about p.

    Examples
    --------
    >>> from rue import Draws, ZeroOne
    >>> predicted_person(Draws([[[1.0, 0.0], [0.5, 0.5]]]), ZeroOne())
    array([0.25])
    """
    if isinstance(belief, Scored):
        return None
    if isinstance(loss, CostMatrix) and isinstance(belief, ClassBelief):
        return _expected_pairs(belief, _cost_of_answers(loss, belief.n_classes))
    factor, other = _spread(loss)
    if other is None:
        return None
    if isinstance(belief, RealBelief):
        return factor * belief.expectation(other.real()).bayes_risk
    assert isinstance(belief, ClassBelief)
    risk = np.empty(len(belief))
    for rows, expected in belief.expectations(other):
        risk[rows] = expected.bayes_risk
    return round_to_scale(factor * risk, loss.scale(belief.n_classes))


def _spread(loss: Loss) -> tuple[float, Loss | None]:
    """Return how often a person pays the Bayes risk of which other loss; None for a panel."""
    if loss.name not in _SPREADS:
        return 1.0, None
    factor, name = _SPREADS[loss.name]
    return factor, get_loss(name, values=getattr(loss, "values", None))


def _cost_of_answers(loss: CostMatrix, n_classes: int) -> FloatArray:
    """Return what the answer k costs if another annotator says j, shape (n_classes, n_classes)."""
    sure = np.eye(n_classes)
    return loss.costs[loss.action(sure)]


def _of_pairs(truth: Annotations, costs: FloatArray) -> FloatArray:
    """Return the mean cost over ordered pairs of answers, or of draws from p*."""
    if truth.counts is None:
        return np.asarray(((truth.probs @ costs) * truth.probs).sum(axis=1))
    counts = truth.counts.astype(np.float64)
    m = counts.sum(axis=1)
    paid = ((counts @ costs) * counts).sum(axis=1) - counts @ np.diag(costs)
    return np.asarray(paid / (m * (m - 1)))


def _expected_pairs(belief: ClassBelief, costs: FloatArray) -> FloatArray:
    """Return the expected cost of two answers that are drawn from the same p."""
    expected = np.empty(len(belief))
    if isinstance(belief, Dirichlet):
        for rows, alpha in stream(belief.alpha):
            share, whole = alpha / alpha.sum(axis=1, keepdims=True), alpha.sum(axis=1)
            product = ((share @ costs) * share).sum(axis=1) * whole
            expected[rows] = (product + share @ np.diag(costs)) / (whole + 1)
        return expected
    assert isinstance(belief, Draws)
    for rows, probs in stream(belief.probs):
        draws = probs / probs.sum(axis=-1, keepdims=True)
        expected[rows] = ((draws @ costs) * draws).sum(axis=-1).mean(axis=1)
    return expected
