"""Theorem 1: the optimal selector under coverage, risk and regret budgets.

    C*(x) = 1{ (1 - λ) A*(x) + λ E*(x) <= τ },    1/2 <= λ <= 1

solves each of three problems, and so do their normalised variants (appendix B):

    (P_C)   max coverage   s.t.   risk <= risk_max            regret <= regret_max
    (P_Ri)  min risk       s.t.   coverage >= coverage_min    regret <= regret_max
    (P_Re)  min regret     s.t.   coverage >= coverage_min    risk <= risk_max

On a finite sample each is a linear program in the acceptance probabilities of the points. Without
the second budget it is a knapsack, solved by one sort: λ = 1/2 ranks by the total, λ = 1 by the
epistemic. Where that breaks the second budget both bind, and a line is turned in the plane of
(total, epistemic) until it meets both: see ``_problems.py`` and ``_turning.py``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InputError
from rue.selectors._boundary import TOLERANCE, Boundary, Points
from rue.selectors._programs import (
    excess_over,
    least_cost,
    most_coverage,
    require_attained,
    total_of,
)
from rue.selectors._rounding import SAME, Levels

# Where a floor or a budget is missed by more, rounding has torn equal numbers apart.
_TOO_MUCH = 1e-10

__all__ = ["Selector", "check_problem", "optimal_selector"]


@dataclass(frozen=True, eq=False)
class Selector:
    """The rule of Theorem 1, and what it attains on the points it was found for.

    Attributes
    ----------
    lam, tau
        Accept where (1 - lam) aleatoric + lam epistemic is below tau, reject where it is above.
    alpha, beta
        Appendix A's multipliers: of the risk and the regret budget if coverage is maximised; else
        of the coverage floor and the other budget. 0 where a constraint is slack. Normalised:
        those of the linearised problem, of risk - risk_max coverage <= 0, say.
    coverage, risk, regret
        What is attained; risk and regret are divided by the coverage if ``normalized``.
    acceptance
        The probability with which each point is accepted, shape (n_points,): 1 below tau, 0 above
        it, and a fraction for at most two blocks of identical points at tau.
    normalized
        Whether risk and regret, budgets too, are those per accepted point (appendix B).
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

        A point at tau (to a relative 1e-12) has its place in the order of total, then epistemic,
        among those the selector was found for: it is accepted where they are, rejected where
        they are, and with their probability if it is identical to a block that was cut.

        Parameters
        ----------
        components
            Of which points; total and epistemic are used.
        rng
            A seed or generator to draw the decisions with.

        Returns
        -------
        ndarray of shape (n_points,)
            Without ``rng`` the probability of acceptance, with it decisions, True for accept.
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


