"""Settings: how networks are trained, and the four that the paper's tables need (appendix C)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np

from rue._arrays import FloatArray
from rue._schema import AboveZero, Constraint, NotNegative, Positive, require_fields
from rue.data.dataset import DataSet
from rue.data.images import LazyImages
from rue.errors import InputError

Network = Literal["probe", "cifar", "fine_tuning", "small_images", "resnet9"]
"""A network with the settings of its training; a suite names it as ``network``."""
Architecture = Literal["probe", "small_cnn", "resnet9", "resnet18", "resnet18_imagenet"]
Regime = Literal["paper", "tuned"]
"""How the settings of training were chosen."""
Device = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a method, each checked against its annotation."""

    def __post_init__(self) -> None:
        require_fields(self, but=("training",))


@dataclass(frozen=True, kw_only=True)
class Training(Settings):
    """How networks are trained (appendix C; docs/paper_settings.md has the differences).

    Attributes
    ----------
    regime
        ``paper``: these settings as they are. Probes train for ``epochs`` epochs; networks for
        images keep the epoch with the lowest validation loss (MC dropout, and a ``one_cycle``
        schedule, whose rate falls to 0: the last).
        ``tuned``: the epoch with the lowest validation loss, and the best of eight settings by
        validation log loss (:mod:`rue.methods._training.settings`).
    network
        ``probe`` for matrices; ``small_cnn``, ``resnet9`` (fast on a CPU), ``resnet18`` (CIFAR
        stem) or ``resnet18_imagenet`` for images.
    width
        Hidden units of the probe.
    dropout
        MC dropout's probability before the last layer. No other method has dropout layers.
    epochs, batch_size
        The last batch of an epoch may be smaller; of images, one that is left over alone joins
        the batch before it, as batch norm has nothing to say about a single one.
    optimizer, lr, weight_decay
        ``adamw``, or ``sgd`` with momentum 0.9.
    schedule
        A ``constant`` rate, ``cosine`` from ``lr`` to 0, stepped once an epoch, or ``one_cycle``,
        from 0 up to ``lr`` in the first quarter of all steps and down to 0 in the rest, with
        Nesterov's momentum; ``auto`` is constant for AdamW and cosine for SGD.
    augment
        Of images: ``none``, ``flips``, or ``crops`` (crops and flips).
    statistics
        The mean and standard deviation that channels of images are scaled by: those of the
        training images (``train``), or the fixed ones of ``cifar`` or ``imagenet``.
    weights
        A file of torchvision's weights to start a ResNet-18 from.
    device
        ``auto`` is cuda, then mps, then cpu.
    precision
        Of the hidden layers for images: ``bfloat16`` (mixed, weights stay float32) or
        ``float32``; ``auto`` is bfloat16 on cuda, and for ``resnet9`` on a CPU that has
        avx512_bf16, else float32. Probes are trained in float32. Predictions are in float32.
    tuned_on
        Under ``tuned``: each seed's own setting (``each_seed``), or one for all seeds, that of the
        first (``first_seed``, which costs far less) or that with the least mean validation loss
        over the first three (``three_seeds``).

    Examples
    --------
    >>> Training(epochs=20, regime="tuned").lr
    0.001
    """

    regime: Regime = "paper"
    network: Architecture = "probe"
    width: Positive = 128
    dropout: Annotated[float, Constraint("in [0, 1)", lambda p: 0 <= p < 1)] = 0.1
    epochs: Positive = 50
    batch_size: Positive = 128
    optimizer: Literal["adamw", "sgd"] = "adamw"
    lr: AboveZero = 1e-3
    weight_decay: NotNegative = 1e-4
    schedule: Literal["auto", "constant", "cosine", "one_cycle"] = "auto"
    augment: Literal["none", "flips", "crops"] = "none"
    statistics: Literal["train", "cifar", "imagenet"] = "train"
    weights: str | None = None
    device: Device = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    tuned_on: Literal["each_seed", "three_seeds", "first_seed"] = "each_seed"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_probe and self.precision == "bfloat16":
            raise InputError("precision must be float32 for a probe, got 'bfloat16'")
        if not self.is_probe and self.batch_size == 1:
            raise InputError("batch_size must be at least 2 for images, got 1")
        if self.schedule == "one_cycle" and self.optimizer == "adamw":
            raise InputError("schedule one_cycle is for the optimizer sgd, got 'adamw'")
        if self.weights is not None and not self.network.startswith("resnet18"):
            raise InputError(f"weights are of a ResNet-18, but the network is {self.network}")

    @property
    def is_probe(self) -> bool:
        """Whether the network takes matrices of features, not images."""
        return self.network == "probe"

    @property
    def is_constant(self) -> bool:
        """Whether the learning rate stays as it is."""
        auto = "constant" if self.optimizer == "adamw" else "cosine"
        return (auto if self.schedule == "auto" else self.schedule) == "constant"

    def rate_factor(self, step: int, n_steps: int, epoch: int) -> float:
        """Return the rate of a step, counted from 0 over all epochs, as a multiple of ``lr``."""
        if self.is_constant:
            return 1.0
        if self.schedule == "one_cycle":
            n_up = n_steps / 4
            return min((step + 1) / n_up, (n_steps - step) / (n_steps - n_up), 1.0)
        return (1 + math.cos(math.pi * epoch / self.epochs)) / 2


