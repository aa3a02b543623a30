"""The actions to evaluate: those of a deployed predictor, or the belief's Bayes actions."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Belief
from rue.errors import InputError, ShapeError
from rue.losses import Loss
from rue.truth.annotations import Annotations

__all__ = ["deployed_actions", "require_belief"]


def deployed_actions(
    annotations: Annotations, belief: Belief | None, loss: Loss, actions: ArrayLike | None
) -> Iterable[tuple[slice, NDArray[Any]]]:
    """Return the rows and actions of each chunk: ``actions`` if given, else the belief's."""
    if belief is not None:
        require_belief(belief)
        _require_same(annotations, belief)
    n_points, n_classes = annotations.n_points, annotations.n_classes
    if actions is not None:
        return [(slice(0, n_points), loss.check_actions(actions, n_points, n_classes))]
    if belief is None:
        raise InputError("realize needs a belief or actions, got neither")
    return ((rows, loss.action(m)) for rows, m in belief.means())


def require_belief(belief: object) -> None:
    """Raise unless ``belief`` is a :class:`Belief`."""
    if not isinstance(belief, Belief):
        raise InputError(f"belief must be Draws, Dirichlet or Scored, got {type(belief).__name__}")


def _require_same(annotations: Annotations, belief: Belief) -> None:
    said, believed = (annotations.n_points, annotations.n_classes), (len(belief), belief.n_classes)
    if said != believed:
        raise ShapeError(
            "annotations and belief must have the same points and classes, "
            f"got {said[0]} x {said[1]} and {believed[0]} x {believed[1]}"
        )
