"""What a method attains with its own scores, searched plainly: the twin of rules.js."""

import numpy as np


def best_own_rule(star, hat, objective, limits):
    """The best of the rules the page documents, each prefix of each ranking tried in turn."""
    n = len(star)
    columns = []
    for column in (hat.aleatoric, hat.epistemic):
        column = column.astype(np.float32).astype(np.float64)
        span = np.ptp(column)
        columns.append(((column - column.min()) / span if span else np.zeros(n), span))
    (a, a_span), (e, e_span) = columns
    angles = np.arange(72) * np.pi / 36
    directions = [(0.0, 1.0), *np.round(np.column_stack([np.cos(angles), np.sin(angles)]), 12)]
    if a_span and e_span:
        directions.append(np.array([a_span, e_span]) / np.hypot(a_span, e_span))
    best = None
    for w1, w2 in directions:
        curve = prefixes(w1 * a + w2 * e, star)
        if objective == "coverage":
            # Both sums grow along the ranking, so the last coverage within both is the best.
            fine = np.linspace(0, 1, 200_001)
            risk, regret = np.interp(fine, curve[0], curve[1]), np.interp(fine, curve[0], curve[2])
            allowed = np.ones(len(fine), bool)
            for limit, spent in ((limits["risk"], risk), (limits["regret"], regret)):
                if limit is not None:
                    allowed &= spent <= limit * (1 + 1e-12)
            coverage = fine[allowed][-1]
        else:
            coverage = limits["coverage"]
        risk, regret = (float(np.interp(coverage, curve[0], c)) for c in curve[1:])
        found = {"coverage": float(coverage), "risk": risk, "regret": regret}
        if any(
            limits[key] is not None and found[key] > limits[key] * (1 + 1e-9)
            for key in ("risk", "regret")
        ):
            continue
        sign = -1 if objective == "coverage" else 1
        if best is None or sign * found[objective] < sign * best[objective]:
            best = found
    return best


def prefixes(score, star):
    """Coverage, risk and regret at the ends of the blocks of equal score."""
    levels, block = np.unique(score, return_inverse=True)
    sums = [
        np.bincount(block, weights, len(levels)) for weights in (None, star.total, star.epistemic)
    ]
    return [np.append(0.0, np.cumsum(column)) / len(star) for column in sums]
