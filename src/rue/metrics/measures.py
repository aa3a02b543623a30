"""What the columns of a row measure: areas, rank correlations and the calibration of regret.

AuReC, AuRC and what they are compared with (section 5.2) are exact integrals of the
piecewise-linear curves of :mod:`rue.metrics.curves`. The paper accepts floor(cN) points at
coverage c; this is ``rule="step"``, and its area is smaller by Re(1)/2N. Rank correlations
(section 5.4) compare the order of two columns, regret calibration their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_vector
from rue._text import short_repr
from rue.errors import InputError

AreaRule = Literal["exact", "step", "row_order"]
"""How an area under a coverage curve is computed; see :func:`aurec`."""


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
    rule: AreaRule = "exact",
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
    >>> from rue import aurec
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
    rule: AreaRule = "exact",
    normalized: bool = False,
) -> float:
    """Return AuRC, the area under the risk-coverage curve.

    Under 0/1 loss it is also called AUGRC; with ``normalized=True`` and ``rule="step"`` it is
    commonly called AURC.

    Parameters
    ----------
    risk : array_like of shape (n_points,)
        The realised total of each point.
    score, sample_weight, rule, normalized
        As in :func:`aurec`.

    Returns
    -------
    float
        The area, in the unit of the loss; lower is better.

    Examples
    --------
    >>> from rue import aurc
    >>> aurc([0.0, 1.0], [1, 2])
    0.125
    """
    return areas(risk, score, sample_weight=sample_weight, rule=rule, normalized=normalized).area


def oracle_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: AreaRule = "exact"
) -> float:
    """Return the AuReC of ranking by the regret itself, the least possible one.

    Parameters
    ----------
    regret, sample_weight, rule
        As in :func:`aurec`.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> from rue import oracle_aurec
    >>> oracle_aurec([1.0, 0.0])
    0.125
    """
    return aurec(regret, regret, sample_weight=sample_weight, rule=rule)


def random_aurec(
    regret: ArrayLike, *, sample_weight: ArrayLike | None = None, rule: AreaRule = "exact"
) -> float:
    """Return the expected AuReC of a random ranking.

    It is Re(1)/2, or Re(1)/2 - Re(1)/2N with ``rule="step"``.

    Parameters
    ----------
    regret, sample_weight, rule
        As in :func:`aurec`.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> from rue import random_aurec
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
    rule: AreaRule = "exact",
) -> float:
    """Return the AuReC minus that of the oracle.

    Parameters
    ----------
    regret, score, sample_weight, rule
        As in :func:`aurec`.

    Returns
    -------
    float
        The excess, at least 0; lower is better.

    Examples
    --------
    >>> from rue import excess_aurec
    >>> excess_aurec([1.0, 0.0], [1, 2])
    0.25
    """
    return areas(regret, score, sample_weight=sample_weight, rule=rule).excess


def n_aurec(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: AreaRule = "exact",
) -> float:
    """Return the excess AuReC on a scale from 0 (oracle) to 1 (random ranking).

    Parameters
    ----------
    regret, score, sample_weight, rule
        As in :func:`aurec`.

    Returns
    -------
    float
        The normalised excess; lower is better. It is above 1 if the ranking is worse than a
        random one, and NaN if all regrets are equal.

    Examples
    --------
    >>> from rue import n_aurec
    >>> n_aurec([0.0, 0.0, 1.0], [1, 1, 1])
    1.0
    """
    return areas(regret, score, sample_weight=sample_weight, rule=rule).normalized


def areas(
    value: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    rule: AreaRule = "exact",
    normalized: bool = False,
) -> Areas:
    """Return the area under a coverage curve, with those of a perfect and a random ranking.

    Parameters
    ----------
    value : array_like of shape (n_points,)
        The risk, regret or error of each point.
    score, sample_weight, rule, normalized
        As in :func:`aurec`.

    Returns
    -------
    Areas
        The three areas; computing them together sorts only twice.

    Examples
    --------
    >>> from rue.metrics import areas
    >>> areas([1.0, 0.0], [1, 2])
    Areas(area=0.375, oracle=0.125, random=0.25)
    """
    from rue._kernels import sorting

    if rule not in get_args(AreaRule):
        raise InputError(f"rule must be one of {', '.join(get_args(AreaRule))}, got {rule!r}")
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
    return exact_areas(value, score, sorting.argsort(score), weight, normalized)


