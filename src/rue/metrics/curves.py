"""Coverage curves (section 5.2 of the paper); :mod:`rue.metrics.measures` has their areas.

Points are accepted in ascending order of a score, so the least uncertain ones first. Risk and
regret are not divided by the coverage (Traub et al. 2024): Re(c) = (1/N) sum of the regret of
the accepted points. A block of equal scores is one straight segment, which a selector attains
that accepts a random part of the block; so no result depends on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue._text import short_repr
from rue.metrics.measures import require_scores


@dataclass(frozen=True, eq=False)
class Curve:
    """The corners of a coverage curve, from coverage 0 to coverage 1.

    The curve begins at coverage 0 (threshold -inf) and has one corner per distinct score.
    Between corners it is straight; a normalised curve is a straight line divided by the
    coverage.

    Attributes
    ----------
    coverage : array of shape (n_corners,)
        The share of accepted points.
    value : array of shape (n_corners,)
        The risk, regret or accuracy of the points with scores of at most ``threshold``.
    threshold : array of shape (n_corners,)
        The scores at the corners.
    """

    coverage: FloatArray
    value: FloatArray
    threshold: FloatArray

    __repr__ = short_repr


def regret_coverage_curve(
    regret: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    normalized: bool = False,
) -> Curve:
    """Return the regret of the accepted points against coverage.

    This is Re(c), or SRe(c) = Re(c)/c if ``normalized``.

    Parameters
    ----------
    regret : array_like of shape (n_points,)
        The realised regret of each point.
    score : array_like of shape (n_points,)
        The uncertainty of each point; points with higher scores are rejected first.
    sample_weight : array_like of shape (n_points,), optional
        Non-negative weights of the points, by default equal.
    normalized : bool
        Whether to divide by the coverage (selective regret, appendix B).

    Returns
    -------
    Curve
        The corners of the curve, arrays of shape (n_corners,).

    Raises
    ------
    InputError
        If a value is not finite, or a weight is negative.

    Examples
    --------
    >>> from rue import regret_coverage_curve
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
    """Return the risk of the accepted points against coverage.

    This is Ri(c), or SRi(c) = Ri(c)/c if ``normalized``.

    Parameters
    ----------
    risk : array_like of shape (n_points,)
        The realised total of each point.
    score, sample_weight, normalized
        As in :func:`regret_coverage_curve`.

    Returns
    -------
    Curve
        The corners of the curve, arrays of shape (n_corners,).

    Examples
    --------
    >>> from rue import risk_coverage_curve
    >>> risk_coverage_curve([0.2, 0.4], [1, 2]).value
    array([0. , 0.1, 0.3])
    """
    return _curve("risk", risk, score, sample_weight, normalized)


def accuracy_coverage_curve(
    correct: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    normalized: bool = False,
) -> Curve:
    """Return the accuracy of the accepted points against coverage.

    The common accuracy-coverage curve is the one with ``normalized=True``.

    Parameters
    ----------
    correct : array_like of shape (n_points,)
        Whether each prediction is correct, or with which probability.
    score, sample_weight, normalized
        As in :func:`regret_coverage_curve`.

    Returns
    -------
    Curve
        The corners of the curve, arrays of shape (n_corners,).

    Examples
    --------
    >>> from rue import accuracy_coverage_curve
    >>> accuracy_coverage_curve([1, 1, 0], [1, 2, 3], normalized=True).value
    array([1.        , 1.        , 1.        , 0.66666667])
    """
    return _curve("correct", correct, score, sample_weight, normalized)


def _curve(
    name: str,
    value: ArrayLike,
    score: ArrayLike,
    sample_weight: ArrayLike | None,
    normalized: bool,
) -> Curve:
    from rue._kernels import sorting

    value, score, weight = require_scores(name, value, score, sample_weight)
    weights = np.ones(len(value)) if weight is None else weight
    coverage, height, threshold = sorting.curve(value, score, weights, sorting.argsort(score))
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
