"""Logistic regressions on bootstrap samples of the training points: each is one draw."""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

import rue
from rue.methods import Training


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings that a suite may give under [method.bootstrap_logistic]."""

    n_members: int = 10
    training: Training | None = None  # every Config has this field; networks use it


@dataclass(frozen=True, eq=False)
class Fitted:
    """The members that were fitted for one seed."""

    members: list[LogisticRegression]
    n_classes: int

    def predict(self, inputs):
        """Return the belief about points, here a distribution from each member."""
        return predict(self, inputs)


def fit(data, config=None, *, seeds=(0,), checkpoints=None, progress=False):
    """Return one fitted object per seed; data is one data set, or one for each seed."""
    config = config or Config()
    parts = [data] * len(seeds) if isinstance(data, rue.data.DataSet) else data
    return [_fit_one(each, config, seed) for each, seed in zip(parts, seeds, strict=True)]


def predict(fitted, inputs):
    """Return the distributions of all members as draws."""
    return rue.adapters.sklearn.draws(fitted.members, inputs, classes=range(fitted.n_classes))


def _fit_one(data, config, seed):
    rng = np.random.default_rng(seed)
    train = data.part("train")
    targets, members = train.targets(), []
    for _ in range(config.n_members):
        rows = rng.integers(len(targets), size=len(targets))
        labels = [rng.choice(len(p), p=p) for p in targets[rows]]  # one answer per point
        members.append(LogisticRegression().fit(train.inputs[rows], labels))
    return Fitted(members, targets.shape[1])
