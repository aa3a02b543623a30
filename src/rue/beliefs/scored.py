"""Scored: one distribution per point, and an epistemic score from another source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    as_array,
    as_vector,
    chunked,
    kept,
    require_distributions,
    require_n_classes,
    require_shape,
    round_to_scale,
    sum_tolerance,
)
from rue.beliefs.base import Components
from rue.beliefs.draws import ClassBelief
from rue.losses.base import Expectation, Loss
from rue.losses.outcomes import Classes, as_classes


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scored(ClassBelief):
    """One distribution per point, and an epistemic score from another source.

    An example is DDU, whose score is the negative log-density of the features.

    Parameters
    ----------
    probs : array_like of shape (n_points, n_classes)
        Probabilities, with the same rules as in :class:`Draws`.
    epistemic : array_like of shape (n_points,)
        Finite numbers, higher for more uncertain points; they are used as given.
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
        If a row of ``probs`` is no distribution or a score is not finite.

    Examples
    --------
    >>> from rue import Scored, decompose
    >>> decompose(Scored([[0.5, 0.5], [0.9, 0.1]], [3.0, -1.0]), "zero_one").epistemic
    array([ 3., -1.])
    """

    probs: NDArray[Any]
    epistemic: FloatArray
    _ROWS = ("probs", "epistemic")
    _COLUMNS = ("probs",)

    def __init__(
        self,
        probs: ArrayLike,
        epistemic: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        array = as_array("probs", probs)
        require_shape("probs", array, "n_points", "n_classes")
        require_n_classes("probs", array.shape[-1])
        require_distributions("probs", array, sum_tolerance(probs))
        score = as_vector("epistemic", epistemic, len(array))
        outcomes = as_classes(classes, array.shape[-1], "probs")
        arrays = {"probs": kept(array, probs), "epistemic": kept(score, epistemic)}
        self._name(outcomes, ids, method, actions, **arrays)

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        return "one distribution per point, and an epistemic score from another source"

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield the Bayes risk of the distributions, and the scores as the regret."""
        for rows, m in self.means():
            yield rows, Expectation(loss.bayes_risk(m), self.epistemic[rows])

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the distributions themselves."""
        for rows, chunk in chunked(self.probs):
            probs = chunk.astype(np.float64)
            yield rows, probs / probs.sum(axis=1, keepdims=True)

    def _rounded(
        self, aleatoric: FloatArray, epistemic: FloatArray, scale: float, error: FloatArray | None
    ) -> Components:
        aleatoric = round_to_scale(aleatoric, scale)
        return Components(aleatoric, aleatoric, epistemic, outside_score=True)
