"""Student's t with 2 alpha degrees of freedom: the mixture of a normal-inverse-gamma distribution.

Ratios of gamma functions half a step apart are taken as such: where alpha is large, their
logarithms are so large that a difference of the two would lose the digits that matter.
"""

import numpy as np

from rue._arrays import FloatArray

_LARGE = 20.0


def gamma_ratio(x: FloatArray) -> FloatArray:
    """Return Gamma(x + 1/2) / Gamma(x) for x > 0, to rounding."""
    from scipy.special import gamma

    small, large = np.minimum(x, _LARGE), np.maximum(x, _LARGE)
    w = large - 0.25
    v = 1 / (64 * w * w)
    series = 1 + v * (1 + v * (-9.5 + v * (315.5 + v * (-21789.625 + v * 2561472.875))))
    return np.where(x < _LARGE, gamma(small + 0.5) / gamma(small), np.sqrt(w) * series)


def expected_sd(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Return E sigma = sqrt(beta) Gamma(alpha - 1/2) / Gamma(alpha), alpha > 1/2."""
    return np.asarray(np.sqrt(beta) / gamma_ratio(alpha - 0.5))


def student_scale(nu: FloatArray, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Return the scale of the mixture: (y - mu)/scale is Student's t."""
    return np.asarray(np.sqrt(beta / alpha * (1 + 1 / nu)))


def student_density(t: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the density f(t)."""
    n = 2 * alpha
    peak = gamma_ratio(alpha) / np.sqrt(n * np.pi)
    return np.asarray(peak * np.exp(-(alpha + 0.5) * np.log1p(t * t / n)))


def student_inside(t: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return 2 F(t) - 1."""
    from scipy.special import betainc

    squares = t * t
    return np.asarray(np.sign(t) * betainc(0.5, alpha, squares / (2 * alpha + squares)))


def student_quantile(q: float, alpha: FloatArray) -> FloatArray:
    """Return the t with F(t) = q, made exact by two steps of Newton's method."""
    from scipy.special import stdtrit

    t: FloatArray = np.asarray(stdtrit(2 * alpha, q), np.float64)
    for _ in range(2):
        t = t - ((student_inside(t, alpha) + 1) / 2 - q) / student_density(t, alpha)
    return t


def student_distance(t: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return E|T - t|, alpha > 1/2."""
    n = 2 * alpha
    outside = 2 * student_density(t, alpha) * (n + t * t) / (n - 1)
    return np.asarray(t * student_inside(t, alpha) + outside)


def student_spread(alpha: FloatArray) -> FloatArray:
    """Return E|T - T'|/2, alpha > 1/2."""
    n = 2 * alpha
    ratio = gamma_ratio(alpha) ** 2 / gamma_ratio(n - 0.5)
    return np.asarray(2 * np.sqrt(n) / (n - 1) * ratio / np.sqrt(np.pi))
