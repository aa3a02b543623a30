"""Leave-one-out by taking each single answer away; nothing here imports rue."""

import functools
import math

import naive


def answers(counts):
    """One entry per person: the class they chose."""
    return [y for y, n in enumerate(counts) for _ in range(int(n))]


def frequencies(said, n_classes):
    return [said.count(k) / len(said) for k in range(n_classes)]


def leave_one_out(loss, counts, **more):
    """Mean loss of each answer under the best action for the others."""
    said = answers(counts)
    paid = 0.0
    for j, y in enumerate(said):
        others = said[:j] + said[j + 1 :]
        if loss == "zero_one":  # one of the majorities is drawn
            best = majorities([others.count(k) for k in range(len(counts))])
            paid += sum(k != y for k in best) / len(best)
            continue
        truth = [float(k == y) for k in range(len(counts))]
        chosen = naive.action(loss, frequencies(others, len(counts)), **more)
        paid += naive.risk(loss, truth, chosen, **more)
    return paid / len(said)


def pairs(loss, counts, values):
    """The U-statistic over all pairs: half the difference (squared), or whether they differ."""
    said = answers(counts)
    couples = [(a, b) for i, a in enumerate(said) for b in said[:i]]
    if loss == "brier":
        return sum(a != b for a, b in couples) / len(couples)
    power = 1 if loss == "rps" else 2
    return sum(abs(values[a] - values[b]) ** power / 2 for a, b in couples) / len(couples)


def majorities(row):
    return [k for k, n in enumerate(row) if n == max(row)]


def log_leave_one_out(rows):
    """Each answer's log loss under (n_others + s q)/(m - 1 + s), q and s from the other points."""
    n_classes = len(rows[0])

    @functools.cache
    def paid(i, s):
        said = answers(rows[i])
        total = 0.0
        for j, y in enumerate(said):
            others = said[:j] + said[j + 1 :]
            labels = majorities([others.count(k) for k in range(n_classes)])
            q = 0.0
            for label in labels:
                pool = [row for p, row in enumerate(rows) if p != i and label in majorities(row)]
                weights = [1 / len(majorities(row)) for row in pool]
                seen = sum(w * row[y] / sum(row) for w, row in zip(weights, pool, strict=True))
                q += (seen + 1 / n_classes) / (sum(weights) + 1) / len(labels)
            total -= math.log((others.count(y) + s * q) / (len(others) + s))
        return total / len(said)

    def best(i, candidates):
        others = [p for p in range(len(rows)) if p != i]
        return min(candidates, key=lambda s: sum(paid(p, s) for p in others))

    risk = []
    for i, row in enumerate(rows):
        s = n_classes / 2
        if len(rows) > 1:
            s = best(i, [2.0**e for e in range(-10, 13)])
            s = best(i, [s * 2.0 ** (e / 8) for e in range(-8, 9)])
        risk.append(max(paid(i, s), naive.bayes_risk("log", shares(row))))
    return risk


def shares(row):
    return [n / sum(row) for n in row]
