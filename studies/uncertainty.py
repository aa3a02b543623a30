"""Run the studies of docs/brackets.md, all or those that are named; draw its figure.

- bracket: a world of known p*, simulated annotators, every loss.
- coverage: how often intervals hold the truth, in 500 samples of the same world.
- clusters: the same where points come in clusters (``clusters.py``).
- fewer_annotators: CIFAR-10H with a part of its annotators; takes the predictions of seed 0 from
  a run of the suite cifar10h-probe.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import rue.data
from rue import Annotations, Dirichlet, decompose, evaluate, realize
from rue.bench.cells import cells
from rue.bench.store import Store
from rue.components import Run
from rue.data.datasets.random_rbf import random_rbf
from rue.inference.bootstrap import own_order, replicates
from rue.inference.intervals import AREAS, influence, interval
from rue.io.predictions import read_belief
from rue.io.runs import make_run
from rue.losses import LOSSES, get_loss
from rue.metrics.evaluation import evaluate_components, evaluate_run
from rue.plots import plot_brackets
from rue.truth.answer_losses import Answers
from rue.truth.realized import estimate_bayes_risk
from studies import DOCS, OUT
from studies.clusters import cluster_coverage, clusters_table
from studies.pages import percent, table
from studies.rows import Row, grouped
from studies.study import Options, Pages

PAGE = DOCS / "brackets.md"
MS = (2, 3, 5, 10, 20, 50, 100)
RUNS = (OUT / "cifar10h-probe", OUT / "cifar")
"""The run of all seeds, or that of `make numbers`: its first seed is enough."""
FEATURES = 3
"""Of the world: few enough that classes overlap and p* is not nearly certain everywhere."""


def compute(record: Row, options: Options) -> Iterator[Row]:
    """Yield the record after each study."""
    run = next((folder for folder in RUNS if folder.exists()), RUNS[0])
    for name in options.words or STUDIES:
        record = record | {name: STUDIES[name](run)}
        yield record


def world(n_points: int, *, seed: int, n_neighbours: int) -> tuple[Annotations, Dirichlet]:
    """Points of random-rbf with their p*, and a belief: the labels of 600 other points near by."""
    from sklearn.neighbors import NearestNeighbors

    model = random_rbf(n_features=FEATURES)
    points, _ = model.sample(n_points, seed=seed)
    train, labels = model.sample(600, seed=10_000)
    nearest = NearestNeighbors(n_neighbors=n_neighbours).fit(train)
    counts = np.eye(model.n_classes)[labels][nearest.kneighbors(points)[1]].sum(axis=1)
    return Annotations.from_probs(model.probs(points)), Dirichlet(counts + 0.5)


def bracket(n_points: int = 1000, n_draws: int = 40, ms: tuple[int, ...] = MS) -> list[Row]:
    """The mean bracket over draws of annotators, beside the truth."""
    known, belief = world(n_points, seed=1, n_neighbours=15)
    rows = []
    for loss in LOSSES:
        hat = decompose(belief, loss)
        true = evaluate(known, belief, loss, gap=False).aurec
        for m in ms:
            ends = []
            for seed in range(n_draws):
                answers = rue.data.simulate_annotators(known, m, seed=seed)
                row = evaluate_components(realize(answers, belief, loss), hat, gap=False)
                ends.append((row.aurec_low, row.aurec_high))
            (low, high), (low_se, high_se) = (
                np.mean(ends, axis=0),
                np.std(ends, axis=0, ddof=1) / np.sqrt(n_draws),
            )
            rows.append(
                {"loss": loss, "m": m, "true": true, "low": low, "low_se": low_se}
                | {"high": high, "high_se": high_se, "n_points": n_points, "n_draws": n_draws}
            )
    return rows


def coverage(n_points: int, n_samples: int = 500, loss: str = "brier") -> list[Row]:
    """How often 95 % intervals hold what they are of, over samples from 100,000 points."""
    names = ("aurec", "excess_aurec", "n_aurec", "aurc")
    runs = {}
    for k in (8, 40):
        known, belief = world(100_000, seed=1, n_neighbours=k)
        runs[k] = Run.from_belief(known, belief, loss)
    truth = {k: evaluate_run(run, gap=False) for k, run in runs.items()}
    hits: dict[tuple[str, str], int] = {}
    for sample in range(n_samples):
        drawn = np.random.default_rng([n_points, sample]).integers(0, 100_000, n_points)
        parts = {k: Run(run.star[drawn], run.hat[drawn]) for k, run in runs.items()}
        order = own_order(list(parts.values()))
        evaluations = {k: evaluate_run(part, gap=False) for k, part in parts.items()}
        moved = {
            k: replicates(part, n_replicates=1000, seed=sample, rows=order, columns=AREAS)
            for k, part in parts.items()
        }
        swings = {k: influence(part) for k, part in parts.items()}
        for name in names:
            for what, signs in (("8", (1, 0)), ("40", (0, 1)), ("difference", (1, -1))):

                def signed(values: dict[int, Any], signs: tuple[int, int] = signs) -> Any:
                    return sum(s * values[k] for s, k in zip(signs, runs, strict=True) if s)

                true = signed({k: getattr(truth[k], name) for k in runs})
                low, high = interval(
                    signed({k: getattr(evaluations[k], name) for k in runs}),
                    signed({k: moved[k][name] for k in runs}),
                    signed({k: swings[k][name] for k in runs}),
                    0.95,
                    "bca",
                )
                hits[name, what] = hits.get((name, what), 0) + int(low <= true <= high)
    return [
        {"n_points": n_points, "column": name, "of": what, "coverage": hit / n_samples}
        | {"n_samples": n_samples, "loss": loss}
        for (name, what), hit in hits.items()
    ]


def coverages(n_points: tuple[int, ...] = (300, 1000)) -> list[Row]:
    """Return the coverage of intervals at several sample sizes."""
    return [row for n in n_points for row in coverage(n)]


def clusters(n_samples: int = 400) -> list[Row]:
    """Return the coverage of intervals where points come in clusters."""
    return cluster_coverage(
        Run.from_belief(*world(100_000, seed=1, n_neighbours=8), "brier"), n_samples=n_samples
    )


def fewer_annotators(run: Path) -> list[Row]:
    """Return each method's brackets on CIFAR-10H with a part of its annotators."""
    store = Store(run)
    files = {c.method: store.predictions(c) for c in cells(store.suite()) if c.seed == 0}
    rows = []
    for loss in ("log", "brier", "zero_one"):
        for method, file in files.items():
            belief = read_belief(file)
            each = make_run(belief, None, loss, with_answers=True)
            assert isinstance(each.answers, Answers)
            for m in (5, 10, 20, 0):
                ends, entropy = [], []
                for seed in range(5 if m else 1):
                    rng = np.random.default_rng(seed)
                    fewer = each.answers.subsampled(m or 10**6, rng)
                    star = realize(Annotations(fewer.counts), belief.unnamed(), loss)
                    assert star.aleatoric_high is not None
                    row = evaluate_components(star, each.hat, gap=False)
                    ends.append((row.aurec_low, row.aurec_high))
                    entropy.append((star.aleatoric.mean(), star.aleatoric_high.mean()))
                (low, high), (plugin, left_out) = np.mean(ends, axis=0), np.mean(entropy, axis=0)
                rows.append(
                    {"loss": loss, "method": method, "m": m, "low": low, "high": high}
                    | {"bayes_low": plugin, "bayes_high": left_out}
                )
    answers = rue.data.load("cifar10h-features", split="test").annotations
    assert answers is not None
    assert answers.counts is not None
    assert answers.n_annotators is not None
    n, asked = answers.counts, answers.n_annotators[:, None]
    others = (n - 0.5).clip(0.5) / (asked - 1 + n.shape[1] / 2)
    smoothed = -(n / asked * np.log(others)).sum(axis=1).mean()
    whole = {
        e: estimate_bayes_risk(answers, get_loss("log"), e).mean()
        for e in ("plugin", "leave_one_out")
    }
    return [{"loss": "log", "method": "", "m": 0, "smoothed": smoothed} | whole, *rows]


