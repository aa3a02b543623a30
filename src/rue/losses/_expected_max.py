"""E max p under a Dirichlet distribution, by one-dimensional quadrature."""

import numpy as np
from scipy.special import gammaincc, gammainccinv, gammaincinv

from rue._arrays import FloatArray

N_NODES = 72
CUT = 1e-14
"""What may be left out at either end of the integral."""


def expected_max(alpha: FloatArray) -> FloatArray:
    """E max_k p_k for p ~ Dirichlet(alpha), (n_points, n_classes) -> (n_points,).

    With independent G_k ~ Gamma(alpha_k), p = G / sum G is independent of sum G, so
    E max p = E max G / alpha_0 and E max G = integral of 1 - prod_k P(alpha_k, x), P being the
    regularised incomplete gamma function. Over t = log x the integrand is smooth for small alpha
    as for large; where it is 1 or 0 up to ``CUT`` nothing is computed, and Gauss-Legendre does
    the rest.
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    out = np.empty(len(alpha))
    step = max(1, (1 << 21) // (N_NODES * alpha.shape[1]))
    for start in range(0, len(alpha), step):
        # Sorted, so that the order of classes does not show in the last digit.
        a = np.sort(alpha[start : start + step], axis=1)
        # Below alpha_0 = 1e-11 the result is 1 to that precision, whatever alpha_0.
        a = a * np.maximum(1.0, 1e-11 / a.sum(axis=1, keepdims=True))
        alpha_0 = a.sum(axis=1)
        low, high = _range(a, alpha_0)
        t = low[:, None] + (high - low)[:, None] * (nodes + 1) / 2
        rest = (np.exp(t) * _one_above(a, t)) @ weights * (high - low) / 2
        out[start : start + step] = (np.exp(low) + rest) / alpha_0
    return np.clip(out, 1 / alpha.shape[1], 1.0)


def _range(a: FloatArray, alpha_0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where in t = log x the chance that all are below x goes from ``CUT`` to 1 - ``CUT``."""
    largest = a[:, -1]
    high = np.log(gammainccinv(largest + 1, CUT))
    low = np.log(np.maximum(gammaincinv(largest, CUT), CUT * alpha_0))
    left, right = low, high
    for _ in range(8):
        middle = (left + right) / 2
        none_above = 1 - _one_above(a, middle[:, None])[:, 0]
        outside = np.exp(middle) * none_above <= CUT * alpha_0
        left, right = np.where(outside, middle, left), np.where(outside, right, middle)
    return left, high


def _one_above(a: FloatArray, t: FloatArray) -> FloatArray:
    """1 - prod_k P(a_k, e^t), shape of t: (n_points, n_nodes).

    Built from Q = 1 - P class by class, so that nothing cancels when all alpha are tiny.
    """
    x = np.exp(t)
    above = np.zeros_like(x)
    for k in range(a.shape[1]):
        above += (1 - above) * gammaincc(a[:, k, None], x)
    return above
