"""The least number of annotators per point whose bracket is narrow enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rue.inference.plan_curves import Curves
from rue.inference.plan_measures import Quantity

__all__ = ["ANNOTATORS", "MOST_ANNOTATORS", "Needed", "annotators_needed"]

ANNOTATORS = (2, 3, 5, 10, 20, 50, 100)
MOST_ANNOTATORS = 1_000_000


@dataclass(frozen=True)
class Needed:
    """A number of annotators, its standard error, and whether the pilot is enough to say it."""

    number: int
    se: float
    reliable: bool


def annotators_needed(
    width: float, curves: Curves, numbers: Sequence[int], level: float
) -> Needed | None:
    """Return the least number of annotators whose bracket is at most ``width`` wide.

    Parameters
    ----------
    width : float
        The largest acceptable width.
    curves : Curves
        The width as a function of the number of annotators.
    numbers : sequence of int
        Numbers of annotators to look at, besides ``ANNOTATORS``.
    level : float
        The level of the intervals that decide what is reliable.

    Returns
    -------
    Needed or None
        The number; None if a million annotators are not enough.
    """
    inside = curves.pilot.n_annotators
    grid = sorted({m for m in (*ANNOTATORS, *numbers, inside) if m <= inside})
    low, high = None, None
    for m in grid:
        if curves.at(m).width.value <= width:
            high = m
            break
        low = m
    if low is None:
        return Needed(grid[0], 0.0, _is_narrow(width, curves.at(grid[0]).width, level))
    while high is None:  # as if the width fell as 1/m, at most fourfold at a time
        ahead = low * min(max(curves.at(low).width.value / width, 1.2), 4.0)
        step = min(math.ceil(ahead), MOST_ANNOTATORS)
        if curves.at(step).width.value <= width:
            high = step
        elif step == MOST_ANNOTATORS:
            return None
        else:
            low = step
    if high > inside and high > 1.1 * low:  # once more, so that the line is short
        middle = _between(width, curves, low, high)
        if low < middle < high:
            low, high = (low, middle) if curves.at(middle).width.value <= width else (middle, high)
    needed, slope = _between(width, curves, low, high), _slope(curves, low, high)
    near = curves.at(high).width
    if not (slope < 0 and near.value > 1e-9 * width):  # rounding is no width
        return Needed(needed, math.inf, False)
    number = near.times(needed / near.value / -slope)
    sure = Quantity(needed, number.influence, number.model_error).is_clear(level)
    return Needed(needed, number.se, sure and _is_narrow(width, near, level))


def _is_narrow(width: float, near: Quantity, level: float) -> bool:
    """Return whether a bracket is narrow enough by more than noise, or is more than noise."""
    apart = Quantity(width - near.value, near.influence, near.model_error)
    return apart.is_clear(level) or near.is_clear(level)


def _between(width: float, curves: Curves, low: int, high: int) -> int:
    """Interpolate between two numbers, linearly in the logarithms."""
    slope = _slope(curves, low, high)
    if not -math.inf < slope < 0:
        return high
    exact = float(low * (width / curves.at(low).width.value) ** (1 / slope))
    return min(high, max(low + 1, math.ceil(exact - 1e-9)))


def _slope(curves: Curves, low: int, high: int) -> float:
    first, second = curves.at(low).width.value, curves.at(high).width.value
    return math.log(second / first) / math.log(high / low) if second > 0 else -math.inf
