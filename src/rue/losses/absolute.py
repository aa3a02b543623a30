"""Absolute loss: the action is a number a, its loss abs(v[y] - a)."""

from typing import final

from numpy.typing import ArrayLike

from rue.losses._quantile import QuantileLoss


@final
class Absolute(QuantileLoss):
    """Absolute loss on the scale of ``values``; its Bayes action is the lower median.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> from rue import Absolute
    >>> import numpy as np
    >>> Absolute([1, 2, 10]).action(np.array([[0.2, 0.4, 0.4]]))
    array([2.])
    """

    name = "absolute"

    def __init__(self, values: ArrayLike | None = None) -> None:
        super().__init__(0.5, 2.0, values)
