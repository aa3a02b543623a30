"""Log loss: the action is a distribution a, its loss -log a[y]."""

import math
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, row_sums
from rue.errors import InputError
from rue.losses.base import TOLERANCE, Expectation, Loss, check_distributions, mean_over_counts

FLOOR = 1e-12
"""Predicted probabilities below this are raised to it; the others are not renormalised."""

_STEP = 4096  # points whose logarithms stay in a core's cache

STRENGTHS = 2.0 ** np.arange(-10, 13)
"""The grid for the weight s of the pooled answers: octaves first, then eighths of an octave."""


@final
class Log(Loss):
    """Log loss in nats.

    Its Bayes risk is the entropy, its regret the Kullback-Leibler divergence. Predicted
    probabilities below 1e-12 are raised to 1e-12, and the number of affected points is reported.

    Parameters
    ----------
    floor : float, optional
        If given, the action is p mixed with the uniform distribution, floor + (1 - K floor) p.
        It is a distribution with no probability below ``floor``, so that the loss is at most
        -log floor.

    Raises
    ------
    InputError
        If ``floor`` is not between 1e-12 and 1.

    Examples
    --------
    >>> from rue import Log
    >>> import numpy as np
    >>> Log().bayes_risk(np.array([[0.5, 0.5]]))
    array([0.69314718])
    """

    name = "log"
    only_for_classes = "finitely many real answers have no density"

    def __init__(self, floor: float | None = None) -> None:
        if floor is not None and not FLOOR <= floor < 1:
            raise InputError(f"floor must be from {FLOOR:g} to below 1, got {floor}")
        self.floor = None if floor is None else float(floor)

    def scale(self, n_classes: int) -> float:
        """Return the entropy of the uniform distribution."""
        return math.log(n_classes)

    def bound(self, n_classes: int) -> float:
        """Return -log floor, or infinity without a floor."""
        return math.inf if self.floor is None else -math.log(self.floor)

    def action(self, probs: FloatArray) -> FloatArray:
        """Return p itself, mixed with the uniform distribution if there is a floor."""
        if self.floor is None:
            return probs
        n_classes = probs.shape[-1]
        if self.floor * n_classes >= 1:
            raise InputError(f"floor must be below 1/{n_classes} (classes), got {self.floor:g}")
        return np.asarray(self.floor + (1 - n_classes * self.floor) * probs)

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return -sum p log a."""
        return np.asarray(-(probs * np.log(np.maximum(action, FLOOR))).sum(axis=-1))

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return -log a."""
        return np.asarray(-np.log(np.maximum(action, FLOOR)))

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return -sum p log p."""
        return np.asarray(-(probs * _log(probs)).sum(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return sum p log(p/a), clipped at 0, below which the floor may bring it."""
        divergence = (probs * (_log(probs) - np.log(np.maximum(action, FLOOR)))).sum(axis=-1)
        return np.asarray(np.maximum(divergence, 0.0))

    def realized(
        self, probs: FloatArray, action: NDArray[Any]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return all three from the same logarithms, on all cores."""
        from rue._kernels.threads import on_blocks

        parts = np.empty((3, len(probs)))

        def fill(start: int, stop: int) -> None:
            for first in range(start, stop, _STEP):
                rows = slice(first, min(first + _STEP, stop))
                p, log_a = probs[rows], np.log(np.maximum(action[rows], FLOOR))
                log_p = _log(p)
                parts[0, rows] = -(p * log_a).sum(axis=-1)
                parts[1, rows] = -(p * log_p).sum(axis=-1)
                parts[2, rows] = (p * (log_p - log_a)).sum(axis=-1)

        on_blocks(fill, len(probs), probs.size)
        return parts[0], parts[1], np.maximum(parts[2], 0.0)

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean entropy, and the mean divergence from the mean (mutual information)."""
        from rue._kernels.draws import log_loss, mean

        entropy, divergence = log_loss(probs, FLOOR)
        if self.floor is not None:
            divergence = divergence + self._mixing(mean(probs))
        return Expectation(entropy, divergence)

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return the exact mean under a Dirichlet distribution.

        .. math:: E[p_k \log p_k] = m_k (\psi(\alpha_k + 1) - \psi(\alpha_0 + 1))
        """
        from scipy.special import digamma

        alpha_0 = alpha.sum(axis=-1, keepdims=True)
        m = alpha / alpha_0
        logs = digamma(alpha + 1) - digamma(alpha_0 + 1)  # E log p, weighted by p
        regret = (m * (logs - np.log(np.maximum(m, FLOOR)))).sum(axis=-1)
        if self.floor is not None:
            regret = regret + self._mixing(m)
        return Expectation(-(m * logs).sum(axis=-1), np.maximum(regret, 0.0))

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return the mean entropy of frequencies, the sum of a function of each of them."""
        return np.asarray(mean_over_counts(_surprise, probs, n_answers).sum(axis=-1))

    def leave_one_out(self, counts: FloatArray, *, plugin: FloatArray | None = None) -> FloatArray:
        """Return the mean loss of each answer under a smoothed distribution of the others.

        The frequencies of the other answers may give an answer probability 0, so the distribution
        is (n_others + s q) / (m - 1 + s). Here q are the mean frequencies of the other points with
        the same majority as the other answers, and s is the weight with the least loss on the
        other points. A point with several majorities counts in part for each, and if the other
        answers have several, q is the mean over them. Smoothing may bring the mean below the
        Bayes risk of the frequencies (``plugin``), which is then returned: the larger is a bound
        too.
        """
        from rue._kernels.draws import leave_one_out_log

        high = leave_one_out_log(np.ascontiguousarray(counts), STRENGTHS, TOLERANCE)
        if plugin is None:
            plugin = self.bayes_risk(counts / row_sums(counts)[:, None])
        return np.asarray(np.maximum(high, plugin))

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> FloatArray:
        """Return distributions, shape (n_points, n_classes), mixed if there is a floor."""
        return self.action(check_distributions(actions, n_points, n_classes))

    def floored(self, probs: FloatArray, action: NDArray[Any]) -> NDArray[np.bool]:
        """Return which points have a < 1e-12 for a class that occurs, shape (n_points,)."""
        if action.min(initial=1.0) >= FLOOR:
            return np.zeros(probs.shape[:-1], bool)
        return np.asarray(((action < FLOOR) & (probs > 0)).any(axis=-1))

    def _mixing(self, m: FloatArray) -> FloatArray:
        """Return the regret of the mixed action if m is true."""
        return self.regret(m, self.action(m))


def _log(probs: FloatArray) -> FloatArray:
    """Return log p where p > 0, else 0, because 0 log 0 = 0."""
    return np.log(np.where(probs > 0, probs, 1.0))


def _surprise(probs: FloatArray) -> FloatArray:
    """Return -p log p."""
    return np.asarray(-probs * _log(probs))
