"""The actions to evaluate: those of a deployed predictor, or the belief's Bayes actions."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Belief, RealBelief
from rue.errors import InputError, ShapeError
from rue.losses import Loss
from rue.truth.annotations import Annotations

__all__ = ["deployed_actions", "require_belief"]


def deployed_actions(
    annotations: Annotations,
    belief: Belief | RealBelief | None,
    loss: Loss,
    actions: ArrayLike | None,
) -> Iterable[tuple[slice, NDArray[Any]]]:
    """Return the rows and actions of each chunk: ``actions`` if given, else the belief's."""
    classes = None if belief is None else require_belief(belief)
    if classes is not None:
        _require_same(annotations, classes)
    n_points, n_classes = annotations.n_points, annotations.n_classes
    if actions is not None:
        return [(slice(0, n_points), loss.check_actions(actions, n_points, n_classes))]
    if classes is None:
        raise InputError("realize needs a belief or actions, got neither")
    return ((rows, loss.action(m)) for rows, m in classes.means())


def require_belief(belief: object) -> Belief:
    """Return the belief, or raise unless it is one about classes."""
    if isinstance(belief, RealBelief):
        raise InputError(
            f"Annotations need a belief about classes (Draws, Dirichlet or Scored), "
            f"got {type(belief).__name__}; for a belief about real numbers use Ratings"
        )
    if not isinstance(belief, Belief):
        raise InputError(
            "belief must be Draws, Dirichlet or Scored, or about real numbers Gaussians, Samples "
            f"or NormalInverseGamma, got {type(belief).__name__}"
        )
    return belief


def _require_same(annotations: Annotations, belief: Belief) -> None:
    said, believed = (annotations.n_points, annotations.n_classes), (len(belief), belief.n_classes)
    if said != believed:
        raise ShapeError(
            "annotations and belief must have the same points and classes, "
            f"got {said[0]} x {said[1]} and {believed[0]} x {believed[1]}"
        )
