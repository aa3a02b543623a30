"""The interface of truths: what annotators said about each point."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.beliefs.base import PerPoint
from rue.losses.base import Loss


class Truth(PerPoint):
    """The answers of annotators about each point, and so its true distribution p*."""

    counts: FloatArray | None
    """How many annotators chose each class; None where p* is known, and for real numbers."""

    @property
    @abstractmethod
    def n_annotators(self) -> FloatArray:
        """The number of annotators of each point, shape (n_points,); infinity if p* is known."""

    @property
    def values(self) -> FloatArray | None:
        """The numbers that the classes stand for, shape (n_classes,), where there are any."""
        return self.outcomes.values

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the largest real-valued answer possible, where that is known."""
        return self.outcomes.range

    @property
    @abstractmethod
    def has_answers(self) -> bool:
        """Whether there are answers that can be drawn again; not where p* is known exactly."""

    @property
    def votes(self) -> FloatArray | None:
        """How many chose each class, or p* where it is known; None for real numbers."""
        return None

    @property
    def asked(self) -> str:
        """How many annotators a point has, for a reader."""
        n = self.n_annotators
        if not np.isfinite(n).all():
            return "none: the label distribution is known"
        return self._span + ("" if n.min() == n.max() else f", {n.mean():.1f} on average")

    @property
    def _span(self) -> str:
        """The least and the largest number of annotators, or the one that all points have."""
        low, high = self.n_annotators.min(), self.n_annotators.max()
        return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by which a file holds the answers, by name."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what a reader must know about the answers, by name."""

    def entropies(self) -> FloatArray | None:
        """Return the entropy of the answers of each point, in nats; None for real numbers."""
        return None

    def majority(self) -> NDArray[Any] | None:
        """Return the class that most annotators chose, shape (n_points,); None for real numbers."""
        return None

    def constant_risk(self, loss: Loss) -> FloatArray | None:
        """Return the risk of predicting the mean answer of all points; None for real numbers."""
        return None

    @abstractmethod
    def within(self, limits: tuple[float, float]) -> Self:
        """Return the same answers with another range; raise if one is outside of it."""

    @abstractmethod
    def first_difference(self, other: "Truth") -> int | None:
        """Return the first of as many points with other answers, or None if all are the same."""

    @abstractmethod
    def answer_bytes(self) -> list[bytes]:
        """Return the answers of each point as bytes, to be hashed."""

    @abstractmethod
    def chosen_classes(self) -> NDArray[Any]:
        """Return which classes somebody chose, shape (n_classes,)."""
