"""Pools: a data set's training points as tensors, scaled, in batches, augmented.

Inputs are scaled by the mean and standard deviation of the training points, each column of a
matrix and each channel of images by its own. Nothing else of the data set is looked at.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from rue._arrays import as_array, require_finite, require_shape
from rue.data.dataset import DataSet, Inputs
from rue.data.images import LazyImages
from rue.errors import InputError, ShapeError

__all__ = ["Pool", "Scaling", "make_pool"]

_BORDER = 4  # pixels that a crop may be off by, as is usual on CIFAR


@dataclass(frozen=True, eq=False)
class Scaling:
    """What inputs look like, and how they are scaled.

    ``shape`` is that of one input: (n_features,) or (height, width, channels).
    """

    shape: tuple[int, ...]
    mean: Tensor
    std: Tensor

    def __call__(self, inputs: Tensor) -> Tensor:
        """Scale rows of a matrix, or bytes (n, h, w, c), which become (n, c, h, w)."""
        scaled = (inputs.float() - self.mean) / self.std
        # The permuted view is torch's channels_last.
        return scaled.permute(0, 3, 1, 2) if len(self.shape) == 3 else scaled

    def batches(self, inputs: Inputs | ArrayLike, size: int) -> Iterator[tuple[slice, Tensor]]:
        """Check new inputs and give them scaled, chunk by chunk."""
        array = as_inputs(inputs)
        if array.shape[1:] != self.shape:
            wanted = ", ".join(map(str, self.shape))
            raise ShapeError(f"inputs must have shape (n_points, {wanted}), got {array.shape}")
        for start in range(0, len(array), size):
            rows = slice(start, min(start + size, len(array)))
            yield rows, self(torch.tensor(np.ascontiguousarray(array[rows])).to(self.mean.device))


@dataclass(frozen=True, eq=False)
class Pool:
    """Points to train on: a scaled matrix or the images' bytes, and their distributions.

    The matrix is scaled once; images are when they are used.
    """

    inputs: Tensor
    targets: Tensor
    scaling: Scaling

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.targets.shape[1])

    def __len__(self) -> int:
        return len(self.inputs)

    def checksum(self) -> str:
        """A hash of all there is to learn."""
        digest = hashlib.blake2b(digest_size=16)
        for tensor in (self.inputs, self.targets):
            digest.update(repr(tensor.shape).encode())
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.hexdigest()

    def batch(self, rows: Tensor, augment: np.random.Generator | None) -> tuple[Tensor, Tensor]:
        """Give inputs (n_members, n, ...) and targets (n_members, n, K) of rows (n_members, n)."""
        flat = rows.flatten()
        x = self.inputs.index_select(0, flat)
        if len(self.scaling.shape) == 3:
            x = self.scaling(x if augment is None else crop_and_flip(x, augment))
        y = self.targets.index_select(0, flat)
        return x.view(*rows.shape, *x.shape[1:]), y.view(*rows.shape, -1)


def make_pool(data: DataSet, device: torch.device) -> Pool:
    """Take the training points of a data set."""
    if data.task == "text":
        raise InputError(f"{data.name} holds texts: use rue.data.featurize first")
    if len(data.train) == 0:
        raise InputError(f"{data.name} has no training points")
    train = data.part("train")
    array = as_inputs(train.inputs)
    axes = (0,) if array.ndim == 2 else (0, 1, 2)
    mean, std = _moments(array, axes)
    scaling = Scaling(
        array.shape[1:],
        torch.tensor(mean, dtype=torch.float32, device=device),
        torch.tensor(np.where(std > 0, std, 1.0), dtype=torch.float32, device=device),
    )
    inputs = torch.tensor(np.ascontiguousarray(array)).to(device)
    targets = torch.tensor(train.targets(), dtype=torch.float32, device=device)
    return Pool(scaling(inputs) if array.ndim == 2 else inputs, targets, scaling)


def as_inputs(inputs: Inputs | ArrayLike) -> np.ndarray:
    """Take a finite matrix, or images as bytes (n, height, width, channels), all of one size."""
    if isinstance(inputs, LazyImages):
        if len(inputs) == 0:
            raise ShapeError("inputs must have at least one of n_points, got no images")
        images = [inputs[row] for row in range(len(inputs))]
        sizes = {image.shape for image in images}
        if len(sizes) > 1:
            raise ShapeError(f"images must have one size, got {sorted(sizes)[:2]}: load with size=")
        return np.stack(images)
    array = as_array("inputs", inputs)
    if array.ndim == 4 and array.dtype == np.uint8:
        require_shape("inputs", array, "n_points", "height", "width", "channels")
        return array
    if array.ndim != 2:
        raise ShapeError(
            "inputs must be a matrix (n_points, n_features) or bytes (n_points, height, width, "
            f"channels), got {array.dtype} of shape {array.shape}"
        )
    require_shape("inputs", array, "n_points", "n_features")
    with np.errstate(over="ignore"):
        single = np.asarray(array, dtype=np.float32)
    require_finite("inputs in float32", single)
    return single


def crop_and_flip(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Shift each image (n, h, w, c) by up to 4 pixels, black coming in, and mirror half of them."""
    n, height, width, _ = images.shape
    shift = torch.from_numpy(rng.integers(0, 2 * _BORDER + 1, size=(2, n, 1))).to(images.device)
    mirrored = torch.from_numpy(rng.integers(0, 2, size=(n, 1))).to(images.device).bool()
    padded = torch.nn.functional.pad(images, (0, 0, _BORDER, _BORDER, _BORDER, _BORDER))
    x = torch.arange(width, device=images.device).expand(n, -1)
    rows = torch.arange(height, device=images.device) + shift[0]
    columns = torch.where(mirrored, width - 1 - x, x) + shift[1]
    points = torch.arange(n, device=images.device)[:, None, None]
    return padded[points, rows[:, :, None], columns[:, None, :]]


def _moments(array: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation in float64, without a float64 copy of all images."""
    if array.ndim == 2:
        return array.mean(axis=axes, dtype=np.float64), array.std(axis=axes, dtype=np.float64)
    # Of bytes: from how often each of the 256 occurs in a channel.
    level = np.arange(256.0)
    share = np.stack(
        [np.bincount(array[..., c].ravel(), minlength=256) for c in range(array.shape[-1])]
    )
    share = share / share.sum(axis=1, keepdims=True)
    mean = share @ level
    return mean, np.sqrt(np.maximum(share @ level**2 - mean**2, 0.0))
