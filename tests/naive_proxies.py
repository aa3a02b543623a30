"""Slow twins of the proxy tasks, in plain Python; nothing here imports rue."""


def auroc(inside, out):
    wins = sum((o > i) + 0.5 * (o == i) for o in out for i in inside)
    return wins / len(inside) / len(out)


def aupr(inside, out):
    area, before = 0.0, 0.0
    for threshold in sorted({*inside, *out}, reverse=True):
        found, flagged = sum(o >= threshold for o in out), sum(i >= threshold for i in inside)
        recall = found / len(out)
        area += (recall - before) * found / (found + flagged)
        before = recall
    return area


def fpr(inside, out, tpr=0.95):
    for threshold in sorted({*inside, *out}, reverse=True):
        if sum(o >= threshold for o in out) / len(out) >= tpr:
            return sum(i >= threshold for i in inside) / len(inside)
    raise AssertionError("the lowest threshold finds all")


def auac(correct, score):
    """Mean over k of the accuracy of the k least uncertain, over random orders of ties."""
    n, total = len(correct), 0.0
    for k in range(1, n + 1):
        cut = sorted(score)[k - 1]
        below = [c for c, s in zip(correct, score, strict=True) if s < cut]
        tied = [c for c, s in zip(correct, score, strict=True) if s == cut]
        total += (sum(below) + (k - len(below)) * sum(tied) / len(tied)) / k
    return total / n
