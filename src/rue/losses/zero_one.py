"""0/1 loss: the action is a class a, its loss 1 unless y = a."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, row_sums
from rue.losses.base import (
    TOLERANCE,
    Expectation,
    Loss,
    check_choices,
    drawn_plugin,
    first_least,
    take,
)


@final
class ZeroOne(Loss):
    """0/1 loss; its Bayes action is the most probable class, the lowest index on ties.

    Examples
    --------
    >>> from rue import ZeroOne
    >>> import numpy as np
    >>> ZeroOne().bayes_risk(np.array([[0.7, 0.2, 0.1]]))
    array([0.3])
    """

    name = "zero_one"
    chooses_class = True
    only_for_classes = "two real numbers are hardly ever equal"

    def scale(self, n_classes: int) -> float:
        """Return 1."""
        return 1.0

    def action(self, probs: FloatArray) -> NDArray[np.int64]:
        """Return argmax p, the lowest index on ties."""
        return first_least(-probs, TOLERANCE)

    def risk(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return 1 - p[a]."""
        return 1 - take(probs, action)

    def losses(self, action: NDArray[Any], n_classes: int) -> FloatArray:
        """Return 1, but 0 for the class that is the action."""
        return np.asarray(action[..., None] != np.arange(n_classes), np.float64)

    def bayes_risk(self, probs: FloatArray) -> FloatArray:
        """Return 1 - max p."""
        return np.asarray(1 - probs.max(axis=-1))

    def regret(self, probs: FloatArray, action: NDArray[Any]) -> FloatArray:
        """Return max p - p[a]."""
        return np.asarray(probs.max(axis=-1) - take(probs, action))

    def expect_draws(self, probs: NDArray[Any]) -> Expectation:
        """Return the mean over draws."""
        from rue._kernels.draws import zero_one

        return Expectation(*zero_one(probs, TOLERANCE))

    def expect_dirichlet(self, alpha: FloatArray, *, seed: int = 0) -> Expectation:
        r"""Return :math:`E[\max p - p_a]` as the regret, by quadrature, and the other risk."""
        from rue.losses._expected_lead import expected_lead

        regret = expected_lead(alpha)
        return Expectation(self.bayes_risk(alpha / alpha.sum(-1, keepdims=True)) - regret, regret)

    def expected_plugin(
        self, probs: FloatArray, n_answers: NDArray[np.int64], rng: np.random.Generator
    ) -> FloatArray:
        """Return the mean over drawn answers."""
        return drawn_plugin(self, probs, n_answers, np.empty((0, 0)), rng)

    def leave_one_out(self, counts: FloatArray) -> FloatArray:
        """Return the share of answers that a majority of the other answers gets wrong.

        The majority is drawn if there are several. An answer is among those of the others only if
        it is ahead of every other class: by two or more it is the only one, by one it shares with
        those in second place.
        """
        m, top = row_sums(counts), counts.max(axis=1)
        n_behind = (counts == top[:, None] - 1).sum(axis=1)
        alone = (counts == top[:, None]).sum(axis=1) == 1
        return np.asarray(1 - np.where(alone, top / (n_behind + 1), 0.0) / m)

    def check_actions(self, actions: ArrayLike, n_points: int, n_classes: int) -> NDArray[np.int64]:
        """Return classes, shape (n_points,)."""
        return check_choices(actions, n_points, n_classes)
