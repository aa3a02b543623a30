"""Run the studies of "Learning from replicates" in docs/replicates.md.

- world: groups of inputs with known p*. In half of the groups p* varies among inputs that look
  alike, and half have few training points. Does disagreement among members count?
- ranking: on real answers, does the epistemic component rank regret better than the total does?
  Takes the folder of a run of the suite atlas.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import rue.data
from rue import Annotations, Belief, aurec, decompose, evaluate, realize
from rue.bench.cells import Cell, cells
from rue.bench.store import Store
from rue.data import DataSet
from rue.io.predictions import read_belief
from rue.metrics.measures import spearman
from studies import DOCS, OUT
from studies.pages import spread, table
from studies.rows import Row, grouped, where
from studies.study import Options, Pages

PAGE = DOCS / "replicates.md"
KINDS = ("same p\\*, many points", "same p\\*, few points", "varied p\\*, many", "varied p\\*, few")
STRENGTHS = (200.0, 200.0, 2.0, 2.0)
N_TRAIN = (60, 6, 60, 6)  # points of a group
GROUPS, N_TEST, N_ANSWERS, N_CLASSES = 10, 50, 10, 3
WORLDS = (0, 1, 2, 3, 4)
MEMBERS = 5
LOG = ("n_aurec", "n_aurec_total")
BRIER = ("unbiased_epistemic", "unbiased_total")
DATA_SETS = ("ferplus-features", "sentiment-movies")


def compute(_: Row, options: Options) -> Iterator[Row]:
    yield {"world": fit_worlds(WORLDS), "ranking": rankings(options.folders(OUT / "atlas")[0])}


def world(seed: int) -> tuple[DataSet, np.ndarray]:
    """Return a data set with known p*, and the kind (0..3) of each of its test points.

    The input shows the group alone: within a group p* is drawn from Dirichlet(s m), with the mean
    m of the group and the strength s of its kind.
    """
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(len(KINDS)), GROUPS)
    means = rng.dirichlet(np.full(N_CLASSES, 2.0), len(kinds))
    n_train = np.array(N_TRAIN)[kinds]
    groups = np.arange(len(kinds))
    group = np.concatenate([np.repeat(groups, n_train), np.tile(groups, N_TEST)])
    gammas = rng.gamma(np.array(STRENGTHS)[kinds[group], None] * means[group]).clip(1e-12)
    probs = gammas / gammas.sum(axis=1, keepdims=True)
    inputs = np.eye(len(kinds))[group] + rng.normal(scale=0.05, size=(len(group), len(kinds)))
    first = n_train.sum()
    data = DataSet(
        name="replicates",
        task="features",
        inputs=inputs.astype(np.float32),
        ids=np.arange(len(group)).astype(np.str_),
        class_names=tuple("abc"),
        values=np.arange(float(N_CLASSES)),
        annotations=Annotations(rng.multinomial(N_ANSWERS, probs)),
        annotated=np.arange(len(group)),
        extras={"probs": probs},
        licence="Apache-2.0",
        citation="",
        train=np.arange(first),
        validation=np.arange(0),
        test=np.arange(first, len(group)),
    )
    return data, kinds[group[first:]]


def fit_worlds(seeds: Sequence[int]) -> list[Row]:
    """Return each method's regret, estimates and ranking, one row per world and method."""
    import torch

    from rue.methods import METHODS

    torch.set_num_threads(1)
    rows = []
    made = [world(seed) for seed in seeds]
    for method in ("ensemble", "evidential", "dirichlet_multinomial", "pairs"):
        fits = METHODS[method].fit([data for data, _ in made], seeds=seeds)
        for seed, (data, kind), fitted in zip(seeds, made, fits, strict=True):
            test = data.part("test")
            truth = Annotations.from_probs(test.extras["probs"])
            belief = fitted.predict(test.inputs)
            row = evaluate(truth, belief, "brier", gap=False)
            numbers: Row = {"seed": seed, "method": method, "n_aurec": row.n_aurec}
            numbers["n_aurec_total"] = row.n_aurec_total
            regret = realize(truth, belief, "brier").epistemic
            estimates = {"regret": regret, "epistemic": decompose(belief, "brier").epistemic}
            if method in ("pairs", "dirichlet_multinomial"):
                alone = [replace(fitted, model=fitted.model.only(i)) for i in range(MEMBERS)]
                each = [decompose(one.predict(test.inputs), "brier").epistemic for one in alone]
                estimates["members"] = np.mean(each, axis=0)
            for name, values in estimates.items():
                numbers[name] = [float(values[kind == k].mean()) for k in range(len(KINDS))]
            rows.append(numbers)
    return rows


