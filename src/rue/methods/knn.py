"""Nearest neighbours (Sun et al. 2022): how far features are from those of training points.

Features before the last layer are divided by their length, and the epistemic score is the
Euclidean distance to the k-th nearest training point. The distribution is the network's own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, require_whole
from rue.beliefs import Scored
from rue.data.dataset import Inputs
from rue.methods._training.settings import Training
from rue.methods.learner import Fitted, Learner, Trained, networks, one_network

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Which of the nearest training points counts (all of them if there are fewer)."""

    n_neighbors: int = 50
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_neighbors", self.n_neighbors, least=1)


def _state(config: Config, result: Trained) -> Any:
    """Return scikit-learn's index of the training features."""
    from sklearn.neighbors import NearestNeighbors

    features = _normalised(result.model.training_features(result.pool))
    return NearestNeighbors(n_neighbors=min(config.n_neighbors, len(features))).fit(features)


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Scored:
    probs, scores = [], []
    for _, z in fitted.model.features(inputs):
        probs.append(fitted.model.project(z).softmax(-1)[0].cpu().numpy())
        distances, _ = fitted.state.kneighbors(_normalised(z[0].cpu().double().numpy()))
        scores.append(distances[:, -1])
    return Scored(np.concatenate(probs), np.concatenate(scores))


def _normalised(features: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.maximum(lengths, 1e-12))


learner = Learner("knn", Config, networks(one_network("knn"), _state), _belief)
fit = learner.fit
predict = learner.predict
