"""The interface of beliefs: mean distributions, and expectations under a loss."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from rue._arrays import FloatArray
from rue.losses.base import Expectation, Loss

__all__ = ["Belief"]


class Belief(ABC):
    """A second-order prediction for each point: a distribution over distributions of classes."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """The number of points."""

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
        """Yield the rows of each chunk with their mean distributions m = E[p]."""

    def mean(self) -> FloatArray:
        """Return the mean distribution m = E[p] of each point, shape (n_points, n_classes)."""
        return np.concatenate([chunk for _, chunk in self.means()])

    def __len__(self) -> int:
        return self.n_points
