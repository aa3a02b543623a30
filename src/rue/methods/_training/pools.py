"""Pools: a data set's training points as tensors, scaled, in batches, augmented.

Inputs are scaled by the mean and standard deviation of the training points, each column of a
matrix and each channel of images by its own; images may be scaled by fixed numbers instead. The
points that validate, where there are any, come after those that train.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rue._arrays import FloatArray
from rue.data.dataset import DataSet, as_inputs
from rue.errors import InputError, ShapeError
from rue.methods._training.objectives import AnswerScale
from rue.methods.learner import AnyInputs, TargetKind
from rue.truth.ratings import Ratings

Augmentation = Callable[[Tensor], Tensor]

_BORDER = 4  # pixels that a crop may be off by, as is usual on CIFAR
_STATISTICS = {
    "cifar": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}


@dataclass(frozen=True, eq=False)
class Scaling:
    """The shape of inputs, and how they are scaled."""

    shape: tuple[int, ...]
    mean: Tensor
    std: Tensor

    def __call__(self, inputs: Tensor) -> Tensor:
        """Scale rows of a matrix, or bytes (n, h, w, c), which become (n, c, h, w)."""
        scaled = (inputs.float() - self.mean) / self.std
        # The permuted view is torch's channels_last.
        return scaled.permute(0, 3, 1, 2) if len(self.shape) == 3 else scaled

    def batches(self, inputs: AnyInputs, size: int) -> Iterator[Tensor]:
        """Check new inputs and yield them scaled, chunk by chunk."""
        array = as_inputs(inputs)
        if array.shape[1:] != self.shape:
            wanted = ", ".join(map(str, self.shape))
            raise ShapeError(f"inputs must have shape (n_points, {wanted}), got {array.shape}")
        for start in range(0, len(array), size):
            part = np.ascontiguousarray(array[start : start + size])
            yield self(torch.tensor(part).to(self.mean.device))


@dataclass(frozen=True, eq=False)
class Pool:
    """Training points, followed by validation points: inputs and targets."""

    inputs: Tensor
    targets: Tensor
    scaling: Scaling
    n_train: int
    answers: AnswerScale | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.targets.shape[1])

    @property
    def train(self) -> slice:
        """The rows that train."""
        return slice(0, self.n_train)

    @property
    def held_out(self) -> slice:
        """The rows that validate."""
        return slice(self.n_train, len(self.inputs))

    def training_targets(self) -> FloatArray:
        """Return the targets of the training points, in float64."""
        return np.asarray(self.targets[: self.n_train].cpu().double().numpy())

    def checksum(self) -> str:
        """Return a hash of all inputs and targets."""
        digest = hashlib.blake2b(digest_size=16)
        for tensor in (self.inputs, self.targets):
            digest.update(repr(tensor.shape).encode())
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.hexdigest()

    def points(self, rows: slice) -> tuple[Tensor, Tensor]:
        """Return scaled inputs (n, ...) and targets (n, K) of some rows."""
        x = self.inputs[rows]
        return (x if x.ndim == 2 else self.scaling(x)), self.targets[rows]

    def chunks(self, rows: slice, size: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield the rows, scaled inputs and targets of some rows, chunk by chunk."""
        for first in range(rows.start, rows.stop, size):
            part = slice(first, min(first + size, rows.stop))
            yield part, *self.points(part)

    def batch(self, rows: Tensor, augment: Augmentation | None) -> tuple[Tensor, Tensor]:
        """Return inputs (n_members, n, ...) and targets (n_members, n, K) at ``rows``."""
        flat = rows.flatten()
        x = self.inputs.index_select(0, flat)
        if len(self.scaling.shape) == 3:
            x = self.scaling(x if augment is None else augment(x))
        y = self.targets.index_select(0, flat)
        return x.view(*rows.shape, *x.shape[1:]), y.view(*rows.shape, -1)


