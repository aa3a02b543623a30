"""A person who is asked about the deferred points: parity with them, and what the team costs.

Points are accepted in the order of the estimated total, straight within ties. At coverage c the
team pays the risk of the accepted points, and for each deferred one the risk of a person and a fee.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.errors import InputError
from rue.metrics.curves import Curve, risk_coverage_curve
from rue.metrics.statistics import Hat, Points, Sample, Star, Statistic, block_starts

__all__ = ["Parity", "TeamCoverage", "TeamRisk", "team_curve"]

ROUNDING = 1e-12
"""Sums that differ by less than this share of their terms count as equal."""


def team_curve(star: Components, hat: Components, *, defer_fee: float = 0.0) -> Curve:
    """Return what model and person cost together, at each coverage.

    Points are accepted in the order of the estimated total. At coverage c, the team costs the
    risk of the accepted points plus, for each deferred point, the risk of a person and the fee,
    all divided by the number of points.

    Parameters
    ----------
    star, hat : Components
        The realised components, with the risk of a person, and the estimated ones.
    defer_fee : float
        What asking a person costs beyond their risk, in the unit of the loss.

    Returns
    -------
    Curve
        The corners of the curve, from deferring everything to accepting everything.

    Raises
    ------
    InputError
        If ``star`` has no risk of a person.

    Examples
    --------
    >>> from rue import Components
    >>> from rue.metrics.person import team_curve
    >>> star = Components([0.0, 0.5], [0.0, 0.5], [0.0, 0.0], person=np.array([0.25, 0.25]))
    >>> team_curve(star, star).value
    array([0.25 , 0.125, 0.25 ])
    """
    if star.person is None:
        raise InputError("star must have the risk of a person, which needs two answers per point")
    asked = star.person + defer_fee
    curve = risk_coverage_curve(star.total - asked, hat.total)
    return Curve(curve.coverage, curve.value + asked.mean(), curve.threshold)


class _Accepted(NamedTuple):
    """Weighted samples as points are accepted: one row per sample, one column per corner."""

    coverage: FloatArray
    """The share of accepted points, shape (n_replicates, n_blocks + 1)."""
    excess: FloatArray
    """What the accepted points cost beyond a person, of the same shape, over all points."""
    close: FloatArray
    """Differences of the excess that are rounding, shape (n_replicates, 1)."""
    asked: FloatArray
    """What asking about every point costs, shape (n_replicates,)."""


@dataclass(frozen=True)
class _AlongTotal(Statistic):
    """A number that is read where points are accepted in the order of the estimated total."""

    @property
    def sources(self) -> tuple[Points, ...]:
        return Star("total"), Star("person"), Hat("total")

    @abstractmethod
    def read(self, accepted: _Accepted) -> FloatArray:
        """Return the number of each sample, shape (n_replicates,)."""

    def fee(self, sample: Sample) -> float:
        """Return what is paid beyond the risk of a person."""
        return sample.run.defer_fee

    def value(self, sample: Sample) -> float:
        return float(self.replicates(sample, np.ones((1, len(sample)), np.uint8))[0])

    def replicates(self, sample: Sample, weights: NDArray[np.uint8]) -> FloatArray:
        total, person = sample.points(Star("total")), sample.points(Star("person"))
        score = sample.points(Hat("total"))
        if total is None or person is None or score is None:
            return super().replicates(sample, weights)
        order = sample.order(Hat("total"))
        starts = block_starts(score[order])
        drawn = weights[:, order].astype(np.int64)
        mass = drawn.sum(axis=1, keepdims=True)
        share = drawn / mass
        asked = (person + self.fee(sample))[order]
        excess = total[order] - asked
        return self.read(
            _Accepted(
                _cumulated(drawn, starts) / mass,
                _cumulated(share * excess, starts),
                ROUNDING * (share @ np.abs(excess))[:, None],
                share @ asked,
            )
        )


def _cumulated(terms: NDArray[Any], starts: IntArray) -> NDArray[Any]:
    """Return the sums over the first blocks of each row, from none of them to all."""
    sums = np.zeros((len(terms), len(starts) + 1), terms.dtype)
    np.cumsum(np.add.reduceat(terms, starts, axis=1), axis=1, out=sums[:, 1:])
    return sums


@dataclass(frozen=True)
class Parity(_AlongTotal):
    """The largest coverage at which the accepted points cost no more than a person on them."""

    def fee(self, sample: Sample) -> float:
        return 0.0

    def read(self, accepted: _Accepted) -> FloatArray:
        coverage, excess, close, _ = accepted
        rows, n_blocks = np.arange(len(excess)), excess.shape[1] - 1
        last = n_blocks - np.argmax((excess <= close)[:, ::-1], axis=1)
        after = np.minimum(last + 1, n_blocks)
        rise = excess[rows, after] - excess[rows, last]
        room = np.maximum(-excess[rows, last], 0.0)
        part = np.divide(room, rise, out=np.zeros(len(rows)), where=after > last)
        step = coverage[rows, after] - coverage[rows, last]
        return np.where(after > last, coverage[rows, last] + part * step, 1.0)


@dataclass(frozen=True)
class TeamRisk(_AlongTotal):
    """The least cost of model and person together."""

    def read(self, accepted: _Accepted) -> FloatArray:
        return np.asarray(accepted.asked + accepted.excess.min(axis=1))


@dataclass(frozen=True)
class TeamCoverage(_AlongTotal):
    """The coverage at which model and person cost least, the largest if there are several."""

    def read(self, accepted: _Accepted) -> FloatArray:
        coverage, excess, close, _ = accepted
        least = excess <= excess.min(axis=1, keepdims=True) + close
        last = excess.shape[1] - 1 - np.argmax(least[:, ::-1], axis=1)
        return np.asarray(coverage[np.arange(len(excess)), last])
