"""Evaluate published models on ChaosNLI, for docs/chaosnli.md and its figure.

The predictions are those of Baan et al. (2022), JSON lines in chaosnli/predictions of a data root:
BERT and RoBERTa, several seeds each, which are the draws. Their class order is entailment,
contradiction, neutral. Each file has one half of SNLI's or MNLI's development set, so a
temperature can be fitted on the other half.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import rue.data
from rue import Annotations, Components, Draws
from rue.components import Run
from rue.data.files import roots
from rue.inference.intervals import intervals
from rue.io.json_files import json_objects
from rue.losses import get_loss
from rue.plots.curves import plot_curves
from studies import DOCS
from studies.pages import Columns, interval, table, table_of
from studies.rows import Row, grouped, where
from studies.study import Options, Pages

PAGE = DOCS / "chaosnli.md"
HALVES = ("dev", "test")
LOSSES = ("log", "brier", "zero_one")
ORDER = (0, 2, 1)
"""Where entailment, neutral and contradiction stand in the predictions."""
N_REPLICATES = 2000


@dataclass(frozen=True)
class Model:
    """A published model: the part of ChaosNLI, its name in the files, and its seeds."""

    data: str
    corpus: str
    network: str
    seeds: tuple[int, ...]

    @property
    def title(self) -> str:
        name = {"roberta-base": "RoBERTa", "bert-base-uncased": "BERT"}[self.network]
        return f"{name}, {self.corpus}"


MODELS = (
    Model("chaosnli-snli", "SNLI", "roberta-base", (0, 1, 2)),
    Model("chaosnli-snli", "SNLI", "bert-base-uncased", (0, 1)),
    Model("chaosnli-mnli", "MNLI", "roberta-base", (0, 1, 2)),
)


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's logits (n_points, n_seeds, 3), the items' labels, halves and ids."""

    ids: list[str]
    logits: NDArray[np.float64]
    labels: NDArray[np.int64]
    half: NDArray[np.str_]
    checksums: dict[str, str]

    def part(self, rows: NDArray[np.int64]) -> "Predictions":
        ids = [self.ids[row] for row in rows]
        return Predictions(
            ids, self.logits[rows], self.labels[rows], self.half[rows], self.checksums
        )


def compute(_: Row, options: Options) -> Iterator[Row]:
    """Measure all models."""
    kinds = ("verdict", "why", "mechanism", "confidence", "temperature")
    made: Row = {kind: [] for kind in kinds}
    checksums: dict[str, str] = {}
    for model in MODELS:
        data, truth, items, whole = load(model, options.root)
        checksums |= {**data.checksums, **whole.checksums}
        answers, labels = temperatures(truth, items, whole)
        made["temperature"].append({"model": model.title, "answers": answers, "labels": labels})
        beliefs = {
            "published": draws(items),
            "labels": draws(items, labels),
            "answers": draws(items, answers),
        }
        for loss in LOSSES:
            for belief, draws_of in beliefs.items():
                made["verdict"].append(
                    {"model": model.title, "loss": loss, "belief": belief}
                    | ranked(truth, draws_of, loss)
                )
            made["why"] += [
                {"model": model.title, "loss": loss} | row for row in why(truth, items, whole, loss)
            ]
        made["mechanism"].append({"model": model.title} | mechanism(truth, draws(items)))
        made["confidence"] += [
            {"model": model.title, "belief": belief} | confidence(truth, draws_of)
            for belief, draws_of in beliefs.items()
        ]
        print(model.title, flush=True)
    settings = {"n_replicates": N_REPLICATES, "level": 0.95, "seed": 0}
    yield {"checksums": checksums, "settings": settings} | made


def load(
    model: Model, root: str | None = None
) -> tuple[rue.data.DataSet, Annotations, Predictions, Predictions]:
    """Return the data set, its answers on the items that have predictions, and the predictions.

    The last are those of all items of the corpus, those outside ChaosNLI included.
    """
    data = rue.data.load(model.data, root)
    whole = read_predictions(model, root)
    row_of = {name: row for row, name in enumerate(whole.ids)}
    here = np.array([row for row, name in enumerate(data.ids) if name in row_of])
    items = whole.part(np.array([row_of[data.ids[row]] for row in here]))
    assert data.annotations is not None
    assert data.labels is not None
    assert (data.labels[here] == items.labels).all()  # the same items in the same class order
    return data, data.annotations[here], items, whole


