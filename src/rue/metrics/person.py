"""A person who is asked about the deferred points: parity with them, and what the team costs.

Points are accepted in the order of the estimated total, straight within ties. At coverage c the
team pays the risk of the accepted points, and for each deferred one the risk of a person and a fee.
"""

from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InputError
from rue.losses import Loss
from rue.metrics.curves import Curve, risk_coverage_curve
from rue.metrics.statistics import (
    Hat,
    PointValues,
    Sample,
    Star,
    Statistic,
    block_ends,
    lanes_of,
)

ROUNDING = 1e-12
"""Sums that differ by less than this share of their terms, or of the scale of the loss for each
point, count as equal."""


def team_curve(star: Components, hat: Components, *, defer_fee: float = 0.0) -> Curve:
    """Return what model and person cost together, at each coverage."""
    if star.person is None:
        raise InputError("star must have the risk of a person, which needs two answers per point")
    person_cost = star.person + defer_fee
    curve = risk_coverage_curve(star.total - person_cost, hat.total)
    return Curve(curve.coverage, curve.value + person_cost.mean(), curve.threshold)


@dataclass(frozen=True)
class _AlongTotal(Statistic):
    """A number that is read where points are accepted in the order of the estimated total."""

    place: ClassVar[int]
    """The column of :func:`rue._kernels.bootstrap.teams` that holds the number."""

    @property
    def sources(self) -> tuple[PointValues, ...]:
        return Star("total"), Star("person"), Hat("total")

    def fee(self, sample: Sample) -> float:
        """Return what is paid beyond the risk of a person."""
        return sample.run.defer_fee

    def value(self, sample: Sample) -> float:
        return float(self.replicates(sample, np.ones((1, len(sample)), np.uint8))[0])

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        total, person = sample.points(Star("total")), sample.points(Star("person"))
        if total is None or person is None:
            return super().replicates(sample, weights)
        return _teams(sample, self.fee(sample), weights)[:, self.place]


def _teams(sample: Sample, fee: float, weights: NDArray[np.uint8]) -> FloatArray:
    """Return parity, least cost and its coverage in each weighted sample, (n_replicates, 3)."""
    from rue._kernels.bootstrap import teams

    # Three columns read the same samples, which end with their block of replicates.
    shared: dict[Any, Any] = sample.once(_shared)
    weights_then, out = shared.get((fee, id(weights)), (lambda: None, None))
    if weights_then() is not weights or out is None:
        if fee not in shared:
            shared[fee] = _along_total(sample, fee)
        lanes = lanes_of(weights)
        out = np.empty((8 * lanes.shape[1], 3))
        teams(lanes, *shared[fee], ROUNDING, sample.once(_scale), out)
        shared[fee, id(weights)] = ref(weights), out
    return np.asarray(out[: len(weights)])


def _scale(sample: Sample) -> float:
    """Return the scale of the loss, 1e-12 of which components are rounded to; 0 if unknown."""
    truth, loss = sample.run.annotations, sample.run.loss
    n_classes = 0 if truth is None else truth.outcomes.n
    return loss.scale(n_classes) if n_classes and isinstance(loss, Loss) else 0.0


def _shared(_: Sample) -> dict[Any, Any]:
    return {}


def _along_total(sample: Sample, fee: float) -> tuple[NDArray[Any], ...]:
    """Return the order by the total, ends of ties, the excess over asking, and the cost of it."""
    order = sample.order(Hat("total")).astype(np.uint32)
    total, person, score = (
        np.asarray(sample.points(points))[order]
        for points in (Star("total"), Star("person"), Hat("total"))
    )
    person += fee
    total -= person
    return order, block_ends(score), total, person


@dataclass(frozen=True)
class Parity(_AlongTotal):
    """The largest coverage at which the accepted points cost no more than a person on them."""

    place = 0

    def fee(self, sample: Sample) -> float:
        return 0.0


@dataclass(frozen=True)
class TeamRisk(_AlongTotal):
    """The least cost of model and person together."""

    place = 1


@dataclass(frozen=True)
class TeamCoverage(_AlongTotal):
    """The coverage at which model and person cost least, the largest if there are several."""

    place = 2
