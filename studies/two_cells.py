"""Two cells of the atlas and its columns once more, with code written from the pages alone.

Takes the folder of a run of the suite atlas-baselines in the paper regime; ``python -m
studies --fill atlas`` writes the page. Nothing of rue computes a number here: it only loads texts,
answers, sentence features and splits.
The methods are trained in plain torch from docs/methods.md and the metrics are written from
docs/idea.md and docs/uncertainty.md, so a mistake in the package and the same mistake here is
unlikely. Each split that a stored row has is trained :data:`N_REPEATS` times with random numbers of
our own. Their spread within a split is the noise of training, and a stored mean should differ from
ours by about one standard error, ``noise * sqrt(1 / n_splits + 1 / (n_splits * N_REPEATS))``.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.special import digamma, entr, xlogy
from torch import nn

import rue
from studies.rows import Row, read_run
from studies.study import Options

Array = np.ndarray
CELLS = {("sentiment-movies", "ensemble"): 3000, ("emobank-valence", "evidential"): 2000}
"""The two cells, and at most how many points each is trained on."""
MISTAKES = {"ensemble": "training members on all folds", "evidential": "leaving out the 1 of alpha"}
N_REPEATS = 5
N_HALVINGS = 16
FLOOR = 1e-12
SAMPLED = ("n_aurec_corrected", "n_aurec_total_corrected")
"""Columns with random numbers of their own, which other code cannot repeat to the last digit."""


def compute(_: Row, options: Options) -> Iterator[Row]:
    torch.set_num_threads(1)
    (run,) = options.folders()
    own = [
        {"dataset": dataset, "method": method, "seed": seed, "repeat": repeat} | numbers
        for (dataset, method), n_train in CELLS.items()
        for seed in range(5)
        for repeat in range(N_REPEATS)
        for numbers in trained(dataset, method, seed, n_train, 1000 * seed + repeat + 39)
    ]
    stored = [row for cell in CELLS for row in (*atlas_rows(*cell), *run_rows(run, *cell))]
    settings = {"n_repeats": N_REPEATS, "n_halvings": N_HALVINGS, "threads": 1}
    record = {"settings": settings, "comparisons": compared(own, stored)}
    yield record | {"columns": same_predictions(run), "mistakes": mistakes(own), "own": own}


# How the two methods are trained: docs/methods.md.


def trained(
    dataset: str, method: str, seed: int, n_train: int, stream: int, *, wrong: bool = False
) -> list[Row]:
    """Return the numbers of one cell under both losses, with a mistake if it shall be wrong."""
    data = rue.data.featurize(rue.data.load(dataset, seed=seed), encoder="sentence")
    assert data.annotations is not None
    assert data.annotations.counts is not None
    counts, inputs = data.annotations.counts, np.asarray(data.inputs, dtype=np.float64)
    rng = np.random.default_rng(stream)
    train = rng.permutation(data.train)[:n_train]
    scaled = (inputs - inputs[train].mean(axis=0)) / inputs[train].std(axis=0)
    x, y = as_tensor(scaled), as_tensor(counts / counts.sum(axis=1, keepdims=True))
    torch.manual_seed(stream)
    if method == "ensemble":
        folds = np.arange(n_train) % 5
        logits = [
            probe(x, y, train[(folds != i) | wrong], cross_entropy, data.test) for i in range(5)
        ]
        draws = torch.stack([one.softmax(-1) for one in logits], dim=1)
        return [measured(counts[data.test], loss, probs=draws.numpy()) for loss in LOSSES]
    offset = 1e-3 if wrong else 1.0
    output = probe(x, y, train, partial(evidential, offset=offset), data.test)
    alpha = nn.functional.softplus(output) + offset
    return [measured(counts[data.test], loss, alpha=alpha.numpy()) for loss in LOSSES]


def probe(
    x: torch.Tensor,
    y: torch.Tensor,
    train: Array,
    objective: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    test: Array,
) -> torch.Tensor:
    """Return the outputs at the test points of a network that was trained for 50 epochs."""
    net = nn.Sequential(nn.Linear(x.shape[1], 128), nn.ReLU(), nn.Linear(128, y.shape[1]))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
    for _ in range(50):
        order = torch.tensor(train)[torch.randperm(len(train))]
        for start in range(0, len(train), 128):
            batch = order[start : start + 128]
            optimizer.zero_grad()
            objective(net(x[batch]), y[batch]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        return torch.as_tensor(net(x[torch.tensor(test)]))


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return -(target * logits.log_softmax(-1)).sum(-1).mean()


def evidential(logits: torch.Tensor, target: torch.Tensor, offset: float) -> torch.Tensor:
    alpha = nn.functional.softplus(logits) + offset
    strength = alpha.sum(-1, keepdim=True)
    return (target * (torch.digamma(strength) - torch.digamma(alpha))).sum(-1).mean()


def as_tensor(values: Array) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.float32))


# The columns: docs/idea.md, docs/uncertainty.md, docs/two_answers.md.


def log_parts(probs: Array | None, alpha: Array | None) -> tuple[Array, Array]:
    """Return aleatoric and epistemic uncertainty under log loss, for draws or a Dirichlet."""
    if alpha is not None:
        strength = alpha.sum(axis=1, keepdims=True)
        mean = alpha / strength
        inner = (mean * digamma(alpha + 1)).sum(axis=1) - digamma(strength[:, 0] + 1)
        return -inner, inner + entr(mean).sum(axis=1)
    assert probs is not None
    mean = probs.mean(axis=1, keepdims=True)
    ratio = xlogy(probs, probs) - probs * np.log(np.maximum(mean, FLOOR))
    return entr(probs).sum(axis=2).mean(axis=1), ratio.sum(axis=2).mean(axis=1)


def brier_parts(probs: Array | None, alpha: Array | None) -> tuple[Array, Array]:
    """Return aleatoric and epistemic uncertainty under Brier loss, for draws or a Dirichlet."""
    if alpha is not None:
        strength = alpha.sum(axis=1)
        spread = (1 - ((alpha / strength[:, None]) ** 2).sum(axis=1)) / (strength + 1)
        return strength * spread, spread
    assert probs is not None
    variance = ((probs - probs.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1)
    return 1 - (probs**2).sum(axis=2).mean(axis=1), variance


def log_risk(share: Array, action: Array) -> Array:
    return np.asarray(-(share * np.log(np.maximum(action, FLOOR))).sum(axis=1))


def brier_risk(share: Array, action: Array) -> Array:
    return np.asarray((action**2).sum(axis=1) - 2 * (share * action).sum(axis=1) + 1)


LOSSES = {"log": (log_parts, log_risk), "brier": (brier_parts, brier_risk)}


def area(regret: Array, score: Array) -> float:
    """Return the area under the regret-coverage curve, straight within equal scores."""
    order = np.argsort(score, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(regret[order])]) / len(regret)
    ends = np.flatnonzero(np.diff(score[order], append=np.inf)) + 1
    knots = np.concatenate([[0], ends])
    return float(np.trapezoid(total[knots], knots / len(regret)))


def excess_and_span(regret: Array, score: Array) -> Array:
    """Return AuReC minus that of the perfect ranking, and the same of a random ranking."""
    perfect = area(regret, regret)
    return np.array([area(regret, score) - perfect, regret.mean() / 2 - perfect])


def measured(
    counts: Array,
    loss: str,
    *,
    probs: Array | None = None,
    alpha: Array | None = None,
    epistemic: Array | None = None,
) -> Row:
    """Return the columns of one belief: draws, a Dirichlet, or a distribution with a score."""
    parts, risk = LOSSES[loss]
    unit = 1e-12 * (np.log(counts.shape[1]) if loss == "log" else 1)
    probs = None if probs is None else probs.astype(np.float64)
    if probs is not None:
        probs = probs[:, None] if probs.ndim == 2 else probs
        probs = probs / probs.sum(axis=-1, keepdims=True)
    alpha = None if alpha is None else alpha.astype(np.float64)
    aleatoric, spread = (np.round(part / unit) * unit for part in parts(probs, alpha))
    by = np.maximum(spread, 0) if epistemic is None else epistemic
    by_total = np.round((aleatoric + (by if epistemic is None else 0)) / unit) * unit
    action = np.asarray(probs).mean(axis=1) if alpha is None else alpha / alpha.sum(1)[:, None]

    def regret_of(answers: Array) -> Array:
        share = answers / answers.sum(axis=1, keepdims=True)
        difference = risk(share, action) - risk(share, share)
        return np.asarray(np.maximum(np.round(difference / unit) * unit, 0))

    regret, m = regret_of(counts), counts.sum(axis=1)
    row: Row = {"loss": loss, "regret": float(regret.mean())}
    halves = halved(counts) if m.min() >= 4 else []
    regrets, weights = [regret_of(half) for half in halves], [half.sum() for half in halves]
    for key, score in (("", by), ("_total", by_total)):
        value = excess_and_span(regret, score)
        row |= {f"aurec{key}": area(regret, score), f"n_aurec{key}": float(value[0] / value[1])}
        if halves:
            each = np.array([excess_and_span(one, score) for one in regrets])
            corrected = 2 * value - np.average(each, axis=0, weights=weights)
            row[f"n_aurec{key}_corrected"] = float(corrected[0] / corrected[1])
            apart = 2 * value - [
                np.average(each[i : i + 2], axis=0, weights=weights[i : i + 2])
                for i in range(0, len(each), 2)
            ]
            error = np.std(apart[:, 0] - apart[:, 1] * row[f"n_aurec{key}_corrected"], ddof=1)
            row[f"n_aurec{key}_error"] = float(error / corrected[1] / np.sqrt(N_HALVINGS))
    if m.min() < 2:
        return row
    if loss == "brier":
        share = counts / m[:, None]
        fair = risk(share, action) - m / (m - 1) * (1 - (share**2).sum(axis=1))
        row |= {"regret_unbiased": float(fair.mean()), "aurec_unbiased": area(fair, by)}
        row |= {"r_aurec": 2 * area(fair, by) / float(fair.mean())}
        row |= {"r_aurec_total": 2 * area(fair, by_total) / float(fair.mean())}
    return row | pair_columns(counts, probs, alpha)


def pair_columns(counts: Array, probs: Array | None, alpha: Array | None) -> Row:
    """Return the score of two answers, and how often they agree, predicted and observed."""
    m = counts.sum(axis=1)[:, None, None]
    diagonal = np.eye(counts.shape[1])
    observed = (counts[:, :, None] * counts[:, None] - diagonal * counts[:, None]) / (m * (m - 1))
    if alpha is not None:
        a = np.maximum(alpha, FLOOR * alpha.sum(axis=1, keepdims=True))
        strength = a.sum(axis=1)[:, None, None]
        joint = (a[:, :, None] * a[:, None] + diagonal * a[:, None]) / (strength * (strength + 1))
    else:
        draws = np.maximum(np.asarray(probs), FLOOR)
        joint = np.einsum("ndj,ndk->njk", draws, draws) / draws.shape[1]
    return {
        "pair_log_loss": float(-(observed * np.log(joint)).sum(axis=(1, 2)).mean()),
        "agreement_hat": float(np.trace(joint, axis1=1, axis2=2).mean()),
        "agreement_star": float(np.trace(observed, axis1=1, axis2=2).mean()),
    }


def halved(counts: Array) -> list[Array]:
    """Return both halves of each random split; even numbers of answers into even numbers."""
    rng = np.random.default_rng(39)
    m = counts.sum(axis=1).astype(int)
    small = np.where((m % 2 == 0) & (m // 2 % 2 == 1), m // 2 - 1, m // 2)
    halves = []
    for _ in range(N_HALVINGS):
        half, left, wanted = np.zeros_like(counts), m.copy(), small.copy()
        for k, count in enumerate(counts.T.astype(int)):
            left = left - count
            half[:, k] = rng.hypergeometric(count, left, wanted)
            wanted = wanted - half[:, k].astype(int)
        halves += [half, counts - half]
    return halves


# What is stored, and the comparison.


def atlas_rows(dataset: str, method: str) -> list[Row]:
    """Return the rows of the study's paper regime, which have log loss and older columns."""
    record = read_run(f"atlas/paper-{dataset}")
    cells = [cell for cell in record["rows"] if cell["cell"]["method"] == method]
    return [row for cell in cells for row in numbers(cell, "atlas-paper")]


