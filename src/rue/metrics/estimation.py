"""Split the regret into what more data would remove and what the model class cannot.

The paper measures regret against an unrestricted oracle and names it as a limitation that regret
"contains both estimation and approximation error". Where p* is known and so is the limit, what the
same method predicts with unlimited data, the two can be told apart. With a the action of the belief
and b that of the limit,

    regret        = risk of a under p* - Bayes risk of p*
    approximation = risk of b under p* - Bayes risk of p*
    estimation    = risk of a under p* - risk of b under p*

at every point and under every loss, so regret = approximation + estimation.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_distributions
from rue.beliefs import Belief, ClassBelief, Draws
from rue.components import realize
from rue.errors import InputError
from rue.losses import Loss
from rue.truth.alignment import require_kinds
from rue.truth.annotations import Annotations, require_belief


@dataclass(frozen=True, eq=False)
class RegretParts:
    """The regret of each point, and its two parts.

    Attributes
    ----------
    regret : array of shape (n_points,)
        The realised regret; never negative.
    approximation : array of shape (n_points,)
        The regret of the limit, which the model class cannot avoid; never negative.
    estimation : array of shape (n_points,)
        What more data would remove: ``regret - approximation``. At a single point it may be
        negative, because few data can hit p* better by luck. Its mean may be negative only if the
        limit is not the best of its class under this loss, for example 0/1 loss and a network
        that minimises log loss.
    in_class : array of shape (n_points,)
        The regret if the limit were the truth: never negative, and all that a posterior inside
        the model class can know about. Its mean is that of ``estimation`` if the limit is the mean
        of p* over the points that the class cannot tell apart.
    """

    regret: FloatArray
    approximation: FloatArray
    estimation: FloatArray
    in_class: FloatArray

    def __len__(self) -> int:
        return len(self.regret)


def regret_parts(
    annotations: Annotations,
    belief: ClassBelief,
    limit: ClassBelief | ArrayLike,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
) -> RegretParts:
    """Return the regret of a belief, split into approximation and estimation.

    Parameters
    ----------
    annotations : Annotations
        The truth of n_points points, usually a known p* (:meth:`rue.Annotations.from_probs`).
        With few annotators ``regret`` and ``approximation`` are too high by the same amount, and
        ``estimation`` is unbiased.
    belief : Belief
        The predictions of the model, trained on the available data.
    limit : Belief or array_like of shape (n_points, n_classes)
        What the same method predicts with unlimited data, or the best prediction of its model
        class. Only its mean distribution counts.
    loss, values
        As in :func:`rue.realize`.

    Returns
    -------
    RegretParts
        Four arrays of shape (n_points,).

    Raises
    ------
    InputError
        If the three differ in points or classes, or a belief is about real-valued outcomes.

    Examples
    --------
    Two inputs that the class cannot tell apart; their mean is its best prediction.

    >>> from rue import Annotations, Draws, regret_parts
    >>> truth = Annotations.from_probs([[0.9, 0.1], [0.5, 0.5]])
    >>> belief = Draws([[[0.6, 0.4]], [[0.6, 0.4]]])
    >>> found = regret_parts(truth, belief, [[0.7, 0.3], [0.7, 0.3]], "squared")
    >>> found.regret, found.approximation
    (array([0.09, 0.01]), array([0.04, 0.04]))
    >>> found.estimation, found.in_class
    (array([ 0.05, -0.03]), array([0.01, 0.01]))
    """
    require_kinds(annotations, require_belief(belief))
    if not isinstance(limit, Belief):
        limit = Draws(as_distributions("limit", limit)[:, None])
    limit = require_belief(limit)
    have, got = annotations.probs.shape, (limit.n_points, limit.n_classes)
    if have != got:
        raise InputError(
            "annotations and limit must have the same points and classes, got "
            f"{have[0]} x {have[1]} and {got[0]} x {got[1]}"
        )
    scale = annotations.values if values is None else values
    regret = realize(annotations, belief, loss, values=scale).epistemic
    approximation = realize(annotations, limit, loss, values=scale).epistemic
    as_truth = Annotations.from_probs(limit.mean())
    return RegretParts(
        regret=regret,
        approximation=approximation,
        estimation=regret - approximation,
        in_class=realize(as_truth, belief, loss, values=scale).epistemic,
    )
