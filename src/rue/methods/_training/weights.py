"""Draws of weights (SWAG): the moments of weights over epochs, and networks drawn from them."""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from rue._arrays import FloatArray
from rue.data.splits import stream
from rue.methods._training.fitting import find_checkpoint
from rue.methods._training.models import Model
from rue.methods._training.networks import NetworkStack, Probe, find_precision
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import Pool
from rue.methods._training.settings import Training
from rue.methods._training.training import Member, train
from rue.methods.learner import Folder, Recipe, Trained

if TYPE_CHECKING:
    from rue.methods.swag import Config

_N_REFRESHING = 10_000  # training images, at most, that batch norm's statistics are taken from


def draw_networks(one: Trained, tail: Training, config: "Config", checkpoints: Folder) -> Model:
    """Continue SGD to collect the moments, and return a model whose members are draws."""
    pool, before = one.pool, one.model.training
    (network,) = copy.deepcopy(one.model.networks)
    moments = Moments(config.rank)
    member = Member("swag tail", one.model.seed, 0, np.arange(pool.n_train), tail)
    recipe = Recipe(method="swag", settings=(before, config.rank))
    folder = None if before.is_probe else checkpoints
    checkpoint = find_checkpoint(folder, member, pool, recipe)
    train(network, pool, [member], cross_entropy, checkpoint=checkpoint, record=moments)
    rng = stream("swag", one.model.seed, "draws")
    drawn = [_with_weights(network, moments.sample(rng)) for _ in range(config.n_draws)]
    networks: tuple[NetworkStack, ...] = tuple(drawn)
    if isinstance(network, Probe):
        stacked = zip(*(n.parameters() for n in drawn), strict=True)
        networks = (Probe([torch.cat([p.detach() for p in part]) for part in stacked]),)
    else:
        for each in drawn:
            _refresh_batch_norm(each, pool, tail)
    model: Model = one.model
    return replace(model, networks=networks, members=tuple(range(config.n_draws)))


class Moments:
    """The moments of weights, one vector after another, and the last ``rank`` deviations."""

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

    def after_epoch(self, network: NetworkStack) -> None:
        """Add the weights of a network."""
        self.add(_flat(network))

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        arrays = [self.mean, self.square, *self.deviations]
        return {"n": self.n, "arrays": [torch.from_numpy(array) for array in arrays]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self.n = int(state["n"])
        self.mean, self.square, *self.deviations = (a.cpu().numpy() for a in state["arrays"])

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


def _flat(network: NetworkStack) -> FloatArray:
    parts = [p.detach().cpu().double().reshape(-1).numpy() for p in network.parameters()]
    return np.concatenate(parts)


@torch.no_grad()
def _with_weights(network: NetworkStack, weights: FloatArray) -> NetworkStack:
    other, first = copy.deepcopy(network), 0
    for parameter in other.parameters():
        part = weights[first : first + parameter.numel()]
        parameter.copy_(torch.from_numpy(part).view(parameter.shape))
        first += parameter.numel()
    return other


@torch.no_grad()
def _refresh_batch_norm(network: NetworkStack, pool: Pool, training: Training) -> None:
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
