"""Random forest (Breiman 2001) on soft labels: draws are trees.

scikit-learn's forest of regression trees with one output a class. A split that lowers the summed
squared error of distributions lowers their mean Gini impurity, so with one-hot labels these are the
trees of a classifier; with soft labels a leaf is the mean of its points' distributions. Each tree
sees its own bootstrap sample, and looks at some of the features for each split.

A forest has no epochs, rates or layers: of ``training`` it uses the regime alone. It takes matrices
of features, not images.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rue._schema import AboveZero, Positive
from rue.beliefs import Draws
from rue.data.dataset import DataSet, as_inputs
from rue.data.splits import hashed, hold_out
from rue.errors import InputError, ShapeError
from rue.methods._training.settings import Settings, Training, chosen_trials, n_tuned
from rue.methods.learner import AnyInputs, FitRequest, Fitted, Learner, Trained

__all__ = ["Config", "Forest", "fit", "predict"]

_TRIALS = [(leaf, features) for leaf in (2, 5, 10, 20) for features in (1.0, 2.0)]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How many trees, when they stop splitting, and how many features a split looks at.

    ``max_features`` is in multiples of the square root of their number. ``tuned`` tries leaves of
    at least 2, 5, 10 and 20 points, and 1 and 2 times the square root.
    """

    n_trees: Positive = 100
    min_samples_leaf: Positive = 5
    max_features: AboveZero = 1.0
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.training is not None and not self.training.is_probe:
            raise InputError(
                f"a forest takes matrices of features, and {self.training.network} takes images"
            )


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees, how many features they know, and the settings they were grown with."""

    trees: Any
    n_features: int
    chosen: Mapping[str, Any]

    def probs(self, inputs: AnyInputs) -> np.ndarray:
        """Return each tree's distribution for each input, (n_points, n_trees, n_classes)."""
        array = as_inputs(inputs)
        if array.shape[1:] != (self.n_features,):
            raise ShapeError(
                f"inputs must have shape (n_points, {self.n_features}), got {array.shape}"
            )
        trees = self.trees.estimators_
        probs = np.stack([tree.predict(array, check_input=False) for tree in trees], axis=1)
        probs = np.maximum(probs, 0.0)  # leaves are means of distributions, but for rounding
        return np.asarray(probs / probs.sum(axis=-1, keepdims=True))


def _train(config: Config, request: FitRequest) -> list[Trained]:
    """Grow one forest per seed; under ``tuned`` one for each setting, of which the best is kept."""
    from tqdm import tqdm

    training = config.training or Training()
    tuned = training.regime == "tuned"
    settings = _TRIALS if tuned else [(config.min_samples_leaf, config.max_features)]
    sets = [hold_out(d) if tuned or config.temperature else d for d in request.data]
    n = n_tuned(training, len(sets))
    with tqdm(total=len(sets), disable=not request.progress, desc="forest") as bar:
        grown: list[list[Forest]] = []  # of each seed that tries all settings
        for data, seed in zip(sets[:n], request.seeds[:n], strict=True):
            grown.append([_grow(data, config, seed, *setting) for setting in settings])
            bar.update()
        best = [0] * n
        if len(settings) > 1:
            losses = [
                [_log_loss(forest, d) for forest in row]
                for row, d in zip(grown, sets, strict=False)
            ]
            best = chosen_trials(np.array(losses).T, training)
        forests = [row[trial] for row, trial in zip(grown, best, strict=True)]
        for data, seed in zip(sets[n:], request.seeds[n:], strict=True):
            forests.append(_grow(data, config, seed, *settings[best[0]]))
            bar.update()
    return [Trained(d, state=forest) for d, forest in zip(sets, forests, strict=True)]


def _grow(
    data: DataSet, config: Config, seed: int, min_samples_leaf: int, max_features: float
) -> Forest:
    from sklearn.ensemble import RandomForestRegressor

    train = data.part("train")
    if len(train) == 0:
        raise InputError(f"{data.name} has no training points")
    array = as_inputs(train.inputs)
    if array.ndim != 2:
        raise InputError(f"a forest takes matrices of features, and {data.name} has images")
    forest = RandomForestRegressor(
        config.n_trees,
        min_samples_leaf=min_samples_leaf,
        max_features=min(array.shape[1], max(1, round(max_features * array.shape[1] ** 0.5))),
        random_state=hashed("forest", seed) % 2**32,
        n_jobs=1,
    )
    forest.fit(array, train.targets())
    chosen = {"min_samples_leaf": min_samples_leaf, "max_features": max_features}
    return Forest(forest, array.shape[1], chosen)


def _log_loss(forest: Forest, data: DataSet) -> float:
    """Return the log loss of the mean prediction on the validation points."""
    part = data.part("validation")
    belief, targets = Draws(forest.probs(part.inputs)), part.targets()
    return float(-(targets * np.log(np.maximum(belief.mean(), 1e-12))).sum(axis=1).mean())


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws:
    return Draws(fitted.state.probs(inputs))


learner = Learner("forest", Config, _train, _belief)
fit = learner.fit
predict = learner.predict