def run_rows(run: Path, dataset: str, method: str) -> list[Row]:
    """Return the rows of a run of the baselines in the paper regime, with the new columns."""
    files = sorted((run / "cells" / dataset / method).glob("*/row.json"))
    return [row for file in files for row in numbers(json.loads(file.read_text()), run.name)]


def numbers(cell: Row, source: str) -> list[Row]:
    names = {key: cell["cell"][key] for key in ("dataset", "method", "seed")}
    return [{"source": source} | names | row for row in cell["rows"] if row["loss"] in LOSSES]


def compared(own: list[Row], stored: list[Row]) -> list[Row]:
    """Return for each cell, loss and column how far the stored mean is from ours."""
    rows = []
    for source, dataset, method, loss in dict.fromkeys(
        (r["source"], r["dataset"], r["method"], r["loss"]) for r in stored
    ):
        cell = {"dataset": dataset, "method": method, "loss": loss}
        mine = [r for r in own if cell.items() <= r.items()]
        theirs = [r for r in stored if ({"source": source} | cell).items() <= r.items()]
        for key in [key for key in mine[0] if theirs[0].get(key) is not None and key not in cell]:
            if key == "seed":
                continue
            by_seed = {s: [r[key] for r in mine if r["seed"] == s] for s in range(5)}
            ours = [float(np.mean(by_seed[r["seed"]])) for r in theirs]
            values = [r[key] for r in theirs]
            noise = np.sqrt(np.mean([np.var(v, ddof=1) for v in by_seed.values()]))
            error = noise * np.sqrt((1 + 1 / N_REPEATS) / len(values))
            difference = float(np.mean(values) - np.mean(ours))
            rows.append(
                {"source": source, **cell, "column": key, "own": ours, "stored": values}
                | {"own_mean": float(np.mean(ours)), "own_std": float(np.std(ours, ddof=1))}
                | {"stored_mean": float(np.mean(values))}
                | {"stored_std": float(np.std(values, ddof=1)), "difference": difference}
                | {"noise": float(noise), "standard_error": float(error)}
                | {"standard_errors": difference / error if error > 1e-12 else None}
            )
    return rows


