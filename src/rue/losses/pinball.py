"""Pinball loss: the action is a number a, its loss (q - 1[v[y] < a]) (v[y] - a)."""

from typing import Self, final

from numpy.typing import ArrayLike

from rue.errors import InputError
from rue.losses._quantile import QuantileLoss


@final
class Pinball(QuantileLoss):
    """Pinball (quantile) loss on the scale of ``values``.

    It costs q for each unit that the action is too low and 1 - q for each unit that it is too
    high, so that its Bayes action is the quantile at level q. At q = 1/2 it is half the absolute
    loss.

    Parameters
    ----------
    q : float
        The level of the quantile, between 0 and 1.
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Raises
    ------
    InputError
        If ``q`` is not between 0 and 1, or ``values`` do not increase.

    Examples
    --------
    >>> from rue import Pinball
    >>> import numpy as np
    >>> loss = Pinball(0.8)
    >>> loss.name, loss.action(np.array([[0.5, 0.25, 0.25]]))
    ('pinball:0.8', array([2.]))
    """

    def __init__(self, q: float, values: ArrayLike | None = None) -> None:
        try:
            level = float(q)
        except (TypeError, ValueError):
            level = float("nan")
        if not 0 < level < 1:
            raise InputError(f"the level q of pinball loss must be between 0 and 1, got {q!r}")
        super().__init__(level, 1.0, values)
        self.name = f"pinball:{level!r}"

    def bound(self, n_classes: int) -> float:
        """Return the range of the values times the larger of q and 1 - q."""
        return max(self.q, 1 - self.q) * self.scale(n_classes)

    def on(self, values: ArrayLike) -> Self:
        """Return the same loss on another scale."""
        return type(self)(self.q, values)
