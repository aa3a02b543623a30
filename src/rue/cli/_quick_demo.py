"""The world of ``rue demo --quick``: made data, and three models that need neither torch nor files.

Points come from ``random-rbf``, a made world whose label distribution p* is known. Each point gets
the answers of 20 annotators, drawn from its p*, as in a real data set.
"""

from collections.abc import Callable

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.beliefs import Belief, Dirichlet, Draws
from rue.data.datasets.random_rbf import random_rbf
from rue.truth.annotations import Annotations

__all__ = ["MODELS", "made_data"]

N_TRAIN, N_TEST, N_ANNOTATORS, N_CLASSES = 1_500, 1_500, 20, 5


def made_data(seed: int = 0) -> tuple[FloatArray, IntArray, FloatArray, Annotations]:
    """Draw training points with one label each, and test points with 20 answers each."""
    world = random_rbf(n_features=5, n_classes=N_CLASSES, n_centroids=25, seed=seed)
    points, labels = world.sample(N_TRAIN, seed=seed + 1)
    test, _ = world.sample(N_TEST, seed=seed + 2)
    rng = np.random.default_rng(seed + 3)
    answers = Annotations(rng.multinomial(N_ANNOTATORS, world.probs(test)))
    return points, labels, test, answers


def forest(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Grow a random forest; each of its 100 trees is a draw."""
    from sklearn.ensemble import RandomForestClassifier

    grown = RandomForestClassifier(n_estimators=100, min_samples_leaf=5, random_state=0)
    grown.fit(points, labels)
    return Draws(np.stack([tree.predict_proba(test) for tree in grown.estimators_], axis=1))


def bagging(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Fit a logistic regression to each of 20 bootstrap samples; each is a draw."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import LogisticRegression

    bag = BaggingClassifier(LogisticRegression(max_iter=300), n_estimators=20, random_state=0)
    bag.fit(points, labels)
    return Draws(np.stack([model.predict_proba(test) for model in bag.estimators_], axis=1))


def neighbours(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Count the labels of near training points; with a prior of 1/2 they make a Dirichlet.

    A neighbour counts exp(-d^2 / 2h^2), with d its distance and h the typical distance of training
    points from their tenth neighbour. Far from them little is counted, and the belief is wide.
    """
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=50).fit(points)
    h = np.median(nearest.kneighbors()[0][:, 9])
    distances, indices = nearest.kneighbors(test)
    weights = np.exp(-0.5 * (distances / h) ** 2)
    counts = np.zeros((len(test), N_CLASSES))
    np.add.at(counts, (np.arange(len(test))[:, None], labels[indices]), weights)
    return Dirichlet(counts + 0.5)


#: The models by the name in the table.
MODELS: dict[str, Callable[[FloatArray, IntArray, FloatArray], Belief]] = {
    "forest": forest,
    "bagged logistic": bagging,
    "neighbours": neighbours,
}
