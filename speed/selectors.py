"""Theorem 1 against HiGHS, and against sorting."""

import time

import numpy as np

from rue import Components, optimal_selector
from speed.timing import Rows, least


def rows() -> Rows:
    for problem in (
        {"maximize": "coverage", "risk_max": 0.1, "regret_max": 0.02},
        {"minimize": "risk", "coverage_min": 0.4, "regret_max": 0.02},
        {"minimize": "regret", "coverage_min": 0.4, "risk_max": 0.06},
    ):
        star = sample(100_000)
        ours = least(lambda star=star, problem=problem: optimal_selector(star, **problem), 3)
        theirs, optimum = highs(star, problem)
        selector = optimal_selector(star, **problem)
        goal = problem.get("maximize") or problem["minimize"]
        difference = abs(getattr(selector, goal) - optimum)
        what = f"optimal_selector {goal}, N = 100,000 (optima differ by {difference:.0e})"
        yield what, ours, "linprog(method='highs')", theirs, "<= 0.05"
    star = sample(1_000_000)
    for normalized in (False, True):
        budgets = {
            "risk_max": 0.2 if normalized else 0.1,
            "regret_max": 0.05 if normalized else 0.02,
        }
        ours = least(
            lambda budgets=budgets, normalized=normalized: optimal_selector(
                star, maximize="coverage", normalized=normalized, **budgets
            ),
            3,
        )
        kind = ", normalised" * normalized
        sort = least(lambda: np.argsort(star.total), 3)
        yield f"optimal_selector coverage{kind}, N = 1,000,000", ours, "one argsort", sort, "a few"


def sample(n_points: int) -> Components:
    rng = np.random.default_rng(0)
    aleatoric, epistemic = rng.gamma(0.5, size=n_points), rng.gamma(0.3, size=n_points)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


def highs(star: Components, problem: dict) -> tuple[float, float]:
    from scipy.optimize import linprog

    n = len(star)
    # Sums, not means: HiGHS's tolerances are absolute, and 1e-7 of a mean of 100,000 is a lot.
    metrics = {"coverage": np.ones(n), "risk": star.total, "regret": star.epistemic}
    sign = -1.0 if "maximize" in problem else 1.0
    objective = problem.get("maximize") or problem["minimize"]
    left, right = [], []
    if "coverage_min" in problem:
        left.append(-metrics["coverage"])
        right.append(-problem["coverage_min"] * n)
    for name in ("risk", "regret"):
        if f"{name}_max" in problem:
            left.append(metrics[name])
            right.append(problem[f"{name}_max"] * n)
    start = time.perf_counter()
    found = linprog(sign * metrics[objective], A_ub=left, b_ub=right, bounds=(0, 1), method="highs")
    return time.perf_counter() - start, sign * found.fun / n
