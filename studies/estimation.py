"""Split regret into estimation and approximation: the tables and the figure of docs/estimation.md.

- sandbox: classes of more and more cells in a world of categories, where all is exact.
- random-rbf: methods trained on few points, against the same method trained on many.
- convergence: the method trained on half as many points, or for twice as many epochs.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import rue.data
from rue import Annotations, decompose, n_aurec, realize, regret_parts, spearman
from rue._arrays import FloatArray
from rue.data import DataSet
from rue.metrics.estimation import RegretParts
from rue.plots import look, plot_regret_parts
from rue.sandbox import make_category_world, split_category_regret
from studies import DOCS
from studies.pages import spread, table
from studies.rows import Row, grouped, where
from studies.study import Options, Pages

PAGE = DOCS / "estimation.md"
CELLS = (4, 8, 16, 32, 64, 128)
N_TRAIN, N_SAMPLES = 500, 50
"""Of the sandbox: labels in a training sample, and samples."""
LOSSES = ("log", "zero_one", "squared")
SHOWN = ("log", "zero_one")
"""The losses of the page's tables; the figure shows the first."""
N_POINTS, N_FEW, N_TEST, SEEDS = 100_000, 2_000, 4_000, (0, 1, 2)
"""Of random-rbf: 60 % of the points train the limit; each seed has its own few points."""
FEW, MANY = (100, 128), (200, 512)
"""Epochs and batch size; thousands of steps each."""
OTHERS = ((60_000, 25), (30_000, 200), (60_000, 400))
"""Training points and epochs of limits that are compared with the study's."""
CHECKED = ("evidential", "dropout", "ensemble, 8 units", "ensemble")
METHODS = {
    "ensemble, 8 units": ("ensemble", 8),
    "ensemble": ("ensemble", 128),
    "evidential, 8 units": ("evidential", 8),
    "evidential": ("evidential", 128),
    "dropout": ("dropout", 128),
    "laplace": ("laplace", 128),
    "ddu": ("ddu", 128),
    "forest": ("forest", 128),
}
"""The method and the width of its network."""
PARTS = ("regret", "approximation", "estimation", "in_class")


def compute(record: Row, _: Options) -> Iterator[Row]:
    """Yield the record after each method and each limit."""
    new: Row = {"sandbox": record.get("sandbox") or sandbox(), "rbf": [], "convergence": []}
    record = new | record
    for name in METHODS:
        if not where(record["rbf"], method=name):
            record["rbf"] += of_method(name)
            yield record
    for name, (n_train, epochs) in product(CHECKED, OTHERS):
        if not where(record["convergence"], method=name, n_train=n_train, epochs=epochs):
            record["convergence"] += converged(name, n_train, epochs)
            yield record


def pages(record: Row) -> Pages:
    """Return the tables of the page."""
    made = {f"sandbox {loss}": sandbox_table(record["sandbox"], loss) for loss in SHOWN}
    made |= {f"rbf {loss}": rbf_table(record["rbf"], loss) for loss in SHOWN}
    return {PAGE: made | {"convergence": convergence_text(record["rbf"], record["convergence"])}}


def sandbox() -> list[Row]:
    """Return the parts of each class's regret, means over training samples."""
    world = make_category_world(n_train=0)
    rows = []
    for loss in LOSSES:
        for n_cells in CELLS:
            samples = []
            for seed in range(N_SAMPLES):
                sample = world.drawn(N_TRAIN, seed=seed)
                parts, epistemic = split_category_regret(sample, n_cells, loss)
                samples.append(numbers(parts, epistemic, world.mass))
            rows.append({"loss": loss, "n_cells": n_cells} | means(samples))
    return rows


def fitted(
    name: str, data: DataSet | list[DataSet], epochs: int, batch_size: int, **seeds: Any
) -> list[Any]:
    """Return a method of the page, fitted with its width."""
    import torch

    from rue.methods import METHODS as KNOWN
    from rue.methods import Training

    torch.set_num_threads(1)
    method, width = METHODS[name]
    training = Training(width=width, epochs=epochs, batch_size=batch_size)
    module = KNOWN[method]
    return list(module.fit(data, module.Config(training=training), **seeds))


def world() -> tuple[DataSet, Any, Annotations]:
    """Return random-rbf, and the inputs and p* of its first test points."""
    data = rue.data.load("random-rbf", n_points=N_POINTS, n_features=3)
    assert data.annotations is not None  # random-rbf has p*
    points = data.test[:N_TEST]
    return data, data.inputs[points], data.annotations[points]


def of_method(name: str) -> list[Row]:
    """Return the parts of a method's regret on random-rbf, for each loss and seed."""
    data, inputs, truth = world()
    limit = fitted(name, data, *MANY)[0].predict(inputs)
    few = [replace(data, train=data.train[s * N_FEW : (s + 1) * N_FEW]) for s in SEEDS]
    rows = []
    for seed, one in zip(SEEDS, fitted(name, few, *FEW, seeds=SEEDS), strict=True):
        belief = one.predict(inputs)
        for loss in LOSSES:
            hat = decompose(belief, loss)
            row = numbers(regret_parts(truth, belief, limit, loss), hat.epistemic)
            if hat.outside_score:  # it has no unit
                del row["predicted_regret"]
            rows.append({"method": name, "loss": loss, "seed": seed} | row)
    return rows


