"""The problems of Theorem 1: what to optimise, under which coverage floor and which budgets."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from rue.errors import InputError

__all__ = ["Problem", "require_reachable"]


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
        given = {"risk": self.risk_max, "regret": self.regret_max}
        return {name: limit for name, limit in given.items() if limit is not None}

    def to_dict(self) -> dict[str, Any]:
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
