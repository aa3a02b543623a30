"""Train a network on images as rue does, and by a plain loop over a DataLoader in float32."""

import dataclasses

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from rue import Annotations
from rue.data import DataSet
from rue.methods import RESNET9, single
from rue.methods._training.networks import use_torch_threads
from rue.methods._training.resnet import ResNet9
from speed.timing import Rows, least_of_both

N_IMAGES, SIDE, N_CLASSES, BORDER = 4_096, 32, 10, 4  # sizes of CIFAR-10, a part of its images


def rows() -> Rows:
    """One epoch of ResNet-9, crops and flips, one cycle of SGD; seconds per 1,000 images.

    Both have one thread, as cells of a suite do: with more, threads wait for each other on cores
    that are not idle, and the ratio says more about the machine than about the code.
    """
    use_torch_threads(1)
    data = made()
    training = dataclasses.replace(RESNET9, epochs=1, device="cpu")
    a, b = least_of_both(
        lambda: single.fit(data, single.Config(training=training)),
        lambda: plain(data),
        repeats=3,
    )
    scale = 1_000 / len(data.train)
    yield (
        "ResNet-9, 1,000 images of an epoch",
        a * scale,
        "nn.Module, DataLoader, float32",
        (b * scale),
        "<= 1/3",
    )


def plain(data: DataSet) -> None:
    """What one writes without rue: a data set that crops and flips each image, and a loop."""
    images = _Images(data.part("train"))
    loader = torch.utils.data.DataLoader(images, RESNET9.batch_size, shuffle=True)
    network = ResNet9((SIDE, SIDE, 3), N_CLASSES)
    optimizer = torch.optim.SGD(
        network.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=len(loader))
    loss_of = nn.CrossEntropyLoss()
    for x, y in loader:
        optimizer.zero_grad()
        loss_of(network(x[None])[0], y).backward()
        optimizer.step()
        schedule.step()


class _Images(torch.utils.data.Dataset[tuple[torch.Tensor, int]]):
    """Images scaled, cropped and mirrored one by one."""

    def __init__(self, data: DataSet) -> None:
        self.images = torch.tensor(np.asarray(data.inputs)).permute(0, 3, 1, 2).float() / 255
        self.labels = data.targets().argmax(axis=1)
        self.mean = self.images.mean((0, 2, 3))[:, None, None]
        self.std = self.images.std((0, 2, 3))[:, None, None]

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, row: int) -> tuple[torch.Tensor, int]:
        image = functional.pad((self.images[row] - self.mean) / self.std, [BORDER] * 4)
        y, x = torch.randint(0, 2 * BORDER + 1, (2,)).tolist()
        image = image[:, y : y + SIDE, x : x + SIDE]
        return image.flip(-1) if torch.rand(()) < 0.5 else image, int(self.labels[row])


def made() -> DataSet:
    """Return noise with labels; a tenth of it is held out, as by every one-cycle training."""
    rng = np.random.default_rng(0)
    n = N_IMAGES + N_IMAGES // 8
    return DataSet(
        name="made",
        task="image",
        inputs=rng.integers(0, 256, (n, SIDE, SIDE, 3), dtype=np.uint8),
        ids=np.arange(n).astype(np.str_),
        class_names=tuple(map(str, range(N_CLASSES))),
        values=np.arange(float(N_CLASSES)),
        train=np.arange(N_IMAGES),
        validation=np.arange(N_IMAGES, n),
        test=np.zeros(0, np.int64),
        annotations=Annotations.from_probs(np.eye(N_CLASSES)[rng.integers(0, N_CLASSES, n)]),
        annotated=np.arange(n),
        licence="",
        citation="",
    )
