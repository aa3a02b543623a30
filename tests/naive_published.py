"""Slow twins of the published convention, written from its description alone, point by point."""

import itertools
import math

import numpy as np


def lower_median(probs, values):
    below = 0.0
    for p, v in zip(probs, values, strict=True):
        below += p
        if below >= 0.5 - 1e-12:
            return v
    return values[-1]


def bayes_risk(probs, loss, values):
    if loss == "log":
        return -sum(p * math.log(p) for p in probs if p > 0)
    if loss == "zero_one":
        return 1 - max(probs)
    if loss == "squared":
        mean = sum(p * v for p, v in zip(probs, values, strict=True))
        return sum(p * (v - mean) ** 2 for p, v in zip(probs, values, strict=True))
    median = lower_median(probs, values)
    return sum(p * abs(v - median) for p, v in zip(probs, values, strict=True))


def dirichlet(alpha, loss, values):
    """Total, aleatoric and epistemic of Dirichlet beliefs."""
    rng, rows = np.random.default_rng(0), []
    for row in alpha:
        strength, mean = sum(row), [a / sum(row) for a in row]
        total = bayes_risk(mean, loss, values)
        if loss in ("log", "zero_one"):
            rows.append((total, total, len(row) / strength))
        elif loss == "absolute":
            medians = [lower_median(p, values) for p in rng.dirichlet(row, 20)]
            centre = lower_median(mean, values)
            rows.append((total, total, sum(abs(m - centre) for m in medians) / 20))
        else:  # squared: the law of total variance
            rows.append((total, total * strength / (strength + 1), total / (strength + 1)))
    return np.array(rows).T


def draws(probs, loss, values):
    """Total, aleatoric and epistemic of draws."""
    rows = []
    for point in probs:
        mean = point.mean(axis=0)
        total = bayes_risk(mean, loss, values)
        aleatoric = sum(bayes_risk(p, loss, values) for p in point) / len(point)
        if loss == "absolute":
            medians = sorted(lower_median(p, values) for p in point)
            centre = medians[(len(medians) - 1) // 2]
            epistemic = sum(abs(m - centre) for m in medians) / len(medians)
        else:
            epistemic = total - aleatoric
        rows.append((total, aleatoric, epistemic))
    return np.array(rows).T


def ranked(score):
    """Rows by score, equal scores in row order: insertion sort."""
    order = []
    for i, s in enumerate(score):
        place = len(order)
        while place and score[order[place - 1]] > s:
            place -= 1
        order.insert(place, i)
    return order


def area(value, score):
    """Trapezoid over the N + 1 points of the curve."""
    n, heights = len(value), [0.0]
    for i in ranked(score):
        heights.append(heights[-1] + value[i] / n)
    return sum((a + b) / 2 / n for a, b in itertools.pairwise(heights))


def n_area(value, score):
    oracle, chance = area(value, value), sum(value) / len(value) / 2
    if len(set(value)) == 1:
        return 0.0
    return (area(value, score) - oracle) / (chance - oracle)


def points(total, regret, score):
    n, found = len(total), [(0.0, 0.0, 0.0)]
    for k, i in enumerate(ranked(score), 1):
        _, risk, avoidable = found[-1]
        found.append((k / n, risk + total[i] / n, avoidable + regret[i] / n))
    return found


def gap(star, hat):
    """IGD+ with 51 lambdas and 91 angles in raw units."""
    optimal, achievable = [], []
    for i in range(51):
        lam = 0.5 + i / 100
        score = [
            (1 - lam) * a + lam * e for a, e in zip(star.aleatoric, star.epistemic, strict=True)
        ]
        optimal += points(star.total, star.epistemic, score)
    for k in range(91):
        w1, w2 = math.cos(2 * math.pi * k / 91), math.sin(2 * math.pi * k / 91)
        score = [w1 * a + w2 * e for a, e in zip(hat.aleatoric, hat.epistemic, strict=True)]
        achievable += points(star.total, star.epistemic, score)
    achievable = np.array(achievable)
    least = []
    for c, ri, re in optimal:
        worse = np.column_stack(
            [c - achievable[:, 0], achievable[:, 1] - ri, achievable[:, 2] - re]
        )
        least.append(np.sqrt((np.maximum(worse, 0) ** 2).sum(axis=1)).min())
    return float(np.mean(least))
