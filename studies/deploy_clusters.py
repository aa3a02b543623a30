"""Count broken promises where the points of a cluster are alike: a table of docs/promises.md.

    python -m studies.deploy_clusters                run it and fill the page
    python -m studies.deploy_clusters --tables-only  fill it from docs/rows/deploy-clusters.json

The world is that of docs/brackets.md; the points are put into clusters of similar risk.
"""

import argparse
from typing import Any

import numpy as np

from rue import Problem
from rue._arrays import IntArray
from rue.components import Run
from rue.deploy import Rule, attained, budgets_kept, fit_selector
from studies import DOCS
from studies.clusters import similar, within
from studies.pages import fill_file, percent, table
from studies.rows import Row, read_rows, stamp, write_rows
from studies.uncertainty import world

PAGE = DOCS / "promises.md"
ROWS = "deploy-clusters"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables-only", action="store_true")
    if not parser.parse_args().tables_only:
        write_rows(ROWS, {"trials": trials()} | stamp("numpy", "scipy", "scikit-learn", "numba"))
    fill_file(PAGE, {"clusters": trials_table(read_rows(ROWS)["trials"])})


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
                    found = attained(run.star, rule.accept(run.hat), normalized=problem.normalized)
                    broken[way] += not all(budgets_kept(found, problem).values())
                    coverage[way] += found.coverage / n_draws
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
    keys = list(dict.fromkeys((str(row["asked"]), row["n_clusters"]) for row in rows))
    for asked, n in keys:
        part = [row for row in rows if (str(row["asked"]), row["n_clusters"]) == (asked, n)]
        wanted = part[0]["asked"]
        name, limit = next((k, v) for k, v in wanted.items() if k != "normalized")
        per = " per accepted point" if wanted.get("normalized") else ""
        lines.append(
            [
                f"{name.removesuffix('_max')} ≤ {limit:g}{per}",
                str(n),
                *(percent(row["broken"]) for row in part),
                *(f"{row['coverage']:.3f}" for row in part),
            ]
        )
    head = ["budget", "clusters", *(f"broken: {way}" for way in WAYS.values())]
    head += [f"coverage: {way}" for way in WAYS.values()]
    first = rows[0]
    worst = {way: max(row["broken"] for row in rows if row["way"] == way) for way in WAYS}
    gains = [
        means["coverage"] - one["coverage"]
        for one, means in zip(
            *([row for row in rows if row["way"] == way] for way in ("one", "means")), strict=True
        )
    ]
    return table(head, lines) + (
        f"\n\nBrier loss, delta = {first['delta']:g}, {first['n_draws']} draws, thresholds on the "
        f"total. Each cluster has {first['size']} points; the correlation of their risks is "
        f"{first['correlation']:.2f}. Over the rows, at most {percent(worst['points'])} of the "
        f"rules are broken if every point counts, {percent(worst['one'])} with one random point "
        f"and {percent(worst['means'])} with cluster means. Cluster means change the coverage "
        f"of one random point by {min(gains):+.3f} to {max(gains):+.3f}."
    )


if __name__ == "__main__":
    main()
