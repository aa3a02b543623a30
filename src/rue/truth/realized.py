"""Definition 1, realised: what acting on a belief costs under the answers of annotators."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, round_to_scale
from rue.beliefs import RealBelief
from rue.beliefs.base import Belief
from rue.beliefs.components import Components
from rue.errors import InputError, ShapeError
from rue.losses import Log, Loss
from rue.losses.real import RealLoss, round_to_digits
from rue.truth.annotations import Annotations, deployed_actions
from rue.truth.base import Truth
from rue.truth.finite_annotators import Estimator, estimate_bayes_risk
from rue.truth.person import person_kind, person_risk
from rue.truth.ratings import Ratings

__all__ = ["bracket_end", "deployed_action", "pooled_again", "realized_components"]


def realized_components(
    truth: Truth,
    belief: Belief | None,
    loss: Loss,
    *,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> Components:
    """Return the realised components of answers on the loss's scale; see :func:`rue.realize`."""
    if isinstance(truth, Ratings):
        return _of_ratings(truth, belief, loss, actions, estimator)
    assert isinstance(truth, Annotations)
    n_points, scale = truth.n_points, loss.scale(truth.n_classes)
    total, aleatoric, epistemic = np.empty(n_points), np.empty(n_points), np.empty(n_points)
    floored = np.zeros(n_points, bool) if isinstance(loss, Log) else None
    for rows, action in deployed_actions(truth, belief, loss, actions):
        p = truth.probs[rows]
        total[rows], aleatoric[rows], epistemic[rows] = loss.realized(p, action)
        if isinstance(loss, Log) and floored is not None:
            floored[rows] = loss.floored(p, action)
    high = None
    if estimator != "plugin":
        aleatoric = estimate_bayes_risk(truth, loss, estimator)
        epistemic = round_to_scale(total - aleatoric, scale)
    else:
        epistemic = np.maximum(round_to_scale(epistemic, scale), 0.0)
        high = bracket_end(truth, loss, aleatoric)
    return Components(
        round_to_scale(total, scale),
        round_to_scale(aleatoric, scale),
        epistemic,
        floored,
        aleatoric_high=high,
        n_annotators=truth.n_annotators,
        person=_person(truth, loss, high, None),
    )


def _of_ratings(
    ratings: Ratings,
    belief: Belief | None,
    loss: Loss,
    actions: ArrayLike | None,
    estimator: Estimator,
) -> Components:
    real, answers, high = loss.real(), ratings.answers, None
    action = deployed_action(ratings, belief, real, actions)
    total = answers.means(real.losses(answers, action))
    aleatoric = estimate_bayes_risk(ratings, loss, estimator)
    epistemic = total - aleatoric
    if estimator == "plugin":
        epistemic = real.regret(answers, action, total)
        if ratings.n_annotators.min() >= 2:
            high = round_to_digits(real.leave_one_out(answers), total)
    rounded = round_to_digits(total, total)
    return Components(
        rounded,
        round_to_digits(aleatoric, total),
        round_to_digits(epistemic, total),
        aleatoric_high=high,
        n_annotators=ratings.n_annotators,
        person=_person(ratings, loss, high, rounded),
    )


def _person(
    truth: Truth, loss: Loss, high: FloatArray | None, total: FloatArray | None
) -> FloatArray | None:
    """Return the risk of a person, rounded as components are; a panel has the bracket's end."""
    if high is not None and person_kind(loss) == "panel":
        return high
    risk = person_risk(truth, loss)
    if risk is None:
        return None
    if total is not None:
        return round_to_digits(risk, total)
    return round_to_scale(risk, loss.scale(truth.outcomes.n))


def bracket_end(
    annotations: Annotations, loss: Loss, plugin: FloatArray | None = None
) -> FloatArray | None:
    """Return the leave-one-out Bayes risk, (n_points,); None if a point has a single answer."""
    if annotations.n_annotators.min() < 2:
        return None
    counts = annotations.counts
    if counts is None:
        high = loss.bayes_risk(annotations.probs) if plugin is None else plugin
    elif isinstance(loss, Log):
        high = loss.leave_one_out(counts, plugin=plugin)
    else:
        high = loss.leave_one_out(counts)
    return round_to_scale(high, loss.scale(annotations.n_classes))


def pooled_again(star: Components, truth: Truth, loss: Loss) -> Components:
    """Return the components of some points with what pools answers computed from these alone."""
    if not isinstance(truth, Annotations):
        return star
    high = bracket_end(truth, loss)
    panel = person_kind(loss) == "panel"
    return replace(star, aleatoric_high=high, person=high if panel else star.person)


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
