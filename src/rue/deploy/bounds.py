"""How large a loss can be: what a promise about risk and regret needs to know."""

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Belief, RealBelief
from rue.errors import InputError
from rue.losses import Loss, QuantileLoss, Ragged, Squared

__all__ = ["loss_bound"]


def loss_bound(
    loss: Loss,
    belief: Belief,
    actions: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
) -> float:
    """Return the bound of the loss; raise if there is none, or if a prediction exceeds it.

    Parameters
    ----------
    loss
        The loss.
    belief
        The predictions of n_points points.
    actions
        The actions of a deployed predictor, if they are not those of the belief.
    limits
        The least and the largest answer possible, for real-valued outcomes.

    Raises
    ------
    InputError
        If the loss has no bound, or an action can lose more than the bound.
    """
    if isinstance(belief, RealBelief):
        return _real_bound(loss, belief, actions, limits)
    n_classes = belief.n_classes
    if actions is not None and isinstance(loss, Squared | QuantileLoss):
        values = np.arange(float(n_classes)) if loss.values is None else loss.values
        outside = (np.asarray(actions) < values[0]) | (np.asarray(actions) > values[-1])
        if outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"actions must lie within the values, {values[0]:g} to {values[-1]:g}, for the "
                f"loss to be bounded, got {np.asarray(actions)[row]:g} at row {row}"
            )
    bound = loss.bound(n_classes)
    if not np.isfinite(bound):
        raise InputError(
            f"{loss.name} loss has no bound, and a promise needs one: set a floor on predicted "
            "probabilities, as in Log(floor=0.001) or --floor 0.001"
        )
    return bound


def _real_bound(
    loss: Loss,
    belief: RealBelief,
    actions: ArrayLike | None,
    limits: tuple[float, float] | None,
) -> float:
    """Return the bound over answers within the limits.

    Every loss here is convex in the answer, so the largest is at one end of the range.
    """
    if limits is None:
        raise InputError(
            "real-valued answers have no bound, and a promise needs one: state their range, as in "
            "Ratings(..., range=(0, 100)) or --range 0,100"
        )
    real, n = loss.real(), len(belief)
    action = real.action(belief) if actions is None else real.check_actions(actions, n)
    ends = Ragged(np.tile(np.array(limits), n), np.arange(0, 2 * n + 1, 2))
    largest = real.losses(ends, action).reshape(n, 2).max(axis=1)
    bound = real.bound(*limits)
    if largest.max() > bound * (1 + 1e-9):
        row = int(np.argmax(largest > bound * (1 + 1e-9)))
        raise InputError(
            f"predictions must lie within the range, {limits[0]:g} to {limits[1]:g}, for the loss "
            f"to be at most {bound:g}, but it can be {largest[row]:g} at row {row}; clip the "
            "predictions or state another bound"
        )
    return bound