def rankings(folder: Path) -> list[Row]:
    """Return how each cell of a run ranks regret by its components, one row per cell.

    Under log loss as the run's rows have it; under Brier loss with the regret of the answers as
    they are (plug-in), and with its unbiased estimate, which does not grow with the entropy of a
    point's answers.
    """
    store = Store(folder)
    rows = []
    for name in DATA_SETS:
        there = [cell for cell in cells(store.suite()) if cell.dataset == name]
        rows += [_ranking(store, cell) for cell in there if store.state(cell) == "done"]
    return rows


def _ranking(store: Store, cell: Cell) -> Row:
    belief = read_belief(store.predictions(cell))
    answers = _answers(cell, belief)
    stored = store.row(cell)
    log = next(row for row in stored.rows if row["loss"] == "log")
    hat = decompose(belief, "brier")
    numbers: Row = {"dataset": cell.dataset, "method": cell.method, "seed": cell.seed}
    numbers |= {key: log[key] for key in ("n_aurec", "n_aurec_total", "regret_calibration")}
    numbers["spearman"] = spearman(hat.epistemic, hat.total)
    for estimator in ("plugin", "unbiased"):
        regret = realize(answers, belief, "brier", estimator=estimator).epistemic
        random = float(regret.mean()) / 2
        for by in ("epistemic", "total"):
            # Divided by that of a random ranking: an oracle has no meaning for noisy regrets.
            numbers[f"{estimator}_{by}"] = aurec(regret, getattr(hat, by)) / random
    return numbers


def _answers(cell: Cell, belief: Belief) -> Annotations:
    data = rue.data.load(cell.dataset, split="test", seed=cell.seed)
    place = {name: row for row, name in enumerate(data.ids)}
    assert data.annotations is not None
    assert belief.ids is not None
    rows = np.array([place[name] for name in belief.ids])
    return data.annotations[rows].with_ids(belief.ids)


def pages(record: Row) -> Pages:
    blocks = {"world": world_table(record["world"]), "ranking": ranking_table(record["ranking"])}
    return {PAGE: blocks}


def world_table(rows: list[Row]) -> str:
    lines = []
    for method in ("dirichlet_multinomial", "pairs"):
        part = where(rows, method=method)
        for k, kind in enumerate(KINDS):
            keys = ("regret", "members", "epistemic")
            regret, one, all_five = (np.mean([row[key][k] for row in part]) for key in keys)
            shown = [f"{value:.4f}" for value in (regret, one, all_five)]
            lines.append([f"`{method}`", kind, *shown, f"{all_five - one:+.4f}"])
    head = ["method", "groups", "regret", "estimated by one member", "by all five", "difference"]
    n_aurec = []
    for method, part in grouped(rows, "method").items():
        both = (spread(row[key] for row in part) for key in ("n_aurec", "n_aurec_total"))
        n_aurec.append([f"`{method}`", *both])
    return (
        table(head, lines, text=2)
        + "\n\n"
        + table(["method", "n-AuReC by epistemic", "by total"], n_aurec)
    )


def ranking_table(rows: list[Row]) -> str:
    lines = []
    for (name, method), part in grouped(rows, "dataset", "method").items():
        means = [np.mean([row[key] for row in part]) for key in (*LOG, *BRIER, "spearman")]
        shown = [f"{value:.3f}" for value in means]
        wins = [f"{n_better(part, *keys)} of {len(part)}" for keys in (LOG, BRIER)]
        lines.append(
            [f"`{name}`", f"`{method}`", *shown[:2], wins[0], *shown[2:4], wins[1], shown[4]]
        )
    head = ["data set", "method"]
    for loss in ("log", "Brier"):
        head += [f"{loss}, by epistemic", "by total", "epistemic better"]
    return table([*head, "rank correlation"], lines, text=2)


def n_better(rows: list[Row], one: str, other: str) -> int:
    """Return in how many rows the first key is lower."""
    return sum(row[one] < row[other] for row in rows)