def converged(name: str, n_train: int, epochs: int) -> list[Row]:
    """Return the mean regret of a method's limit on random-rbf, for each loss."""
    data, inputs, truth = world()
    part = replace(data, train=data.train[:n_train])
    limit = fitted(name, part, epochs, MANY[1])[0].predict(inputs)
    return [
        {"method": name, "n_train": n_train, "epochs": epochs, "loss": loss}
        | {"approximation": float(realize(truth, limit, loss).epistemic.mean())}
        for loss in LOSSES
    ]


def convergence_text(rbf: list[Row], others: list[Row]) -> str:
    """Return the table of limits, and in a sentence how far they change."""
    own = {(row["method"], row["loss"]): row["approximation"] for row in rbf}
    keys = ("method", "n_train", "epochs", "loss")
    approximations = {tuple(row[key] for key in keys): row["approximation"] for row in others}
    lines = [
        [name, loss, f"{own[name, loss]:.3f}"]
        + [f"{approximations[(name, *each, loss)]:.3f}" for each in OTHERS]
        for loss in SHOWN
        for name in CHECKED
    ]
    words = []
    for other in OTHERS:
        changes = [
            100 * (approximations[(n, *other, SHOWN[0])] / own[n, SHOWN[0]] - 1) for n in CHECKED
        ]
        points, epochs = other
        words.append(f"{min(changes):+.0f} to {max(changes):+.0f} % ({points:,}, {epochs})")
    titles = ((60_000, MANY[0]), *OTHERS)
    head = ["method", "loss", *(f"{n:,} points, {epochs} epochs" for n, epochs in titles)]
    return table(head, lines, text=2) + (
        f"\n\nApproximation of the limit by the number of points and epochs. Relative to the limit "
        f"of the tables it changes, under {SHOWN[0]} loss, by {', '.join(words)}."
    )


def numbers(parts: RegretParts, epistemic: FloatArray, mass: FloatArray | None = None) -> Row:
    """Return the mean of each part, and how well the epistemic uncertainty ranks it."""
    row: Row = {"predicted_regret": float(np.average(epistemic, weights=mass))}
    for name in PARTS:
        part = getattr(parts, name)
        row[name] = float(np.average(part, weights=mass))
        row[f"n_aurec_{name}"] = n_aurec(part, epistemic, sample_weight=mass)
        row[f"spearman_{name}"] = spearman(part, epistemic)
    return {key: None if np.isnan(value) else value for key, value in row.items()}


def means(rows: list[Row]) -> Row:
    """Return the mean of each number over rows, and its standard error; None if one has none."""
    averages: Row = {}
    for key in rows[0]:
        values = [row[key] for row in rows]
        defined = None not in values
        error = float(np.std(values, ddof=1) / len(values) ** 0.5) if defined else None
        averages |= {key: float(np.mean(values)) if defined else None, f"{key}_se": error}
    return averages


def sandbox_table(rows: list[Row], loss: str) -> str:
    part = where(rows, loss=loss)
    keys = ("regret", "approximation", "estimation", "predicted_regret")
    areas = ("n_aurec_estimation", "n_aurec_in_class", "n_aurec_approximation")
    lines = [
        [
            str(row["n_cells"]),
            *(f"{row[key]:.4f}" for key in keys),
            *(_number(row[key], 2) for key in areas),
        ]
        for row in part
    ]
    head = ["cells", *keys[:3], "predicted", "n-AuReC, estimation", "in the class", "approximation"]
    return table(head, lines, text=0)


def rbf_table(rows: list[Row], loss: str) -> str:
    keys = ("regret", "approximation", "estimation")
    ranks = {
        "n_aurec_estimation": "n-AuReC, estimation",
        "n_aurec_in_class": "in the class",
        "n_aurec_approximation": "approximation",
        "spearman_estimation": "r_s, estimation",
        "spearman_approximation": "r_s, approximation",
    }
    lines = []
    for name, part in grouped(where(rows, loss=loss), "method").items():
        predicted = [row["predicted_regret"] for row in part if "predicted_regret" in row]
        lines.append(
            [
                name,
                spread(row["regret"] for row in part),
                f"{part[0]['approximation']:.3f}",  # all samples have the same limit
                spread(row["estimation"] for row in part),
                f"{np.mean(predicted):.3f}" if predicted else "-",
                *(_number(_mean(part, key), 2) for key in ranks),
            ]
        )
    return table(["method", *keys, "predicted", *ranks.values()], lines)


def _numbers_of(row: Row) -> Row:
    return {key: value for key, value in row.items() if key not in ("method", "loss", "seed")}


def _mean(rows: list[Row], key: str) -> float | None:
    values = [row[key] for row in rows]
    return None if None in values else float(np.mean(values))


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figures(record: Row) -> dict[str, Figure]:
    """Return the two panels: the sandbox, and the methods on random-rbf."""
    cells = where(record["sandbox"], loss=SHOWN[0])
    methods = grouped(where(record["rbf"], loss=SHOWN[0]), "method")
    by_method = [
        {"name": name} | means([_numbers_of(row) for row in part]) for name, part in methods.items()
    ]
    with look():
        figure = Figure(figsize=(7.3, 3.0), layout="constrained")
        axes = figure.subplots(1, 2)
        plot_regret_parts([{"name": str(r["n_cells"])} | r for r in cells], ax=axes[0])
        axes[0].set(title="Sandbox", xlabel="cells of the model class", ylabel="nats")
        plot_regret_parts(by_method, ax=axes[1])
        axes[1].set(title="random-rbf", ylabel="nats")
        for label in axes[1].get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
        axes[0].legend()
    return {"estimation": figure}
