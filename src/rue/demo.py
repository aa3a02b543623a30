"""The demo: three ways to be uncertain about what people felt when they read a film review.

Movie-review snippets that 15 to 29 people rated from -4 to 4 (sentiment-movies), turned into
numbers by TF-IDF, and three quick models of the rating's distribution, one for each kind of
belief. Small on purpose; it takes seconds, and everything in it is real.
"""

from pathlib import Path
from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue._files import replacing
from rue.data import DataSet, featurize, fetch, load

__all__ = ["DATASET", "LOSSES", "make_predictions"]

DATASET = "sentiment-movies"
LOSSES = ("log", "squared")
N_NEIGHBOURS = 25


def make_predictions(out: Path, *, seed: int = 0, progress: bool = False) -> list[Path]:
    """Fetch the data, fit the models and write a prediction file for each; give their paths.

    - ``forest``: fifty randomised trees, each a draw.
    - ``neighbours``: the answers to the nearest training snippets, as a Dirichlet.
    - ``distance``: the forest's mean, with the distance to the neighbours as epistemic score.
    """
    fetch(DATASET, progress=progress)
    data = featurize(load(DATASET, seed=seed), n_components=128, seed=seed)
    train, test = data.part("train"), data.part("test")
    assert test.annotations is not None  # every snippet has ratings
    common: dict[str, Any] = {
        "counts": test.annotations.counts,
        "values": data.values,
        "ids": test.ids,
    }
    draws = _forest(train, test, seed)
    answers, distance = _neighbours(train, test)
    files = []
    said: dict[str, dict[str, Any]] = {
        "forest": {"probs": draws},
        "neighbours": {"alpha": answers},
        "distance": {"probs": draws.mean(axis=1), "epistemic": distance},
    }
    for name, arrays in said.items():
        files.append(out / f"{name}.npz")
        with replacing(files[-1]) as file:
            np.savez(file, **arrays, **common)
    return files


def _forest(train: DataSet, test: DataSet, seed: int) -> FloatArray:
    """Each tree's leaf means of the rating distributions: (n_points, 50, n_classes)."""
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(50, min_samples_leaf=5, max_features=0.3, random_state=seed)
    forest.fit(train.inputs, train.targets())
    draws = np.stack([tree.predict(test.inputs) for tree in forest.estimators_], axis=1)
    return np.asarray(draws / draws.sum(axis=2, keepdims=True))


def _neighbours(train: DataSet, test: DataSet) -> tuple[FloatArray, FloatArray]:
    """Answers to the nearest training snippets, the nearer the more, and how far they are."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=N_NEIGHBOURS, metric="cosine").fit(train.inputs)
    distance, rows = nearest.kneighbors(test.inputs)
    weight = np.maximum(1.0 - distance, 0.0)
    alpha = 0.5 + np.einsum("ij,ijk->ik", weight, train.targets()[rows])
    return alpha, distance.mean(axis=1)
