"""Random Fourier features: a network whose last layer is a Gaussian process, approximately.

With directions w drawn from N(0, I / l^2) and phases b from U(0, 2 pi), the features

    phi(h) = sqrt(2 / D) cos(W h + b)

of the network's own features h have E[phi(h) . phi(h')] = exp(-|h - h'|^2 / (2 l^2)), the kernel of
a Gaussian process (Rahimi and Recht 2007). Directions and phases are not trained; the
network below and the linear layer above are.
"""

import math
from collections.abc import Callable, Sequence
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rue.methods._training.networks import LANES, NetworkStack, seeded
from rue.methods._training.streams import hashed


@final
class Fourier(NetworkStack):
    """A stack of networks with random Fourier features on top."""

    directions: Tensor
    phases: Tensor

    def __init__(self, inner: NetworkStack, tensors: Sequence[Tensor]) -> None:
        super().__init__()
        directions, phases, weight, bias = tensors
        self.inner = inner
        self.n_members = inner.n_members
        self.register_buffer("directions", directions)
        self.register_buffer("phases", phases)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    @classmethod
    def initial(
        cls,
        inner: NetworkStack,
        seeds: Sequence[int],
        *,
        n_outputs: int,
        n_fourier: int,
        length: float,
    ) -> "Fourier":
        """Draw each member's directions, phases and last layer from its own seed."""
        n_features = inner.head()[0].shape[2]

        def draw() -> tuple[Tensor, ...]:
            directions = torch.randn(n_fourier, n_features) / length
            phases = 2 * math.pi * torch.rand(1, n_fourier)
            layer = nn.Linear(n_fourier, n_outputs)
            bias = functional.pad(layer.bias.detach()[None], (0, -n_outputs % LANES))
            return directions, phases, layer.weight.detach(), bias

        drawn = [seeded(hashed(seed, "fourier"), draw) for seed in seeds]
        return cls(inner, [torch.stack(part) for part in zip(*drawn, strict=True)])

    def take(self, members: Sequence[int]) -> "Fourier":
        """Copy some of the members."""
        inner = self.inner.take(members)
        if inner is self.inner:
            return self
        index = list(members)
        tensors = (self.directions, self.phases, self.weight.detach(), self.bias.detach())
        return Fourier(inner, [tensor[index] for tensor in tensors])

    def features(self, x: Tensor) -> Tensor:
        """Return random Fourier features of the features below."""
        h = self.inner.features(x)
        with torch.autocast(h.device.type, enabled=False):  # a cosine needs its angle's digits
            angles = torch.baddbmm(self.phases, h.float(), self.directions.mT)
            return math.sqrt(2 / angles.shape[-1]) * torch.cos(angles)

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layer."""
        return self.weight, self.bias[..., : self.weight.shape[1]]

    def hidden(self) -> list[Tensor]:
        """Return the hidden layers below."""
        return self.inner.hidden()


def on_top(
    n_fourier: int, length_scale: float
) -> Callable[[NetworkStack, Sequence[int], int], Fourier]:
    """Return what puts Fourier features on a network; the scale is in roots of its features."""

    def wrap(inner: NetworkStack, starts: Sequence[int], n_outputs: int) -> Fourier:
        length = length_scale * math.sqrt(inner.head()[0].shape[2])
        return Fourier.initial(
            inner, starts, n_outputs=n_outputs, n_fourier=n_fourier, length=length
        )

    return wrap
