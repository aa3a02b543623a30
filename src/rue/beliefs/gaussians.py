"""Gaussians: several normal distributions per point, from ensembles or dropout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import (
    LARGEST,
    FloatArray,
    as_array,
    kept,
    require_between,
    require_finite,
    require_shape,
    writable,
)
from rue.beliefs.real import RealBelief
from rue.errors import ShapeError
from rue.losses.base import Expectation
from rue.losses.outcomes import RealNumbers
from rue.losses.real import Ragged, RealLoss


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Gaussians(RealBelief):
    """Normal distributions of a real-valued outcome: ensembles, MC dropout, posterior samples.

    Parameters
    ----------
    mean, sd : array_like of shape (n_points, n_draws)
        Mean and standard deviation of each draw; ``sd`` is above 0. For a
        model without noise of its own use :class:`~rue.Samples`.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    method : str
        The name of the method.
    actions : array_like of shape (n_points,) or (n_points, n_values), optional
        The actions of a deployed predictor; see :func:`rue.realize`.

    Raises
    ------
    InputError
        If a number is not finite or an ``sd`` is not above 0.
    ShapeError
        If the two do not have the same shape (n_points, n_draws).

    Examples
    --------
    >>> import rue
    >>> belief = rue.Gaussians(mean=[[0.0, 2.0]], sd=[[1.0, 1.0]])
    >>> rue.decompose(belief, "squared").epistemic
    array([1.])
    """

    mean: FloatArray
    sd: FloatArray

    _ROWS = ("mean", "sd")

    def __init__(
        self,
        mean: ArrayLike,
        sd: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        arrays = {"mean": _matrix("mean", mean), "sd": _matrix("sd", sd)}
        if arrays["mean"].shape != arrays["sd"].shape:
            raise ShapeError(
                "mean and sd must have the same shape (n_points, n_draws), "
                f"got {arrays['mean'].shape} and {arrays['sd'].shape}"
            )
        require_between("mean", arrays["mean"], -LARGEST, LARGEST)
        require_between("sd", arrays["sd"], 1 / LARGEST, LARGEST, above=0.0)
        arrays = {name: kept(arrays[name], data) for name, data in (("mean", mean), ("sd", sd))}
        self._name(RealNumbers(), ids, method, actions, **arrays)

    @property
    def n_draws(self) -> int:
        """The number of normal distributions of each point."""
        return int(self.mean.shape[1])

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        n_draws = self.n_draws
        several = f"{n_draws:,} normal distributions" if n_draws > 1 else "one normal distribution"
        return f"{several} per point"

    def expectation(self, loss: RealLoss) -> Expectation:
        """Return closed forms for normals."""
        return loss.expect_gaussians(*self._arrays())

    def mixture_mean(self) -> FloatArray:
        """Return the mean of the means of the draws."""
        return np.asarray(self.mean[:, 0] + (self.mean - self.mean[:, :1]).mean(axis=1))

    def mixture_quantile(self, q: float) -> FloatArray:
        """Return the a with mean F_s(a) = q."""
        from scipy.special import ndtri

        from rue._kernels.gaussians import quantile

        return np.asarray(quantile(*self._arrays(), q, float(ndtri(q))))

    def mixture_spread(self) -> FloatArray:
        """Return half the mean of E|X_s - X_t| over all pairs of draws."""
        from rue._kernels.gaussians import crps

        return np.asarray(np.add(*crps(*self._arrays())))

    def mixture_distances(self, answers: Ragged) -> FloatArray:
        """Return the mean of E|X_s - y| over the draws."""
        from rue._kernels.gaussians import distances

        return np.asarray(distances(*self._arrays(), answers.values, answers.starts))

    def _arrays(self) -> tuple[FloatArray, FloatArray]:
        return writable(self.mean), writable(self.sd)


def _matrix(name: str, data: ArrayLike) -> FloatArray:
    array = as_array(name, data)
    require_shape(name, array, "n_points", "n_draws")
    require_finite(name, array)
    return np.require(array.view(np.ndarray), np.float64, ["C"])
