"""Scored: one distribution per point and an epistemic score from outside."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    as_array,
    as_vector,
    require_distributions,
    require_n_classes,
    require_shape,
    stream,
)
from rue.beliefs.base import Belief
from rue.losses.base import Expectation, Loss

__all__ = ["Scored"]


@final
@dataclass(frozen=True, eq=False)
class Scored(Belief):
    """One distribution per point and an epistemic score from outside (DDU's -log density).

    Parameters
    ----------
    probs
        Shape (n_points, n_classes), as in :class:`Draws`.
    epistemic
        Any finite numbers, shape (n_points,), higher for less sure; taken as given.
    """

    probs: NDArray[Any]
    epistemic: FloatArray

    def __init__(self, probs: ArrayLike, epistemic: ArrayLike) -> None:
        array = as_array("probs", probs)
        require_shape("probs", array, "n_points", "n_classes")
        require_n_classes("probs", array.shape[-1])
        require_distributions("probs", array)
        object.__setattr__(self, "probs", array)
        object.__setattr__(self, "epistemic", as_vector("epistemic", epistemic, len(array)))

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.probs.shape[0])

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.probs.shape[1])

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Bayes risk of the distribution, and the score."""
        for rows, m in self.means():
            yield rows, Expectation(loss.bayes_risk(m), self.epistemic[rows])

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """The distribution itself."""
        for rows, chunk in stream(self.probs):
            probs = chunk.astype(np.float64)
            yield rows, probs / probs.sum(axis=1, keepdims=True)
