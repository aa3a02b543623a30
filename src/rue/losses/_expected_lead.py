"""Compute E[max p - p_a] under a Dirichlet distribution by one-dimensional quadrature."""

from functools import cache

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from rue._arrays import FloatArray

N_NODES = 72
CUT = 1e-14
"""The share of the integral that may be omitted at either end."""

PRECISION = 1e-12
"""The error that running integrals of the gamma densities may have."""


def expected_lead(alpha: FloatArray) -> FloatArray:
    """Return E[max_k p_k - p_a], where a is the class with the largest alpha."""
    from rue._kernels.threads import each

    out = np.empty(len(alpha))
    step = max(1, (1 << 16) // (N_NODES * alpha.shape[1]))

    def fill(start: int) -> None:
        # Sorted, so that the order of classes does not change the last digit.
        a = np.sort(alpha[start : start + step], axis=1)
        # For alpha_0 below 1e-11 the result equals that of 1e-11 to this precision.
        a = a * np.maximum(1.0, 1e-11 / a.sum(axis=1, keepdims=True))
        alpha_0, largest = a.sum(axis=1), a[:, -1]
        low, high = _range(a, alpha_0)
        x_low = np.exp(low)
        below = x_low * gammainc(largest, x_low) - largest * gammainc(largest + 1, x_low)
        lead = np.maximum(below, 0.0) + _integral(a, alpha_0, low, high)
        out[start : start + step] = lead / alpha_0

    each(fill, range(0, len(alpha), step))
    return out


def _integral(a: FloatArray, alpha_0: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the integral of P_a (1 - prod_{k != a} P_k) dx from exp(low) to exp(high)."""
    nodes, weights, from_density = _quadrature()
    half = (high - low) / 2
    t = low[:, None] + half[:, None] * (nodes + 1)
    x = np.exp(t)
    density = a[:, :, None] * t[:, None]
    density -= x[:, None]
    density += (np.log(half)[:, None] - gammaln(a))[:, :, None]
    np.exp(density, out=density)
    above_low = gammaincc(a, np.exp(low)[:, None])  # and above exp(high) there is at most CUT
    density = density @ from_density
    p, whole, last = density[..., :N_NODES], density[..., N_NODES], density[..., N_NODES + 1 :]
    error = np.maximum(np.abs(whole - above_low), np.abs(last).max(axis=2))
    p += (1 - above_low)[:, :, None]
    np.clip(p, 0.0, 1.0, out=p)
    integrand = x * p[:, -1] * (1 - np.prod(p[:, :-1], axis=1))
    coarse = error.max(axis=1) * np.exp(high) > PRECISION * alpha_0
    if coarse.any():
        rows, at = a[coarse], x[coarse]
        integrand[coarse] = at * gammainc(rows[:, -1, None], at) * _one_above(rows[:, :-1], at)
    return np.asarray(integrand @ weights * half)


@cache
def _quadrature() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return nodes, weights, and a matrix from values at the nodes to what follows from them."""
    from numpy.polynomial import legendre

    nodes, weights = legendre.leggauss(N_NODES)
    values = legendre.legvander(nodes, N_NODES)
    degree = np.arange(N_NODES)
    coefficients = values[:, :N_NODES] * weights[:, None] * (2 * degree + 1) / 2
    integrals = np.empty((N_NODES, N_NODES))
    integrals[0] = nodes + 1
    integrals[1:] = ((values[:, 2:] - values[:, :-2]) / (2 * degree[1:] + 1)).T
    columns = (coefficients @ integrals, weights[:, None], coefficients[:, -4:])
    return nodes, weights, np.concatenate(columns, axis=1)


def _range(a: FloatArray, alpha_0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a range of t = log x in which P(all G < x) goes from ``CUT`` to 1 - ``CUT``."""
    largest = a[:, -1]
    high = np.log(gammainccinv(largest + 1, CUT))
    least = CUT * alpha_0
    t = np.log(np.maximum(gammaincinv(largest, CUT ** (largest / alpha_0)), least))
    x = np.exp(t)[:, None]
    below = gammainc(a, x)
    slope = 1 + (np.exp(a * t[:, None] - x - gammaln(a)) / below).sum(axis=1)
    step = (np.log(least) - t - np.log(below).sum(axis=1)) / slope
    return np.maximum(t + step, np.log(np.maximum(gammaincinv(largest, CUT), least))), high


def _one_above(a: FloatArray, x: FloatArray) -> FloatArray:
    """Return 1 - prod_k P(a_k, x), which has the shape (n_points, n_nodes) of x."""
    above = np.zeros_like(x)
    for k in range(a.shape[1]):
        above += (1 - above) * gammaincc(a[:, k, None], x)
    return above
