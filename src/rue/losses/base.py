"""The interface of losses: Bayes action, risk of an action, Bayes risk, and expectations."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    as_array,
    as_distributions,
    as_values,
    as_vector,
    require_shape,
    row_sums,
    show,
)
from rue.errors import InputError, ShapeError
from rue.losses.outcomes import Classes, Outcomes

if TYPE_CHECKING:
    from rue.losses.real import RealLoss

TOLERANCE = 1e-12
"""Values that differ by less than this share of the scale count as equal."""

N_INNER = 32
"""How often answers are drawn where their mean Bayes risk has no formula."""

MANY_ANSWERS = 1_000
"""From this number of answers on, their mean Bayes risk counts as that of their distribution."""


class Expectation(NamedTuple):
    """Expected Bayes risk, and expected regret of the action a(m), under a belief with mean m.

    Attributes
    ----------
    bayes_risk : array of shape (n_points,)
        The mean of the Bayes risk of p, the aleatoric part.
    regret : array of shape (n_points,)
        The mean of the regret of a(m) under p, the epistemic part.
    standard_error : array of shape (n_points,), or None
        The standard error of both, if they are sampled; None if they are exact.
    """

    bayes_risk: FloatArray
    regret: FloatArray
    standard_error: FloatArray | None = None


class Loss(ABC):
    """A loss function, with the action that minimises its expectation (the Bayes action).

    Distributions are float64 arrays with the classes on the last axis. ``probs`` is the true
    distribution and always comes first.
    """

    name: str
    only_for_classes: ClassVar[str] = "it is defined for classes"
    """The reason if it is not defined for real-valued outcomes."""
    needs_order: bool = False
    """Whether the order of the classes matters beyond ties."""
    chooses_class: ClassVar[bool] = False
    """Whether an action is the number of a class."""

    @abstractmethod
    def scale(self, n_classes: int) -> float:
        """Return the size of the loss; components are rounded to 1e-12 of it."""

    def bound(self, n_classes: int) -> float:
        """Return the largest possible loss of a Bayes action; infinity if it is unbounded."""
        return self.scale(n_classes)

    def require_within(self, actions: ArrayLike, n_classes: int) -> None:
        """Raise if an action lies outside the scale, so that its loss exceeds the bound."""
        return

    @abstractmethod
    def action(self, probs: FloatArray) -> NDArray[Any]:
        """Return the Bayes action a(p) of each distribution.

        Parameters
        ----------
        probs : array of shape (..., n_classes)
            Distributions.

        Returns
        -------
        array of shape (...) or (..., n_classes)
            A class, a row of the cost matrix or a number for each distribution, or a
            distribution, according to the loss.
        """

    @abstractmethod
    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return the expected loss of ``action`` if ``probs`` is true, shape (...)."""

    @abstractmethod
    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return the risk of the Bayes action, shape (...)."""

    @abstractmethod
    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return the risk of ``action`` minus the Bayes risk, shape (...).

        It is computed without subtracting two large numbers.
        """

    def realized(
        self, probs: FloatArray, action: NDArray[Any]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return risk, Bayes risk and regret of ``action``, each of shape (n_points,)."""
        return self.risk(probs, action), self.bayes_risk(probs), self.regret(probs, action)

    @abstractmethod
    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean over draws.

        Parameters
        ----------
        probs : array of shape (n_points, n_draws, n_classes)
            Distributions, not yet normalised in float64.

        Returns
        -------
        Expectation
            Arrays of shape (n_points,).
        """

    @abstractmethod
    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """Return the mean over a Dirichlet distribution.

        Parameters
        ----------
        alpha : array of shape (n_points, n_classes)
            Concentrations.
        seed : int
            Seed for losses whose expectation is sampled (cost matrices).

        Returns
        -------
        Expectation
            Arrays of shape (n_points,).
        """

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return the loss of each action if each class is true, shape (n_points, n_classes)."""
        shape = (len(action), n_classes)
        columns = [self.risk(np.broadcast_to(sure, shape), action) for sure in np.eye(n_classes)]
        return np.stack(columns, axis=1)

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return what the Bayes risk of the frequencies of answers from p is on average.

        ``probs`` has shape (n_replicates, n_points, n_classes), ``n_answers`` (n_points,), and the
        result (n_replicates, n_points). Without a formula, answers are drawn with ``rng``.
        """
        risk = np.zeros(probs.shape[:-1])
        for _ in range(N_INNER):
            risk += self.bayes_risk(rng.multinomial(n_answers, probs) / n_answers[:, None])
        return risk / N_INNER

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        """Return the mean loss of each answer under the best action for the other answers.

        On average it is at least the Bayes risk of the distribution that the answers are drawn
        from (:mod:`rue.truth.realized`). This method goes class by class, which works
        for any loss; most losses have a formula.

        Parameters
        ----------
        counts : array of shape (n_points, n_classes)
            How often each answer was given, at least two answers per point.

        Returns
        -------
        array of shape (n_points,)
            The mean losses.
        """
        n_points, n_classes = counts.shape
        m, paid = row_sums(counts), np.zeros(n_points)
        for k in range(n_classes):
            chosen = np.flatnonzero(counts[:, k])
            sure = np.eye(n_classes)[np.full(len(chosen), k)]
            others = (counts[chosen] - sure) / (m[chosen] - 1)[:, None]
            paid[chosen] += counts[chosen, k] * self.risk(sure, self.action(others))
        return np.asarray(paid / m)

    def unbiased(self, counts: FloatArray) -> FloatArray:
        """Return an unbiased estimate of the Bayes risk, or raise if there is none.

        ``counts`` and the result are those of :meth:`leave_one_out`.
        """
        raise no_unbiased_risk(self.name)

    @abstractmethod
    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> NDArray[Any]:
        """Return the actions of a deployed predictor as an array; raise if they are invalid."""

    def on_classes(self, classes: Outcomes) -> "Loss":
        """Return the same loss on these classes: their values, or their columns by name."""
        return self

    def scale_notes(self, outcomes: Outcomes) -> list[str]:
        """Return which numbers the classes stand for, where the loss uses them."""
        return []

    def real(self) -> "RealLoss":
        """Return the same loss for real-valued outcomes, or raise and say why there is none."""
        raise InputError(
            f"{self.name} loss cannot be used with real-valued outcomes: {self.only_for_classes}; "
            "use squared, absolute, pinball:Q or crps"
        )


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


def check_distributions(actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
    """Return actions that are distributions, shape (n_points, n_classes)."""
    array = as_array("actions", actions)
    if array.shape != (n_points, n_classes):
        raise ShapeError(
            f"actions must be distributions of shape {(n_points, n_classes)}, got {array.shape}"
        )
    return as_distributions("actions", array)


def check_choices(actions: ArrayLike, n_points: int, n_choices: int) -> NDArray[np.int64]:
    """Return actions that are whole numbers below ``n_choices``, shape (n_points,)."""
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
    """Return the index of the smallest entry of the last axis."""
    least = risks.min(axis=-1, keepdims=True)
    return np.asarray(np.argmax(risks <= least + tolerance, axis=-1))


def drawn_plugin(
    loss: Loss,
    probs: FloatArray,
    n_answers: NDArray[np.int64],
    costs: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the mean least cost of drawn answers; ``costs`` has no rows for 0/1 loss."""
    from rue._kernels.plugin import mean_plugin

    means = np.empty(probs.shape[:-1])
    key = rng.integers(0, 2**63, dtype=np.uint64)
    flat = np.ascontiguousarray(probs.reshape(-1, probs.shape[-1]))
    mean_plugin(key, flat, np.minimum(n_answers, MANY_ANSWERS), costs, means.reshape(-1))
    many = n_answers >= MANY_ANSWERS
    means[..., many] = loss.bayes_risk(probs[..., many, :])
    return means


def mean_over_counts(
    function: Callable[[FloatArray], FloatArray], share: FloatArray, n_answers: NDArray[np.int64]
) -> FloatArray:
    """Return E f(c/m) of binomial counts c with probability ``share``."""
    means = np.empty_like(share)
    for m in sorted(set(n_answers.tolist())):
        points = n_answers == m
        if m >= MANY_ANSWERS:
            means[..., points, :] = function(share[..., points, :])
        else:
            means[..., points, :] = np.interp(share[..., points, :], *_count_table(function, m))
    return means


@lru_cache(maxsize=512)
def _count_table(
    function: Callable[[FloatArray], FloatArray], m: int
) -> tuple[FloatArray, FloatArray]:
    """Return shares, closer to each other near 0 and 1, and E f(c/m) for each of them."""
    share, c = (1 - np.cos(np.linspace(0, np.pi, 1025))) / 2, np.arange(m + 1)
    ways = np.array([math.log(math.comb(m, k)) for k in c.tolist()])
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 log 0 is 0
        yes, no = c * np.log(share)[:, None], (m - c) * np.log1p(-share)[:, None]
    log_pmf = ways + np.where(c > 0, yes, 0.0) + np.where(c < m, no, 0.0)
    return share, np.exp(log_pmf) @ function(c / m)


def no_unbiased_risk(loss: str) -> InputError:
    """Return the error of an unbiased Bayes risk under a loss that has none."""
    return InputError(
        f"no unbiased estimate of the Bayes risk exists under {loss} loss; the plug-in "
        'and estimator="leave_one_out" bracket it'
    )


def take(probs: FloatArray, action: NDArray[Any]) -> FloatArray:
    """Return p[a], the entry of the last axis at the index of each action."""
    index = np.broadcast_to(action, probs.shape[:-1])[..., None]
    return np.asarray(np.take_along_axis(probs, index, axis=-1)[..., 0])
