"""Slow twins, straight from DESIGN's definitions, in plain Python; nothing here imports rue."""

import math
from fractions import Fraction
from itertools import pairwise


def action(loss, p, values=None, costs=None):
    k = len(p)
    values = values if values is not None else list(range(k))
    if loss in ("log", "brier", "rps"):
        return list(p)
    if loss == "zero_one":
        return max(range(k), key=lambda j: (round(p[j], 12), -j))
    if loss == "squared":
        return sum(q * v for q, v in zip(p, values, strict=True))
    if loss == "absolute" or loss.startswith("pinball:"):
        level = 0.5 if loss == "absolute" else float(loss.split(":")[1])
        below = 0.0
        for q, v in zip(p, values, strict=True):
            below += q
            if below >= level - 1e-12:
                return v
        return values[-1]
    paid = [sum(c * q for c, q in zip(row, p, strict=True)) for row in costs]
    return min(range(len(costs)), key=lambda a: (round(paid[a], 12), a))


def risk(loss, p, a, values=None, costs=None):
    k = len(p)
    values = values if values is not None else list(range(k))
    if loss == "log":
        return -sum(q * math.log(max(b, 1e-12)) for q, b in zip(p, a, strict=True) if q > 0)
    if loss == "brier":
        truth = range(k)
        return sum(p[y] * sum((a[j] - (j == y)) ** 2 for j in range(k)) for y in truth)
    if loss == "zero_one":
        return 1 - p[a]
    if loss == "squared":
        return sum(q * (v - a) ** 2 for q, v in zip(p, values, strict=True))
    if loss == "absolute":
        return sum(q * abs(v - a) for q, v in zip(p, values, strict=True))
    if loss == "rps":
        steps = [high - low for low, high in pairwise(values)]
        return sum(
            p[y] * sum(w * (sum(a[: j + 1]) - (y <= j)) ** 2 for j, w in enumerate(steps))
            for y in range(k)
        )
    if loss.startswith("pinball:"):
        level = float(loss.split(":")[1])
        return sum(q * (level - (v < a)) * (v - a) for q, v in zip(p, values, strict=True))
    return sum(c * q for c, q in zip(costs[a], p, strict=True))


def bayes_risk(loss, p, **more):
    if loss == "log":
        return -sum(q * math.log(q) for q in p if q > 0)
    return risk(loss, p, action(loss, p, **more), **more)


def decompose(loss, draws, **more):
    """Total, aleatoric, epistemic of one point; draws is a list of distributions."""
    draws = [[q / sum(p) for q in p] for p in draws]
    m = [sum(column) / len(draws) for column in zip(*draws, strict=True)]
    a = action(loss, m, **more)
    aleatoric = sum(bayes_risk(loss, p, **more) for p in draws) / len(draws)
    epistemic = sum(risk(loss, p, a, **more) - bayes_risk(loss, p, **more) for p in draws)
    return aleatoric + epistemic / len(draws), aleatoric, epistemic / len(draws)


def curve(value, score):
    """Corners (coverage, height) in exact arithmetic."""
    n = len(value)
    corners = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(score)):
        kept = [Fraction(v) for v, s in zip(value, score, strict=True) if s <= threshold]
        corners.append((Fraction(len(kept), n), sum(kept) / n))
    return corners


def area(value, score):
    corners = curve(value, score)
    return sum((c1 - c0) * (h0 + h1) / 2 for (c0, h0), (c1, h1) in pairwise(corners))


def step_area(value, score):
    """The paper's floor rule, ties in expectation over a random order."""
    n = len(value)
    corners = curve(value, score)

    def height(c):
        for (c0, h0), (c1, h1) in pairwise(corners):
            if c0 <= c <= c1:
                return h0 + (h1 - h0) * (c - c0) / (c1 - c0)
        raise AssertionError

    return sum(height(Fraction(k, n)) for k in range(n)) / n
