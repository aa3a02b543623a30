"""E[max p - p_a] under a Dirichlet distribution, by one-dimensional quadrature."""

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from rue._arrays import FloatArray

N_NODES = 72
CUT = 1e-14
"""What may be left out at either end of the integral."""


def expected_lead(alpha: FloatArray) -> FloatArray:
    """E[max_k p_k - p_a], a the class of largest alpha: (n_points, n_classes) -> (n_points,).

    With independent G_k ~ Gamma(alpha_k), p = G / sum G is independent of sum G, so the
    expectation is E[max G - G_a] / alpha_0 with

        E[max G - G_a] = integral of P_a (1 - prod_{k != a} P_k) dx,

    P_k being the regularised incomplete gamma function P(alpha_k, x). No term is negative, so
    what is 0 comes out as 0. Over t = log x the integrand is smooth for small alpha as for
    large. Where the product of all P is 0 up to ``CUT`` the integrand is P_a, whose integral is
    known; where it is 1 there is nothing; Gauss-Legendre does the rest.
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    out = np.empty(len(alpha))
    step = max(1, (1 << 21) // (N_NODES * alpha.shape[1]))
    for start in range(0, len(alpha), step):
        # Sorted, so that the order of classes does not show in the last digit.
        a = np.sort(alpha[start : start + step], axis=1)
        # Below alpha_0 = 1e-11 the result is that of 1e-11 to that precision.
        a = a * np.maximum(1.0, 1e-11 / a.sum(axis=1, keepdims=True))
        alpha_0, largest, others = a.sum(axis=1), a[:, -1], a[:, :-1]
        low, high = _range(a, alpha_0)
        t = low[:, None] + (high - low)[:, None] * (nodes + 1) / 2
        x = np.exp(t)
        integrand = x * gammainc(largest[:, None], x) * _one_above(others, x)
        x_low = np.exp(low)
        below = x_low * gammainc(largest, x_low) - largest * gammainc(largest + 1, x_low)
        lead = np.maximum(below, 0.0) + integrand @ weights * (high - low) / 2
        out[start : start + step] = lead / alpha_0
    return out


def _range(a: FloatArray, alpha_0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where in t = log x the chance that all are below x goes from ``CUT`` to 1 - ``CUT``."""
    largest = a[:, -1]
    high = np.log(gammainccinv(largest + 1, CUT))
    left = np.log(np.maximum(gammaincinv(largest, CUT), CUT * alpha_0))
    right = high
    for _ in range(8):
        middle = (left + right) / 2
        x = np.exp(middle)
        outside = x * (1 - _one_above(a, x[:, None])[:, 0]) <= CUT * alpha_0
        left, right = np.where(outside, middle, left), np.where(outside, right, middle)
    return left, high


def _one_above(a: FloatArray, x: FloatArray) -> FloatArray:
    """1 - prod_k P(a_k, x), shape of x: (n_points, n_nodes).

    Built from Q = 1 - P class by class, so that nothing cancels when all alpha are tiny.
    """
    above = np.zeros_like(x)
    for k in range(a.shape[1]):
        above += (1 - above) * gammaincc(a[:, k, None], x)
    return above
