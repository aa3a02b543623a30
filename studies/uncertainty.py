"""Make docs/uncertainty.md and its figures from runs.

    python studies/uncertainty.py [bracket] [coverage] [people]    run (default: all)
    python studies/uncertainty.py --tables-only           write the pages from uncertainty.json

- bracket: a world of known p*, simulated annotators, every loss.
- coverage: how often intervals hold the truth, 500 samples of the same world.
- people: CIFAR-10H with fewer of its annotators; takes the predictions of seed 0 from --run, a
  folder of the suite cifar10h-probe (make results).
"""

import argparse
import json
import platform
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np

import rue.data
from rue import Annotations, Dirichlet, decompose, evaluate, realize
from rue.bench.cells import cells
from rue.bench.store import Store
from rue.data.datasets.random_rbf import random_rbf
from rue.inference.bootstrap import own_order, replicates
from rue.inference.intervals import influence, interval
from rue.io.align import realized
from rue.io.predictions import read_predictions
from rue.losses import LOSSES, get_loss
from rue.metrics.evaluation import evaluate_components
from rue.truth.finite_annotators import estimate_bayes_risk
from studies import DOCS

ROWS, PAGE = DOCS / "uncertainty.json", DOCS / "uncertainty.md"
MS = (2, 3, 5, 10, 20, 50, 100)
STUDIES = ("bracket", "coverage", "people")
FEATURES = 3
"""Of the world: few enough that classes overlap and p* is not nearly certain everywhere."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []])
    parser.add_argument("--tables-only", action="store_true")
    parser.add_argument("--run", type=Path, default=Path("out/cifar10h-probe"))
    arguments = parser.parse_args()
    for study in () if arguments.tables_only else arguments.studies or STUDIES:
        if study == "bracket":
            made = bracket()
        elif study == "coverage":
            made = [row for n in (300, 1000) for row in coverage(n)]
        else:
            store = Store(arguments.run)
            made = fewer_people(
                {
                    cell.method: store.predictions(cell)
                    for cell in cells(store.suite())
                    if cell.seed == 0
                }
            )
        versions = {"rue": rue.__version__, "python": platform.python_version()} | {
            name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba", "torch")
        }
        ROWS.write_text(json.dumps(read() | {study: made, "versions": versions}, indent=1) + "\n")
    rows = read()
    draw(rows)
    page = PAGE.read_text()
    for name, text in blocks(rows).items():
        page = fill(page, name, text)
    PAGE.write_text(page)


def read() -> dict:
    return json.loads(ROWS.read_text()) if ROWS.exists() else {}


def world(n_points: int, *, seed: int, n_neighbours: int) -> tuple[Annotations, Dirichlet]:
    """Points of random-rbf with their p*, and a belief: the labels of 600 other points near by."""
    from sklearn.neighbors import NearestNeighbors

    model = random_rbf(n_features=FEATURES)
    points, _ = model.sample(n_points, seed=seed)
    train, labels = model.sample(600, seed=10_000)
    nearest = NearestNeighbors(n_neighbors=n_neighbours).fit(train)
    said = np.eye(model.n_classes)[labels][nearest.kneighbors(points)[1]].sum(axis=1)
    return Annotations.from_probs(model.probs(points)), Dirichlet(said + 0.5)


def bracket(n_points: int = 1000, n_draws: int = 40, ms: tuple[int, ...] = MS) -> list[dict]:
    """The mean bracket over draws of annotators, beside the truth."""
    known, belief = world(n_points, seed=1, n_neighbours=15)
    rows = []
    for loss in LOSSES:
        hat = decompose(belief, loss)
        true = evaluate(known, belief, loss, gap=False).aurec
        for m in ms:
            ends = []
            for seed in range(n_draws):
                people = rue.data.simulate_annotators(known, m, seed=seed)
                row = evaluate_components(realize(people, belief, loss), hat, gap=False)
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


def coverage(n_points: int, n_samples: int = 500, loss: str = "brier") -> list[dict]:
    """How often 95 % intervals hold what they are of, over samples from 100,000 points."""
    names = ("aurec", "excess_aurec", "n_aurec", "aurc")
    runs = {}
    for k in (8, 40):
        known, belief = world(100_000, seed=1, n_neighbours=k)
        runs[k] = (realize(known, belief, loss), decompose(belief, loss))
    truth = {k: evaluate_components(*run, gap=False) for k, run in runs.items()}
    hits: dict[tuple[str, str], int] = {}
    for sample in range(n_samples):
        drawn = np.random.default_rng([n_points, sample]).integers(0, 100_000, n_points)
        parts = {k: (star[drawn], hat[drawn]) for k, (star, hat) in runs.items()}
        order = own_order(list(parts.values()))
        found = {k: evaluate_components(*part, gap=False) for k, part in parts.items()}
        moved = {
            k: replicates(*part, n_replicates=1000, seed=sample, rows=order, areas_only=True)
            for k, part in parts.items()
        }
        swings = {k: influence(*part) for k, part in parts.items()}
        for name in names:
            for what, signs in (("8", (1, 0)), ("40", (0, 1)), ("difference", (1, -1))):
                true, estimate, draws, swing = (
                    sum(s * v[k] for s, k in zip(signs, runs, strict=True) if s)
                    for v in (
                        {k: getattr(truth[k], name) for k in runs},
                        {k: getattr(found[k], name) for k in runs},
                        {k: moved[k][name] for k in runs},
                        {k: swings[k][name] for k in runs},
                    )
                )
                low, high = interval(estimate, draws, swing, 0.95, "bca")
                hits[name, what] = hits.get((name, what), 0) + (low <= true <= high)
    return [
        {"n_points": n_points, "column": name, "of": what, "coverage": hit / n_samples}
        | {"n_samples": n_samples, "loss": loss}
        for (name, what), hit in hits.items()
    ]


def fewer_people(files: dict[str, Path]) -> list[dict]:
    """CIFAR-10H with some of its annotators drawn without replacement: brackets of each method."""
    rows = []
    for loss in ("log", "brier", "zero_one"):
        for method, file in files.items():
            read = read_predictions(file)
            columns = realized(read, None, loss, with_answers=True)
            assert columns.answers is not None
            for m in (5, 10, 20, 0):
                ends, entropy = [], []
                for seed in range(5 if m else 1):
                    rng = np.random.default_rng(seed)
                    said = columns.answers.subsampled(m or 10**6, rng)
                    people = Annotations(said.counts)
                    star = realize(people, read.belief, loss)
                    row = evaluate_components(star, columns.hat, gap=False)
                    ends.append((row.aurec_low, row.aurec_high))
                    entropy.append((star.aleatoric.mean(), star.aleatoric_high.mean()))
                (low, high), (plugin, left_out) = np.mean(ends, axis=0), np.mean(entropy, axis=0)
                rows.append(
                    {"loss": loss, "method": method, "m": m, "low": low, "high": high}
                    | {"bayes_low": plugin, "bayes_high": left_out}
                )
    people = rue.data.load("cifar10h-features", split="test").annotations
    n, m = people.counts, people.n_annotators[:, None]
    smoothed = -(n / m * np.log((n - 0.5).clip(0.5) / (m - 1 + n.shape[1] / 2))).sum(axis=1).mean()
    entropy = {
        e: estimate_bayes_risk(people, get_loss("log"), e).mean()
        for e in ("plugin", "leave_one_out")
    }
    return [{"loss": "log", "method": "", "m": 0, "smoothed": smoothed} | entropy, *rows]


def draw(rows: dict) -> None:
    from rue.plots.bracket import plot_brackets
    from rue.plots.style import save

    if "bracket" in rows:
        save(plot_brackets(rows["bracket"]), DOCS / "figures" / "bracket.png")


def blocks(rows: dict) -> dict[str, str]:
    """The tables of docs/uncertainty.md."""
    made = {}
    if "bracket" in rows:
        made["bracket"] = bracket_table(rows["bracket"])
    if "coverage" in rows:
        made["coverage"] = coverage_table(rows["coverage"])
    if "people" in rows:
        made["people"] = people_table(rows["people"])
    return made


def bracket_table(rows: list[dict]) -> str:
    ms = sorted({row["m"] for row in rows})
    lines = ["| loss | true | " + " | ".join(f"m = {m}" for m in ms) + " |"]
    lines.append("|---|--:|" + "--:|" * len(ms))
    for loss in dict.fromkeys(row["loss"] for row in rows):
        part = {row["m"]: row for row in rows if row["loss"] == loss}
        cells = [f"{part[m]['low']:.3f} to {part[m]['high']:.3f}" for m in ms]
        lines.append(f"| {loss} | {part[ms[0]]['true']:.3f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def coverage_table(rows: list[dict]) -> str:
    sizes = sorted({row["n_points"] for row in rows})
    lines = ["| column | of | " + " | ".join(f"{n:,} points" for n in sizes) + " |"]
    lines.append("|---|---|" + "--:|" * len(sizes))
    for column, of in dict.fromkeys((row["column"], row["of"]) for row in rows):
        shares = {
            row["n_points"]: row["coverage"]
            for row in rows
            if (row["column"], row["of"]) == (column, of)
        }
        label = of if of == "difference" else f"{of} neighbours"
        cells = " | ".join(f"{100 * shares[n]:.1f} %" for n in sizes)
        lines.append(f"| {column} | {label} | {cells} |")
    return "\n".join(lines)


def people_table(rows: list[dict]) -> str:
    ms = [5, 10, 20, 0]
    lines = ["| loss | method | " + " | ".join(f"{m} people" if m else "all" for m in ms) + " |"]
    lines.append("|---|---|" + "--:|" * len(ms))
    for loss, method in dict.fromkeys((r["loss"], r["method"]) for r in rows if r["method"]):
        part = {r["m"]: r for r in rows if (r["loss"], r["method"]) == (loss, method)}
        cells = [f"{part[m]['low']:.4f} to {part[m]['high']:.4f}" for m in ms]
        lines.append(f"| {loss} | {method} | " + " | ".join(cells) + " |")
    whole = rows[0]
    lines += [
        "",
        f"With all people the mean Bayes risk under log loss is {whole['plugin']:.3f} nats plug-in "
        f"and {whole['leave_one_out']:.3f} leave-one-out; adding 1/2 to every class instead of "
        f"pooling gives {whole['smoothed']:.3f}.",
    ]
    return "\n".join(lines)


def fill(page: str, name: str, text: str) -> str:
    """Put text between the marks of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.S)


if __name__ == "__main__":
    main()
