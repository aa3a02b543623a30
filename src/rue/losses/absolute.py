"""Absolute loss: the action is a number a, its loss abs(v[y] - a)."""

from typing import final

from numpy.typing import ArrayLike

from rue.losses._quantile import QuantileLoss


@final
class Absolute(QuantileLoss):
    """Absolute loss on the scale of ``values`` (default 0..K-1): the lower median."""

    name = "absolute"

    def __init__(self, values: ArrayLike | None = None) -> None:
        super().__init__(0.5, 2.0, values)