def exact_areas(
    value: FloatArray,
    score: FloatArray,
    order: IntArray,
    weight: FloatArray | None = None,
    normalized: bool = False,
) -> Areas:
    """Return the areas of valid arrays; ``order`` sorts the points by the score."""
    from rue._kernels import sorting

    weights = np.empty(0) if weight is None else weight
    area, full = sorting.areas(value, score, weights, order, normalized)
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


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation r_s.

    It is the Pearson correlation of the ranks; equal values share their mean rank.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        The values to compare.

    Returns
    -------
    float
        The correlation, from -1 to 1; NaN if ``x`` or ``y`` is constant.

    Examples
    --------
    >>> from rue import spearman
    >>> spearman([1, 2, 3], [1, 4, 9])
    1.0
    """
    from rue._kernels.sorting import argsort

    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    return rank_correlation(centred_ranks(x, argsort(x)), centred_ranks(y, argsort(y)))


def centred_ranks(value: FloatArray, order: IntArray) -> FloatArray:
    """Return the ranks of sorted values minus the middle rank; equal values share their mean."""
    from rue._kernels.sorting import mid_ranks

    return np.asarray(mid_ranks(value, order) - (len(value) + 1) / 2)


def rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Return the correlation of centred ranks, or of signs; NaN if one is constant."""
    aa, bb = float(a @ a), float(b @ b)
    if aa == 0 or bb == 0:
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt(aa * bb), -1, 1))


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    r"""Return Kendall's rank correlation, tau-b.

    It is :math:`(C - D) / \sqrt{T_x T_y}`, where C and D are the numbers of concordant and
    discordant pairs, and :math:`T_x` and :math:`T_y` the numbers of pairs that are not tied. Memory
    grows with :math:`n^2`: use it for tens of methods, not for thousands of points.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        The values to compare.

    Returns
    -------
    float
        The correlation, from -1 to 1; NaN if ``x`` or ``y`` is constant.

    Examples
    --------
    >>> from rue import kendall
    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3])
    0.667
    """
    x = as_vector("x", x)
    y = as_vector("y", y, len(x))
    a = np.sign(x[:, None] - x).ravel()  # each pair occurs twice, which cancels
    b = np.sign(y[:, None] - y).ravel()
    return rank_correlation(a, b)


@dataclass(frozen=True, eq=False)
class RegretCalibration:
    """A reliability curve of regret, with one entry per bin, and its mean absolute gap.

    Attributes
    ----------
    estimated, realised : array of shape (n_bins,)
        The mean estimated epistemic uncertainty and the mean realised regret of each bin, in the
        unit of the loss.
    count : array of shape (n_bins,)
        The number of points of each bin.
    gap : float
        The mean absolute difference of the two, weighted by ``count``.
    """

    estimated: FloatArray
    realised: FloatArray
    count: IntArray
    gap: float

    __repr__ = short_repr


def regret_calibration(
    regret: ArrayLike, epistemic: ArrayLike, *, bins: int = 10
) -> RegretCalibration:
    r"""Compare estimated epistemic uncertainty with the regret it predicts.

    Points are sorted by ``epistemic`` and divided into at most ``bins`` bins of about equal size;
    points with equal estimates are in the same bin. With the mean regret :math:`r_b` and the mean
    estimate :math:`e_b` of the :math:`n_b` points of bin b, the gap is

    .. math:: \sum_b \frac{n_b}{N}\, |r_b - e_b|,

    which is 0 if the estimates are right on average.

    Parameters
    ----------
    regret : array_like of shape (n_points,)
        The realised regret of each point.
    epistemic : array_like of shape (n_points,)
        The estimated epistemic uncertainty, in the unit of the loss.
    bins : int
        The largest number of bins.

    Returns
    -------
    RegretCalibration
        The curve, arrays of shape (n_bins,), and the gap.

    Raises
    ------
    InputError
        If ``bins`` is no whole number of at least 1.

    Examples
    --------
    >>> from rue import regret_calibration
    >>> regret_calibration([0.0, 0.4, 0.4, 0.8], [0.1, 0.1, 0.5, 0.5], bins=2).gap
    0.1
    """
    regret = as_vector("regret", regret)
    epistemic = as_vector("epistemic", epistemic, len(regret))
    return calibration_in_bins(regret, epistemic, equal_bins(epistemic, bins))


def calibration_in_bins(
    regret: FloatArray, epistemic: FloatArray, which: IntArray
) -> RegretCalibration:
    """Return the curve of points whose bins are known; bins without points are left out."""
    count = np.bincount(which)
    filled = count > 0
    count = count[filled]
    estimated = np.bincount(which, epistemic)[filled] / count
    realised = np.bincount(which, regret)[filled] / count
    gap = float(np.abs(realised - estimated) @ count / len(regret))
    return RegretCalibration(estimated, realised, count, gap)


def equal_bins(epistemic: FloatArray, bins: int) -> IntArray:
    """Return the bin of each point, below ``bins``: about equal sizes, ties together."""
    from rue._kernels.sorting import argsort, mid_ranks

    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise InputError(f"bins must be a whole number of at least 1, got {bins!r}")
    middle = (mid_ranks(epistemic, argsort(epistemic)) - 0.5) / len(epistemic)
    return np.asarray(np.minimum((middle * bins).astype(np.int64), bins - 1))


def _row_order_area(value: FloatArray, score: FloatArray) -> float:
    """Return the trapezoidal area over all prefixes, with ties ranked in the order of the rows."""
    height = np.cumsum(value[np.argsort(score, kind="stable")]) / len(value)
    return float((height.sum() - height[-1] / 2) / len(value))
