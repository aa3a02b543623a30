"""How many labels active learning starts with and asks for, and the budgets behind table 5.

The paper says ten rounds and ten runs, and no more. The public code behind its numbers starts
OpenML 6 (letter) with 1,000 labels and adds 1,000 in each round, and OpenML 156 (RandomRBF) with
100 and 100.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any

from rue._arrays import require_whole
from rue.errors import InputError

__all__ = ["BUDGETS", "Budget", "get_budget"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A budget of labels.

    Attributes
    ----------
    start : int
        The number of labelled points before the first round.
    step : int
        The number of points that each round adds.
    rounds : int
        The number of rounds.
    runs : int or None
        The number of runs, each with its own seed; None leaves it to the caller.

    Examples
    --------
    >>> from rue.proxies import BUDGETS
    >>> BUDGETS["openml-156"].n_labelled
    1100
    """

    start: int
    step: int
    rounds: int = 10
    runs: int | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None:
                require_whole(name, value, least=1)

    @property
    def n_labelled(self) -> int:
        """The number of labelled points after the last round."""
        return self.start + self.step * self.rounds

    def to_dict(self) -> dict[str, int]:
        """Return start, step and rounds, what the result of one run depends on."""
        return {"start": self.start, "step": self.step, "rounds": self.rounds}


BUDGETS: Mapping[str, Budget] = MappingProxyType(
    {
        "openml-6": Budget(start=1_000, step=1_000, rounds=10, runs=10),
        "openml-156": Budget(start=100, step=100, rounds=10, runs=10),
    }
)
"""The budgets of table 5 by name."""


def get_budget(value: object, what: str = "active_learning") -> Budget:
    """Return a budget by its name, or from a table with the keys of :class:`Budget`.

    Parameters
    ----------
    value : str or mapping
        A name of :data:`BUDGETS`, or ``{"start": 100, "step": 100, "rounds": 10}``.
    what : str
        What the value is called in errors.

    Returns
    -------
    Budget
        The budget.

    Raises
    ------
    InputError
        If the name is unknown, or a key is missing, unknown or no whole number from 1.

    Examples
    --------
    >>> get_budget("openml-6").step
    1000
    >>> get_budget({"start": 20, "step": 10}).n_labelled
    120
    """
    if isinstance(value, str):
        if value not in BUDGETS:
            raise InputError(f"{what} must be of {', '.join(BUDGETS)} or a table, got {value!r}")
        return BUDGETS[value]
    known = [each.name for each in fields(Budget)]
    if not isinstance(value, Mapping):
        raise InputError(
            f"{what} must be a name ({', '.join(BUDGETS)}) or a table with {', '.join(known)}, "
            f"got {value!r}"
        )
    unknown = next((key for key in value if key not in known), None)
    if unknown is not None:
        raise InputError(f"{what} must have keys of {', '.join(known)}, got {unknown!r}")
    lacking = next((key for key in ("start", "step") if key not in value), None)
    if lacking is not None:
        raise InputError(f"{what} needs the key {lacking}")
    given: dict[str, Any] = dict(value)
    try:
        return Budget(**given)
    except InputError as error:
        raise InputError(f"{what}.{error}") from None
