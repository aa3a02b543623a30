"""Compare answers as classes with the same answers as real numbers, for docs/ratings.md.

Three methods predict the same answers twice: as classes on a scale, and as real numbers. Both are
evaluated on the same test points, under squared, absolute and ranked loss (rps and crps). The
record has a fit once it is done, so an interrupted run resumes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import rue.data
from rue import Annotations, evaluate
from rue.data import DataSet
from studies import DOCS
from studies.pages import Columns, listed, spread, table_of
from studies.rows import Row, grouped, where
from studies.study import Options, Pages

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


def compute(record: Row, _: Options) -> Iterator[Row]:
    """Yield the record after each fit; a fit has one row per seed and loss."""
    rows = record.get("rows", [])
    settings = {"seeds": SEEDS, "sizes": SIZES, "n_bins": N_BINS}
    for name in DATA_SETS:
        data: dict[int, dict[str, DataSet]] = {}
        for regime, form, method in product(REGIMES, FORMS, METHODS):
            key = {"dataset": name, "regime": regime, "form": form, "method": method}
            if not where(rows, **key):
                data = data or {seed: both_forms(name, seed) for seed in SEEDS[name]}
                own = {seed: each[form] for seed, each in data.items()}
                rows += [key | row for row in fit_and_evaluate(method, own, form, regime)]
                yield {"rows": rows, "settings": settings}


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


def pages(record: Row) -> Pages:
    return {PAGE: {"answer scales": scales_table(record["rows"])}}


def scales_table(rows: list[Row]) -> str:
    """Return in how many comparisons both forms have the same best method, and the numbers."""
    parts = grouped(rows, "dataset", "regime", "loss")
    same = {
        name: [
            best(part, "classes") == best(part, "real")
            for (d, *_), part in parts.items()
            if d == name
        ]
        for name in DATA_SETS
    }
    agreed = [f"{sum(one)} of {len(one)} on `{name}`" for name, one in same.items()]
    columns: Columns = {
        "data set": "`{dataset}`",
        "regime": "{regime}",
        "loss": "{loss}",
        "answers as": "{form}",
        **{f"`{m}`": partial(_cell, method=m) for m in METHODS},
        "best": lambda line: f"`{best(line['rows'], line['form'])}`",
    }
    names = ("dataset", "regime", "loss")
    lines = [
        dict(zip(names, key, strict=True)) | {"form": form, "rows": where(part, form=form)}
        for key, part in parts.items()
        for form in FORMS
    ]
    sentence = f"The same method is best in both forms in {listed(agreed)}."
    return f"{sentence}\n\n{table_of(lines, columns, text=4)}"


def _cell(line: Row, method: str) -> str:
    return spread(row["n_aurec"] for row in where(line["rows"], method=method))


def best(rows: list[Row], form: str) -> str:
    """Return the method with the lowest mean n-AuReC over seeds."""
    parts = {m: where(rows, form=form, method=m) for m in METHODS}
    return min(METHODS, key=lambda m: float(np.mean([row["n_aurec"] for row in parts[m]])))