STUDIES: dict[str, Callable[[Path], list[Row]]] = {
    "bracket": lambda _: bracket(),
    "coverage": lambda _: coverages(),
    "clusters": lambda _: clusters(),
    "fewer_annotators": fewer_annotators,
}


def figures(record: Row) -> dict[str, Figure]:
    return {"bracket": plot_brackets(record["bracket"])}


def pages(record: Row) -> Pages:
    """Return the tables of the page."""
    blocks = {
        "bracket": bracket_table(record["bracket"]),
        "coverage": coverage_table(record["coverage"]),
        "clusters": clusters_table(record["clusters"]),
        "fewer annotators": fewer_annotators_table(record["fewer_annotators"]),
    }
    return {PAGE: blocks}


def bracket_table(rows: list[Row]) -> str:
    """Return the bracket of each loss by the number of annotators."""
    lines = [
        [loss, f"{part[0]['true']:.3f}"]
        + [f"{row['low']:.3f} to {row['high']:.3f}" for row in part]
        for loss, part in grouped(rows, "loss").items()
    ]
    return table(["loss", "true", *(f"m = {m}" for m in grouped(rows, "m"))], lines)


def coverage_table(rows: list[Row]) -> str:
    """Return how often intervals hold the truth, by the number of points."""
    lines = [
        [column, of if of == "difference" else f"{of} neighbours"]
        + [percent(row["coverage"]) for row in part]
        for (column, of), part in grouped(rows, "column", "of").items()
    ]
    sizes = (f"{n:,} points" for n in grouped(rows, "n_points"))
    return table(["column", "of", *sizes], lines, text=2)


def fewer_annotators_table(rows: list[Row]) -> str:
    """Return the brackets of each method, and in words what smoothing would give."""
    ms = (5, 10, 20, 0)
    lines = [
        [*key, *(f"{row['low']:.4f} to {row['high']:.4f}" for row in part)]
        for key, part in grouped(rows[1:], "loss", "method").items()
    ]
    whole = rows[0]
    return (
        table(["loss", "method", *(f"{m} annotators" if m else "all" for m in ms)], lines, text=2)
        + "\n\nWith all annotators, the mean Bayes risk under log loss is "
        f"{whole['plugin']:.3f} nats (plug-in) and {whole['leave_one_out']:.3f} nats "
        "(leave-one-out). Adding 1/2 to every class instead of pooling gives "
        f"{whole['smoothed']:.3f} nats."
    )
