"""The base class of losses whose classes stand for numbers."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_values, as_vector, show
from rue.errors import InputError
from rue.losses.base import Loss
from rue.losses.outcomes import Classes, Outcomes


class Valued(Loss):
    """A loss on the scale of ``values``: K increasing numbers, by default 0..K-1.

    Sums are computed with the offsets from the lowest value, so that precision is not lost if
    the values are far from 0, as years are.
    """

    needs_order = True

    def __init__(self, values: ArrayLike | None = None) -> None:
        self.values = None if values is None else as_values(values)

    def on(self, values: ArrayLike) -> Self:
        """Return the same loss on another scale."""
        return type(self)(values)

    def on_classes(self, classes: Outcomes) -> Self:
        """Return the same loss on the scale of the classes, unless it has its own."""
        stated = classes.given_values
        if self.values is None:
            return self if classes.values is None else self.on(classes.values)
        if stated is not None and not np.array_equal(self.values, stated):
            raise InputError(
                f"values must be equal to those of the loss, {show(self.values)}, or omitted, "
                f"got {show(np.array(stated))}"
            )
        return self

    def scale_notes(self, outcomes: Outcomes) -> list[str]:
        """Return which numbers the classes stand for."""
        if not isinstance(outcomes, Classes):
            return []
        k, named = outcomes.n, outcomes.names is not None and outcomes.numbers is None
        scale = ", ".join(map(str, range(k))) if k <= 6 else f"0, 1, ..., {k - 1}"
        scale = outcomes.describe(self.values) if named else scale
        if self.values is None:
            return [f"no values were given: classes count as {scale} under {self.name}"]
        return [f"classes count as {scale} under {self.name}"] if named else []

    def require_no_values(self) -> None:
        """Raise if there is a scale: real-valued outcomes are on their own."""
        if self.values is not None:
            raise InputError(
                f"values are the scale of classes, got {show(self.values)}; leave them out for "
                "real-valued outcomes"
            )

    def origin(self) -> float:
        """Return the lowest value."""
        return 0.0 if self.values is None else float(self.values[0])

    def offsets(self, n_classes: int) -> FloatArray:
        """Return the difference of each value from the lowest, shape (n_classes,)."""
        if self.values is None:
            return np.arange(n_classes, dtype=np.float64)
        return np.asarray(as_values(self.values, n_classes) - self.values[0])

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> NDArray[Any]:
        """Return any finite numbers, shape (n_points,)."""
        return as_vector("actions", actions, n_points)

    def require_within(self, actions: ArrayLike, n_classes: int) -> None:
        """Raise if a number lies outside the values; distributions, as rps takes, never do."""
        numbers = np.asarray(actions)
        scale = self.origin() + self.offsets(n_classes)[[0, -1]]
        outside = (numbers < scale[0]) | (numbers > scale[1])
        if numbers.ndim == 1 and outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"actions must lie within the values, {scale[0]:g} to {scale[1]:g}, for the loss "
                f"to be bounded, got {numbers[row]:g} at row {row}"
            )
