"""The rule of Theorem 1 for one sample, and how it decides on other points."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, short_repr
from rue.components import Components
from rue.selectors._boundary import Boundary, Points
from rue.selectors._rounding import Levels

__all__ = ["Selector"]


@dataclass(frozen=True, eq=False)
class Selector:
    """The rule of Theorem 1 and what it attains on its sample; see :func:`rue.optimal_selector`.

    Attributes
    ----------
    lam, tau : float
        Accept where (1 - lam) aleatoric + lam epistemic is below tau, reject where it is above.
    alpha, beta : float
        Multipliers of appendix A. If coverage is maximised they belong to the risk and the regret
        budget, otherwise to the coverage floor and the other budget. A slack constraint has the
        multiplier 0. If ``normalized``, they are those of the linearised problem, for example of
        risk - risk_max coverage <= 0.
    coverage, risk, regret : float
        Attained values; risk and regret are divided by the coverage if ``normalized``.
    acceptance : ndarray of shape (n_points,)
        Probability with which each point is accepted: 1 below tau, 0 above it, and a fraction for
        at most two blocks of identical points at tau.
    normalized : bool
        Whether risk and regret, and their budgets, are per accepted point (appendix B).
    """

    lam: float
    tau: float
    alpha: float
    beta: float
    coverage: float
    risk: float
    regret: float
    acceptance: FloatArray
    normalized: bool
    _boundary: Boundary = field(repr=False)
    _levels: tuple[Levels, Levels] | None = field(default=None, repr=False)

    __repr__ = short_repr

    @overload
    def accept(self, components: Components) -> FloatArray: ...
    @overload
    def accept(
        self, components: Components, rng: int | np.random.Generator
    ) -> NDArray[np.bool_]: ...
    @overload
    def accept(
        self, components: Components, rng: int | np.random.Generator | None
    ) -> FloatArray | NDArray[np.bool_]: ...
    def accept(
        self, components: Components, rng: int | np.random.Generator | None = None
    ) -> FloatArray | NDArray[np.bool_]:
        """Apply the rule to these or other points.

        Points at tau (to a relative 1e-12) are ordered by total, then epistemic. A point between
        two points of the sample there is treated as they are; a point identical to a block that
        is accepted in part is accepted with the probability of that block.

        Parameters
        ----------
        components
            Components of the points; ``total`` and ``epistemic`` are used.
        rng
            Seed or generator that draws decisions. None returns probabilities.

        Returns
        -------
        ndarray of shape (n_points,)
            Probabilities of acceptance; with ``rng``, decisions, True for accept.

        Examples
        --------
        >>> from rue import Components, optimal_selector
        >>> star = Components([0.1, 0.5], [0.1, 0.1], [0.0, 0.4])
        >>> selector = optimal_selector(star, maximize="coverage", risk_max=0.1)
        >>> selector.accept(Components([0.2, 0.9], [0.2, 0.1], [0.0, 0.8]))
        array([1., 0.])
        """
        points = Points(components.total, components.epistemic)
        if self._levels is not None:
            points = points.at_levels(*self._levels)
        probability = self._boundary.acceptance(points)
        if rng is None:
            return probability
        return np.random.default_rng(rng).random(len(probability)) < probability

    def __str__(self) -> str:
        per = " per accepted point" if self.normalized else ""
        attained = f"coverage {self.coverage:.6g}, risk {self.risk:.6g}, regret {self.regret:.6g}"
        return f"{self._rule()}. This attains {attained}{per}."

    def _rule(self) -> str:
        if math.isinf(self.tau):
            return "Accept every point"
        if self.lam == 0.5:
            score, limit = "total uncertainty", 2 * self.tau
        elif self.lam == 1.0:
            score, limit = "epistemic uncertainty", self.tau
        else:
            score = f"{1 - self.lam:.4g} aleatoric + {self.lam:.4g} epistemic uncertainty"
            limit = self.tau
        rule = f"Accept where {score} is below {limit:.6g}, reject where it is above"
        at_it = " and ".join(self._at_tau())
        return f"{rule}; at it, accept points {at_it}" if at_it else rule

    def _at_tau(self) -> Iterator[str]:
        t, e = self._boundary.origin
        ends = ((self._boundary.first, "up to", ""), (self._boundary.last, "from", " on"))
        for cut, word, on in ends:
            if cut is not None and cut.share > 0:
                block = f"total {t + cut.total:.6g}, epistemic {e + cut.epistemic:.6g}"
                chance = f" (these with probability {cut.share:.4g})" if cut.share < 1 else ""
                yield f"{word} {block}{on}{chance}"