def make_pool(
    data: DataSet,
    device: torch.device,
    *,
    statistics: str = "train",
    kind: TargetKind = "distributions",
) -> Pool:
    """Return the pool of a data set's training and validation points."""
    if data.task == "text":
        raise InputError(f"{data.name} holds texts: use rue.data.featurize first")
    if len(data.train) == 0:
        raise InputError(f"{data.name} has no training points")
    parts = [data.part("train")]
    arrays = [as_inputs(parts[0].inputs)]
    if len(data.validation):
        parts.append(data.part("validation"))
        arrays.append(as_inputs(parts[1].inputs))
        if arrays[1].shape[1:] != arrays[0].shape[1:]:
            raise ShapeError(
                f"validation inputs must have the shape {arrays[0].shape[1:]} of those that "
                f"train, got {arrays[1].shape[1:]}"
            )
    scaling = _scaling(arrays[0], statistics, device)
    inputs = torch.tensor(np.concatenate(arrays)).to(device)
    scale = _answer_scale(data) if kind == "ratings" else None
    if scale is not None:
        targets = [_padded(part, scale, data) for part in parts]
    else:
        targets = [part.targets() if kind == "distributions" else part.counts() for part in parts]
    return Pool(
        scaling(inputs) if inputs.ndim == 2 else inputs,
        torch.tensor(np.concatenate(targets), dtype=torch.float32, device=device),
        scaling,
        len(arrays[0]),
        scale,
    )


def _answer_scale(data: DataSet) -> AnswerScale:
    values = _ratings(data.part("train")).answers.values
    return AnswerScale(float(values.mean()), float(values.std()) or 1.0)


def _padded(part: DataSet, scale: AnswerScale, data: DataSet) -> np.ndarray:
    """Return each point's answers, scaled, filled up with NaN to as many as any point has."""
    if len(part.annotated) < len(part):
        raise InputError(f"{data.name} has training points without answers")
    answers = _ratings(part).answers
    width = int(_ratings(data).n_annotators.max())
    column = np.arange(len(answers.values)) - answers.repeat(answers.starts[:-1])
    rows = np.full((len(part), width), np.nan)
    row = part.annotated[answers.repeat(np.arange(answers.n_points))]
    rows[row, column] = (answers.values - scale.center) / scale.width
    return rows


def _ratings(data: DataSet) -> Ratings:
    assert data.ratings is not None  # always true for a pool of ratings
    return data.ratings


def flip(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Mirror half of the images (n, h, w, c)."""
    mirrored = torch.from_numpy(rng.integers(0, 2, size=(len(images), 1, 1, 1)))
    return torch.where(mirrored.to(images.device).bool(), images.flip(2), images)


def crop_and_flip(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Shift each image (n, h, w, c) by up to 4 pixels, black coming in, and mirror half of them."""
    n, height, width, n_channels = images.shape
    shift = torch.from_numpy(rng.integers(0, 2 * _BORDER + 1, size=(2, n))).to(images.device)
    mirrored = torch.from_numpy(rng.integers(0, 2, size=n)).to(images.device).bool()
    padded = torch.nn.functional.pad(images, (0, 0, _BORDER, _BORDER, _BORDER, _BORDER)).flatten(2)
    crops = padded.unfold(1, height, 1).unfold(2, width * n_channels, n_channels)
    points = torch.arange(n, device=images.device)
    cropped = crops[points, shift[0], shift[1]].view(images.shape)
    cropped[mirrored] = cropped[mirrored].flip(2)
    return cropped


def _scaling(array: np.ndarray, statistics: str, device: torch.device) -> Scaling:
    if array.ndim == 2:
        mean, std = array.mean(axis=0, dtype=np.float64), array.std(axis=0, dtype=np.float64)
    elif statistics == "train":
        mean, std = _channel_moments(array)
    else:
        mean, std = (255 * np.array(moment) for moment in _STATISTICS[statistics])
        if array.shape[-1] != len(mean):
            raise InputError(
                f"statistics {statistics!r} are of {len(mean)} channels, the images have "
                f"{array.shape[-1]}: use statistics='train'"
            )
    return Scaling(
        array.shape[1:],
        torch.tensor(mean, dtype=torch.float32, device=device),
        torch.tensor(np.where(std > 0, std, 1.0), dtype=torch.float32, device=device),
    )


def _channel_moments(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations, from how often each byte occurs in a channel."""
    channels = images.reshape(-1, images.shape[-1]).T
    counts = np.stack([np.bincount(channel, minlength=256) for channel in channels])
    share = counts / counts.sum(axis=1, keepdims=True)
    level = np.arange(256.0)
    mean = share @ level
    return mean, np.sqrt(np.maximum(share @ level**2 - mean**2, 0.0))
