"""Beliefs about classes, and Draws: several distributions per point.

Draws are from ensembles, dropout or posterior samples.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    IntArray,
    as_array,
    chunked,
    kept,
    require_distributions,
    require_n_classes,
    require_shape,
    round_to_scale,
    sum_tolerance,
)
from rue.beliefs.base import Belief, Components
from rue.errors import InputError
from rue.losses.base import Expectation, Loss
from rue.losses.outcomes import Classes, as_classes


class ClassBelief(Belief):
    """A second-order prediction for each point: a distribution over distributions of classes."""

    outcomes: Classes

    @abstractmethod
    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield the rows of each chunk with their expected Bayes risk and regret.

        Parameters
        ----------
        loss : Loss
            The loss.
        seed : int
            Seed for expectations that are sampled (cost matrices under a Dirichlet).

        Yields
        ------
        rows : slice
            The rows of the chunk.
        expectation : Expectation
            Arrays with one number per row of the chunk.
        """

    @abstractmethod
    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the rows of each chunk with their mean distributions :math:`m = E[p]`."""

    def components(self, loss: Loss, *, seed: int = 0) -> Components:
        """Return Definition 1, estimated; see :func:`rue.decompose`."""
        loss = loss.on_classes(self.outcomes)
        scale, n_points = loss.scale(self.n_classes), self.n_points
        aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
        error: FloatArray | None = None
        for rows, expected in self.expectations(loss, seed=seed):
            aleatoric[rows], epistemic[rows] = expected.bayes_risk, expected.regret
            if expected.standard_error is not None:
                error = np.empty(n_points) if error is None else error
                error[rows] = expected.standard_error
        return self._rounded(aleatoric, epistemic, scale, error)

    def _rounded(
        self, aleatoric: FloatArray, epistemic: FloatArray, scale: float, error: FloatArray | None
    ) -> Components:
        return Components(
            round_to_scale(aleatoric + epistemic, scale),
            round_to_scale(aleatoric, scale),
            np.maximum(round_to_scale(epistemic, scale), 0.0),
            standard_error=error,
        )

    def mean(self) -> FloatArray:
        """Return the mean :math:`m = E[p]` of each point, shape (n_points, n_classes)."""
        return np.concatenate([chunk for _, chunk in self.means()])

    def mean_probs(self) -> FloatArray:
        """Return the mean distribution, shape (n_points, n_classes)."""
        return self.mean()

    def pair_sums(self, counts: FloatArray, are_answers: bool) -> FloatArray:
        """Return the sums over pairs if the mean were the only distribution."""
        from rue._kernels.pairs import draw_pairs, pair_sums

        blocks = ((rows, mean[:, None]) for rows, mean in self.means())
        return pair_sums(draw_pairs, blocks, counts, are_answers)

    def loss_bound(
        self,
        loss: Loss,
        actions: ArrayLike | None = None,
        limits: tuple[float, float] | None = None,
    ) -> float:
        """Return the bound of the loss; raise if there is none, or if an action exceeds it."""
        if actions is not None:
            loss.require_within(actions, self.n_classes)
        bound = loss.bound(self.n_classes)
        if not np.isfinite(bound):
            raise InputError(
                f"{loss.name} loss has no bound, and a promise needs one",
                advice={"--floor": "sets a floor on predicted probabilities, which gives it one"},
            )
        return bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_points:,} points x {self.n_classes} classes)"


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Draws(ClassBelief):
    """Several distributions per point, of an ensemble, MC dropout or posterior samples.

    Parameters
    ----------
    probs : array_like of shape (n_points, n_draws, n_classes)
        Probabilities. Each distribution must sum to 1 within 1e-6, or within the precision of
        float32, float16 and bfloat16, and is normalised in float64.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    classes : sequence of names or Classes, optional
        The names of the classes in the order of the columns.
    method : str
        The name of the method.
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor; see :func:`rue.realize`.

    Raises
    ------
    InputError
        If a probability is negative or not finite, or a sum is not 1.

    Examples
    --------
    >>> from rue import Draws
    >>> Draws([[[0.9, 0.1], [0.5, 0.5]]]).mean()
    array([[0.7, 0.3]])
    """

    probs: NDArray[Any]
    _ROWS = _COLUMNS = ("probs",)

    def __init__(
        self,
        probs: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        classes: Sequence[Any] | Classes | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        array = as_array("probs", probs)
        require_shape("probs", array, "n_points", "n_draws", "n_classes")
        require_n_classes("probs", array.shape[-1])
        require_distributions("probs", array, sum_tolerance(probs))
        outcomes = as_classes(classes, array.shape[-1], "probs")
        self._name(outcomes, ids, method, actions, probs=kept(array, probs))

    def __repr__(self) -> str:
        n_points, n_draws, n_classes = self.probs.shape
        return f"Draws({n_points:,} points x {n_draws} draws x {n_classes} classes)"

    @property
    def n_draws(self) -> int:
        """The number of distributions of each point."""
        return int(self.probs.shape[1])

    def expectations(self, loss: Loss, *, seed: int = 0) -> Iterator[tuple[slice, Expectation]]:
        """Yield means over the draws."""
        for rows, chunk in chunked(self.probs):
            yield rows, loss.expect_draws(chunk)

    def means(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield means over the draws."""
        from rue._kernels.draws import mean

        for rows, chunk in chunked(self.probs):
            yield rows, mean(chunk)

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        several = f"{self.n_draws:,} distributions" if self.n_draws > 1 else "one distribution"
        return f"{several} per point"

    def sampled_probs(self, rows: slice, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Take one of the draws of each point for each replicate."""
        chunk = np.asarray(self.probs[rows], np.float64)
        member = rng.integers(0, self.n_draws, (n_replicates, len(chunk)))
        probs = chunk[np.arange(len(chunk)), member]
        return np.asarray(probs / probs.sum(axis=-1, keepdims=True))

    def pair_sums(self, counts: FloatArray, are_answers: bool) -> FloatArray:
        """Return the sums over pairs of answers that have the same draw."""
        from rue._kernels.pairs import draw_pairs, pair_sums

        return pair_sums(draw_pairs, chunked(self.probs), counts, are_answers)

    def doubts(self) -> list[str]:
        """Return a note if every draw is certain, as sampled labels are."""
        if self.n_draws == 1 or not self._is_one_hot():
            return []
        return [
            "every draw is one-hot, so it claims to be certain and aleatoric is 0: if draws are "
            "sampled labels, give them as sampled_labels"
        ]

    def _is_one_hot(self) -> bool:
        first = np.asarray(self.probs[:64]).max(axis=-1)
        if (first < 1).any():  # the first points decide for most beliefs
            return False
        return all(bool((chunk.max(axis=-1) == 1).all()) for _, chunk in chunked(self.probs))


def draw_dirichlets(alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a distribution for each row of concentrations."""
    gamma = rng.standard_gamma(alpha)
    whole = gamma.sum(axis=-1, keepdims=True)
    if (whole == 0).any():  # every class underflowed: nearly all mass is on one class
        empty = np.flatnonzero(whole.ravel() == 0)
        rows, flat = alpha.reshape(-1, alpha.shape[-1])[empty], gamma.reshape(-1, alpha.shape[-1])
        cumulated = np.cumsum(rows / rows.sum(axis=1, keepdims=True), axis=1)
        flat[empty, choose(cumulated, 1, rng)[0]] = 1.0
        whole = gamma.sum(axis=-1, keepdims=True)
    return np.asarray(gamma / whole)


def choose(cumulated: FloatArray, n_replicates: int, rng: np.random.Generator) -> IntArray:
    """Return a component for each replicate and point, with the given cumulated probabilities."""
    number = rng.random((n_replicates, len(cumulated), 1))
    return np.asarray((number >= cumulated[:, :-1]).sum(axis=-1))
