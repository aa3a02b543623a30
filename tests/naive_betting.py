"""The wealth of the betting p-value in plain Python: a slow twin of the kernel."""

import math
from statistics import NormalDist


def naive(losses, limit, delta, first=0, accepted=None, per_accepted=False, prior=0.5):
    """The same in plain Python, with I(u) linear between 1,025 nodes; the largest wealth."""
    normal = NormalDist()

    def height(u):
        k = min(int(u * 1024), 1023)
        ends = [0.0 if j in (0, 1024) else normal.pdf(normal.inv_cdf(j / 1024)) for j in (k, k + 1)]
        return ends[0] + (u * 1024 - k) * (ends[1] - ends[0])

    n, money, most, bets = len(losses), 1.0, 1.0, []
    seen = []  # losses so far, and how far each was from the mean before it
    off = [math.sqrt(prior * (1 - prior))]
    mean = prior
    for t, loss in enumerate(losses):
        inside = accepted is None or accepted[t]
        bets.append(0.0)
        if per_accepted and not inside:
            continue
        loss = loss if inside else 0.0
        left = n - t
        if per_accepted:
            left = max(1.0, left * (len(seen) + 1) / (t + 1))
        variance = math.fsum(x * x for x in off) / len(off)
        if t >= first:
            u = 0.95 * delta * money
            if u >= 1:
                break
            bet = height(u) / u / math.sqrt(variance * left)
            bet = min(bet, 0.999 / (1 - limit), (1 / u - 1) / limit)
            bets[t] = bet
            money *= 1 + bet * (limit - loss)
            most = max(most, money)
        off.append(loss - mean)
        seen.append(loss)
        mean = (prior + math.fsum(seen)) / (1 + len(seen))
    return most, bets[:n] + [0.0] * (n - len(bets))
