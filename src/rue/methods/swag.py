"""SWAG (Maddox et al. 2019): a Gaussian over all weights, fitted to the last epochs of SGD.

From the trained weights on, SGD runs at a constant rate, and the weights theta_t after each epoch
are taken as draws of a distribution with the moments

    mean = mean_t theta_t,   diagonal = mean_t theta_t^2 - mean^2,
    D = the last R deviations theta_t - (mean until t), as columns.

A draw of the weights is mean + sqrt(diagonal / 2) z1 + D z2 / sqrt(2 (R - 1)) with z1 and z2
standard normal: the mean of a diagonal and a low-rank covariance. Batch norm's statistics of a draw
are those of the training images under its weights.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from rue._arrays import FloatArray, require_whole
from rue.beliefs import Draws
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError
from rue.methods._training.fitting import fit_models
from rue.methods._training.jobs import find_checkpoint
from rue.methods._training.models import Folder, Model, Plan, Trained
from rue.methods._training.networks import Network, Probe
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import Pool
from rue.methods._training.settings import Training, find_precision
from rue.methods._training.streams import stream
from rue.methods._training.temperature import temper, with_temperature
from rue.methods._training.training import Member, train

__all__ = ["Config", "Fitted", "Moments", "fit", "predict"]

_N_REFRESHING = 10_000  # training images, at most, that batch norm's statistics are taken from


@dataclass(frozen=True, kw_only=True)
class Config:
    """Draws, the tail of SGD, and how to train before it.

    ``lr`` None is 0.01 after AdamW, half of the highest rate after SGD, and a fifth of it after
    ``one_cycle``.
    """

    n_draws: int = 20
    n_epochs: int = 20
    rank: int = 20
    lr: float | None = None
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_draws", self.n_draws, least=1)
        require_whole("n_epochs", self.n_epochs, least=2)
        require_whole("rank", self.rank, least=2)
        if self.lr is not None and not 0 < self.lr < np.inf:
            raise InputError(f"lr must be above 0 and finite, got {self.lr}")


@dataclass(frozen=True, eq=False)
class Fitted:
    """Networks with drawn weights."""

    model: Model
    temperature: float = 1.0

    def predict(self, inputs: Inputs | ArrayLike) -> Draws:
        """See :func:`predict`."""
        return predict(self, inputs)


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[Fitted]:
    """Train one network per seed on the training split, all seeds' probes together; draw weights.

    Parameters
    ----------
    data
        Features or images; one data set for all seeds, or one for each.
    config
        Settings; None is the defaults.
    seeds
        The result of a seed does not depend on the other seeds.
    checkpoints
        A folder to write to after each epoch, those of the tail too, and to resume from (images).
    progress
        Show a bar.
    """
    config = config or Config()
    plan = Plan(method="swag", held_out=config.temperature)
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    states = [Fitted(_draw(one, plan, config, checkpoints)) for one in fitted]
    return with_temperature(states, fitted, config.temperature)


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    """Return the distribution of each input under each draw of the weights."""
    return temper(Draws(fitted.model.distributions(inputs)), fitted.temperature)


class Moments:
    """The moments of weights, one vector after another.

    Parameters
    ----------
    rank
        How many of the last deviations are kept.
    """

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.n = 0
        self.mean: FloatArray = np.zeros(0)
        self.square: FloatArray = np.zeros(0)
        self.deviations: list[FloatArray] = []

    def add(self, weights: FloatArray) -> None:
        """Add a vector of weights."""
        if not self.n:
            self.mean, self.square = np.zeros_like(weights), np.zeros_like(weights)
        self.n += 1
        self.mean = self.mean + (weights - self.mean) / self.n
        self.square = self.square + (weights**2 - self.square) / self.n
        self.deviations = [*self.deviations, weights - self.mean][-self.rank :]

    def after_epoch(self, network: Network) -> None:
        """Add the weights of a network."""
        self.add(_flat(network))

    def content(self) -> dict[str, Any]:
        """Return the content for a checkpoint."""
        arrays = [self.mean, self.square, *self.deviations]
        return {"n": self.n, "arrays": [torch.from_numpy(array) for array in arrays]}

    def restore(self, content: dict[str, Any]) -> None:
        """Restore the content of a checkpoint."""
        self.n = int(content["n"])
        self.mean, self.square, *self.deviations = (a.cpu().numpy() for a in content["arrays"])

    @property
    def diagonal(self) -> FloatArray:
        """The variance of each weight."""
        return np.maximum(self.square - self.mean**2, 0.0)

    def sample(self, rng: np.random.Generator) -> FloatArray:
        """Draw a vector of weights."""
        spread = np.sqrt(self.diagonal / 2) * rng.standard_normal(len(self.mean))
        low_rank = np.stack(self.deviations, axis=1) @ rng.standard_normal(len(self.deviations))
        scale = np.sqrt(2 * (len(self.deviations) - 1))
        return np.asarray(self.mean + spread + low_rank / scale)


def _draw(one: Trained, plan: Plan, config: Config, checkpoints: Folder) -> Model:
    """Continue SGD to collect the moments, and return a model whose members are draws."""
    (network,) = copy.deepcopy(one.model.networks)
    before = one.model.training
    share = 0.2 if before.schedule == "one_cycle" else 0.5
    rate = config.lr or (0.01 if before.optimizer == "adamw" else before.lr * share)
    tail = replace(
        before,
        regime="paper",
        optimizer="sgd",
        schedule="constant",
        lr=rate,
        epochs=config.n_epochs,
        weight_decay=min(before.weight_decay, 5e-4),
    )
    moments = Moments(config.rank)
    member = Member("swag tail", one.model.seed, 0, np.arange(one.pool.n_train), tail)
    checkpoint = None
    if checkpoints is not None and not before.is_probe:
        plan = replace(plan, settings=(*plan.settings, before, config.rank))
        checkpoint = find_checkpoint(checkpoints, member, one.pool, plan)
    train(network, one.pool, [member], cross_entropy, checkpoint=checkpoint, record=moments)
    rng = stream("swag", one.model.seed, "draws")
    drawn = [_with_weights(network, moments.sample(rng)) for _ in range(config.n_draws)]
    networks: tuple[Network, ...] = tuple(drawn)
    if isinstance(network, Probe):
        stacked = zip(*(n.parameters() for n in drawn), strict=True)
        networks = (Probe([torch.cat([p.detach() for p in part]) for part in stacked]),)
    else:
        for each in drawn:
            _refresh_batch_norm(each, one.pool, tail)
    return replace(one.model, networks=networks, members=tuple(range(config.n_draws)))


def _flat(network: Network) -> FloatArray:
    parts = [p.detach().cpu().double().reshape(-1).numpy() for p in network.parameters()]
    return np.concatenate(parts)


@torch.no_grad()
def _with_weights(network: Network, weights: FloatArray) -> Network:
    other, first = copy.deepcopy(network), 0
    for parameter in other.parameters():
        part = weights[first : first + parameter.numel()]
        parameter.copy_(torch.from_numpy(part).view(parameter.shape))
        first += parameter.numel()
    return other


@torch.no_grad()
def _refresh_batch_norm(network: Network, pool: Pool, training: Training) -> None:
    """Set batch norm's running statistics to the mean over the training images' batches."""
    batch_size = training.batch_size
    mixed = find_precision(training, pool.inputs.device) == "bfloat16"
    layers = [layer for layer in network.modules() if isinstance(layer, nn.BatchNorm2d)]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    network.train()
    every = -(-pool.n_train // _N_REFRESHING)  # of large sets every second image, third, ...
    n = -(-pool.n_train // every)
    for first in range(0, n - 1, batch_size):
        last = min(first + batch_size, n)
        rows = slice(every * max(0, min(first, last - 2)), every * last, every)
        with torch.autocast(pool.inputs.device.type, torch.bfloat16, enabled=mixed):
            network.features(pool.points(rows)[0][None])
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    network.eval()
