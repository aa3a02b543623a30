"""How many labels active learning starts with and asks for, and the budgets behind table 5.

The paper says ten rounds and ten runs, and no more. The public code behind its numbers starts
OpenML 6 (letter) with 1,000 labels and adds 1,000 in each round, and OpenML 156 (RandomRBF) with
100 and 100.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Annotated

from rue._schema import at_least, build, require_fields
from rue.errors import InputError

Positive = Annotated[int, at_least(1)]


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

    start: Positive
    step: Positive
    rounds: Positive = 10
    runs: Positive | None = None

    def __post_init__(self) -> None:
        require_fields(self)

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
    """Return a budget by its name, or from a table with the keys of :class:`Budget`."""
    if isinstance(value, str):
        if value not in BUDGETS:
            raise InputError(f"{what} must be of {', '.join(BUDGETS)} or a table, got {value!r}")
        return BUDGETS[value]
    if not isinstance(value, Mapping):
        keys = ", ".join(field.name for field in fields(Budget))
        raise InputError(
            f"{what} must be a name ({', '.join(BUDGETS)}) or a table with {keys}, got {value!r}"
        )
    return build(Budget, dict(value), where=what, table="a table")
