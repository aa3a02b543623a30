"""Count broken promises where the points of a cluster are alike: a table of docs/promises.md.

The world is that of docs/brackets.md; the points are put into clusters of similar risk.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rue import Problem
from rue._arrays import IntArray
from rue.components import Run
from rue.deploy import Rule, attained, budgets_kept, fit_selector
from studies import DOCS
from studies.clusters import similar, within
from studies.pages import percent, table
from studies.rows import Row, where
from studies.study import Options, Pages
from studies.uncertainty import world

PAGE = DOCS / "promises.md"
SIZE = 10
"""Points per cluster."""
DELTA, BOUND = 0.1, 2.0
"""Brier loss is at most 2."""
N_CLUSTERS, N_DRAWS = (60, 200, 600), 400
ASKED: tuple[dict[str, Any], ...] = (
    {"risk_max": 0.2},
    {"regret_max": 0.03},
    {"risk_max": 0.55, "normalized": True},
)
WAYS = {
    "points": "every point counts",
    "one": "one random point of each cluster",
    "means": "cluster means",
}


def compute(_: Row, _options: Options) -> Iterator[Row]:
    yield {"trials": trials()}


def pages(record: Row) -> Pages:
    return {PAGE: {"clusters": trials_table(record["trials"])}}


def trials(n_clusters: tuple[int, ...] = N_CLUSTERS, n_draws: int = N_DRAWS) -> list[Row]:
    """Draw clusters, fit a rule in each way, and measure it on all points."""
    run = Run.from_belief(*world(20_000, seed=1, n_neighbours=40), "brier")
    members = similar(run.star.total, SIZE)
    rows = []
    for asked in ASKED:
        problem = Problem(maximize="coverage", **asked)
        for n in n_clusters:
            broken, coverage = dict.fromkeys(WAYS, 0), dict.fromkeys(WAYS, 0.0)
            for draw in range(n_draws):
                drawn = np.random.default_rng([n, draw]).integers(0, len(members), n)
                for way, rule in fitted(run, members[drawn].ravel(), problem, draw).items():
                    outcome = attained(
                        run.star, rule.accept(run.hat), normalized=problem.normalized
                    )
                    broken[way] += not all(budgets_kept(outcome, problem).values())
                    coverage[way] += outcome.coverage / n_draws
            rows += [
                {"asked": asked, "n_clusters": n, "size": SIZE, "way": way, "n_draws": n_draws}
                | {"broken": broken[way] / n_draws, "coverage": coverage[way]}
                | {
                    "delta": DELTA,
                    "correlation": within(run.star.total, members),
                    "n_points": len(run),
                }
                for way in WAYS
            ]
            print(asked, n, broken, coverage, flush=True)
    return rows


def fitted(run: Run, rows: Any, problem: Problem, seed: int) -> dict[str, Rule]:
    """Return the rule of each way, with thresholds on the total."""
    star, hat = run.star[rows], run.hat[rows]
    codes = np.repeat(np.arange(len(rows) // SIZE), SIZE)
    single = one_of_each(codes, seed)
    options: dict[str, Any] = {"delta": DELTA, "bound": BOUND, "weights": (1.0, 1.0), "seed": seed}
    options |= problem.to_dict()
    return {
        "points": fit_selector(star, hat, **options),
        "one": fit_selector(star[single], hat[single], **options),
        "means": fit_selector(star, hat, cluster=codes, **options),
    }


def one_of_each(codes: IntArray, seed: int) -> IntArray:
    """Return a random row of each cluster, which are independent where clusters are."""
    shuffled = np.random.default_rng([seed, 3]).permutation(len(codes))
    _, first = np.unique(codes[shuffled], return_index=True)
    return np.asarray(np.sort(shuffled[first]))


def trials_table(rows: list[Row]) -> str:
    """Return the table of the page."""
    lines = []
    for part in zip(*(where(rows, way=way) for way in WAYS), strict=True):
        asked = part[0]["asked"]
        name = next(iter(asked))
        limit = f"{name.removesuffix('_max')} ≤ {asked[name]:g}"
        per = " per accepted point" if asked.get("normalized") else ""
        numbers = [percent(row["broken"]) for row in part]
        numbers += [f"{row['coverage']:.3f}" for row in part]
        lines.append([limit + per, str(part[0]["n_clusters"]), *numbers])
    head = ["budget", "clusters", *(f"broken: {way}" for way in WAYS.values())]
    head += [f"coverage: {way}" for way in WAYS.values()]
    first = rows[0]
    worst = {way: max(row["broken"] for row in where(rows, way=way)) for way in WAYS}
    pairs = zip(where(rows, way="one"), where(rows, way="means"), strict=True)
    gains = [means["coverage"] - one["coverage"] for one, means in pairs]
    return table(head, lines) + (
        f"\n\nBrier loss, delta = {first['delta']:g}, {first['n_draws']} draws, thresholds on the "
        f"total. Each cluster has {first['size']} points; the correlation of their risks is "
        f"{first['correlation']:.2f}. Over the rows, at most {percent(worst['points'])} of the "
        f"rules are broken if every point counts, {percent(worst['one'])} with one random point "
        f"and {percent(worst['means'])} with cluster means. Cluster means change the coverage "
        f"of one random point by {min(gains):+.3f} to {max(gains):+.3f}."
    )
