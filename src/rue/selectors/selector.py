"""The rule of Theorem 1 for one sample, and how it decides on other points."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue._text import JsonObject, short_repr
from rue.components import Components
from rue.errors import InputError
from rue.selectors._boundary import Boundary, Levels, RealizedPoints


@dataclass(frozen=True)
class Problem:
    """State one of Theorem 1's problems; invalid combinations raise.

    ::

        (P_C)   max coverage   s.t.   risk <= risk_max            regret <= regret_max
        (P_Ri)  min risk       s.t.   coverage >= coverage_min    regret <= regret_max
        (P_Re)  min regret     s.t.   coverage >= coverage_min    risk <= risk_max

    :func:`rue.optimal_selector` and :func:`rue.fit_selector` take the same fields as keywords.

    Parameters
    ----------
    maximize, minimize
        The objective: exactly one of ``maximize="coverage"``, ``minimize="risk"`` and
        ``minimize="regret"``.
    coverage_min
        The coverage floor, from 0 to 1. It is required to minimise.
    risk_max, regret_max
        The risk and the regret budget, finite and not negative. Either may be None. A budget on
        the objective itself changes no optimum, but it is checked.
    normalized
        Whether risk and regret, and their budgets, are per accepted point (appendix B).

    Raises
    ------
    InputError
        If there is not exactly one objective, a number is out of range, or a coverage floor is
        missing where the objective is minimised.

    Examples
    --------
    >>> from rue import Problem
    >>> problem = Problem(maximize="coverage", risk_max=0.1)
    >>> problem.objective, problem.budgets
    ('coverage', {'risk': 0.1})
    """

    maximize: Literal["coverage"] | None = None
    minimize: Literal["risk", "regret"] | None = None
    coverage_min: float | None = None
    risk_max: float | None = None
    regret_max: float | None = None
    normalized: bool = False

    def __post_init__(self) -> None:
        if (self.maximize is None) == (self.minimize is None):
            raise InputError(
                "there must be one objective: to maximize coverage, to minimize risk, or to "
                "minimize regret"
            )
        if self.maximize not in (None, "coverage"):
            raise InputError(f"maximize must be 'coverage', got {self.maximize!r}")
        if self.minimize not in (None, "risk", "regret"):
            raise InputError(f"minimize must be 'risk' or 'regret', got {self.minimize!r}")
        if self.minimize is not None and self.coverage_min is None:
            raise InputError(
                f"to minimize {self.minimize} needs coverage_min: accepting nothing costs nothing"
            )
        for name in ("coverage_min", "risk_max", "regret_max"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _as_number(name, value))
        if self.coverage_min is not None and not 0 <= self.coverage_min <= 1:
            raise InputError(f"coverage_min must be from 0 to 1, got {self.coverage_min:g}")
        for name, limit in self.budgets.items():
            if not 0 <= limit < math.inf:
                raise InputError(f"{name}_max must be finite and not negative, got {limit:g}")
        if not isinstance(self.normalized, bool | np.bool_):
            raise InputError(f"normalized must be true or false, got {self.normalized!r}")
        object.__setattr__(self, "normalized", bool(self.normalized))

    @property
    def objective(self) -> Literal["coverage", "risk", "regret"]:
        """What is maximised or minimised."""
        return self.minimize or "coverage"

    @property
    def floor(self) -> float:
        """The coverage floor, 0 where there is none."""
        return self.coverage_min or 0.0

    @property
    def budgets(self) -> dict[str, float]:
        """The given budgets by name, of ``"risk"`` and ``"regret"``."""
        limits = {"risk": self.risk_max, "regret": self.regret_max}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def to_dict(self) -> JsonObject:
        """Return the keywords that state this problem, without those left out.

        Returns
        -------
        dict
            From keyword to value; ``Problem(**problem.to_dict())`` equals ``problem``.

        Examples
        --------
        >>> from rue import Problem
        >>> Problem(maximize="coverage", risk_max=0.1).to_dict()
        {'maximize': 'coverage', 'risk_max': 0.1, 'normalized': False}
        """
        return {name: value for name, value in asdict(self).items() if value is not None}


def require_reachable(problem: Problem, largest: float, loss: str | None) -> None:
    """Raise InputError for a budget above the largest possible loss, which excludes nothing."""
    for name, limit in problem.budgets.items():
        if limit > largest * (1 + 1e-9):
            under = f" under {loss} loss" if loss else ""
            percent = f"; {limit / 100:g} is {limit:g} %" if largest == 1 and limit <= 100 else ""
            raise InputError(
                f"{name}_max must be at most the largest possible loss{under}, {largest:g}, "
                f"got {limit:g}{percent}"
            )


def _as_number(name: str, value: Any) -> float:
    real = isinstance(value, int | float | np.integer | np.floating)
    if isinstance(value, bool) or not real:
        raise InputError(f"{name} must be a number, got {value!r}")
    return float(value)


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
        points = RealizedPoints(components.total, components.epistemic)
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


def require_realized(star: Components) -> None:
    """Raise unless these are realised components: non-negative, total = aleatoric + epistemic."""
    if not isinstance(star, Components):
        raise InputError(f"star must be Components, got {type(star).__name__}")
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
