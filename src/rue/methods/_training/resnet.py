"""Residual networks: ResNet-18 with torchvision's parameter names, and a small one for a CPU."""

import os
from pathlib import Path
from typing import Literal, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rue._text import one_line
from rue.errors import FileError, InputError
from rue.methods._training.networks import ImageNetwork, activate

Stem = Literal["cifar", "imagenet"]


@final
class ResNet18(ImageNetwork):
    """ResNet-18 (He et al. 2016)."""

    def __init__(
        self, n_channels: int, n_classes: int, *, stem: Stem = "cifar", slope: float = 0.0
    ) -> None:
        super().__init__()
        self.slope = slope
        small = stem == "cifar"
        size, stride, padding = (3, 1, 1) if small else (7, 2, 3)
        self.conv1 = nn.Conv2d(n_channels, 64, size, stride, padding, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.pool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        self.layer1 = _stage(64, 64, 1, slope)
        self.layer2 = _stage(64, 128, 2, slope)
        self.layer3 = _stage(128, 256, 2, slope)
        self.layer4 = _stage(256, 512, 2, slope)
        self.fc = nn.Linear(512, n_classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")

    def features(self, x: Tensor) -> Tensor:
        """Return the mean over the map of the last stage."""
        x = self.pool(activate(self.bn1(self.conv1(x[0])), self.slope))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean((2, 3))[None]


def load_weights(network: ResNet18, path: str | os.PathLike[str]) -> None:
    """Load a state dict with torchvision's names, in place; the last layer stays as it is."""
    try:
        state = torch.load(Path(path), map_location="cpu", weights_only=True)
        state = {k: v for k, v in state.items() if not k.startswith("fc.")}
        missing, unexpected = network.load_state_dict(state, strict=False)
    except Exception as error:  # torch raises errors of pickle, zip, the OS and its own
        what = one_line(error)[:200]
        raise FileError(f"{path}: not the weights of this ResNet-18: {what}") from None
    wrong = sorted(set(missing) - {"fc.weight", "fc.bias"}) + list(unexpected)
    if wrong:
        raise FileError(f"{path}: not the weights of this ResNet-18: {wrong[0]} does not fit")


class _Block(nn.Module):
    def __init__(self, n_in: int, n_out: int, stride: int, slope: float) -> None:
        super().__init__()
        self.slope = slope
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample: nn.Module | None = None
        if stride != 1 or n_in != n_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
            )

    def forward(self, x: Tensor) -> Tensor:
        short = x if self.downsample is None else self.downsample(x)
        x = activate(self.bn1(self.conv1(x)), self.slope)
        return activate(self.bn2(self.conv2(x)) + short, self.slope)


def _stage(n_in: int, n_out: int, stride: int, slope: float) -> nn.Sequential:
    return nn.Sequential(_Block(n_in, n_out, stride, slope), _Block(n_out, n_out, 1, slope))


_WIDTH = 32
_PART = 64  # images whose patches fit in a processor's caches
_EPSILON = 1e-2  # of the variance of a direction, in units of the images' own: no noise is blown up


@final
class ResNet9(ImageNetwork):
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
        moments = torch.zeros(1, dtype=torch.float64)
        for part in images.chunk(-(-len(images) // _PART)):
            patches = functional.pad(functional.unfold(part, 3), (0, 0, 0, 1), value=1.0)
            rows = patches.transpose(0, 1).flatten(1).double()
            moments = moments + rows @ rows.T
        total, count = moments[:-1, -1:], moments[-1, -1]
        covariance = (moments[:-1, :-1] - total @ total.T / count) / (count - 1)
        values, vectors = torch.linalg.eigh(covariance)
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


class _Layer(nn.Module):
    def __init__(self, n_in: int, n_out: int, slope: float, *, pool: bool = False) -> None:
        super().__init__()
        self.slope, self.pool = slope, pool
        self.conv = nn.Conv2d(n_in, n_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(n_out)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return activate(self.norm(functional.max_pool2d(x, 2) if self.pool else x), self.slope)