def mistakes(own: list[Row]) -> list[Row]:
    """Return for each cell the column that a mistake on purpose moves most, on three splits."""
    rows = []
    for (dataset, method), n_train in CELLS.items():
        cell = {"source": "mistake", "dataset": dataset, "method": method}
        wrong = [
            cell | {"seed": seed} | row
            for seed in range(3)
            for row in trained(dataset, method, seed, n_train, 7000 + seed, wrong=True)
        ]
        moved = [row for row in compared(own, wrong) if row["standard_errors"] is not None]
        most = max(moved, key=lambda row: abs(row["standard_errors"]))
        rows.append({"mistake": MISTAKES[method]} | most)
    return rows


def same_predictions(run: Path) -> Row:
    """Return how far each column of all stored predictions is from ours, at most.

    For columns with random numbers of their own that is in standard errors of these numbers.
    """
    largest: dict[str, float] = {}
    errors: dict[str, list[float]] = {}
    cells = sorted(run.glob("cells/*/*/*/row.json"))
    for file in cells:
        with np.load(file.with_name("predictions.npz")) as arrays:
            belief = {k: arrays[k] for k in ("probs", "alpha", "epistemic") if k in arrays}
            counts = arrays["counts"]
        for row in numbers(json.loads(file.read_text()), run.name):
            ours = measured(counts, row["loss"], **belief)
            for key in [key for key in ours if key != "loss" and row.get(key) is not None]:
                difference = abs(ours[key] - row[key])
                if key not in SAMPLED:
                    largest[key] = max(largest.get(key, 0.0), difference)
                elif (error := ours[key.replace("corrected", "error")]) > 1e-9:
                    errors.setdefault(key, []).append(difference / (error * np.sqrt(2)))
    sampled = {
        key: {"n": len(z), "mean_square": float(np.mean(np.square(z))), "largest": max(z)}
        for key, z in errors.items()
    }
    return {"run": run.name, "n_cells": len(cells), "largest": largest, "sampled": sampled}
