"""What every belief about real-valued outcomes offers."""

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs.base import Belief, Components
from rue.errors import InputError
from rue.losses.base import Expectation, Loss
from rue.losses.real import Mixture, Ragged, RealLoss, round_to_digits


class RealBelief(Belief, Mixture):
    """A second-order prediction of a real number for each of ``n_points`` points.

    A belief is a set of distributions, its draws, at each point; their equally weighted mixture
    is the mean distribution m of Definition 1, from which the action is chosen.
    """

    @abstractmethod
    def expectation(self, loss: RealLoss) -> Expectation:
        """Return Bayes risk and regret of the action of the mixture, expected over draws."""

    def components(self, loss: Loss, *, seed: int = 0) -> Components:
        """Return Definition 1, estimated; see :func:`rue.decompose`."""
        aleatoric, epistemic, _ = self.expectation(loss.real())
        total = aleatoric + epistemic
        parts = [round_to_digits(part, total) for part in (total, aleatoric, epistemic)]
        return Components(parts[0], parts[1], parts[2])

    def loss_bound(
        self,
        loss: Loss,
        actions: ArrayLike | None = None,
        limits: tuple[float, float] | None = None,
    ) -> float:
        """Return the bound over answers within the limits: losses are convex, so it is at one."""
        if limits is None:
            raise InputError(
                "real-valued answers have no bound, and a promise needs one",
                advice={"--range": "states their range"},
            )
        real, n = loss.real(), len(self)
        action = real.action(self) if actions is None else real.check_actions(actions, n)
        ends = Ragged(np.tile(np.array(limits), n), np.arange(0, 2 * n + 1, 2))
        largest = real.losses(ends, action).reshape(n, 2).max(axis=1)
        bound = real.bound(*limits)
        if largest.max() > bound * (1 + 1e-9):
            row = int(np.argmax(largest > bound * (1 + 1e-9)))
            raise InputError(
                f"predictions must lie within the range, {limits[0]:g} to {limits[1]:g}, for the "
                f"loss to be at most {bound:g}, but it can be {largest[row]:g} at row {row}; clip "
                "the predictions or state another bound"
            )
        return bound

    def __repr__(self) -> str:
        draws = "" if self.n_draws is None else f" x {self.n_draws} draws"
        return f"{type(self).__name__}({self.n_points:,} points{draws})"
