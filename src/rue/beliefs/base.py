"""The interface of beliefs: mean distributions, and expectations under a loss."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, as_rows
from rue.losses.base import Expectation, Loss

__all__ = ["Belief", "PerPoint"]


class PerPoint(ABC):
    """A dataclass of arrays whose first axis is the points."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """The number of points."""

    def __len__(self) -> int:
        return self.n_points

    def __getitem__(self, rows: int | slice | NDArray[Any]) -> Self:
        """Return the belief about some of the points: a number, a slice, a mask or indices."""
        rows = as_rows(rows, len(self))
        arrays: Any = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return type(self)(**{name: array[rows] for name, array in arrays.items()})


class Belief(PerPoint):
    """A second-order prediction for each point: a distribution over distributions of classes."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """The number of classes."""

    @abstractmethod
    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield the rows of each chunk with their expected Bayes risk and regret.

        Parameters
        ----------
        loss : Loss
            The loss.
        seed : int
            Seed for expectations that are sampled (cost matrices under a Dirichlet).

        Yields
        ------
        rows : slice
            The rows of the chunk.
        expectation : Expectation
            Arrays with one number per row of the chunk.
        """

    @abstractmethod
    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the rows of each chunk with their mean distributions :math:`m = E[p]`."""

    def mean(self) -> FloatArray:
        """Return the mean :math:`m = E[p]` of each point, shape (n_points, n_classes)."""
        return np.concatenate([chunk for _, chunk in self.means()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_points:,} points x {self.n_classes} classes)"
