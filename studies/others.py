"""Evaluate networks that others trained, on CIFAR-10H and ChaosNLI, for docs/others.md.

A single network has no epistemic part, so it is ranked by its total uncertainty: the entropy under
log loss, one minus the largest probability under 0/1 loss. A temperature is fitted on the answers
about one half of the points (even or odd rows) and used on the other half.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

import rue
import rue.data
from rue import Annotations, Draws
from rue.inference.intervals import intervals
from rue.metrics.evaluation import evaluate_run
from studies import DOCS, chaosnli
from studies.pages import Columns, interval, table_of
from studies.rows import Row, where
from studies.study import Options, Pages

PAGE = DOCS / "others.md"
LOSSES = ("log", "brier", "zero_one")
TITLES = {"log": "log", "brier": "Brier", "zero_one": "0/1"}
NETWORKS = {
    "densenet-bc-L190-k40": "DenseNet-BC-190",
    "preresnet-110": "PreResNet-110",
    "resnet-110": "ResNet-110",
    "base-cnn": "smaller network",
    "hmc": "HMC",
}
COMMITTEE = "the four as draws"
N_REPLICATES = 2000
Probs = NDArray[np.float64]


class Source(NamedTuple):
    """Answers about the points of a data set, and what each model predicts, (n, draws, classes)."""

    truth: Annotations
    models: Mapping[str, Probs]
    labels: NDArray[np.int64]


def compute(_: Row, options: Options) -> Iterator[Row]:
    """Measure each model, loss and temperature, and the paired differences from HMC."""
    checksums: dict[str, str] = {}
    rows: list[Row] = []
    pairs: list[Row] = []
    for name, source in published_models(options.root, checksums):
        regrets: dict[tuple[str, str, bool], Probs] = {}
        for model, probs in source.models.items():
            halves = temperatures(probs, source.truth.probs)
            for fitted in (False, True):
                belief = Draws(tempered(probs, halves) if fitted else probs)
                mean = np.asarray(belief.probs).mean(axis=1)
                for loss in LOSSES:
                    star = rue.realize(source.truth, belief, loss)
                    regrets[model, loss, fitted] = star.epistemic
                    rows.append(
                        {"data": name, "model": model, "loss": loss, "fitted": fitted}
                        | {"temperatures": halves if fitted else [1.0, 1.0]}
                        | {"accuracy": float((mean.argmax(axis=1) == source.labels).mean())}
                        | {"confidence": float(mean.max(axis=1).mean())}
                        | evaluated(source.truth, belief, loss)
                    )
            print(name, model, flush=True)
        pairs += differences(name, regrets)
    settings = {"n_replicates": N_REPLICATES, "level": 0.95, "seed": 0}
    yield {"checksums": checksums, "settings": settings, "rows": rows, "pairs": pairs}


def published_models(root: str | None, checksums: dict[str, str]) -> Iterator[tuple[str, Source]]:
    """Yield each data set with its models, and add the checksums of the files that were read."""
    data = rue.data.load("cifar10h", root)
    assert data.annotations is not None
    assert data.labels is not None
    checksums |= data.checksums
    models: dict[str, Probs] = {}
    for name, title in NETWORKS.items():
        file = chaosnli.find(f"cifar-10h-models/{name}.csv", root)
        checksums[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        columns = pd.read_csv(file, index_col="id").sort_index()
        assert tuple(columns.columns) == data.class_names
        assert (columns.index == np.arange(10_000)).all()
        models[title] = columns.to_numpy()[:, None]
    committee = [models[title] for title in NETWORKS.values() if title != "HMC"]
    models[COMMITTEE] = np.concatenate(committee, axis=1)
    yield "CIFAR-10H", Source(data.annotations, models, data.labels[data.test])
    for part in ("SNLI", "MNLI"):
        published = [model for model in chaosnli.MODELS if model.corpus == part]
        models, truth, labels = {}, None, None
        for model in published:
            nli, truth, items, _ = chaosnli.load(model, root)
            checksums |= {**nli.checksums, **items.checksums}
            probs, labels = np.asarray(chaosnli.draws(items).probs), items.labels
            network = model.title.partition(",")[0]
            models[network] = probs[:, :1]
            models[f"{network}, {len(model.seeds)} seeds as draws"] = probs
        assert truth is not None
        assert labels is not None
        yield f"ChaosNLI, {part}", Source(truth, models, labels)


def temperatures(probs: Probs, star: Probs) -> list[float]:
    """Return the temperatures for even and for odd rows, each fitted on the other rows."""
    logits = np.log(np.maximum(probs, 1e-30))
    return [chaosnli.fit_temperature(logits[half::2], star[half::2]) for half in (1, 0)]


def sharpened(probs: Probs, temperature: float | Probs) -> Probs:
    """Return each distribution to the power 1 / temperature, normalised."""
    return np.asarray(softmax(np.log(np.maximum(probs, 1e-30)) / temperature, axis=-1))


def tempered(probs: Probs, halves: list[float]) -> Probs:
    """Return the predictions with the temperature of each half."""
    return sharpened(probs, np.resize(halves, len(probs))[:, None, None])


def evaluated(truth: Annotations, belief: Draws, loss: str) -> Row:
    """Return the columns of the page, with intervals over points."""
    run = rue.Run.from_belief(truth, belief, loss)
    spread = intervals(run, gap=False, n_replicates=N_REPLICATES)
    columns: Row = {"risk": float(run.star.total.mean()), "predicted": float(run.hat.total.mean())}
    for key in ("regret", "n_aurec", "n_aurec_total"):
        columns[key] = [spread.estimate[key], spread.low[key], spread.high[key]]
    row = evaluate_run(run, gap=False).to_dict()
    return columns | {key: row[key] for key in ("n_aurec_floor", "person_risk", "person_parity")}


def differences(data: str, regrets: Mapping[tuple[str, str, bool], Probs]) -> Iterator[Row]:
    """Yield the mean regret of each network minus HMC's, with a paired interval over points."""
    rng = np.random.default_rng(0)
    for (model, loss, fitted), regret in regrets.items():
        if ("HMC", loss, fitted) not in regrets or model == "HMC":
            continue
        gap = regret - regrets["HMC", loss, fitted]
        weights = rng.multinomial(len(gap), np.full(len(gap), 1 / len(gap)), N_REPLICATES)
        low, high = np.quantile(weights @ gap / len(gap), [0.025, 0.975])
        row = {"data": data, "model": model, "loss": loss, "fitted": fitted}
        yield row | {"difference": [float(gap.mean()), float(low), float(high)]}


