"""Coverage curves and the areas under them (section 5.2 of the paper).

Points are accepted in the order of a score, the least uncertain first. Risk and regret are not
divided by the coverage (Traub et al. 2024): Re(c) = (1/N) sum of the regret of the accepted.
A block of equal scores is one straight segment, which is what a selector attains that accepts a
random part of the block; so no result depends on the order of rows.

The area is the exact integral of that piecewise-linear curve. The paper accepts floor(cN)
points at coverage c, which is ``rule="step"``; it is smaller by Re(1)/2N.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.errors import InputError

__all__ = [
    "Areas",
    "Curve",
    "accuracy_coverage_curve",
    "areas",
    "aurc",
    "aurec",
    "excess_aurec",
    "n_aurec",
    "oracle_aurec",
    "random_aurec",
    "regret_coverage_curve",
    "risk_coverage_curve",
]

Rule = Literal["exact", "step", "row_order"]


@dataclass(frozen=True, eq=False)
class Curve:
    """A coverage curve: its corners, from coverage 0 to coverage 1.

    ``value[j]`` is attained by accepting the scores that are at most ``threshold[j]``, a share
    ``coverage[j]`` of all points. The curve begins at coverage 0 (threshold -inf) and has one
    corner per distinct score. Between corners a plain curve is straight; a normalised one is the
    quotient of a straight line and the coverage.
    """

    coverage: FloatArray
    value: FloatArray
    threshold: FloatArray


@dataclass(frozen=True)
class Areas:
    """The area under a coverage curve beside its two bounds.

    ``oracle`` ranks by the truth itself and ``random`` by chance; ``excess`` = area - oracle and
    ``normalized`` = excess / (random - oracle), NaN where all values are equal.
    """

    area: float
    oracle: float
    random: float

    @property
    def excess(self) -> float:
        """How much of the area a perfect ranking would have saved; 0 if no more than rounding."""
        saved = self.area - self.oracle
        return saved if abs(saved) > 1e-13 * abs(self.random) else 0.0

    @property
    def normalized(self) -> float:
        """0 for a perfect ranking, 1 for a random one."""
        span = self.random - self.oracle
        return self.excess / span if span > 0 else float("nan")


def regret_coverage_curve(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    normalized: bool = False,
) -> Curve:
    """Regret of the accepted against coverage: Re(c), or SRe(c) = Re(c)/c if ``normalized``.

    Parameters
    ----------
    regret, score
        The realised regret and the uncertainty score of each point, shape (n_points,).
    sample_weight
        How much each point counts, non-negative (default: all the same).
    normalized
        Divide by the coverage (selective regret, appendix B).

    Examples
    --------
    >>> regret_coverage_curve([0.0, 1.0, 0.5, 0.5], [1, 3, 2, 2])
    Curve(coverage=array([0.  , 0.25, 0.75, 1.  ]), value=array([0.  , 0.  , 0.25, 0.5 ]),
          threshold=array([-inf,   1.,   2.,   3.]))
    """
    return _curve("regret", regret, score, sample_weight, normalized)


def risk_coverage_curve(
    risk: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    normalized: bool = False,
) -> Curve:
    """Risk of the accepted against coverage: Ri(c), or SRi(c) = Ri(c)/c if ``normalized``.

    As :func:`regret_coverage_curve`, of the realised total.
    """
    return _curve("risk", risk, score, sample_weight, normalized)


def accuracy_coverage_curve(
    correct: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    normalized: bool = False,
) -> Curve:
    """Accuracy of the accepted against coverage.

    As :func:`regret_coverage_curve`, of whether (or with which probability) each point is right.
    Others' accuracy-coverage curve is the ``normalized`` one.
    """
    return _curve("correct", correct, score, sample_weight, normalized)


def aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
    normalized: bool = False,
) -> float:
    """Area under the regret-coverage curve: AuReC = integral of Re(c) dc.

    Parameters
    ----------
    regret, score, sample_weight, normalized
        As in :func:`regret_coverage_curve`.
    rule
        ``"exact"`` integrates the curve; ``"row_order"`` is the authors' code, which ranks equal
        scores in the order of the rows; ``"step"`` is the paper's floor rule, the mean of
        Re(k/N) over k = 0..N-1 (normalised: of SRe(k/N) over k = 1..N). It counts points and so
        has no weighted form.

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
    """Area under the risk-coverage curve, of the realised total; see :func:`aurec`.

    Under 0/1 loss this is what others call AUGRC; with ``normalized=True`` and ``rule="step"``
    it is what they call AURC.
    """
    return areas(risk, score, sample_weight=sample_weight, rule=rule, normalized=normalized).area


