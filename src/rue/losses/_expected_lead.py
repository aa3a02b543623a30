"""Compute E[max p - p_a] under a Dirichlet distribution by one-dimensional quadrature."""

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from rue._arrays import FloatArray

N_NODES = 72
CUT = 1e-14
"""The share of the integral that may be omitted at either end."""


def expected_lead(alpha: FloatArray) -> FloatArray:
    """Return E[max_k p_k - p_a], where a is the class with the largest alpha.

    With independent G_k ~ Gamma(alpha_k), p = G / sum G is independent of sum G, so the
    expectation is E[max G - G_a] / alpha_0 with

        E[max G - G_a] = integral of P_a (1 - prod_{k != a} P_k) dx,

    where P_k is the regularised incomplete gamma function P(alpha_k, x). No term is negative, so
    an expectation of 0 is computed as exactly 0. As a function of t = log x the integrand is
    smooth for small and for large alpha. Where the product of all P is 0 up to ``CUT`` the
    integrand is P_a, whose integral is known; where the product is 1 the integrand is 0;
    Gauss-Legendre quadrature integrates the part in between.

    Parameters
    ----------
    alpha : array of shape (n_points, n_classes)
        Concentrations.

    Returns
    -------
    array of shape (n_points,)
        The expectations.
    """
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    out = np.empty(len(alpha))
    step = max(1, (1 << 21) // (N_NODES * alpha.shape[1]))
    for start in range(0, len(alpha), step):
        # Sorted, so that the order of classes does not change the last digit.
        a = np.sort(alpha[start : start + step], axis=1)
        # For alpha_0 below 1e-11 the result equals that of 1e-11 to this precision.
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
    """Return the range of t = log x in which P(all G < x) goes from ``CUT`` to 1 - ``CUT``."""
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
    """Return 1 - prod_k P(a_k, x), which has the shape (n_points, n_nodes) of x.

    It is accumulated from Q = 1 - P class by class, so that no precision is lost when all alpha
    are tiny.
    """
    above = np.zeros_like(x)
    for k in range(a.shape[1]):
        above += (1 - above) * gammaincc(a[:, k, None], x)
    return above
