"""Samples: several empirical distributions per point, from anything that can be sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    LARGEST,
    FloatArray,
    as_array,
    chunked,
    kept,
    require_between,
    require_finite,
    require_shape,
)
from rue.beliefs.real import RealBelief
from rue.losses.base import TOLERANCE, Expectation
from rue.losses.outcomes import RealNumbers
from rue.losses.real import Ragged, RealLoss


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Samples(RealBelief):
    """Sampled values of a real-valued outcome: each draw is the empirical distribution of its own.

    Parameters
    ----------
    values : array_like of shape (n_points, n_draws, n_values)
        ``n_values`` outcomes sampled from each of
        ``n_draws`` distributions. An ensemble of point predictions has one value a draw; answers
        sampled from a single model have one draw, and then nothing is epistemic.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    method : str
        The name of the method.
    actions : array_like of shape (n_points,) or (n_points, n_values), optional
        The actions of a deployed predictor; see :func:`rue.realize`.

    Raises
    ------
    InputError
        If a value is not finite.
    ShapeError
        If the array does not have these three axes.

    Examples
    --------
    >>> import rue
    >>> rue.decompose(rue.Samples([[[0.0, 2.0], [4.0, 6.0]]]), "squared")  # doctest: +ELLIPSIS
    Components(total=array([5.]), aleatoric=array([1.]), epistemic=array([4.]), ...)
    """

    values: NDArray[Any]

    _ROWS = ("values",)

    def __init__(
        self,
        values: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        array = as_array("values", values)
        require_shape("values", array, "n_points", "n_draws", "n_values")
        for rows, chunk in chunked(array):
            require_finite("values", chunk, first_row=rows.start)
            require_between("values", chunk, -LARGEST, LARGEST, first_row=rows.start)
        self._name(RealNumbers(), ids, method, actions, values=kept(array, values))

    @property
    def n_draws(self) -> int:
        """The number of empirical distributions of each point."""
        return int(self.values.shape[1])

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        several = f"{self.n_draws:,} draws" if self.n_draws > 1 else "one draw"
        return f"{several} of {self.values.shape[2]:,} sampled values per point"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the values under the name that files have for them."""
        return {"samples": self.values}

    def expectation(self, loss: RealLoss) -> Expectation:
        """Return exact sums over the values."""
        parts = [loss.expect_samples(chunk)[:2] for _, chunk in chunked(self.values)]
        risk, regret = map(np.concatenate, zip(*parts, strict=True))
        return Expectation(risk, regret)

    def mixture_mean(self) -> FloatArray:
        """Return the mean of all values."""

        def mean(chunk: NDArray[Any]) -> FloatArray:
            first = chunk[:, 0, 0].astype(np.float64)
            return np.asarray(first + (chunk - first[:, None, None]).mean(axis=(1, 2)))

        return self._each(mean)

    def mixture_quantile(self, q: float) -> FloatArray:
        """Return the smallest value v with F(v) >= q, up to rounding."""
        from rue._kernels.samples import quantile

        return self._each(lambda chunk: quantile(chunk, q - TOLERANCE))

    def mixture_spread(self) -> FloatArray:
        """Return half the mean distance of two of the values."""
        from rue._kernels.samples import crps

        return self._each(lambda chunk: np.add(*crps(chunk)))

    def mixture_distances(self, answers: Ragged) -> FloatArray:
        """Return the mean distance of the values from each answer."""
        from rue._kernels.samples import distances

        out = np.empty(len(answers.values))
        for rows, chunk in chunked(self.values):
            starts = answers.starts[rows.start : rows.stop + 1]
            own = slice(starts[0], starts[-1])
            out[own] = distances(chunk, answers.values[own], starts - starts[0])
        return out

    def _each(self, of: Callable[[NDArray[Any]], FloatArray]) -> FloatArray:
        return np.concatenate([of(chunk) for _, chunk in chunked(self.values)])
