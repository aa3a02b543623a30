"""Models: trained networks and their outputs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rue._arrays import FloatArray
from rue.data.splits import stream
from rue.methods._training.networks import NetworkStack
from rue.methods._training.pools import Pool, Scaling
from rue.methods._training.settings import Training
from rue.methods._training.training import keep
from rue.methods.learner import AnyInputs


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

    def features(self, inputs: AnyInputs) -> Iterator[Tensor]:
        """Return pre-logit features (n_members, n, n_features) chunk by chunk."""
        return map(self.embed, self.scaling.batches(inputs, self.chunk))

    @torch.no_grad()
    def embed(self, x: Tensor) -> Tensor:
        """Return pre-logit features of scaled inputs."""
        return torch.cat([n.features(x.expand(n.n_members, *x.shape)) for n in self.networks])

    def logits(self, x: Tensor) -> Tensor:
        """Return logits (n_members, n, n_outputs) of scaled inputs."""
        return self.project(self.embed(x))

    def mean(self, x: Tensor) -> Tensor:
        """Return the mean of the members' distributions (n, K), of scaled inputs."""
        return torch.softmax(self.logits(x), -1).mean(0)

    def project(self, z: Tensor) -> Tensor:
        """Return logits (n_members, n, n_outputs) of features."""
        weight, bias = self.head()
        return torch.baddbmm(bias, z, weight.mT)

    def chunks(self, inputs: AnyInputs) -> Iterator[Tensor]:
        """Return logits (n_members, n, n_outputs) of new inputs, chunk by chunk."""
        return map(self.project, self.features(inputs))

    def scored(
        self, inputs: AnyInputs, score: Callable[[FloatArray], FloatArray]
    ) -> tuple[NDArray[np.float32], FloatArray]:
        """Return the only member's distributions, and a score of its features in float64."""
        probs, scores = [], []
        for z in self.features(inputs):
            probs.append(self.project(z).softmax(-1)[0].cpu().numpy())
            scores.append(score(as_float64(z[0])))
        return np.concatenate(probs), np.concatenate(scores)

    def outputs(self, inputs: AnyInputs) -> Tensor:
        """Return logits (n, n_members, n_outputs) of new inputs."""
        return torch.cat([logits.transpose(0, 1) for logits in self.chunks(inputs)])

    def distributions(self, inputs: AnyInputs) -> NDArray[np.float32]:
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
        parts = [(network, i) for network in self.networks for i in range(network.n_members)]
        network, index = parts[place]
        networks = (network.take([index]),)
        return replace(self, networks=networks, epochs=(self.epochs[place],), members=(0,))

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layers: weights (n_members, K, n_features), biases (n_members, 1, K)."""
        weights, biases = zip(*(network.head() for network in self.networks), strict=True)
        return torch.cat(weights).detach(), torch.cat(biases).detach()

    def last_layer(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights (K, n_features) and bias (1, K) of the only member, in float64."""
        weight, bias = self.head()
        return as_float64(weight[0]), as_float64(bias[0])

    def training_features(self, pool: Pool) -> FloatArray:
        """Return the only member's features of the training points, (n, n_features), in float64."""
        parts = [self.embed(x) for _, x, _ in pool.chunks(pool.train, self.chunk)]
        return as_float64(torch.cat(parts, dim=1)[0])


def as_float64(tensor: Tensor) -> FloatArray:
    """Return a tensor as an array in float64."""
    return np.asarray(tensor.detach().cpu().double().numpy())
