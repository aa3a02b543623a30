"""ResNet-9: a residual network that a CPU trains in minutes.

Nine layers: 3x3 convolutions with batch norm of w, 2w, (2w, 2w), 4w, 8w and (8w, 8w) channels,
those in brackets with a connection around them, and a linear layer. Maps are halved before the
first bracket and after each of the next two layers, and the features are the largest value of each
channel. Maps are pooled before batch norm, which halves the time of the first layers.

The first layer starts as the whitening of 3x3 patches of training images: the leading eigenvectors
of the patches' covariance, each divided by its standard deviation, and their negatives. It is
trained like the others.
"""

from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rue.errors import InputError
from rue.methods._training.networks import Network, activate, matrices

__all__ = ["ResNet9"]

_WIDTH = 32
_EPSILON = 1e-2  # of the variance of a direction, in units of the images' own: no noise is blown up


@final
class ResNet9(Network):
    """A residual network of 1.6 million weights for images from 8 x 8 pixels on."""

    def __init__(self, shape: tuple[int, ...], n_classes: int, *, slope: float = 0.0) -> None:
        super().__init__()
        height, width, channels = shape
        if min(height, width) < 8:
            raise InputError(f"resnet9 needs at least 8 x 8 pixels, got {height} x {width}")
        w = _WIDTH
        self.conv1 = _Layer(channels, w, slope)
        self.conv2 = _Layer(w, 2 * w, slope, pool=True)
        self.pair1 = nn.Sequential(_Layer(2 * w, 2 * w, slope), _Layer(2 * w, 2 * w, slope))
        self.conv3 = _Layer(2 * w, 4 * w, slope, pool=True)
        self.conv4 = _Layer(4 * w, 8 * w, slope, pool=True)
        self.pair2 = nn.Sequential(_Layer(8 * w, 8 * w, slope), _Layer(8 * w, 8 * w, slope))
        self.fc = nn.Linear(8 * w, n_classes)

    @torch.no_grad()
    def whiten(self, images: Tensor) -> None:
        """Set the first layer to the whitening of patches of scaled images (n, c, h, w)."""
        weight = self.conv1.conv.weight
        patches = functional.unfold(images, 3).transpose(1, 2).flatten(0, 1).double()
        values, vectors = torch.linalg.eigh(torch.cov(patches.T))
        n = min(_WIDTH // 2, len(values))
        values, vectors = values.flip(0)[:n], vectors.flip(1)[:, :n]
        # The sign of an eigenvector is arbitrary: its largest entry is made positive.
        largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
        filters = (vectors * largest.sign() / (values + _EPSILON).sqrt()).T
        filters = filters.view(n, *weight.shape[1:]).to(weight)
        weight[:n], weight[n : 2 * n] = filters, -filters

    def features(self, x: Tensor) -> Tensor:
        """Return the largest value of each channel of the last map."""
        x = self.conv2(self.conv1(x[0]))
        x = self.conv4(self.conv3(x + self.pair1(x)))
        maps: Tensor = x + self.pair2(x)
        return maps.amax((2, 3))[None]

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layer."""
        return self.fc.weight[None], self.fc.bias[None, None]

    def hidden(self) -> list[Tensor]:
        """All kernels, as matrices."""
        return matrices(self, except_for=self.fc)


class _Layer(nn.Module):
    def __init__(self, n_in: int, n_out: int, slope: float, *, pool: bool = False) -> None:
        super().__init__()
        self.slope, self.pool = slope, pool
        self.conv = nn.Conv2d(n_in, n_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(n_out)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return activate(self.norm(functional.max_pool2d(x, 2) if self.pool else x), self.slope)
