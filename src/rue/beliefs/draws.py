"""Draws: several distributions per point, from ensembles, dropout or posterior samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    as_array,
    chunked,
    kept,
    require_distributions,
    require_n_classes,
    require_shape,
    sum_tolerance,
)
from rue.beliefs.base import ClassBelief
from rue.losses.base import Expectation, Loss
from rue.losses.outcomes import Classes, as_classes


@final
@dataclass(frozen=True, eq=False, repr=False)
class Draws(ClassBelief):
    """Several distributions per point, of an ensemble, MC dropout or posterior samples.

    Parameters
    ----------
    probs : array_like of shape (n_points, n_draws, n_classes)
        Probabilities. Each distribution must sum to 1 within 1e-6, or within the precision of
        float32, float16 and bfloat16, and is normalised in float64.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    classes : sequence of names or Classes, optional
        The names of the classes in the order of the columns.
    method : str
        The name of the method.
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor; see :func:`rue.realize`.

    Raises
    ------
    InputError
        If a probability is negative or not finite, or a sum is not 1.

    Examples
    --------
    >>> from rue import Draws
    >>> Draws([[[0.9, 0.1], [0.5, 0.5]]]).mean()
    array([[0.7, 0.3]])
    """

    probs: NDArray[Any]
    _ROWS = _COLUMNS = ("probs",)

    def __init__(
        self,
        probs: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        array = as_array("probs", probs)
        require_shape("probs", array, "n_points", "n_draws", "n_classes")
        require_n_classes("probs", array.shape[-1])
        require_distributions("probs", array, sum_tolerance(probs))
        outcomes = as_classes(classes, array.shape[-1], "probs")
        self._name(outcomes, ids, method, actions, probs=kept(array, probs))

    def __repr__(self) -> str:
        n_points, n_draws, n_classes = self.probs.shape
        return f"Draws({n_points:,} points x {n_draws} draws x {n_classes} classes)"

    @property
    def n_points(self) -> int:
        """The number of points."""
        return int(self.probs.shape[0])

    @property
    def n_draws(self) -> int:
        """The number of distributions of each point."""
        return int(self.probs.shape[1])

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield means over the draws."""
        for rows, chunk in chunked(self.probs):
            yield rows, loss.expect_draws(chunk)

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield means over the draws."""
        from rue._kernels.draws import mean

        for rows, chunk in chunked(self.probs):
            yield rows, mean(chunk)

    def doubts(self) -> list[str]:
        """Return a note if every draw is certain, as sampled labels are."""
        if self.n_draws == 1 or not self._is_one_hot():
            return []
        return [
            "every draw is one-hot, so it claims to be certain and aleatoric is 0: if draws are "
            "sampled labels, give them as sampled_labels"
        ]

    def _is_one_hot(self) -> bool:
        first = np.asarray(self.probs[:64]).max(axis=-1)
        if (first < 1).any():  # the first points decide for most beliefs
            return False
        return all(bool((chunk.max(axis=-1) == 1).all()) for _, chunk in chunked(self.probs))
