"""A world with known p*: groups of inputs, within which people's distributions vary.

The input shows the group g alone. Within a group p* is drawn from Dirichlet(s_g m_g), so the best
prediction is m_g, and its expected Brier regret is tr Cov p = (1 - sum m_g^2) / (s_g + 1), exactly.
Means are flat or peaked and strengths low or high, in all combinations: groups with a high total
uncertainty need not have a high epistemic one.
"""

import numpy as np

from made import data_set

MEANS = np.array([[1, 1, 1], [8, 1, 1], [1, 1, 1], [8, 1, 1]]) / np.array([[3], [10], [3], [10]])
STRENGTHS = np.array([2.0, 2.0, 20.0, 20.0])
REGRETS = (1 - (MEANS**2).sum(axis=1)) / (STRENGTHS + 1)


def world(n_points, n_answers, *, seed=0, n_test=2000):
    """Give a data set, its groups and its p*; points beyond ``n_points`` test, by exact p*."""
    rng = np.random.default_rng(seed)
    n = n_points + n_test
    group = rng.integers(0, 4, n)
    gammas = rng.gamma(STRENGTHS[group, None] * MEANS[group])
    probs = gammas / gammas.sum(axis=1, keepdims=True)
    inputs = np.eye(4)[group] + rng.normal(scale=0.05, size=(n, 4))
    counts = rng.multinomial(n_answers, probs)
    data = data_set(inputs.astype(np.float32), probs, n_train=n_points, counts=counts)
    return data, group, probs
