"""Areas under coverage curves: AuReC, AuRC and what they are compared with (section 5.2).

The area is the exact integral of the piecewise-linear curve of :mod:`rue.metrics.curves`. The
paper accepts floor(cN) points at coverage c; this is ``rule="step"``, and its area is smaller by
Re(1)/2N.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.errors import InputError

__all__ = [
    "Areas",
    "areas",
    "aurc",
    "aurec",
    "excess_aurec",
    "n_aurec",
    "oracle_aurec",
    "random_aurec",
    "require_scores",
]


Rule = Literal["exact", "step", "row_order"]


@dataclass(frozen=True)
class Areas:
    """The area under a coverage curve, with those of a perfect and a random ranking.

    Attributes
    ----------
    area : float
        The area when ranking by the score.
    oracle : float
        The area when ranking by the true values, the least possible.
    random : float
        The expected area of a random ranking.
    """

    area: float
    oracle: float
    random: float

    @property
    def excess(self) -> float:
        """The area minus the oracle's; exactly 0 if the difference is a rounding error."""
        saved = self.area - self.oracle
        return saved if abs(saved) > 1e-13 * abs(self.random) else 0.0

    @property
    def normalized(self) -> float:
        """Excess / (random - oracle): 0 for a perfect ranking, 1 for a random one.

        It is NaN if all values are equal.
        """
        span = self.random - self.oracle
        return self.excess / span if span > 0 else float("nan")


def aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
    normalized: bool = False,
) -> float:
    r"""Return AuReC, the area under the regret-coverage curve: :math:`\int_0^1 Re(c)\, dc`.

    Parameters
    ----------
    regret, score, sample_weight, normalized
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        ``"exact"`` integrates the curve. ``"step"`` is the paper's floor rule, the mean of
        Re(k/N) over k = 0..N-1 (normalised: of SRe(k/N) over k = 1..N); it cannot be weighted.
        ``"row_order"`` is the rule of the authors' code, which ranks equal scores in the order
        of the rows; it can be neither weighted nor normalised.

    Returns
    -------
    float
        The area, in the unit of the regret; lower is better.

    Raises
    ------
    InputError
        If the rule is unknown or does not allow an option, or an array is invalid.

    Examples
    --------
    >>> aurec([0.0, 1.0], [1, 2])
    0.125
    >>> aurec([0.0, 1.0], [1, 2], rule="step")
    0.0
    """
    return areas(regret, score, sample_weight=sample_weight, rule=rule, normalized=normalized).area


def aurc(
    risk: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
    normalized: bool = False,
) -> float:
    """Return AuRC, the area under the risk-coverage curve.

    Under 0/1 loss it is also called AUGRC; with ``normalized=True`` and ``rule="step"`` it is
    commonly called AURC.

    Parameters
    ----------
    risk : array_like of shape (n_points,)
        The realised total of each point.
    score, sample_weight, normalized
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    float
        The area, in the unit of the loss; lower is better.

    Examples
    --------
    >>> aurc([0.0, 1.0], [1, 2])
    0.125
    """
    return areas(risk, score, sample_weight=sample_weight, rule=rule, normalized=normalized).area


def oracle_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: Rule = "exact"
) -> float:
    """Return the AuReC of ranking by the regret itself, the least possible one.

    Parameters
    ----------
    regret, sample_weight
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> oracle_aurec([1.0, 0.0])
    0.125
    """
    return aurec(regret, regret, sample_weight=sample_weight, rule=rule)


def random_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: Rule = "exact"
) -> float:
    """Return the expected AuReC of a random ranking.

    It is Re(1)/2, or Re(1)/2 - Re(1)/2N with ``rule="step"``.

    Parameters
    ----------
    regret, sample_weight
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> random_aurec([1.0, 0.0])
    0.25
    """
    regret = as_vector("regret", regret)
    return aurec(regret, np.zeros(len(regret)), sample_weight=sample_weight, rule=rule)


def excess_aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
) -> float:
    """Return the AuReC minus that of the oracle.

    Parameters
    ----------
    regret, score, sample_weight
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    float
        The excess, at least 0; lower is better.

    Examples
    --------
    >>> excess_aurec([1.0, 0.0], [1, 2])
    0.25
    """
    return areas(regret, score, sample_weight=sample_weight, rule=rule).excess


def n_aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
) -> float:
    """Return the excess AuReC on a scale from 0 (oracle) to 1 (random ranking).

    Parameters
    ----------
    regret, score, sample_weight
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    float
        The normalised excess; lower is better. It is above 1 if the ranking is worse than a
        random one, and NaN if all regrets are equal.

    Examples
    --------
    >>> n_aurec([0.0, 0.0, 1.0], [1, 1, 1])
    1.0
    """
    return areas(regret, score, sample_weight=sample_weight, rule=rule).normalized


def areas(
    value: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
    normalized: bool = False,
) -> Areas:
    """Return the area under a coverage curve, with those of a perfect and a random ranking.

    Parameters
    ----------
    value : array_like of shape (n_points,)
        The risk, regret or error of each point.
    score, sample_weight, normalized
        As in :func:`rue.regret_coverage_curve`.
    rule : {"exact", "step", "row_order"}
        As in :func:`aurec`.

    Returns
    -------
    Areas
        The three areas; computing them together sorts only twice.

    Examples
    --------
    >>> areas([1.0, 0.0], [1, 2])
    Areas(area=0.375, oracle=0.125, random=0.25)
    """
    from rue._kernels import sorting

    if rule not in get_args(Rule):
        raise InputError(f"rule must be one of {', '.join(get_args(Rule))}, got {rule!r}")
    value, score, weight = require_scores("value", value, score, sample_weight)
    if rule == "step":
        if weight is not None:
            raise InputError("rule='step' counts points and cannot be used with sample_weight")
        ranked, oracle, chance = (
            float(sorting.steps(value, s, sorting.argsort(s), normalized))
            for s in (score, value, np.zeros(len(value)))
        )
        return Areas(ranked, oracle, chance)
    if rule == "row_order":
        if weight is not None or normalized:
            raise InputError("rule='row_order' cannot be used with sample_weight or normalized")
        chance = float(value.mean()) / 2
        if np.ptp(value) == 0:  # all rankings have the same area; avoid rounding errors
            return Areas(chance, chance, chance)
        return Areas(_row_order_area(value, score), _row_order_area(value, value), chance)
    weights = np.empty(0) if weight is None else weight
    area, full = sorting.areas(value, score, weights, sorting.argsort(score), normalized)
    oracle, _ = sorting.areas(value, value, weights, sorting.argsort(value), normalized)
    return Areas(float(area), float(oracle), float(full if normalized else full * 0.5))


def require_scores(
    name: str, value: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return the points with a positive weight, as vectors; raise where one is invalid."""
    value = as_vector(name, value)
    score = as_vector("score", score, len(value))
    if sample_weight is None:
        return value, score, None
    weight = as_vector("sample_weight", sample_weight, len(value))
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise InputError(f"sample_weight must not be negative, got {weight[row]:g} at row {row}")
    counted = weight > 0
    if not counted.any():
        raise InputError(f"sample_weight must not be 0 for all {len(weight)} points")
    return value[counted], score[counted], weight[counted]


def _row_order_area(value: FloatArray, score: FloatArray) -> float:
    """Return the trapezoidal area over all prefixes, with ties ranked in the order of the rows."""
    height = np.cumsum(value[np.argsort(score, kind="stable")]) / len(value)
    return float((height.sum() - height[-1] / 2) / len(value))
