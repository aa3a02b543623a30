"""Merge numbers that differ only by rounding: rounding is not ranking."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rue._arrays import FloatArray

__all__ = ["SAME", "Levels"]

# Components are rounded to 1e-12 of the loss's scale, which separates equal ones by as much.
SAME = 8e-12


@dataclass(frozen=True, eq=False)
class Levels:
    """Runs of numbers whose neighbours are within 8e-12 of the largest, each with its mean."""

    low: FloatArray
    high: FloatArray
    level: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Return the runs of a sample."""
        ranked = np.unique(values)
        head = np.flatnonzero(np.append(True, np.diff(ranked) > SAME * ranked[-1]))
        tail = np.append(head[1:], len(ranked)) - 1
        mean = np.add.reduceat(ranked, head) / (tail - head + 1)
        return cls(ranked[head], ranked[tail], mean)

    def snap(self, values: FloatArray) -> FloatArray:
        """Replace numbers within a run by its mean, and leave others unchanged."""
        run = np.maximum(np.searchsorted(self.low, values, side="right") - 1, 0)
        inside = (self.low[run] <= values) & (values <= self.high[run])
        return np.where(inside, self.level[run], values)