def optimal_selector(
    star: Components,
    *,
    maximize: Literal["coverage"] | None = None,
    minimize: Literal["risk", "regret"] | None = None,
    coverage_min: float | None = None,
    risk_max: float | None = None,
    regret_max: float | None = None,
    normalized: bool = False,
) -> Selector:
    """Solve one of Theorem 1's problems exactly on a sample of realised components.

    With coverage = mean x, risk = mean x T* and regret = mean x E* (equations 4 to 6), over all
    acceptance probabilities x in [0, 1]^n_points. If ``normalized``, risk and regret are divided
    by the coverage, which must be positive.

    Among optima the one of largest coverage is taken, and points at tau in the order of total,
    then epistemic, as far as the budgets allow. Multipliers need not be unique; if one constraint
    binds alone the smallest is given. With all budgets slack everything is accepted (lam 1/2, tau
    inf, alpha = beta = 0).

    Parameters
    ----------
    star
        Realised components (:func:`rue.realize`), non-negative.
    maximize, minimize
        The objective, exactly one.
    coverage_min
        At least so much coverage, from 0 to 1. Needed to minimise.
    risk_max, regret_max
        At most so much risk and regret, not negative. Either may be left out. A budget on the
        objective itself changes no optimum, but is checked.
    normalized
        Whether risk and regret, budgets too, are those per accepted point (appendix B).

    Raises
    ------
    InfeasibleError
        If no selector meets the budgets (to a relative 1e-12); it says what is attainable.

    Examples
    --------
    >>> from rue import Components
    >>> star = Components(
    ...     total=[0.1, 0.2, 0.3, 0.6],
    ...     aleatoric=[0.1, 0.0, 0.3, 0.2],
    ...     epistemic=[0.0, 0.2, 0.0, 0.4],
    ... )
    >>> print(optimal_selector(star, maximize="coverage", risk_max=0.15))
    Accept where total uncertainty is below 0.6, reject where it is above.
    This attains coverage 0.75, risk 0.15, regret 0.05.
    >>> optimal_selector(star, minimize="regret", coverage_min=0.6).acceptance
    array([1. , 0.4, 1. , 0. ])
    """
    check_problem(star, maximize, minimize, coverage_min, risk_max, regret_max)
    points = Points(star.total, star.epistemic)
    floor = coverage_min or 0.0

    def solve(points: Points, slack: float = 0.0) -> tuple[Boundary, FloatArray, float]:
        risk = None if risk_max is None else risk_max + slack * float(star.total.max())
        regret = None if regret_max is None else regret_max + slack * float(star.epistemic.max())
        if minimize == "risk":
            boundary = least_cost(points, 0, floor, regret, normalized)
        elif minimize == "regret":
            boundary = least_cost(points, 1, floor, risk, normalized)
        else:
            boundary = most_coverage(points, risk, regret, normalized)
        acceptance = boundary.acceptance(points)
        limits = (
            None if minimize == "risk" else risk_max,
            None if minimize == "regret" else regret_max,
        )
        least = 0.0 if minimize is None else floor
        return boundary, acceptance, excess_over(star, acceptance, least, limits, normalized)

    boundary, acceptance, excess = solve(points)
    levels = None
    if excess > _TOO_MUCH:  # numbers that rounding alone keeps apart: bring them together
        snapped = Levels.of(star.total), Levels.of(star.epistemic)
        again = solve(points.at_levels(*snapped), slack=SAME)
        if again[2] < excess:
            (boundary, acceptance, excess), levels = again, snapped
    if excess > 10 * _TOO_MUCH:  # rather no rule than one that breaks its promise
        raise InputError(
            f"star has numbers too close to tell apart: a budget is missed by {excess:.2g} of it; "
            "round them to 1e-9 of the largest"
        )
    acceptance.flags.writeable = False
    accepted = float(acceptance.sum())
    coverage = accepted / len(star)
    per = accepted if normalized else len(star)
    risk = total_of(acceptance, star.total) / per
    regret = total_of(acceptance, star.epistemic) / per

    c1, c2, d = boundary.c1, boundary.c2, boundary.level
    weight = 2 * c1 + c2
    alpha, beta = c1, c2
    if minimize is None:
        require_attained("coverage", coverage, coverage_min, normalized)
    else:
        least, limit, budget, beta = (
            (risk, risk_max, regret_max, c2)
            if minimize == "risk"
            else (regret, regret_max, risk_max, c1)
        )
        require_attained(minimize, least, limit, normalized)
        alpha = d
        if normalized:  # d = least + alpha + beta budget
            alpha = d - least - beta * (budget or 0.0)
            alpha = alpha if alpha > TOLERANCE * d else 0.0
    return Selector(
        lam=float((c1 + c2) / weight) if weight else 0.5,
        tau=float(d / weight) if weight else math.inf,
        alpha=float(alpha),
        beta=float(beta),
        coverage=coverage,
        risk=risk,
        regret=regret,
        acceptance=acceptance,
        normalized=normalized,
        _boundary=boundary,
        _levels=levels,
    )


def check_problem(
    star: Components,
    maximize: str | None,
    minimize: str | None,
    coverage_min: float | None,
    risk_max: float | None,
    regret_max: float | None,
) -> None:
    """Raise unless this is one of Theorem 1's problems on realised components."""
    if not isinstance(star, Components):
        raise InputError(f"star must be Components, got {type(star).__name__}")
    if (maximize is None) == (minimize is None):
        raise InputError("give one of maximize='coverage', minimize='risk', minimize='regret'")
    if maximize not in (None, "coverage"):
        raise InputError(f"maximize must be 'coverage', got {maximize!r}")
    if minimize not in (None, "risk", "regret"):
        raise InputError(f"minimize must be 'risk' or 'regret', got {minimize!r}")
    if minimize is not None and coverage_min is None:
        raise InputError(f"minimize={minimize!r} needs coverage_min: to accept nothing is free")
    numbers = {"coverage_min": coverage_min, "risk_max": risk_max, "regret_max": regret_max}
    for name, number in numbers.items():
        real = isinstance(number, int | float | np.integer | np.floating)
        if number is not None and (isinstance(number, bool) or not real):
            raise InputError(f"{name} must be a number, got {number!r}")
    if coverage_min is not None and not 0 <= coverage_min <= 1:
        raise InputError(f"coverage_min must be from 0 to 1, got {coverage_min}")
    for name, limit in (("risk_max", risk_max), ("regret_max", regret_max)):
        if limit is not None and not 0 <= limit < math.inf:
            raise InputError(f"{name} must be finite and not negative, got {limit}")
    for name, values in (("total", star.total), ("epistemic", star.epistemic)):
        if values.min() < 0:
            row = int(np.argmax(values < 0))
            raise InputError(f"star.{name} must not be negative, got {values[row]} at row {row}")
    largest = float(star.total.max())
    if largest and not 1e-100 < largest < 1e100:
        raise InputError(f"the largest star.total must be from 1e-100 to 1e100, got {largest:g}")
    apart = np.abs(star.total - star.aleatoric - star.epistemic)
    if apart.max() > 1e-9 * star.total.max():
        row = int(np.argmax(apart))
        raise InputError(
            "star.total must be aleatoric + epistemic, got "
            f"{star.total[row]:g}, {star.aleatoric[row]:g} and {star.epistemic[row]:g} at row {row}"
        )
