"""The Pareto-gap straight from DESIGN's definition: every arc, every prefix, every pair of points.

Takes O(N^3) points; nothing here imports rue.
"""

from fractions import Fraction

import numpy as np


def normalise(component):
    shifted = component - component.min()
    span = shifted.max()
    return np.round(shifted / span, 12) if span else shifted


def straight(block, values):
    """Share what a block of identical points brings in evenly among them."""
    return np.array(
        [np.mean([v for v, c in zip(values, block, strict=True) if c == b]) for b in block]
    )


def prefixes(order, total, epistemic):
    """The N+1 prefixes of a ranking."""
    risk = np.append(0.0, np.cumsum(total[order])) / len(order)
    regret = np.append(0.0, np.cumsum(epistemic[order])) / len(order)
    return list(zip(np.arange(len(order) + 1) / len(order), risk, regret, strict=True))


def achievable(total, epistemic, aleatoric_hat, epistemic_hat):
    """S: one direction in every open arc of the full circle, all prefixes."""
    x, y = normalise(aleatoric_hat), normalise(epistemic_hat)
    points = sorted(set(zip(x, y, strict=True)))
    block = [points.index(p) for p in zip(x, y, strict=True)]
    total, epistemic = straight(block, total), straight(block, epistemic)
    angles = []
    for i, (a, b) in enumerate(points):
        for c, d in points[:i]:
            angle = np.arctan2(a - c, d - b)
            angles += [angle % (2 * np.pi), (angle + np.pi) % (2 * np.pi)]
    angles = np.sort(angles)
    if len(angles):
        widths = np.append(np.diff(angles), angles[0] + 2 * np.pi - angles[-1])
        middles = (angles + widths / 2)[widths > 1e-9]
    else:
        middles = [0.0]
    found = set()
    for middle in middles:
        score = x * np.cos(middle) + y * np.sin(middle)
        order = sorted(range(len(x)), key=lambda i, score=score: (score[i], block[i]))
        found.update(prefixes(order, total, epistemic))
    return np.array(sorted(found))


def optimal(total, aleatoric, epistemic, lambdas):
    """S*: equally spaced lambdas, ties by lower epistemic, then lower aleatoric.

    Components are taken as the fractions that they stand for, so that scores are exact.
    """
    rows = []
    block = list(zip(aleatoric, epistemic, strict=True))
    total = straight(block, total)
    for j in range(lambdas):
        lam = Fraction(1, 2) + Fraction(j, 2 * (lambdas - 1))
        score = [(1 - lam) * fraction(a) + lam * fraction(e) for a, e in block]
        order = sorted(
            range(len(total)), key=lambda i, score=score: (score[i], epistemic[i], aleatoric[i])
        )
        points = prefixes(order, total, epistemic)
        if len(total) > 1000:
            picked = [int(Fraction(i * len(total), 1000) + Fraction(1, 2)) for i in range(1001)]
            points = [points[k] for k in picked]
        rows += points
    return np.array(rows)


def fraction(number):
    return Fraction(number).limit_denominator(10**9)


def igd_plus(reference, points):
    """Mean over the reference of the least d+; coverage up, risk and regret down."""
    total = 0.0
    for c, risk, regret in reference:
        worse = np.maximum(
            0.0, np.column_stack([c - points[:, 0], points[:, 1] - risk, points[:, 2] - regret])
        )
        total += np.sqrt((worse**2).sum(axis=1).min())
    return total / len(reference)


def gap(star, hat, lambdas):
    """``star`` is (total, aleatoric, epistemic), ``hat`` is (aleatoric, epistemic)."""
    total, aleatoric, epistemic = (np.asarray(v, float) for v in star)
    s = achievable(total, epistemic, *(np.asarray(v, float) for v in hat))
    return igd_plus(optimal(total, aleatoric, epistemic, lambdas), s)