def read_predictions(model: Model, root: str | None) -> Predictions:
    """Read the files of a model's seeds for both halves, columns in the order of ChaosNLI."""
    ids: list[str] = []
    logits, labels, half, checksums = [], [], [], {}
    for part in HALVES:
        rows_of_seeds = []
        for seed in model.seeds:
            name = f"{model.corpus}_{part}_{model.network}_{seed}.json"
            content = find(f"chaosnli/predictions/{name}", root).read_bytes()
            checksums[name] = hashlib.sha256(content).hexdigest()
            rows_of_seeds.append({row["uid"]: row for _, row in json_objects(content, name)})
        assert all(set(rows) == set(rows_of_seeds[0]) for rows in rows_of_seeds)
        for name, row in rows_of_seeds[0].items():
            ids.append(name)
            logits.append([[rows[name]["logits"][k] for k in ORDER] for rows in rows_of_seeds])
            labels.append(ORDER.index(row["true"]))
            half.append(part)
    assert len(set(ids)) == len(ids)
    return Predictions(ids, np.array(logits), np.array(labels), np.array(half), checksums)


def find(path: str, root: str | None) -> Path:
    """Return the file in the first data root that has it."""
    files = [folder / path for folder in roots(root)]
    return next((file for file in files if file.exists()), files[0])


def draws(items: Predictions, temperature: dict[str, float] | None = None) -> Draws:
    """Return each seed's distribution; a temperature is that of the item's half."""
    from scipy.special import softmax

    logits = items.logits
    if temperature is not None:
        scale = np.array([temperature[part] for part in items.half])
        logits = logits / scale[:, None, None]
    return Draws(softmax(logits, axis=2))


