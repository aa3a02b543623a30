"""fit_selector on many points, against one sort for each direction of the weights."""

import time

import numpy as np

from rue import Components, fit_selector
from rue.deploy import candidates
from speed.timing import Rows, least

N_POINTS = 300_000


def rows() -> Rows:
    star, hat = sample(N_POINTS)
    budgets = {"maximize": "coverage", "risk_max": 0.05, "regret_max": 0.02}
    for name, promise in (
        ("no promise", {}),
        ("betting", {"delta": 0.1, "bound": 1}),
    ):
        ours = least(lambda promise=promise: fit_selector(star, hat, **budgets, **promise), 2)
        theirs = sorting_each_direction(star, hat, budgets | promise)
        what = f"fit_selector, N = 300,000, {name}"
        goal = "<= 0.5" if promise else "<= 0.1"
        yield what, ours, "the same, sorting in all 123 directions", theirs, goal
    fixed = {"delta": 0.1, "bound": 1, "weights": (1, 1)}
    ours = least(lambda: fit_selector(star, hat, **budgets, **fixed), 3)
    sort = least(lambda: np.argsort(hat.total), 3)
    yield "fit_selector, N = 300,000, betting by the total", ours, "one argsort", sort, "<= 30"


def sample(n_points: int) -> tuple[Components, Components]:
    rng = np.random.default_rng(0)
    aleatoric, epistemic = rng.gamma(0.5, size=n_points) / 4, rng.gamma(0.3, size=n_points) / 4
    total = np.minimum(aleatoric + epistemic, 1.0)
    regret = np.minimum(epistemic, total)
    a, e = aleatoric * rng.lognormal(0, 0.5, n_points), epistemic * rng.lognormal(0, 0.5, n_points)
    return Components(total, total - regret, regret), Components(a + e, a, e)


def sorting_each_direction(star: Components, hat: Components, options: dict) -> float:
    many, candidates._MANY = candidates._MANY, len(star) + 1
    try:
        start = time.perf_counter()
        fit_selector(star, hat, **options)
        return time.perf_counter() - start
    finally:
        candidates._MANY = many
