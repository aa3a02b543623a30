"""The one training loop.

It trains a stack of networks that share nothing, each with its own rows, data order, dropout
masks and start. The loss is the sum of the members' losses, so every member has the gradient it
would have alone, and both optimisers act on each number by itself.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from rue._arrays import IntArray, require_whole
from rue.errors import InputError
from rue.methods._training import spectral
from rue.methods._training.checkpoints import Checkpoint
from rue.methods._training.networks import LANES, NETWORKS, Network, NetworkName
from rue.methods._training.pools import Pool
from rue.methods._training.streams import stream

__all__ = [
    "CIFAR",
    "FINE_TUNING",
    "PROBE",
    "SMALL_IMAGES",
    "Device",
    "Member",
    "Objective",
    "Training",
    "cross_entropy",
    "find_device",
    "train",
]

Device = Literal["auto", "cpu", "cuda", "mps"]
Objective = Callable[[Tensor, Tensor], Tensor]
"""The loss (n_members, n) of logits and targets (n_members, n, K)."""

_DEVICES: tuple[Device, ...] = ("auto", "cpu", "cuda", "mps")
_LEVELS = 1 << 16  # dropout masks are drawn as 16-bit numbers


@dataclass(frozen=True, kw_only=True)
class Training:
    """How networks are trained (appendix C).

    Attributes
    ----------
    network
        ``probe`` for matrices; ``small_cnn``, ``resnet18`` (CIFAR stem) or ``resnet18_imagenet``
        for images.
    width
        Hidden units of the probe.
    dropout
        Probability before the last layer, for every method.
    epochs, batch_size
        The last batch of an epoch may be smaller; of images, one that is left over alone joins
        the batch before it, as batch norm has nothing to say about a single one.
    optimizer, lr, weight_decay
        ``adamw`` with a constant rate, or ``sgd`` with Nesterov momentum 0.9 and a cosine
        schedule from ``lr`` to 0, stepped once an epoch.
    augment
        Crops and flips (images).
    weights
        A file of torchvision's weights to start a ResNet-18 from.
    device
        ``auto`` is cuda, then mps, then cpu.
    precision
        Of the hidden layers for images: ``bfloat16`` (mixed, weights stay float32) or
        ``float32``; ``auto`` is bfloat16 on cuda, else float32. Probes are trained in float32.
    """

    network: NetworkName = "probe"
    width: int = 128
    dropout: float = 0.1
    epochs: int = 50
    batch_size: int = 128
    optimizer: Literal["adamw", "sgd"] = "adamw"
    lr: float = 1e-3
    weight_decay: float = 1e-4
    augment: bool = False
    weights: str | None = None
    device: Device = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"

    def __post_init__(self) -> None:
        if self.network not in NETWORKS:
            raise InputError(f"network must be one of {', '.join(NETWORKS)}, got {self.network!r}")
        if self.optimizer not in ("adamw", "sgd"):
            raise InputError(f"optimizer must be adamw or sgd, got {self.optimizer!r}")
        if self.device not in _DEVICES:
            raise InputError(f"device must be one of {', '.join(_DEVICES)}, got {self.device!r}")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise InputError(f"precision must be auto, float32 or bfloat16, got {self.precision!r}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be in [0, 1), got {self.dropout}")
        for name in ("width", "epochs", "batch_size"):
            require_whole(name, getattr(self, name), least=1)
        if not 0 < self.lr < math.inf:
            raise InputError(f"lr must be above 0 and finite, got {self.lr}")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(
                f"weight_decay must not be negative or infinite, got {self.weight_decay}"
            )
        if self.network == "probe" and self.precision == "bfloat16":
            raise InputError("precision must be float32 for a probe, got 'bfloat16'")
        if self.network != "probe" and self.batch_size == 1:
            raise InputError("batch_size must be at least 2 for images, got 1")
        if self.weights is not None and not self.network.startswith("resnet18"):
            raise InputError(f"weights are of a ResNet-18, but the network is {self.network}")


PROBE = Training()
CIFAR = Training(
    network="resnet18", epochs=200, optimizer="sgd", lr=0.1, weight_decay=5e-4, augment=True
)
FINE_TUNING = replace(CIFAR, network="resnet18_imagenet", epochs=100)
SMALL_IMAGES = Training(network="small_cnn", epochs=5)


@dataclass(frozen=True, eq=False)
class Member:
    """One network of a stack: whose it is and which rows of the pool it sees."""

    method: str
    seed: int
    index: int
    rows: IntArray

    @property
    def names(self) -> tuple[str, int, int]:
        """What its random numbers are hashed from."""
        return self.method, self.seed, self.index


def train(
    network: Network,
    pool: Pool,
    members: Sequence[Member],
    training: Training,
    objective: Objective,
    *,
    coefficient: float | None = None,
    checkpoint: Checkpoint | None = None,
    on_step: Callable[[int, float | None], None] | None = None,
) -> None:
    """Train a stack of networks in place.

    Parameters
    ----------
    network, pool, members
        Member i of the network learns ``members[i].rows`` of the pool. All must have as many
        batches an epoch, else one would take steps without data.
    objective
        The loss per point.
    coefficient
        Largest spectral norm of a hidden layer; None leaves them alone.
    checkpoint
        A file that is written after every epoch, and gone on from where it is there.
    on_step
        Called with the points done, and at an epoch's end with its mean loss.
    """
    device = pool.inputs.device
    optimizer = _optimizer(network, training)
    hidden = network.hidden() if coefficient is not None else []
    vectors = spectral.leading(hidden)
    n_features = network.head()[0].shape[2]
    start = 0
    if checkpoint is not None and checkpoint.path.exists():
        start, vectors = checkpoint.read(network, optimizer, device)
    network.train()
    for epoch in range(start, training.epochs):
        if training.optimizer == "sgd":
            rate = training.lr * (1 + math.cos(math.pi * epoch / training.epochs)) / 2
            optimizer.param_groups[0]["lr"] = rate
        streams = [stream(*member.names, "epoch", epoch) for member in members]
        total = torch.zeros((), device=device)
        n_steps = 0
        for rows, weight in _batches(members, streams, training):
            x, y = pool.batch(rows.to(device), streams[0] if training.augment else None)
            mask = None
            if training.dropout:
                mask = _mask(streams, (rows.shape[1], n_features), training.dropout).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=_mixed(training, device)):
                logits = network(x, mask)
            loss = (objective(logits, y) * weight.to(device)).sum()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            if coefficient is not None:
                spectral.project(hidden, vectors, coefficient)
            total += loss.detach()
            n_steps += 1
            if on_step is not None:
                on_step(int(weight.count_nonzero()), None)
        if not torch.isfinite(total):
            raise InputError(
                f"training diverged in epoch {epoch + 1}: lr {training.lr} is too high"
            )
        if checkpoint is not None:
            checkpoint.write(network, optimizer, epoch + 1, vectors)
        if on_step is not None:
            on_step(0, float(total) / n_steps / len(members))
    if coefficient is not None:
        spectral.project_exactly(hidden, coefficient)
    network.eval()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-sum_k p_k log softmax(logits)_k of soft labels p."""
    return -(targets * torch.log_softmax(logits, dim=-1)).sum(-1)


