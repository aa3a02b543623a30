"""Beliefs as the named arrays of a file, in both directions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import require_finite, require_shape
from rue.beliefs import Belief, Dirichlet, Draws, Scored
from rue.errors import InputError, ShapeError

__all__ = ["arrays_of", "belief_of"]


def belief_of(kind: str, array: NDArray[Any]) -> Belief:
    """Return the belief that an array holds.

    Parameters
    ----------
    kind
        ``probs``, ``logits`` or ``alpha``.
    array
        Shape (n_points, n_draws, n_classes) or (n_points, n_classes); ``alpha`` the latter.

    Raises
    ------
    InputError
        If the array is no such thing.
    """
    if kind == "alpha":
        return Dirichlet(array)
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"{kind} must have shape (n_points, n_draws, n_classes) or (n_points, n_classes), "
            f"got {array.shape}"
        )
    if kind == "logits":
        require_shape(kind, array, "n_points", *["n_draws"] * (array.ndim - 2), "n_classes")
        if array.dtype.kind not in "fiu":
            raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
        require_finite("logits", array)
        logits = array.astype(np.float64)
        exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
        array = exp / exp.sum(axis=-1, keepdims=True)
    return Draws(array if array.ndim == 3 else array[:, None, :])


def arrays_of(belief: Belief) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold a belief, by name."""
    match belief:
        case Draws():
            return {"probs": belief.probs}
        case Dirichlet():
            return {"alpha": belief.alpha}
        case Scored():
            return {"probs": belief.probs, "epistemic": belief.epistemic}
    raise InputError(f"belief must be Draws, Dirichlet or Scored, got {belief!r}")
