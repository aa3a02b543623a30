"""The figures and sentences of ``rue demo``.

The demo runs the suite ``demo``: movie-review snippets that 15 to 29 annotators rated from -4 to
4 (sentiment-movies), as TF-IDF features. It trains on real data in two minutes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.beliefs import Belief, Dirichlet, Draws
from rue.bench.cells import cells
from rue.bench.store import Store
from rue.components import Run
from rue.data.datasets.random_rbf import random_rbf
from rue.io.runs import read_run
from rue.metrics.evaluation import evaluate
from rue.truth import Annotations

__all__ = ["MODELS", "compile_kernels", "drawn_runs", "made_data", "meaning"]

#: More points than those for which the Pareto-gap goes through all directions.
_COMPILED = 600


def compile_kernels() -> None:
    """Compile what an evaluation needs, once, so that the processes that train find it on disk."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), size=(_COMPILED, 2))
    truth = Annotations(rng.multinomial(5, probs[:, 0]))
    for loss in ("log", "squared"):
        evaluate(truth, Draws(probs), loss)


def drawn_runs(store: Store, *, seed: int = 0) -> list[Run]:
    """Return the runs of all methods and losses of a benchmark, for one seed."""
    suite = store.suite()
    runs: list[Run] = []
    for loss in suite.losses:
        for cell in cells(suite):
            if cell.seed == seed and store.state(cell) == "done":
                run = read_run(store.predictions(cell), None, loss)
                runs.append(replace(run, method=cell.method))
    return runs


def meaning(rows: Sequence[Mapping[str, Any]], points: str) -> list[str]:
    """Return three sentences that explain the table of the first loss; points are called so."""
    rivals = [row for row in rows if row["loss"] == rows[0]["loss"]]
    rivals.sort(key=lambda row: row["n_aurec"])
    best, worst = rivals[0], rivals[-1]
    gaps = sorted(rivals, key=lambda row: row["pareto_gap"])
    return [
        f"On {best['n_points']:,} {points}, the mean loss of {best['method']} is "
        f"{best['risk']:.3f} nats, of which {best['regret']:.3f} is regret: avoidable if the model "
        "knew the distribution of the answers.",
        f"{best['method']} has the lowest n-AuReC, {best['n_aurec']:.3f}, and {worst['method']} "
        f"the highest, {worst['n_aurec']:.3f}: 0 is a perfect ranking of that regret and 1 is a "
        "random one. rue compare tests the difference.",
        f"With both components, {gaps[0]['method']} comes closest to the optimal accept/reject "
        f"rules (Pareto-gap {gaps[0]['pareto_gap']:.4f}; {gaps[-1]['method']}: "
        f"{gaps[-1]['pareto_gap']:.4f}).",
    ]


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