def keep(rng: np.random.Generator, shape: Sequence[int], dropout: float) -> np.ndarray:
    """Say which units stay, each with probability 1 - dropout to within 2^-17."""
    size = math.prod(shape)
    words = rng.bit_generator.random_raw(-(-size // 4))  # of 64 bits, four units each
    return words.view(np.uint16)[:size].reshape(shape) >= round(dropout * _LEVELS)


def find_device(wanted: Device) -> torch.device:
    """Give the device, the best there is for ``auto``."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name in there if there[name]))
    if not there[wanted]:
        raise InputError(f"device {wanted} is not there: use auto or cpu")
    return torch.device(wanted)


def _batches(
    members: Sequence[Member], streams: Sequence[np.random.Generator], training: Training
) -> Iterator[tuple[Tensor, Tensor]]:
    """Give rows (n_members, n) in each member's own order, and each row's weight in the loss.

    Probes are filled up with rows of weight 0: a member that has a row less than another, and
    each batch to whole vectors of the processor (:class:`rue.methods._training.networks.Probe`).
    """
    longest = max(len(member.rows) for member in members)
    order = np.zeros((len(members), longest), np.int64)
    real = np.zeros((len(members), longest), np.float32)
    for i, (member, rng) in enumerate(zip(members, streams, strict=True)):
        order[i, : len(member.rows)] = rng.permutation(member.rows)
        real[i, : len(member.rows)] = 1.0
    bounds = [*range(0, longest, training.batch_size), longest]
    if training.network != "probe" and len(bounds) > 2 and bounds[-2] == longest - 1:
        del bounds[-2]
    for first, last in pairwise(bounds):
        fill = (0, 0), (0, -(last - first) % LANES if training.network == "probe" else 0)
        real_part = np.pad(real[:, first:last], fill)
        share = real_part / real_part.sum(axis=1, keepdims=True)
        yield torch.from_numpy(np.pad(order[:, first:last], fill)), torch.from_numpy(share)


def _mask(streams: Sequence[np.random.Generator], shape: Sequence[int], dropout: float) -> Tensor:
    """What each member's features (n, n_features) are multiplied by: 0, or 1 / (1 - p)."""
    kept = np.stack([keep(rng, shape, dropout) for rng in streams])
    return torch.from_numpy(kept.view(np.uint8)).float().div_(1 - dropout)


def _mixed(training: Training, device: torch.device) -> bool:
    if training.precision == "auto":
        return training.network != "probe" and device.type == "cuda"
    return training.precision == "bfloat16"


def _optimizer(network: Network, training: Training) -> torch.optim.Optimizer:
    settings: dict[str, Any] = {"lr": training.lr, "weight_decay": training.weight_decay}
    if training.optimizer == "adamw":
        return torch.optim.AdamW(network.parameters(), **settings, fused=True)
    return torch.optim.SGD(network.parameters(), **settings, momentum=0.9, nesterov=True)