def oracle_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: Rule = "exact"
) -> float:
    """AuReC of ranking by the regret itself, the least there is."""
    return aurec(regret, regret, sample_weight=sample_weight, rule=rule)


def random_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: Rule = "exact"
) -> float:
    """AuReC of ranking by chance: Re(1)/2 (``rule="step"``: Re(1)/2 - Re(1)/2N)."""
    regret = as_vector("regret", regret)
    return aurec(regret, np.zeros(len(regret)), sample_weight=sample_weight, rule=rule)


def excess_aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
) -> float:
    """AuReC minus that of the oracle."""
    return areas(regret, score, sample_weight=sample_weight, rule=rule).excess


def n_aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: Rule = "exact",
) -> float:
    """Excess AuReC on a scale from 0 (oracle) to 1 (random); NaN when all regrets are equal.

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
    """Area under a coverage curve with its oracle and random bounds, sorting twice in all."""
    from rue._kernels import curves as kernels

    if rule not in get_args(Rule):
        raise InputError(f"rule must be one of {', '.join(get_args(Rule))}, got {rule!r}")
    value, score, weight = _checked("value", value, score, sample_weight)
    if rule == "step":
        if weight is not None:
            raise InputError("rule='step' counts points and takes no sample_weight")
        ranked, oracle, chance = (
            float(kernels.steps(value, s, np.argsort(s), normalized))
            for s in (score, value, np.zeros(len(value)))
        )
        return Areas(ranked, oracle, chance)
    if rule == "row_order":
        if weight is not None or normalized:
            raise InputError("rule='row_order' takes neither sample_weight nor normalized")
        chance = float(value.mean()) / 2
        if np.ptp(value) == 0:  # every ranking is the same, whatever rounding says
            return Areas(chance, chance, chance)
        return Areas(_row_order_area(value, score), _row_order_area(value, value), chance)
    weights = np.empty(0) if weight is None else weight
    area, full = kernels.areas(value, score, weights, np.argsort(score), normalized)
    oracle, _ = kernels.areas(value, value, weights, np.argsort(value), normalized)
    return Areas(float(area), float(oracle), float(full if normalized else full * 0.5))


def _curve(
    name: str,
    value: ArrayLike,
    score: ArrayLike,
    sample_weight: ArrayLike | None,
    normalized: bool,
) -> Curve:
    from rue._kernels import curves as kernels

    value, score, weight = _checked(name, value, score, sample_weight)
    weights = np.ones(len(value)) if weight is None else weight
    coverage, height, threshold = kernels.curve(value, score, weights, np.argsort(score))
    coverage[-1] = 1.0
    start = 0.0
    if normalized:
        height = height / coverage
        start = height[0]  # the limit from the right: a random part of the first block
    return Curve(
        np.concatenate(([0.0], coverage)),
        np.concatenate(([start], height)),
        np.concatenate(([-np.inf], threshold)),
    )


def _row_order_area(value: FloatArray, score: FloatArray) -> float:
    """Trapezoid over the n_points + 1 prefixes, equal scores ranked in the order of the rows."""
    height = np.cumsum(value[np.argsort(score, kind="stable")]) / len(value)
    return float((height.sum() - height[-1] / 2) / len(value))


def _checked(
    name: str, value: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
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
