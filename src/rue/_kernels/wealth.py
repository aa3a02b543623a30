"""The wealth of bets that the mean loss is below a limit: see ``deploy/wagers.py``."""

import math

from rue._kernels import kernel

# The bet aims slightly above 1/delta, so that rounding in the last steps does not miss it.
AIM = 0.95

# The largest bet, as a share of the bet at which a loss of 1 would take all wealth.
BOLDEST = 0.999


@kernel
def wealth(losses, ranks, at, limit, delta, first, per_accepted, stop, profile, bets, prior=0.5):
    """Return the largest wealth on the way, from 1 to the goal, 1 / (AIM delta)."""
    n_points, n_steps = losses.shape[0], profile.shape[0] - 1
    money = largest = 1.0
    count, total, squares = 1.0, prior, prior * (1.0 - prior)  # that of one point
    n_accepted = 0
    for t in range(n_points):
        accepted = ranks[t] <= at
        if per_accepted and not accepted:
            continue
        loss = losses[t] if accepted else 0.0
        if t >= first:
            left = float(n_points - t)
            if per_accepted:
                left = max(1.0, left * (n_accepted + 1) / (t + 1))
            share = AIM * delta * money
            if money >= stop or share >= 1.0:
                break
            place = share * n_steps
            k = int(place)
            height = profile[k] + (place - k) * (profile[k + 1] - profile[k])
            bet = height / (share * math.sqrt(squares / count * left))
            bet = min(bet, BOLDEST / (1.0 - limit), (1.0 / share - 1.0) / limit)
            if bets.shape[0] == n_points:
                bets[t] = bet
            money *= 1.0 + bet * (limit - loss)
            largest = max(largest, money)
        off = loss - total / count
        squares += off * off
        total += loss
        count += 1.0
        n_accepted += 1
    return largest


@kernel
def wealth_of_bets(losses, ranks, at, limit, bets):
    """Return the largest wealth on the way of given bets; rejected points have loss 0."""
    money = largest = 1.0
    for t in range(losses.shape[0]):
        money *= 1.0 + bets[t] * (limit - (losses[t] if ranks[t] <= at else 0.0))
        largest = max(largest, money)
    return largest
