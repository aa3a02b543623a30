"""Leave-one-out by taking each single answer away; nothing here imports rue."""

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
        others = frequencies(said[:j] + said[j + 1 :], len(counts))
        truth = [float(k == y) for k in range(len(counts))]
        paid += naive.risk(loss, truth, naive.action(loss, others, **more), **more)
    return paid / len(said)


def pairs(loss, counts, values):
    """The U-statistic over all pairs: half the difference (squared), or whether they differ."""
    said = answers(counts)
    couples = [(a, b) for i, a in enumerate(said) for b in said[:i]]
    if loss == "brier":
        return sum(a != b for a, b in couples) / len(couples)
    power = 1 if loss == "rps" else 2
    return sum(abs(values[a] - values[b]) ** power / 2 for a, b in couples) / len(couples)


def majority(row):
    return max(range(len(row)), key=lambda k: (row[k], -k))


def log_leave_one_out(rows):
    """Each answer's log loss under (n_others + s q)/(m - 1 + s), q and s from the other half."""
    n_classes = len(rows[0])
    ranked = sorted(range(len(rows)), key=lambda i: rows[i])
    halves = [{i for j, i in enumerate(ranked) if j % 2 == h} for h in (0, 1)]

    def paid(i, pool, s):
        said = answers(rows[i])
        total = 0.0
        for j, y in enumerate(said):
            others = said[:j] + said[j + 1 :]
            label = majority([others.count(k) for k in range(n_classes)])
            shares = [rows[p][y] / sum(rows[p]) for p in pool - {i} if majority(rows[p]) == label]
            q = (sum(shares) + 1 / n_classes) / (len(shares) + 1)
            total -= math.log((others.count(y) + s * q) / (len(others) + s))
        return total / len(said)

    def best(pool, candidates):
        return min(candidates, key=lambda s: sum(paid(i, pool, s) for i in pool))

    risk = [0.0] * len(rows)
    for here, pool in (halves, halves[::-1]):
        s = best(pool, [2.0**e for e in range(-10, 13)])
        s = best(pool, [s * 2.0 ** (e / 8) for e in range(-8, 9)])
        for i in here:
            risk[i] = max(paid(i, pool, s), naive.bayes_risk("log", shares(rows[i])))
    return risk


def shares(row):
    return [n / sum(row) for n in row]
