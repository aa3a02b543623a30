"""What a loss knows: its Bayes action, the risk of an action, and expectations of both."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_array, as_distributions, as_vector, require_shape
from rue.errors import InputError, ShapeError

UNITS = 1e12
TOLERANCE = 1 / UNITS
"""Rounding is not ranking: what differs by less than this share of the scale is equal."""


class Expectation(NamedTuple):
    """Bayes risk and regret of the action a(m), expected under a belief with mean m."""

    bayes_risk: FloatArray
    regret: FloatArray
    standard_error: FloatArray | None = None
    """Of either, where they are sampled; None where they are exact."""


class Loss(ABC):
    """A loss, and with it the functional of a distribution that minimises its risk.

    Distributions are float64 arrays with the classes on the last axis; ``probs`` is the truth
    and comes first.
    """

    name: str

    @abstractmethod
    def scale(self, n_classes: int) -> float:
        """How large the loss can be; components are rounded to 1e-12 of it."""

    def bound(self, n_classes: int) -> float:
        """The most that a belief's own action can lose; infinite where there is no most."""
        return self.scale(n_classes)

    @abstractmethod
    def action(self, probs: FloatArray) -> NDArray[Any]:
        """Bayes action a(p): (n_points, n_classes) -> (n_points,) or (n_points, n_classes)."""

    @abstractmethod
    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Expected loss of ``action`` when the truth is ``probs``."""

    @abstractmethod
    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Risk of the Bayes action."""

    @abstractmethod
    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Risk of ``action`` minus the Bayes risk, not as a difference of two large numbers."""

    @abstractmethod
    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Mean over draws, ``probs`` (n_points, n_draws, n_classes), rows not yet normalised."""

    @abstractmethod
    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """Mean over a Dirichlet distribution, ``alpha`` (n_points, n_classes)."""

    @abstractmethod
    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> NDArray[Any]:
        """Take a deployed predictor's actions, or raise."""

    def round(self, component: FloatArray, n_classes: int) -> FloatArray:
        """Round to 1e-12 of the scale, so that rounding errors rank nothing."""
        scale = self.scale(n_classes)
        rounded = np.rint(component / scale * UNITS) / UNITS * scale
        return np.asarray(rounded + 0.0)  # no negative zeros


def check_distributions(actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
    """Actions that are distributions."""
    array = as_array("actions", actions)
    if array.shape != (n_points, n_classes):
        raise ShapeError(
            f"actions must be distributions of shape {(n_points, n_classes)}, got {array.shape}"
        )
    return as_distributions("actions", array)


def check_choices(actions: ArrayLike, n_points: int, n_choices: int) -> NDArray[np.int64]:
    """Actions that are whole numbers below ``n_choices``."""
    array = as_array("actions", actions)
    require_shape("actions", array, "n_points")
    choices = as_vector("actions", array, n_points)
    broken = (choices != np.rint(choices)) | (choices < 0) | (choices >= n_choices)
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(
            f"actions must be whole numbers from 0 to {n_choices - 1}, "
            f"got {choices[row]:g} at row {row}"
        )
    return choices.astype(np.int64)


def first_least(risks: FloatArray, tolerance: float) -> NDArray[np.int64]:
    """Index of the least entry of the last axis, the lowest among those within ``tolerance``."""
    least = risks.min(axis=-1, keepdims=True)
    return np.asarray(np.argmax(risks <= least + tolerance, axis=-1))


def take(probs: FloatArray, action: NDArray[Any]) -> FloatArray:
    """p[a]: the entry of the last axis that each action names."""
    index = np.broadcast_to(action, probs.shape[:-1])[..., None]
    return np.asarray(np.take_along_axis(probs, index, axis=-1)[..., 0])