def temperatures(
    truth: Annotations, items: Predictions, whole: Predictions
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the temperature for each half, fitted on the other one.

    First on the 100 answers about the other half's items of ChaosNLI, then as is usual, on the
    single labels of all items of the other half.
    """
    answers, labels = {}, {}
    for part, other in zip(HALVES, HALVES[::-1], strict=True):
        rows = np.flatnonzero(items.half == other)
        answers[part] = fit_temperature(items.logits[rows], truth.probs[rows])
        rows = np.flatnonzero(whole.half == other)
        labels[part] = fit_temperature(whole.logits[rows], np.eye(3)[whole.labels[rows]])
    return answers, labels


def fit_temperature(logits: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Return the temperature with the least log loss of the mean distribution."""
    from scipy.optimize import minimize_scalar
    from scipy.special import softmax

    def log_loss(log_temperature: float) -> float:
        mean = softmax(logits / np.exp(log_temperature), axis=2).mean(axis=1)
        return float(-np.mean(np.sum(targets * np.log(np.maximum(mean, 1e-12)), axis=1)))

    optimum = minimize_scalar(log_loss, bounds=(-3, 5), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(optimum.x))


def ranked(truth: Annotations, belief: Draws, loss: str) -> Row:
    """Return n-AuReC, ranked by the epistemic and by the total component, with intervals."""
    run = Run.from_belief(truth, belief, loss)
    total = Components(run.hat.total, np.zeros(len(run)), run.hat.total)
    row: Row = {"n_points": len(run), "regret": float(run.star.epistemic.mean())}
    row["estimated"] = float(run.hat.epistemic.mean())
    for name, hat in (("epistemic", run.hat), ("total", total)):
        bounds = intervals(Run(run.star, hat), gap=False, n_replicates=N_REPLICATES)
        row[name] = bounds.estimate["n_aurec"]
        row[f"{name}_low"], row[f"{name}_high"] = bounds.low["n_aurec"], bounds.high["n_aurec"]
    return row


def why(truth: Annotations, items: Predictions, whole: Predictions, loss: str) -> list[Row]:
    """Return n-AuReC on all items, on the chosen ones, and by how much people disagree."""
    single = Annotations.from_probs(np.eye(3)[whole.labels])
    chosen = Annotations.from_probs(np.eye(3)[items.labels])
    rows = [
        {"items": "all", "truth": "label"} | ranked(single, draws(whole), loss),
        {"items": "chosen", "truth": "label"} | ranked(chosen, draws(items), loss),
        {"items": "chosen", "truth": "answers"} | ranked(truth, draws(items), loss),
    ]
    entropy = entropies(truth.probs)
    third = np.searchsorted(np.quantile(entropy, [1 / 3, 2 / 3]), entropy)
    for k, name in enumerate(("least", "middle", "most")):
        part = np.flatnonzero(third == k)
        part_of = {"items": f"{name} disagreement", "truth": "answers"}
        rows.append(part_of | ranked(truth[part], draws(items.part(part)), loss))
    return rows


def confidence(truth: Annotations, belief: Draws) -> Row:
    """Return how sure the mean distribution is, and how many annotators share its answer."""
    mean = np.asarray(belief.probs).mean(axis=1)
    answer = mean.argmax(axis=1)
    return {
        "n_points": len(mean),
        "confidence": float(mean.max(axis=1).mean()),
        "share": float(truth.probs[np.arange(len(answer)), answer].mean()),
        "entropy": float(entropies(mean).mean()),
        "human_entropy": float(entropies(truth.probs).mean()),
    }


def mechanism(truth: Annotations, belief: Draws) -> Row:
    """Return mean regret under log loss and disagreement, by thirds of the model's confidence."""
    run = Run.from_belief(truth, belief, "log")
    mean = np.asarray(belief.probs).mean(axis=1).max(axis=1)
    third = np.searchsorted(np.quantile(mean, [1 / 3, 2 / 3]), mean)
    entropy = entropies(truth.probs)
    return {
        name: {
            "confidence": float(mean[third == k].mean()),
            "regret": float(run.star.epistemic[third == k].mean()),
            "epistemic": float(run.hat.epistemic[third == k].mean()),
            "human_entropy": float(entropy[third == k].mean()),
        }
        for k, name in enumerate(("least", "middle", "most"))
    }


def entropies(probs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of each distribution, in nats."""
    return get_loss("log").bayes_risk(probs)


def drawn(root: str | None) -> dict[str, Figure]:
    """Draw the regret-coverage curves of RoBERTa on SNLI, as published and with a temperature."""
    _, truth, items, whole = load(MODELS[0], root)
    answers, _ = temperatures(truth, items, whole)
    beliefs = {"as published": draws(items), "temperature": draws(items, answers)}
    runs = [
        Run.from_belief(truth, belief, loss, method=name)
        for loss in ("log", "zero_one")
        for name, belief in beliefs.items()
    ]
    return {"chaosnli": plot_curves(runs, gain=True)}


def pages(record: Row) -> Pages:
    """Return the tables of the page."""
    blocks = {
        "verdict": verdict_table(record),
        "temperature": temperature_table(record),
        "why": why_table(record),
        "mechanism": mechanism_table(record),
        "confidence": confidence_table(record),
    }
    return {PAGE: blocks}


def verdict_table(rows: Row) -> str:
    columns: Columns = {
        "model": "{model}",
        "loss": "{loss}",
        "items": "{n_points:,}",
        "n-AuReC": lambda row: bracketed(row, "epistemic"),
        "n-AuReC by total": lambda row: bracketed(row, "total"),
        "mean regret": "{regret:.3f}",
    }
    return table_of(where(rows["verdict"], belief="published"), columns, text=2)


def temperature_table(rows: Row) -> str:
    lines = [
        [*key, *(bracketed(row, "epistemic") for row in part)]
        for key, part in grouped(rows["verdict"], "model", "loss").items()
    ]
    head = ["model", "loss", "as published", "fitted on labels", "fitted on answers"]
    return table(head, lines, text=2)


def why_table(rows: Row) -> str:
    names = {
        "all items, one label each": {"items": "all", "truth": "label"},
        "ChaosNLI's items, one label each": {"items": "chosen", "truth": "label"},
        "ChaosNLI's items, 100 answers each": {"items": "chosen", "truth": "answers"},
        "the third with least disagreement": {"items": "least disagreement"},
        "the middle third": {"items": "middle disagreement"},
        "the third with most disagreement": {"items": "most disagreement"},
    }
    lines = [
        [name, *(bracketed(row, "epistemic") for row in where(rows["why"], loss="log", **keys))]
        for name, keys in names.items()
    ]
    return table(["evaluated on", *titles(rows)], lines)


def mechanism_table(rows: Row) -> str:
    thirds = {"least": "the least confident third", "middle": "the middle third"}
    thirds["most"] = "the most confident third"
    columns: Columns = {
        "model": "{model}",
        "items": "{items}",
        "confidence": "{confidence:.3f}",
        "estimated epistemic": "{epistemic:.3f}",
        "entropy of the answers": "{human_entropy:.3f}",
        "mean regret": "{regret:.3f}",
    }
    lines = [
        {"model": row["model"], "items": words} | row[name]
        for row in rows["mechanism"]
        for name, words in thirds.items()
    ]
    return table_of(lines, columns, text=2)


def confidence_table(rows: Row) -> str:
    names = {"published": "as published", "labels": "labels", "answers": "answers"}

    def fitted(row: Row) -> str:
        (temperatures_of,) = where(rows["temperature"], model=row["model"])
        values = temperatures_of.get(row["belief"], dict.fromkeys(temperatures_of["answers"], 1.0))
        return ", ".join(f"{values[half]:.2f}" for half in temperatures_of["answers"])

    columns: Columns = {
        "model": "{model}",
        "temperature fitted on": lambda row: names[row["belief"]],
        "temperatures": fitted,
        "confidence": "{confidence:.3f}",
        "share of annotators": "{share:.3f}",
        "entropy": "{entropy:.3f}",
        "entropy of the answers": "{human_entropy:.3f}",
    }
    return table_of(rows["confidence"], columns, text=2)


def titles(rows: Row) -> list[str]:
    """Return the models, in their order."""
    return [row["model"] for row in rows["temperature"]]


def bracketed(row: Row, name: str) -> str:
    """Return a number and its interval."""
    return interval([row[name], row[f"{name}_low"], row[f"{name}_high"]])
