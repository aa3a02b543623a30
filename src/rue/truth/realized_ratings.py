"""Definition 1, realised, where answers are real numbers."""

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.beliefs import RealBelief
from rue.beliefs.base import Belief
from rue.errors import InputError, ShapeError
from rue.losses import Loss
from rue.losses.real import RealLoss, round_to_digits
from rue.truth.finite_annotators import Estimator, estimate_bayes_risk
from rue.truth.ratings import Ratings

__all__ = ["RealizedRatings", "deployed_action", "realize_ratings"]


class RealizedRatings(NamedTuple):
    """Realised total, aleatoric and epistemic (regret), (n_points,) each, rounded.

    ``aleatoric_high`` is the leave-one-out Bayes risk; None where it is not defined or not asked.
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray
    aleatoric_high: FloatArray | None


def realize_ratings(
    ratings: Ratings,
    belief: Belief | None,
    loss: Loss,
    *,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> RealizedRatings:
    """Return the realised components of real-valued answers; see :func:`rue.realize`."""
    real = loss.real()
    answers = ratings.answers
    action = deployed_action(ratings, belief, real, actions)
    total = answers.means(real.losses(answers, action))
    aleatoric = estimate_bayes_risk(ratings, loss, estimator)
    high = None
    if estimator == "plugin":
        epistemic = round_to_digits(real.regret(answers, action, total), total)
        if ratings.n_annotators.min() >= 2:
            high = round_to_digits(real.leave_one_out(answers), total)
    else:
        epistemic = round_to_digits(total - aleatoric, total)
    return RealizedRatings(
        round_to_digits(total, total), round_to_digits(aleatoric, total), epistemic, high
    )


def deployed_action(
    ratings: Ratings,
    belief: Belief | None,
    loss: RealLoss,
    actions: ArrayLike | None,
) -> Any:
    """Return the action that is judged: the one given, else the Bayes action of the belief."""
    if belief is not None and not isinstance(belief, RealBelief):
        raise InputError(
            "Ratings need a belief about real numbers (Gaussians, Samples or NormalInverseGamma), "
            f"got {type(belief).__name__}; for a belief about classes use Annotations"
        )
    if belief is not None and len(belief) != len(ratings):
        raise ShapeError(
            "ratings and belief must be of the same points, "
            f"got {len(ratings)} and {len(belief)} points"
        )
    if actions is not None:
        return loss.check_actions(actions, len(ratings))
    if belief is None:
        raise InputError("realize needs a belief or actions, got neither")
    return loss.action(belief)
