"""What every belief offers: mean distributions, and expectations under a loss."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from rue._arrays import FloatArray
from rue.losses.base import Expectation, Loss

__all__ = ["Belief"]


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
