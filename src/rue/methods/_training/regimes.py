"""Regimes: the settings that are tried, and the validation points that choose among them.

``paper`` trains with the settings as they are. ``tuned`` trains every one of eight settings, keeps
each network's best epoch by the validation loss of its own objective, and chooses the setting
whose mean prediction has the lowest log loss on the validation points. All methods have the same
budget of eight trials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from rue._arrays import IntArray
from rue.data.dataset import DataSet
from rue.data.images import LazyImages
from rue.errors import InputError
from rue.methods._training.settings import CIFAR, PROBE, Training
from rue.methods._training.streams import hashed

__all__ = ["N_TRIALS", "Axes", "axes_of", "hold_out", "n_tuned", "trials", "usual_training"]

N_TRIALS = 8
Axes = Mapping[str, Sequence[float]]
"""Values of some settings, all combinations of which are tried; ``lr`` in multiples of its own."""

_AXES: Mapping[str, Axes] = {
    "adamw": {"lr": (1.0, 3.0), "weight_decay": (1e-4, 0.3, 1.0, 3.0)},
    "sgd": {"lr": (0.1, 0.3, 1.0, 3.0), "weight_decay": (1e-4, 5e-4)},
}
_DROPOUT: Mapping[str, Axes] = {
    "adamw": {"lr": (1.0, 3.0), "weight_decay": (1e-4, 1.0), "dropout": (0.1, 0.3)},
    "sgd": {"lr": (0.3, 1.0), "weight_decay": (1e-4, 5e-4), "dropout": (0.1, 0.3)},
}


def axes_of(training: Training, *, dropout: bool = False) -> Axes:
    """Return the values to try for a network, with or without dropout layers."""
    return (_DROPOUT if dropout else _AXES)[training.optimizer]


def trials(training: Training, axes: Axes) -> list[Training]:
    """Return the settings to train: one under ``paper``, all combinations under ``tuned``."""
    if training.regime == "paper":
        return [training]
    found = []
    for values in product(*axes.values()):
        setting: dict[str, Any] = dict(zip(axes, values, strict=True))
        found.append(replace(training, **{**setting, "lr": setting["lr"] * training.lr}))
    return found


def n_tuned(training: Training, n_seeds: int) -> int:
    """Return how many of the seeds try all settings; the others take what the first one chose."""
    first = training.regime == "tuned" and training.tuned_on == "first_seed"
    return 1 if first else n_seeds


def usual_training(data: DataSet) -> Training:
    """Return CIFAR's ResNet-18 for images, and the probe for matrices."""
    images = isinstance(data.inputs, LazyImages) or data.inputs.ndim == 4
    return CIFAR if images else PROBE


def hold_out(data: DataSet) -> DataSet:
    """Return the data set with validation points: its own, or a tenth of the training points."""
    if len(data.validation):
        return data
    n = len(data.train)
    if n < 2:
        raise InputError(f"{data.name} needs at least 2 training points to hold one out, has {n}")
    order = np.argsort([hashed(data.name, "validation", data.ids[i]) for i in data.train])
    n_out = max(1, round(n / 10))
    out: IntArray = np.sort(data.train[order[:n_out]])
    return replace(data, train=data.train[~np.isin(data.train, out)], validation=out)
