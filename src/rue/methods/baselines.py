"""Baselines: one network, and the scores of a user who has nothing else.

``single``: the network's distribution is the only draw, so the total is the Bayes risk of that
distribution (entropy under log loss, one minus the largest probability under 0/1 loss), and the
epistemic part is 0.

``confidence`` (Hendrycks and Gimpel 2017): one minus the largest probability as epistemic score, or
the entropy of the distribution; every loss's regret is ranked by the same score.

``knn`` (Sun et al. 2022): features before the last layer are divided by their length, and the
epistemic score is the Euclidean distance to the k-th nearest training point.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rue._arrays import FloatArray
from rue._schema import Positive
from rue.beliefs import Draws, Scored
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, Trained, networks

__all__ = ["ConfidenceConfig", "KnnConfig", "SingleConfig", "confidence", "knn", "single"]


@dataclass(frozen=True, kw_only=True)
class SingleConfig(Settings):
    """How to train; ``training`` None is the probe for matrices, CIFAR's ResNet-18 for images."""

    temperature: bool = False
    training: Training | None = None


@dataclass(frozen=True, kw_only=True)
class ConfidenceConfig(Settings):
    """What the score is, and how to train."""

    score: Literal["max", "entropy"] = "max"
    training: Training | None = None


@dataclass(frozen=True, kw_only=True)
class KnnConfig(Settings):
    """Which of the nearest training points counts (all of them if there are fewer)."""

    n_neighbors: Positive = 50
    temperature: bool = False
    training: Training | None = None


def _draw(fitted: Fitted, inputs: AnyInputs) -> Draws:
    return Draws(fitted.model.distributions(inputs))


def _confidence(fitted: Fitted, inputs: AnyInputs) -> Scored:
    probs = fitted.model.distributions(inputs)[:, 0]
    p = probs.astype(np.float64)
    if fitted.config.score == "max":
        return Scored(probs, 1 - p.max(axis=1))
    return Scored(probs, -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1))


def _index(config: KnnConfig, result: Trained) -> Any:
    """Return scikit-learn's index of the training features."""
    from sklearn.neighbors import NearestNeighbors

    features = _normalised(result.model.training_features(result.pool))
    return NearestNeighbors(n_neighbors=min(config.n_neighbors, len(features))).fit(features)


def _distance(fitted: Fitted, inputs: AnyInputs) -> Scored:
    def score(features: FloatArray) -> FloatArray:
        distances, _ = fitted.state.kneighbors(_normalised(features))
        return np.asarray(distances[:, -1])

    return Scored(*fitted.model.scored(inputs, score))


def _normalised(features: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.maximum(lengths, 1e-12))


single = Learner("single", SingleConfig, networks(Recipe(method="single")), _draw)
"""A single network: what a user has who does nothing about uncertainty."""
confidence = Learner(
    "confidence", ConfidenceConfig, networks(Recipe(method="confidence")), _confidence
)
"""One network, and one minus its largest probability as epistemic score."""
knn = Learner("knn", KnnConfig, networks(Recipe(method="knn"), _index), _distance)
"""One network, and how far features are from those of training points as epistemic score."""
