"""The interface of truths: what annotators said about each point."""

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.beliefs.base import PerPoint


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

    @abstractmethod
    def first_difference(self, other: "Truth") -> int | None:
        """Return the first of as many points with other answers, or None if all are the same."""

    @abstractmethod
    def answer_bytes(self) -> list[bytes]:
        """Return the answers of each point as bytes, to be hashed."""

    @abstractmethod
    def chosen_classes(self) -> NDArray[Any]:
        """Return which classes somebody chose, shape (n_classes,)."""
