"""How often a promise is broken, and what it costs: many calibration draws from known points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from rue._arrays import IntArray
from rue.components import Components
from rue.deploy.fit import fit_selector
from rue.deploy.rule import attained
from rue.errors import InputError

__all__ = ["Trials", "try_promise"]

Answers = Callable[[IntArray, np.random.Generator], Components]
"""Realised components of the points drawn, from answers that are drawn too."""


@dataclass(frozen=True)
class Trials:
    """What rules of many calibration draws attain on all points.

    Attributes
    ----------
    n_points, n_draws
        Calibration points a draw, and draws.
    broken
        The share of draws whose rule breaks a budget.
    nothing
        The share whose rule accepts nothing.
    coverage, coverage_low, coverage_high
        The mean coverage, and the range that nine in ten draws are in.
    """

    n_points: int
    n_draws: int
    broken: float
    nothing: float
    coverage: float
    coverage_low: float
    coverage_high: float


def try_promise(
    star: Components,
    hat: Components,
    *,
    n_points: int | Sequence[int],
    n_draws: int = 500,
    seed: int = 0,
    answers: Answers | None = None,
    progress: bool = False,
    **asked: Any,
) -> tuple[Trials, ...]:
    """Fit rules to calibration sets drawn with replacement, and measure each on all points.

    The points at hand are the world: a rule's risk and regret in it are known exactly. Use it to
    see how many points people should answer before a rule accepts enough.

    Parameters
    ----------
    star, hat
        Realised and estimated components of the world's points.
    n_points
        Calibration points a draw; several give a result each.
    n_draws, seed
        How many draws, and their seed.
    answers
        Gives the realised components of the rows drawn where answers are drawn anew; None takes
        those of ``star``.
    progress
        Show a bar.
    asked
        What :func:`rue.fit_selector` is asked for.
    """
    if n_draws < 1:
        raise InputError(f"n_draws must be at least 1, got {n_draws}")
    sizes = [int(size) for size in np.atleast_1d(n_points)]
    normalized = bool(asked.get("normalized", False))
    limits = {name: asked.get(f"{name}_max") for name in ("risk", "regret")}
    results = []
    for size in sizes:
        rng = np.random.default_rng([seed, size])
        coverage, broken = np.empty(n_draws), np.zeros(n_draws, dtype=bool)
        for i in tqdm(range(n_draws), f"{size:,} points", disable=not progress or None, delay=2):
            rows = rng.integers(0, len(star), size)
            drawn = star[rows] if answers is None else answers(rows, rng)
            rule = fit_selector(drawn, hat[rows], **asked)
            found = attained(star, rule.accept(hat), normalized=normalized)
            coverage[i] = found.coverage
            broken[i] = any(  # NaN, where nothing is accepted, is not above
                limit is not None and getattr(found, name) > limit * (1 + 1e-9)
                for name, limit in limits.items()
            )
        low, high = np.quantile(coverage, (0.05, 0.95))
        results.append(
            Trials(
                size,
                n_draws,
                float(broken.mean()),
                float(np.mean(coverage == 0)),
                float(coverage.mean()),
                float(low),
                float(high),
            )
        )
    return tuple(results)
