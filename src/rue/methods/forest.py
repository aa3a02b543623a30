"""Random forest (Breiman 2001) on soft labels: draws are trees.

scikit-learn's forest of regression trees with one output a class. A split that lowers the summed
squared error of distributions lowers their mean Gini impurity, so with one-hot labels these are the
trees of a classifier; with soft labels a leaf is the mean of its points' distributions. Each tree
sees its own bootstrap sample, and looks at some of the features for each split.

A forest has no epochs, rates or layers: of ``training`` it uses the regime alone. It takes matrices
of features, not images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError, ShapeError
from rue.methods._training.fitting import one_for_each, whole_seeds
from rue.methods._training.models import Folder
from rue.methods._training.pools import as_inputs
from rue.methods._training.regimes import hold_out, n_tuned
from rue.methods._training.settings import Training
from rue.methods._training.streams import hashed
from rue.methods._training.temperature import fit_temperature, temper

__all__ = ["Config", "Fitted", "fit", "predict"]

_TRIALS = [(leaf, features) for leaf in (2, 5, 10, 20) for features in (1.0, 2.0)]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How many trees, when they stop splitting, and how many features a split looks at.

    ``max_features`` is in multiples of the square root of their number. ``tuned`` tries leaves of
    at least 2, 5, 10 and 20 points, and 1 and 2 times the square root.
    """

    n_trees: int = 100
    min_samples_leaf: int = 5
    max_features: float = 1.0
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_trees", self.n_trees, least=1)
        require_whole("min_samples_leaf", self.min_samples_leaf, least=1)
        if not 0 < self.max_features < np.inf:
            raise InputError(f"max_features must be above 0 and finite, got {self.max_features}")
        if self.training is not None and not self.training.is_probe:
            raise InputError(
                f"a forest takes matrices of features, and {self.training.network} takes images"
            )


@dataclass(frozen=True, eq=False)
class Fitted:
    """The forest, and the settings it was grown with."""

    forest: Any
    n_features: int
    chosen: Mapping[str, Any] = field(default_factory=dict)
    temperature: float = 1.0

    def predict(self, inputs: Inputs | ArrayLike) -> Draws:
        """See :func:`predict`."""
        return predict(self, inputs)


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,  # noqa: ARG001
    progress: bool = False,
) -> list[Fitted]:
    """Grow one forest per seed on the training split.

    Parameters
    ----------
    data
        Features; one data set for all seeds, or one for each.
    config
        Settings; None is the defaults.
    seeds
        The result of a seed does not depend on the other seeds.
    checkpoints
        Not used: a forest is grown in seconds.
    progress
        Show a bar.
    """
    from tqdm import tqdm

    config = config or Config()
    tuned = config.training is not None and config.training.regime == "tuned"
    seeds = whole_seeds(seeds)
    each = one_for_each(data, seeds)
    settings = _TRIALS if tuned else [(config.min_samples_leaf, config.max_features)]
    n_tuning = len(seeds) if config.training is None else n_tuned(config.training, len(seeds))
    states: list[Fitted] = []
    for one, seed in tqdm(list(zip(each, seeds, strict=True)), disable=not progress, desc="forest"):
        if len(states) == n_tuning:  # the first seed has chosen for all
            chosen = states[0].chosen
            settings = [(chosen["min_samples_leaf"], chosen["max_features"])]
        held = hold_out(one) if tuned or config.temperature else one
        grown = [_grow(held, config, seed, *setting) for setting in settings]
        if tuned or config.temperature:
            part = held.part("validation")
            targets = part.targets()
            beliefs = [state.predict(part.inputs) for state in grown]
            losses = [_log_loss(belief, targets) for belief in beliefs]
            best = int(np.argmin(losses))
            grown = [grown[best]]
            if config.temperature:
                temperature = fit_temperature(beliefs[best], targets)
                grown = [replace(grown[0], temperature=temperature)]
        states += grown
    return states


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    """Return each tree's distribution for each input."""
    array = as_inputs(inputs)
    if array.shape[1:] != (fitted.n_features,):
        raise ShapeError(
            f"inputs must have shape (n_points, {fitted.n_features}), got {array.shape}"
        )
    trees = fitted.forest.estimators_
    probs = np.stack([tree.predict(array, check_input=False) for tree in trees], axis=1)
    probs = np.maximum(probs, 0.0)  # leaves are means of distributions, but for rounding
    return temper(Draws(probs / probs.sum(axis=-1, keepdims=True)), fitted.temperature)


def _grow(
    data: DataSet, config: Config, seed: int, min_samples_leaf: int, max_features: float
) -> Fitted:
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
    return Fitted(forest, array.shape[1], chosen)


def _log_loss(belief: Draws, targets: np.ndarray) -> float:
    return float(-(targets * np.log(np.maximum(belief.mean(), 1e-12))).sum(axis=1).mean())
