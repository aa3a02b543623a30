"""The selector under which model and person together cost least, if the truth is known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rue.components import Components
from rue.errors import InputError
from rue.selectors.selector import require_realized


@dataclass(frozen=True, eq=False)
class TeamSelector:
    """Which points the model keeps, and what the team costs.

    Attributes
    ----------
    coverage, risk, regret : float
        The share of accepted points, and their risk and regret over all points.
    team_risk : float
        The risk of the accepted points, and of a person on the others with the fee.
    person_risk : float
        What a person would cost on all points, without the fee.
    defer_fee : float
        The fee for each deferred point.
    acceptance : array of shape (n_points,)
        Which points are accepted.
    """

    coverage: float
    risk: float
    regret: float
    team_risk: float
    person_risk: float
    defer_fee: float
    acceptance: NDArray[np.bool]

    def __str__(self) -> str:
        fee = f" plus the fee of {self.defer_fee:g}" if self.defer_fee else ""
        return (
            f"Accept where the total is at most the risk of a person{fee}, defer elsewhere.\n"
            f"The team costs {self.team_risk:.6g} at coverage {self.coverage:.6g}."
        )


def team_selector(star: Components, *, defer_fee: float = 0.0) -> TeamSelector:
    """Accept where the model costs at most as much as a person and the fee.

    No other decisions cost less in sum, so there are no budgets.

    Parameters
    ----------
    star : Components
        Realised components with the risk of a person (:func:`rue.realize`).
    defer_fee : float
        What asking a person about a deferred point costs beyond their risk.

    Returns
    -------
    TeamSelector
        The decisions and what they cost.

    Raises
    ------
    InputError
        If the risk of a person is unknown, or the fee is invalid.

    Examples
    --------
    >>> from rue import Components
    >>> from rue.selectors import team_selector
    >>> star = Components([0.0, 0.5], [0.0, 0.2], [0.0, 0.3], person=np.array([0.25, 0.25]))
    >>> print(team_selector(star))
    Accept where the total is at most the risk of a person, defer elsewhere.
    The team costs 0.125 at coverage 0.5.
    """
    require_realized(star)
    if not 0 <= defer_fee < np.inf:
        raise InputError(f"defer_fee must be a number from 0 on, got {defer_fee}")
    if star.person is None:
        raise InputError(
            "star must have the risk of a person, which needs two answers for every point"
        )
    person_cost = star.person + defer_fee
    accepted = star.total <= person_cost + 1e-12 * max(
        float(star.total.max()), float(person_cost.max())
    )
    return TeamSelector(
        coverage=float(accepted.mean()),
        risk=float((accepted * star.total).mean()),
        regret=float((accepted * star.epistemic).mean()),
        team_risk=float(np.where(accepted, star.total, person_cost).mean()),
        person_risk=float(star.person.mean()),
        defer_fee=float(defer_fee),
        acceptance=accepted,
    )
