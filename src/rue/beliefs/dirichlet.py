"""Dirichlet: one Dirichlet distribution per point, for example of an evidential network."""

from __future__ import annotations

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
    require_finite,
    require_n_classes,
    require_shape,
    show,
)
from rue.beliefs.draws import ClassBelief, draw_dirichlets
from rue.errors import InputError
from rue.losses.base import Expectation, Loss
from rue.losses.outcomes import Classes, as_classes


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dirichlet(ClassBelief):
    """One Dirichlet distribution per point, of evidential networks or Bayesian counting.

    Expectations are exact, except for cost matrices, where they are sampled.

    Parameters
    ----------
    alpha : array_like of shape (n_points, n_classes)
        Concentrations above 0.
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
        If a concentration is not finite or not above 0.

    Examples
    --------
    >>> from rue import Dirichlet
    >>> Dirichlet([[3.0, 1.0]]).mean()
    array([[0.75, 0.25]])
    """

    alpha: NDArray[Any]
    _ROWS = _COLUMNS = ("alpha",)

    def __init__(
        self,
        alpha: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        array = as_array("alpha", alpha)
        require_shape("alpha", array, "n_points", "n_classes")
        require_n_classes("alpha", array.shape[-1])
        for rows, chunk in chunked(array):
            require_finite("alpha", chunk, first_row=rows.start)
            if chunk.min() <= 0:
                row = int(np.argmax((chunk <= 0).any(axis=1)))
                raise InputError(
                    f"alpha must be above 0, got {show(chunk[row])} at row {rows.start + row}"
                )
            largest = chunk.max(axis=1).astype(np.float64)  # float32 cannot hold 1e290
            if not (largest.min() > 1e-290 and largest.max() < 1e290):
                row = int(np.argmax((largest <= 1e-290) | (largest >= 1e290)))
                raise InputError(
                    "the largest alpha of a point must be from 1e-290 to 1e290, "
                    f"got {largest[row]:g} at row {rows.start + row}"
                )
        outcomes = as_classes(classes, array.shape[-1], "alpha")
        self._name(outcomes, ids, method, actions, alpha=kept(array, alpha))

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield exact expectations (sampled for a cost matrix)."""
        for rows, chunk in chunked(self.alpha):
            yield rows, loss.expect_dirichlet(chunk.astype(np.float64), seed=seed)

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        r"""Yield :math:`\alpha / \alpha_0`."""
        for rows, chunk in chunked(self.alpha):
            alpha = chunk.astype(np.float64)
            yield rows, alpha / alpha.sum(axis=1, keepdims=True)

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        return "a Dirichlet distribution per point"

    def sampled_probs(self, rows: slice, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw from the Dirichlet of each point."""
        alpha = np.asarray(self.alpha[rows], np.float64)
        return draw_dirichlets(np.broadcast_to(alpha, (n_replicates, *alpha.shape)), rng)

    def pair_sums(self, counts: FloatArray, are_answers: bool) -> FloatArray:
        """Return the sums over pairs of answers that have the same p."""
        from rue._kernels.pairs import dirichlet_pairs, pair_sums

        blocks = ((rows, np.asarray(alpha, np.float64)) for rows, alpha in chunked(self.alpha))
        return pair_sums(dirichlet_pairs, blocks, counts, are_answers)
