"""Cost matrix: the action a is a row of the matrix, its loss C[a, y]."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_array, as_seed, require_finite, require_shape, row_sums
from rue.errors import AlignmentError, InputError, ShapeError
from rue.losses.base import (
    TOLERANCE,
    Expectation,
    Loss,
    check_choices,
    drawn_plugin,
    first_least,
    take,
)
from rue.losses.outcomes import Outcomes, as_classes

N_SCRAMBLES, N_SOBOL = 16, 256
"""The Dirichlet expectation is a mean over 16 independent scramblings of 256 Sobol points."""


@final
class CostMatrix(Loss):
    """A loss given by a matrix of costs: C[a, y] is the cost of action a if class y is true.

    There may be more actions than classes, for example one that means "ask an expert".

    Parameters
    ----------
    C : array_like of shape (n_actions, n_classes)
        Non-negative costs, at least one of them above 0; the largest must be from 1e-100 to 1e100.
    classes : sequence of names, optional
        The names of the classes, in the order of the columns. Columns are matched by name if
        truth or belief name their classes; without names the order of the classes must be known.

    Raises
    ------
    InputError
        If a cost is negative or not finite, or all are 0.

    Examples
    --------
    >>> from rue import CostMatrix
    >>> import numpy as np
    >>> CostMatrix([[0, 10], [1, 0]]).action(np.array([[0.95, 0.05], [0.8, 0.2]]))
    array([0, 1])
    """

    name = "cost"
    only_for_classes = "it has a cost for each class"

    def __init__(self, C: ArrayLike, classes: Sequence[Any] | None = None) -> None:
        costs = as_array("C", C)
        require_shape("C", costs, "n_actions", "n_classes")
        require_finite("C", costs)
        if costs.min() < 0 or costs.max() == 0:
            raise InputError(
                "C must hold no negative cost and at least one above 0, "
                f"got {costs.min()} to {costs.max()}"
            )
        most = float(costs.max())  # half precision has no 1e100
        if not 1e-100 < most < 1e100:
            raise InputError(f"the largest cost in C must be from 1e-100 to 1e100, got {most}")
        self.costs = np.ascontiguousarray(costs, dtype=np.float64)
        self.classes = as_classes(classes, costs.shape[1], "C").names
        self.needs_order = self.classes is None

    def on_classes(self, classes: Outcomes) -> "CostMatrix":
        """Return the costs with their columns in the order of the classes, by name."""
        if classes.n:
            self._check(classes.n)
        if self.classes is None or classes.names is None or classes.names == self.classes:
            return self
        if set(classes.names) != set(self.classes):
            strange = sorted(set(classes.names) ^ set(self.classes))[0]
            raise AlignmentError(
                f"C must have a column for each class, got {', '.join(self.classes)} for "
                f"{', '.join(classes.names)}; {strange!r} is on one side only"
            )
        columns = [self.classes.index(name) for name in classes.names]
        return CostMatrix(self.costs[:, columns], classes.names)

    def scale(self, n_classes: int) -> float:
        """Return the largest cost."""
        return float(self.costs.max())

    def action(self, probs: FloatArray) -> NDArray[np.int64]:
        r"""Return :math:`\arg\min_a (C p)_a`, the lowest index on ties."""
        return first_least(self._expected(probs), TOLERANCE * self.costs.max())

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return (C p)[a]."""
        return take(self._expected(probs), action)

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return the rows of C."""
        self._check(n_classes)
        return np.asarray(self.costs[action])

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return min C p."""
        return np.asarray(self._expected(probs).min(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return (C p)[a] - min C p."""
        return self.risk(probs, action) - self.bayes_risk(probs)

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean over draws."""
        from rue._kernels.draws import cost

        self._check(probs.shape[-1])
        return Expectation(*cost(probs, self.costs, TOLERANCE * self.costs.max()))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        """Return the mean over scrambled Sobol points, the same for every row.

        A Sobol point gives one Gamma quantile per class; divided by their sum they are a
        Dirichlet draw. The Bayes risk is min C m minus the mean regret. The standard error, of
        both, is that of the mean over independent scramblings.
        """
        seed = as_seed(seed)
        from scipy.special import softmax
        from scipy.stats.qmc import Sobol

        self._check(alpha.shape[-1])
        n_points, n_classes = alpha.shape
        seeds = np.random.SeedSequence(seed).spawn(N_SCRAMBLES)
        cubes = [Sobol(n_classes, rng=np.random.default_rng(s)).random(N_SOBOL) for s in seeds]
        m = alpha / alpha.sum(axis=-1, keepdims=True)
        action = self.action(m)
        regret = np.empty((N_SCRAMBLES, n_points))
        step = max(1, (1 << 22) // (N_SOBOL * max(self.costs.shape)))
        for start in range(0, n_points, step):
            rows = slice(start, start + step)
            for r, cube in enumerate(cubes):
                probs = softmax(_log_gamma_quantiles(alpha[rows, None, :], cube), axis=-1)
                regret[r, rows] = self.regret(probs, action[rows, None]).mean(axis=-1)
        error = regret.std(axis=0, ddof=1) / np.sqrt(N_SCRAMBLES)
        mean = regret.mean(axis=0)
        return Expectation(self.bayes_risk(m) - mean, mean, error)

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return the mean over drawn answers."""
        return drawn_plugin(self, probs, n_answers, self.costs, rng)

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        """Return the mean cost of each answer under the best action for the other answers."""
        self._check(counts.shape[1])
        C, m = self.costs, row_sums(counts)
        paid = counts @ C.T
        point, answer = np.nonzero(counts)
        action = np.empty(len(point), np.int64)
        step = max(1, (1 << 22) // len(C))
        for start in range(0, len(point), step):
            i, y = point[start : start + step], answer[start : start + step]
            others = (paid[i] - C[:, y].T) / (m[i] - 1)[:, None]
            action[start : start + step] = first_least(others, TOLERANCE * C.max())
        return np.bincount(point, counts[point, answer] * C[action, answer], len(counts)) / m

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> NDArray[np.int64]:
        """Return row numbers of C, shape (n_points,)."""
        return check_choices(actions, n_points, len(self.costs))

    def _expected(self, probs: FloatArray) -> FloatArray:
        self._check(probs.shape[-1])
        return np.asarray(probs @ self.costs.T)

    def _check(self, n_classes: int) -> None:
        if self.costs.shape[1] != n_classes:
            raise ShapeError(f"C must have {n_classes} columns (classes), got {self.costs.shape}")


def _log_gamma_quantiles(alpha: FloatArray, u: FloatArray) -> FloatArray:
    """Return the logarithm of the Gamma(alpha) quantiles."""
    from scipy.special import gammaincinv, gammaln

    u = np.maximum(u, 1e-16)
    x = gammaincinv(alpha, u)
    tiny = (np.log(u) + gammaln(alpha + 1)) / alpha
    return np.where(x > 1e-12, np.log(np.maximum(x, 1e-300)), tiny)