def pages(record: Row) -> Pages:
    """Return the tables of the page."""
    rows, tables = record["rows"], {}
    for data in dict.fromkeys(row["data"] for row in rows):
        name = data.lower().replace(", ", "-").replace("-10h", "10h")
        for fitted, title in ((False, "published"), (True, "fitted")):
            tables[f"{name} {title}"] = model_table(where(rows, data=data, fitted=fitted))

    def fitted_difference(row: Row) -> str:
        partner = {"model": row["model"], "loss": row["loss"], "fitted": True}
        return interval(where(record["pairs"], **partner)[0]["difference"], 3, "+")

    columns: Columns = {
        "network": "{model}",
        "loss": lambda row: TITLES[row["loss"]],
        "as published": lambda row: interval(row["difference"], 3, "+"),
        "with a temperature": fitted_difference,
    }
    tables["pairs"] = table_of(where(record["pairs"], fitted=False), columns, text=2)
    return {PAGE: tables}


def model_table(rows: list[Row]) -> str:
    """Return the table of some models on one data set."""

    def model(row: Row) -> str:
        if not row["fitted"] or row["loss"] != LOSSES[0]:
            return str(row["model"])
        return f"{row['model']} (T = {' and '.join(f'{t:.2f}' for t in row['temperatures'])})"

    def epistemic(row: Row) -> str:
        drawn = row["n_aurec"][0] is not None and "draws" in row["model"]
        return interval(row["n_aurec"]) if drawn else ""

    columns: Columns = {
        "model": model,
        "loss": lambda row: TITLES[row["loss"]],
        "mean regret": lambda row: interval(row["regret"], 3),
        "n-AuReC by total": lambda row: interval(row["n_aurec_total"]),
        "n-AuReC by epistemic": epistemic,
        "floor": "{n_aurec_floor:.2f}",
        "risk": "{risk:.3f}",
        "predicted risk": "{predicted:.3f}",
        "person": "{person_risk:.3f}",
        "parity": "{person_parity:.2f}",
    }
    return table_of(rows, columns, text=2)
