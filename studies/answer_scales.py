"""Compare answers as classes with the same answers as real numbers, for docs/ratings.md.

    python -m studies.answer_scales [DATA SET...]   run what is missing in --out, and write the page
    python -m studies.answer_scales --tables-only   write the page from docs/rows/answer-scales.json

Three methods predict the same answers twice: as classes on a scale, and as real numbers. Both are
evaluated on the same test points, under squared, absolute and ranked loss (rps and crps). Each fit
is stored in a file of its own, so an interrupted run resumes.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rue.data
from rue import Annotations, evaluate
from rue.data import DataSet
from studies import DOCS, OUT
from studies.pages import fill_file, listed, spread, table
from studies.rows import Row, as_json, read_rows, stamp, write_rows

PAGE = DOCS / "ratings.md"
DATA_SETS = ("emobank-valence", "nli-variation")
METHODS = ("ensemble", "dropout", "evidential")
REGIMES = ("paper", "tuned")
FORMS = ("classes", "real")
SEEDS = {"emobank-valence": (0, 1, 2), "nli-variation": (0, 1, 2, 3, 4)}
"""Of EmoBank a seed changes the networks, of NLI-variation the folds too: each pair tests once."""
SIZES = {"train": 1000, "validation": 500, "test": 1000}
"""Of EmoBank, the first points of each part: a small study, as the sentence encoder is slow."""
N_BINS = 5
LOSSES = {
    "classes": {"squared": "squared", "absolute": "absolute", "ranked": "rps"},
    "real": {"squared": "squared", "absolute": "absolute", "ranked": "crps"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", choices=[*DATA_SETS, []])
    parser.add_argument("--tables-only", action="store_true")
    parser.add_argument("--out", type=Path, default=OUT / "answer-scales")
    arguments = parser.parse_args()
    if not arguments.tables_only:
        rows = run(arguments.out, arguments.datasets or DATA_SETS)
        settings = {"seeds": SEEDS, "sizes": SIZES, "n_bins": N_BINS}
        record = {"rows": rows} | stamp("numpy", "torch", settings=settings)
        write_rows("answer-scales", record)
    fill_file(PAGE, blocks(read_rows("answer-scales")["rows"]))


def run(folder: Path, datasets: Sequence[str]) -> list[Row]:
    """Return one row per data set, regime, form, method, seed and loss; run what is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in datasets:
        made: dict[int, dict[str, DataSet]] = {}
        for regime in REGIMES:
            for form in FORMS:
                for method in METHODS:
                    file = folder / f"{name}-{regime}-{form}-{method}.json"
                    if not file.exists():
                        made = made or {seed: both_forms(name, seed) for seed in SEEDS[name]}
                        data = {seed: each[form] for seed, each in made.items()}
                        found = fit_and_evaluate(method, data, form, regime)
                        key = {"dataset": name, "regime": regime, "form": form, "method": method}
                        file.write_text(as_json({"rows": [key | row for row in found]}))
                    rows += json.loads(file.read_text())["rows"]
    return rows


def both_forms(name: str, seed: int) -> dict[str, DataSet]:
    """Return a data set on sentence-encoder features, with its answers in both forms."""
    data = rue.data.load(name, seed=seed)
    if data.ratings is None:
        data = rue.data.featurize(smaller(data), encoder="sentence")
        return {"classes": data, "real": data.as_ratings()}
    data = rue.data.featurize(data, encoder="sentence")
    return {"classes": binned(data), "real": data}


def smaller(data: DataSet) -> DataSet:
    """Return the first points of each part alone."""
    assert data.annotations is not None
    parts = {part: getattr(data, part)[:size] for part, size in SIZES.items()}
    rows = np.concatenate(list(parts.values()))
    ends = np.cumsum([len(part) for part in parts.values()])[:-1]
    train, validation, test = np.split(np.arange(len(rows)), ends)
    return replace(
        data,
        inputs=data.inputs[rows],
        ids=data.ids[rows],
        annotations=data.annotations[rows],
        annotated=np.arange(len(rows)),
        extras={},
        train=train,
        validation=validation,
        test=test,
    )


def binned(data: DataSet) -> DataSet:
    """Return a data set of ratings as classes: bins of equal width, valued at their centres."""
    assert data.ratings is not None
    assert data.ratings.range is not None
    low, high = data.ratings.range
    edges = np.linspace(low, high, N_BINS + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    answers = data.ratings.answers
    places = np.searchsorted(edges[1:-1], answers.values, side="right")
    each = np.split(places, answers.starts[1 : len(data.ratings)])
    counts = [np.bincount(part, minlength=N_BINS) for part in each]
    return replace(
        data,
        ratings=None,
        annotations=Annotations(np.array(counts)),
        class_names=tuple(f"{centre:g}" for centre in centres),
        values=centres,
    )


def fit_and_evaluate(
    method: str, data: Mapping[int, DataSet], form: str, regime: Any, **training: Any
) -> list[Row]:
    """Return one row per seed and loss, of a data set for each seed."""
    import torch

    from rue.methods import METHODS as BY_NAME
    from rue.methods import Training

    torch.set_num_threads(1)
    module = BY_NAME[method]
    config = module.Config(training=Training(regime=regime, **training))
    rows = []
    fits = module.fit(list(data.values()), config, seeds=list(data))
    for (seed, one), fitted in zip(data.items(), fits, strict=True):
        test = one.part("test")
        belief = fitted.predict(test.inputs)
        truth = test.annotations if test.ratings is None else test.ratings
        assert truth is not None
        values = None if test.ratings is not None else test.values
        for loss, own in LOSSES[form].items():
            row = evaluate(truth, belief, own, values=values, gap=False)
            keys = ("risk", "regret", "n_aurec", "n_aurec_total")
            rows.append({"seed": seed, "loss": loss} | {key: getattr(row, key) for key in keys})
    return rows


def blocks(rows: list[Row]) -> dict[str, str]:
    """Return what the page says: text -> between its marks."""
    return {"answer scales": scales_table(rows)}


def scales_table(rows: list[Row]) -> str:
    lines = []
    same = dict.fromkeys(DATA_SETS, 0)
    comparisons = _order(rows, "dataset", "regime", "loss")
    for name, regime, loss in comparisons:
        part = _where(rows, dataset=name, regime=regime, loss=loss)
        same[name] += best(part, "classes") == best(part, "real")
        for form in FORMS:
            by_method = {m: _where(part, form=form, method=m) for m in METHODS}
            cells = [spread(row["n_aurec"] for row in by_method[m]) for m in METHODS]
            lines.append([f"`{name}`", regime, loss, form, *cells, f"`{best(part, form)}`"])
    head = ["data set", "regime", "loss", "answers as", *(f"`{m}`" for m in METHODS), "best"]
    agreed = [
        f"{n} of {sum(each[0] == name for each in comparisons)} on `{name}`"
        for name, n in same.items()
    ]
    said = f"The same method is best in both forms in {listed(agreed)}."
    return f"{said}\n\n{table(head, lines, text=4)}"


def best(rows: list[Row], form: str) -> str:
    """Return the method with the lowest mean n-AuReC over seeds."""
    means = {
        m: np.mean([row["n_aurec"] for row in _where(rows, form=form, method=m)]) for m in METHODS
    }
    return min(means, key=lambda method: float(means[method]))


def _where(rows: list[Row], **keys: str) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in keys.items())]


def _order(rows: list[Row], *keys: str) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))


if __name__ == "__main__":
    main()
