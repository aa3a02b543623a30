"""Beliefs: what a model says of each point, as a distribution over distributions.

A belief is checked once, when it is made, and keeps the array it was given: nothing is copied,
a memory map stays on disk, and rows are renormalised in float64 when they are used.
"""

from abc import ABC, abstractmethod
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
    require_finite,
    require_n_classes,
    require_shape,
    show,
    stream,
)
from rue.errors import InputError
from rue.losses.base import Expectation, Loss

__all__ = ["Belief", "Dirichlet", "Draws", "Scored"]


class Belief(ABC):
    """A second-order prediction for each of ``n_points`` points over ``n_classes`` classes."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """How many points there are."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """How many classes there are."""

    @abstractmethod
    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Give expected Bayes risk and regret chunk by chunk."""

    @abstractmethod
    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Give the mean distribution m = E[p] chunk by chunk."""

    def mean(self) -> FloatArray:
        """Mean distribution m = E[p] of each point, (n_points, n_classes)."""
        return np.concatenate([chunk for _, chunk in self.means()])

    def __len__(self) -> int:
        return self.n_points


@final
@dataclass(frozen=True, eq=False)
class Draws(Belief):
    """Sampled distributions: ensembles, MC dropout, posterior samples.

    Parameters
    ----------
    probs
        Shape (n_points, n_draws, n_classes). Rows sum to 1 within 1e-6 (1e-3 in float16 and
        float32) and are renormalised in float64.

    Examples
    --------
    >>> Draws([[[0.9, 0.1], [0.5, 0.5]]]).mean()
    array([[0.7, 0.3]])
    """

    probs: NDArray[Any]

    def __init__(self, probs: ArrayLike) -> None:
        array = as_array("probs", probs)
        require_shape("probs", array, "n_points", "n_draws", "n_classes")
        require_n_classes("probs", array.shape[-1])
        require_distributions("probs", array)
        object.__setattr__(self, "probs", array)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.probs.shape[0])

    @property
    def n_draws(self) -> int:
        """How many distributions each point has."""
        return int(self.probs.shape[1])

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.probs.shape[2])

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Means over the draws."""
        for rows, chunk in stream(self.probs):
            yield rows, loss.expect_draws(chunk)

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Means over the draws."""
        from rue._kernels.draws import mean

        for rows, chunk in stream(self.probs):
            yield rows, mean(chunk)


@final
@dataclass(frozen=True, eq=False)
class Dirichlet(Belief):
    """A Dirichlet distribution: evidential networks, Bayesian counting.

    Parameters
    ----------
    alpha
        Concentrations above 0, shape (n_points, n_classes). Expectations under it are exact.

    Examples
    --------
    >>> Dirichlet([[3.0, 1.0]]).mean()
    array([[0.75, 0.25]])
    """

    alpha: NDArray[Any]

    def __init__(self, alpha: ArrayLike) -> None:
        array = as_array("alpha", alpha)
        require_shape("alpha", array, "n_points", "n_classes")
        require_n_classes("alpha", array.shape[-1])
        for rows, chunk in stream(array):
            require_finite("alpha", chunk, first_row=rows.start)
            if chunk.min() <= 0:
                row = int(np.argmax((chunk <= 0).any(axis=1)))
                raise InputError(
                    f"alpha must be above 0, got {show(chunk[row])} at row {rows.start + row}"
                )
            largest = chunk.max(axis=1).astype(np.float64)  # 1e290 is no float32
            if not (largest.min() > 1e-290 and largest.max() < 1e290):
                row = int(np.argmax((largest <= 1e-290) | (largest >= 1e290)))
                raise InputError(
                    "the largest alpha of a point must be from 1e-290 to 1e290, "
                    f"got {largest[row]:g} at row {rows.start + row}"
                )
        object.__setattr__(self, "alpha", array)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.alpha.shape[0])

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.alpha.shape[1])

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Exact (a cost matrix: sampled) expectations."""
        for rows, chunk in stream(self.alpha):
            yield rows, loss.expect_dirichlet(chunk.astype(np.float64), seed=seed)

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Alpha / alpha_0."""
        for rows, chunk in stream(self.alpha):
            alpha = chunk.astype(np.float64)
            yield rows, alpha / alpha.sum(axis=1, keepdims=True)


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
