"""Risk and regret at a coverage, and the largest coverage within a risk or a regret.

All of them are read from the curves of AuRC and AuReC: points are accepted in the order of the
estimated epistemic component, straight within ties, and neither curve is divided by the coverage.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.metrics.statistics import Hat, PointValues, Sample, Star, Statistic, block_starts

ROUNDING = 1e-12
SCORE = Hat("epistemic")
CURVES: dict[Literal["risk", "regret"], Star] = {"risk": Star("total"), "regret": Star("epistemic")}


@dataclass(frozen=True)
class AtLimit(Statistic):
    """A number of the curve of risk or regret, at a limit of the run (``Run.at``)."""

    curve: Literal["risk", "regret"]

    @property
    def sources(self) -> tuple[PointValues, ...]:
        """The curve and the score that ranks it."""
        return CURVES[self.curve], SCORE

    @property
    def limited(self) -> str:
        """The name of the limit: risk, regret or coverage."""
        return self.curve

    def value(self, sample: Sample) -> float:
        """Return the number of a sample."""
        return float(self.replicates(sample, np.ones((1, len(sample)), np.uint8))[0])

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        """Return the number of each replicate."""
        limit, value = sample.run.at.get(self.limited), sample.points(CURVES[self.curve])
        if limit is None or value is None:
            return super().replicates(sample, weights)
        order, score = sample.order(SCORE), np.asarray(sample.points(SCORE))
        ends = np.append(block_starts(score[order])[1:], len(order)) - 1
        numbers = []
        for weight in weights[:, order]:
            coverage = np.append(0, np.cumsum(weight, dtype=np.int64)[ends])
            height = np.append(0.0, np.cumsum(weight * value[order])[ends])
            numbers.append(self.read(limit, coverage / coverage[-1], height / coverage[-1]))
        return np.array(numbers)

    def read(self, limit: float, coverage: FloatArray, height: FloatArray) -> float:
        """Return the largest coverage at which the curve with these corners is within the limit."""
        close = ROUNDING * max(abs(limit), float(np.abs(height).max()))
        last = int(np.flatnonzero(height <= limit + close)[-1])
        if last == len(height) - 1:
            return 1.0
        part = max(limit - height[last], 0.0) / (height[last + 1] - height[last])
        return float(coverage[last] + part * (coverage[last + 1] - coverage[last]))


@dataclass(frozen=True)
class AtCoverage(AtLimit):
    """The height of the curve of risk or regret at a coverage."""

    @property
    def limited(self) -> str:
        """The name of the limit."""
        return "coverage"

    def read(self, limit: float, coverage: FloatArray, height: FloatArray) -> float:
        """Return the height of the curve with these corners."""
        return float(np.interp(limit, coverage, height))


def limit_titles(at: Mapping[str, float]) -> dict[str, str]:
    """Return the titles of the columns that have a limit, with the limit in them."""
    titles = {}
    for curve in CURVES if "coverage" in at else ():
        titles[f"{curve}_at_coverage"] = f"{curve} at {at['coverage']:g}"
    for curve in CURVES:
        if curve in at:
            titles[f"coverage_at_{curve}"] = f"cov. at {curve} {at[curve]:g}"
    return titles
