"""Rounding is not ranking: numbers that differ only by rounding, brought together."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rue._arrays import FloatArray

__all__ = ["SAME", "Levels"]

# Components are rounded to 1e-12 of the loss's scale, which moves equal ones apart by as much.
SAME = 8e-12


@dataclass(frozen=True, eq=False)
class Levels:
    """Runs of numbers, neighbours within 8e-12 of the largest, each with the number it means."""

    low: FloatArray
    high: FloatArray
    level: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Find the runs of a sample; a run means its mean."""
        ranked = np.unique(values)
        head = np.flatnonzero(np.append(True, np.diff(ranked) > SAME * ranked[-1]))
        tail = np.append(head[1:], len(ranked)) - 1
        mean = np.add.reduceat(ranked, head) / (tail - head + 1)
        return cls(ranked[head], ranked[tail], mean)

    def snap(self, values: FloatArray) -> FloatArray:
        """Replace numbers within a run by what it means, and leave others alone."""
        run = np.maximum(np.searchsorted(self.low, values, side="right") - 1, 0)
        inside = (self.low[run] <= values) & (values <= self.high[run])
        return np.where(inside, self.level[run], values)