PROBE = Training()
CIFAR = Training(
    network="resnet18",
    epochs=200,
    optimizer="sgd",
    lr=0.1,
    weight_decay=5e-4,
    augment="crops",
    statistics="cifar",
)
FINE_TUNING = Training(
    network="resnet18_imagenet",
    epochs=100,
    batch_size=32,
    optimizer="sgd",
    lr=3e-3,
    weight_decay=1e-4,
    augment="flips",
    statistics="imagenet",
)
SMALL_IMAGES = Training(network="small_cnn", epochs=5)
RESNET9 = Training(
    network="resnet9",
    epochs=10,
    optimizer="sgd",
    lr=0.1,
    weight_decay=5e-4,
    schedule="one_cycle",
    augment="crops",
)
TRAININGS: Mapping[Network, Training] = {
    "probe": PROBE,
    "cifar": CIFAR,
    "fine_tuning": FINE_TUNING,
    "small_images": SMALL_IMAGES,
    "resnet9": RESNET9,
}
"""The settings of each network that a suite may name."""


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


def tuning_axes(training: Training, *, dropout: bool = False) -> Axes:
    """Return the values to try for a network, with or without dropout layers."""
    return (_DROPOUT if dropout else _AXES)[training.optimizer]


def trials(training: Training, axes: Axes) -> list[Training]:
    """Return the settings to train: one under ``paper``, all combinations under ``tuned``."""
    if training.regime == "paper":
        return [training]
    each: list[dict[str, Any]] = [dict(zip(axes, v, strict=True)) for v in product(*axes.values())]
    return [replace(training, **{**new, "lr": new["lr"] * training.lr}) for new in each]


def n_tuned(training: Training, n_seeds: int) -> int:
    """Return how many of the seeds try all settings; the others take what these chose."""
    n = {"first_seed": 1, "three_seeds": 3}.get(training.tuned_on, n_seeds)
    return min(n, n_seeds) if training.regime == "tuned" else n_seeds


def chosen_trials(losses: FloatArray, training: Training) -> list[int]:
    """Return the setting of each seed that tried all, from losses of (n_trials, n_seeds)."""
    if training.tuned_on != "each_seed":
        losses = np.broadcast_to(losses.mean(axis=1, keepdims=True), losses.shape)
    return [int(trial) for trial in np.argmin(losses, axis=0)]


def usual_training(data: DataSet) -> Training:
    """Return CIFAR's ResNet-18 for images, and the probe for matrices."""
    images = isinstance(data.inputs, LazyImages) or data.inputs.ndim == 4
    return CIFAR if images else PROBE
