"""Slow twins for real-valued outcomes, by numerical integration; nothing here imports rue.

A distribution is its cumulative function F with the points where it may bend or jump; a mixture
is a list of them. Everything is an integral of F.
"""

import math
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

NODES, WEIGHTS = (side.tolist() for side in np.polynomial.legendre.leggauss(48))


def normal(mean, sd):
    corners = [mean + k * sd for k in (-40, -9, -6, -4, -2, 0, 2, 4, 6, 9, 40)]
    return (lambda x: 0.5 * math.erfc((mean - x) / sd / math.sqrt(2)), corners)


def empirical(values):
    values = list(values)
    return (lambda x: sum(v <= x for v in values) / len(values), sorted(set(values)))


def mixture(parts):
    corners = sorted({c for _, each in parts for c in each})
    return (lambda x: sum(F(x) for F, _ in parts) / len(parts), corners)


def integral(f, *corners):
    """Integrate between neighbouring corners, where f is smooth (or constant)."""
    found = 0.0
    for low, high in pairwise(sorted(set(corners))):
        middle, half = (low + high) / 2, (high - low) / 2
        nodes = zip(NODES, WEIGHTS, strict=True)
        found += half * sum(weight * f(middle + half * node) for node, weight in nodes)
    return found


def mean(p):
    F, c = p
    return c[0] + integral(lambda x: 1 - F(x), *c)


def quantile(p, q):
    F, c = p
    if all(F(x) in (0, 1) or abs(F(x) - F(x + 1e-9)) < 1e-15 for x in c):  # a step function
        return next(x for x in c if F(x) >= q - 1e-12)
    return brentq(lambda x: F(x) - q, c[0], c[-1], xtol=1e-14, rtol=1e-15)


def action(loss, p):
    if loss == "squared":
        return mean(p)
    if loss == "crps":
        return p
    return quantile(p, level(loss)[0])


def level(loss):
    """Level and weight of a quantile loss."""
    return (0.5, 2.0) if loss == "absolute" else (float(loss.split(":")[1]), 1.0)


def risk(loss, p, a):
    """Expected loss under p, by parts: an integral of F below a and of 1 - F above."""
    F, c = p
    if loss == "crps":
        A, more = a
        corners = (*c, *more)
        return integral(lambda x: A(x) ** 2 - 2 * A(x) * F(x) + F(x), *corners)
    low, high = min(c[0], a), max(c[-1], a)
    below = [low, *(x for x in c if x < a), a]
    above = [a, *(x for x in c if x > a), high]
    if loss == "squared":
        left = integral(lambda x: 2 * (a - x) * F(x), *below)
        return left + integral(lambda x: 2 * (x - a) * (1 - F(x)), *above)
    q, weight = level(loss)
    left = integral(F, *below)
    return weight * ((1 - q) * left + q * integral(lambda x: 1 - F(x), *above))


def decompose(loss, draws):
    """Total, aleatoric and epistemic of one point; draws is a list of distributions."""
    a = action(loss, mixture(draws))
    aleatoric = sum(risk(loss, p, action(loss, p)) for p in draws) / len(draws)
    total = sum(risk(loss, p, a) for p in draws) / len(draws)
    return total, aleatoric, total - aleatoric


def paid(loss, y, a):
    """What the action costs under one answer."""
    if loss == "squared":
        return (y - a) ** 2
    if loss == "crps":
        A, c = a
        return integral(lambda x: (A(x) - (y <= x)) ** 2, *c, y)
    q, weight = level(loss)
    return weight * (q - (y < a)) * (y - a)


def realize(loss, draws, answers):
    """Total, aleatoric and epistemic of one point with these answers."""
    a = action(loss, mixture(draws))
    total = sum(paid(loss, y, a) for y in answers) / len(answers)
    own = action(loss, empirical(answers))
    aleatoric = sum(paid(loss, y, own) for y in answers) / len(answers)
    return total, aleatoric, total - aleatoric


def leave_one_out(loss, answers):
    """Mean loss of each answer under the best action for the others."""
    found = 0.0
    for i, y in enumerate(answers):
        found += paid(loss, y, action(loss, empirical(answers[:i] + answers[i + 1 :])))
    return found / len(answers)


def pairs(loss, answers):
    """The U-statistic over all pairs: half the difference, squared or not."""
    couples = [(a, b) for i, a in enumerate(answers) for b in answers[:i]]
    power = 1 if loss == "crps" else 2
    return sum(abs(a - b) ** power / 2 for a, b in couples) / len(couples)
