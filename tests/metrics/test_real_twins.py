"""A slow twin of the columns of real-valued outcomes: plain loops, written from the definitions."""

import math
import random

import numpy as np
import pytest

from rue import Ratings, Samples, evaluate

VALUES = (0.0, 1.0, 2.0, 3.5)


def quantile(points, q):
    share = 0.0
    for value, weight in sorted(points):
        share += weight
        if share >= q - 1e-12:
            return value
    raise AssertionError


def half_difference(points):
    return sum(w * u * abs(v - x) for v, w in points for x, u in points) / 2


def action(loss, points):
    if loss == "crps":
        return points
    if loss == "squared":
        return sum(v * w for v, w in points)
    return quantile(points, 0.5 if loss == "absolute" else 0.8)


def cost(loss, act, answer):
    if loss == "crps":
        return sum(w * abs(v - answer) for v, w in act) - half_difference(act)
    if loss == "squared":
        return (act - answer) ** 2
    return abs(act - answer) if loss == "absolute" else (0.8 - (answer < act)) * (answer - act)


def risk(loss, act, points):
    return sum(w * cost(loss, act, y) for y, w in points)


def bayes(loss, points):
    return risk(loss, action(loss, points), points)


def person(loss, answers):
    m = len(answers)
    if loss in ("squared", "absolute"):
        pairs = [(i, j) for i in range(m) for j in range(m) if i != j]
        return sum(cost(loss, answers[i], answers[j]) for i, j in pairs) / len(pairs)
    others = [[(y, 1 / (m - 1)) for y in answers[:i] + answers[i + 1 :]] for i in range(m)]
    return sum(cost(loss, action(loss, o), y) for o, y in zip(others, answers, strict=True)) / m


def rounded(number, total):
    """Round to 12 significant digits of the point's total."""
    return round(number, 11 - math.floor(math.log10(abs(total)))) if total else 0.0


def blocks(*columns, score):
    groups = {}
    for *row, s in zip(*columns, score, strict=True):
        groups.setdefault(s, []).append(row)
    return [groups[s] for s in sorted(groups)]


def area(value, score):
    whole = height = 0.0
    for block in blocks(value, score=score):
        step, width = sum(v for (v,) in block) / len(value), len(block) / len(value)
        whole += width * (2 * height + step) / 2
        height += step
    return whole


def spearman(x, y):
    ranks = [[sum(u < v for u in c) + (sum(u == v for u in c) + 1) / 2 for v in c] for c in (x, y)]
    a, b = ([r - sum(c) / len(c) for r in c] for c in ranks)
    scale = math.sqrt(sum(r * r for r in a) * sum(r * r for r in b))
    return sum(r * s for r, s in zip(a, b, strict=True)) / scale if scale > 0 else math.nan


def team(total, asked, score, n, fee):
    """Return parity, and the least cost with its coverage, at the ends of blocks."""
    costs = best = sum(p + fee for p in asked) / n
    coverage = place = parity = lead = 0.0
    for block in blocks(total, asked, score=score):
        width, step = len(block) / n, sum(t - p for t, p in block) / n
        if lead + step <= 1e-11:
            parity = coverage + width
        elif lead <= 1e-11:
            parity = max(parity, coverage + width * max(0.0, -lead) / step)
        lead, coverage = lead + step, coverage + width
        costs += step - fee * width
        if costs <= best + 1e-11:
            best, place = min(costs, best), coverage
    return {"person_parity": parity, "team_risk": best, "team_coverage": place}


def naive(loss, predictions, answers, fee):
    hat, star, asked, unbiased = [], [], [], []
    for draws, ys in zip(predictions, answers, strict=True):
        parts = [[(v, 1 / len(d)) for v in d] for d in draws]
        mixture = [(v, w / len(parts)) for part in parts for v, w in part]
        act, m = action(loss, mixture), len(ys)
        aleatoric = sum(bayes(loss, p) for p in parts) / len(parts)
        epistemic = sum(risk(loss, act, p) - bayes(loss, p) for p in parts) / len(parts)
        total = aleatoric + epistemic
        hat.append([rounded(x, total) for x in (total, aleatoric, max(epistemic, 0.0))])
        truth = [(y, 1 / m) for y in ys]
        total, least = risk(loss, act, truth), bayes(loss, truth)
        star.append([rounded(x, total) for x in (total, least, max(total - least, 0.0))])
        unbiased.append(total - least * m / (m - 1))
        asked.append(person(loss, ys))
    (t_hat, a_hat, e_hat), (t_star, a_star, e_star) = (
        map(list, zip(*hat, strict=True)),
        map(list, zip(*star, strict=True)),
    )
    n = len(answers)
    found = {
        "aurec": area(e_star, e_hat),
        "spearman_epistemic": spearman(e_hat, e_star),
        "spearman_aleatoric": spearman(a_hat, a_star),
        "person_risk": sum(asked) / n,
        "aurec_unbiased": area(unbiased, e_hat),
        "regret_unbiased": sum(unbiased) / n,
    }
    if loss not in ("squared", "crps"):
        found |= {"aurec_unbiased": math.nan, "regret_unbiased": math.nan}
    return found | team(t_star, asked, t_hat, n, fee)


@pytest.mark.parametrize("loss", ["squared", "absolute", "crps", "pinball:0.8"])
def test_columns_of_real_outcomes_are_those_of_plain_loops(loss):
    for seed in range(30):
        rng = random.Random(seed)
        n = rng.randint(4, 9)
        predictions = [[[rng.choice(VALUES) for _ in range(4)] for _ in range(3)] for _ in range(n)]
        answers = [[rng.choice(VALUES) for _ in range(rng.randint(2, 5))] for _ in range(n)]
        predictions[1], answers[1], predictions[2] = predictions[0], answers[0], predictions[0]
        fee = rng.choice([0.0, 0.1])
        belief = Samples(np.array(predictions))
        row = evaluate(Ratings(answers), belief, loss, gap=False, defer_fee=fee)
        for key, number in naive(loss, predictions, answers, fee).items():
            assert getattr(row, key) == pytest.approx(number, abs=1e-9, nan_ok=True), (seed, key)
