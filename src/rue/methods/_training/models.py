"""Models: trained networks, their outputs, and the recipe of their training."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from rue._arrays import FloatArray
from rue.data.dataset import Inputs
from rue.methods._training.networks import NetworkStack
from rue.methods._training.objectives import Objective, cross_entropy
from rue.methods._training.pools import Pool, Scaling, TargetKind
from rue.methods._training.settings import Training
from rue.methods._training.streams import stream
from rue.methods._training.training import keep


@dataclass(frozen=True, eq=False)
class Model:
    """The trained networks of one seed, and how inputs are scaled for them."""

    networks: tuple[NetworkStack, ...]
    scaling: Scaling
    seed: int
    training: Training
    epochs: tuple[int, ...] = ()
    members: tuple[int, ...] = (0,)

    @property
    def chunk(self) -> int:
        """The number of inputs per chunk."""
        return 4096 if self.training.is_probe else 256

    def features(self, inputs: Inputs | ArrayLike) -> Iterator[tuple[slice, Tensor]]:
        """Return pre-logit features (n_members, n, n_features) chunk by chunk."""
        for rows, x in self.scaling.batches(inputs, self.chunk):
            yield rows, self.embed(x)

    @torch.no_grad()
    def embed(self, x: Tensor) -> Tensor:
        """Return pre-logit features of scaled inputs."""
        return torch.cat([n.features(x.expand(n.n_members, *x.shape)) for n in self.networks])

    def logits(self, x: Tensor) -> Tensor:
        """Return logits (n_members, n, n_outputs) of scaled inputs."""
        return self.project(self.embed(x))

    def project(self, z: Tensor) -> Tensor:
        """Return logits (n_members, n, n_outputs) of features."""
        weight, bias = self.head()
        return torch.baddbmm(bias, z, weight.mT)

    def chunks(self, inputs: Inputs | ArrayLike) -> Iterator[Tensor]:
        """Return logits (n_members, n, n_outputs) of new inputs, chunk by chunk."""
        for _, x in self.scaling.batches(inputs, self.chunk):
            yield self.logits(x)

    def outputs(self, inputs: Inputs | ArrayLike) -> Tensor:
        """Return logits (n, n_members, n_outputs) of new inputs."""
        return torch.cat([logits.transpose(0, 1) for logits in self.chunks(inputs)])

    def distributions(self, inputs: Inputs | ArrayLike) -> NDArray[np.float32]:
        """Return each member's softmax, (n, n_members, n_outputs), of new inputs."""
        parts = (torch.softmax(logits, -1) for logits in self.chunks(inputs))
        return np.concatenate([part.transpose(0, 1).cpu().numpy() for part in parts])

    def passes(self, z: Tensor, n_draws: int) -> Tensor:
        """Return the outputs (n, n_draws, K) of thinned networks for features (1, n, d)."""
        weight, bias = self.head()
        dropout = self.training.dropout
        rng = stream("mc_dropout", self.seed, "draws")
        mask = keep(rng, (n_draws, 1, weight.shape[2]), dropout)
        # Leaving out a unit is leaving out its column of the last layer.
        thinned = weight * torch.from_numpy(mask).to(weight) / (1 - dropout)
        logits = (z[0] @ thinned.flatten(0, 1).T).view(-1, *thinned.shape[:2])
        return logits + bias

    def only(self, member: int) -> "Model":
        """Keep one of the members."""
        place = self.members.index(member)
        first = 0
        for network in self.networks:
            if place < first + network.n_members:
                break
            first += network.n_members
        chosen_network = network.take([place - first])
        return replace(self, networks=(chosen_network,), epochs=(self.epochs[place],), members=(0,))

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layers: weights (n_members, K, n_features), biases (n_members, 1, K)."""
        weights, biases = zip(*(network.head() for network in self.networks), strict=True)
        return torch.cat(weights).detach(), torch.cat(biases).detach()

    def last_layer(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights (K, n_features) and bias (1, K) of the only member, in float64."""
        weight, bias = (part[0].cpu().double().numpy() for part in self.head())
        return weight, bias

    def training_features(self, pool: Pool) -> FloatArray:
        """Return the only member's features of the training points, (n, n_features), in float64."""
        bounds = range(0, pool.n_train, self.chunk)
        rows = (slice(first, min(first + self.chunk, pool.n_train)) for first in bounds)
        features = torch.cat([self.embed(pool.points(part)[0]) for part in rows], dim=1)
        return np.asarray(features[0].cpu().double().numpy())


def softmax_mean(model: Model, x: Tensor) -> Tensor:
    """Return the mean of the members' distributions, (n, K), of scaled inputs."""
    return torch.softmax(model.logits(x), -1).mean(0)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a method trains.

    Attributes
    ----------
    method
        Its name, from which random numbers are hashed.
    objective, settings
        The loss per point, and its own settings.
    n_members
        Networks per seed. With more than one, member i of a probe does not see fold i of 5.
    fold_of
        The fold of 5 that a member does not see, on images too; None where it sees all.
    n_outputs
        Of the last layer, for a number of classes.
    kind, least_answers
        What it learns from, and how many answers a point must have to be learnt from.
    slope, coefficient
        Of activations below 0, and the largest spectral norm of a hidden layer.
    dropout
        Whether features are left out in training, and the last epoch kept under ``paper``.
    held_out
        Whether points must be held out, whatever the regime.
    mean
        The mean distributions by which ``tuned`` chooses, of a model and scaled inputs.
    log_loss
        The log loss (n,) by which ``tuned`` chooses, of a model, scaled inputs and targets; None is
        that of ``mean``.
    wrap
        The part on top of the network, from it, the members' first seeds and the number of outputs.
    """

    method: str
    objective: Objective = cross_entropy
    settings: tuple[object, ...] = ()
    n_members: int = 1
    fold_of: Callable[[int], int | None] | None = None
    n_outputs: Callable[[int], int] = int
    kind: TargetKind = "distributions"
    least_answers: int = 0
    slope: float = 0.0
    coefficient: float | None = None
    dropout: bool = False
    held_out: bool = False
    mean: Callable[[Model, Tensor], Tensor] = softmax_mean
    log_loss: Callable[[Model, Tensor, Tensor], Tensor] | None = None
    wrap: Callable[[NetworkStack, Sequence[int], int], NetworkStack] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether members are ordinary networks trained by cross-entropy."""
        own = (self.objective, self.n_outputs, self.kind, self.slope, self.coefficient)
        usual = (cross_entropy, int, "distributions", 0.0, None)
        return own == usual and self.wrap is None and self.fold_of is None
