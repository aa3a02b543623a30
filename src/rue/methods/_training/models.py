"""Models: which networks train together, and what they say afterwards.

Probes of all seeds and members train as one stack; networks for images one after another.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from rue._arrays import IntArray
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError, ShapeError
from rue.io.atomic import sha256
from rue.methods._training.checkpoints import Checkpoint
from rue.methods._training.networks import Network, Probe, SmallCNN, seeded
from rue.methods._training.pools import Pool, Scaling, make_pool
from rue.methods._training.resnet import ResNet18, Stem, load_weights
from rue.methods._training.streams import hashed, stream
from rue.methods._training.training import (
    CIFAR,
    PROBE,
    Member,
    Objective,
    Training,
    cross_entropy,
    find_device,
    train,
)

__all__ = ["N_FOLDS", "Folder", "Model", "fit_models"]

Folder = str | os.PathLike[str] | None

N_FOLDS = 5
_Job = tuple[Pool, Member]
_OnStep = Callable[[int, float | None], None]


@dataclass(frozen=True, eq=False)
class Model:
    """The trained networks of one seed, and how inputs are scaled for them."""

    networks: tuple[Network, ...]
    scaling: Scaling
    seed: int
    training: Training

    @property
    def chunk(self) -> int:
        """How many inputs are looked at at once."""
        return 4096 if self.training.network == "probe" else 256

    def features(self, inputs: Inputs | ArrayLike) -> Iterator[tuple[slice, Tensor]]:
        """Give pre-logit features (n_members, n, n_features) chunk by chunk."""
        for rows, x in self.scaling.batches(inputs, self.chunk):
            yield rows, self.embed(x)

    @torch.no_grad()
    def embed(self, x: Tensor) -> Tensor:
        """Give pre-logit features of scaled inputs."""
        return torch.cat([n.features(x.expand(n.n_members, *x.shape)) for n in self.networks])

    def head(self) -> tuple[Tensor, Tensor]:
        """Give the last layers' weights (n_members, K, n_features) and biases (n_members, 1, K)."""
        weights, biases = zip(*(network.head() for network in self.networks), strict=True)
        return torch.cat(weights).detach(), torch.cat(biases).detach()

    def training_features(self, pool: Pool) -> Tensor:
        """Give features of the pool, (n_members, n, n_features), without augmentation."""
        parts = []
        for start in range(0, len(pool), self.chunk):
            x = pool.inputs[start : start + self.chunk]
            parts.append(self.embed(x if x.ndim == 2 else self.scaling(x)))
        return torch.cat(parts, dim=1)


def fit_models(
    method: str,
    data: DataSet | Sequence[DataSet],
    training: Training | None,
    seeds: Sequence[int],
    *,
    objective: Objective = cross_entropy,
    n_members: int = 1,
    slope: float = 0.0,
    coefficient: float | None = None,
    settings: tuple[object, ...] = (),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[tuple[Model, Pool]]:
    """Train all members of all seeds; give each seed's model and the pool it learnt from.

    ``data`` is one data set for all seeds, or one for each. With more than one member a probe's
    member i does not see fold i of 5. ``settings`` are the objective's own; a checkpoint is of
    these, of the network's name, of the training and of the data.
    """
    seeds = _whole(seeds)
    pools = _pools(data, training, seeds)
    training = training or (PROBE if pools[0].inputs.ndim == 2 else CIFAR)
    for pool in pools:
        if (training.network == "probe") != (pool.inputs.ndim == 2):
            kind = "a matrix" if pool.inputs.ndim == 2 else "images"
            raise InputError(f"network {training.network!r} does not take {kind}")
    if training.network != "probe" and min(map(len, pools)) == 1:
        raise InputError("a network for images needs at least 2 training points, got 1")
    folds = N_FOLDS if training.network == "probe" and n_members > 1 else 0
    if folds and min(map(len, pools)) == 1:
        raise InputError("members that leave a fold out need at least 2 training points, got 1")
    jobs = [
        (pool, Member(method, seed, i, _rows(len(pool), i, folds)))
        for pool, seed in zip(pools, seeds, strict=True)
        for i in range(n_members)
    ]
    if checkpoints is not None and training.network != "probe":
        # Once, so that the folder of a run that was moved is not made again in its old place.
        Path(checkpoints).mkdir(parents=True, exist_ok=True)
    trained: list[list[Network]] = [[] for _ in seeds]
    with _bar(jobs, training, progress) as on_step:
        for group in _groups(jobs, training):
            pool, members = _stack([jobs[j] for j in group])
            network = _initial(pool, members, training, slope).to(pool.inputs.device)
            checkpoint = None
            if checkpoints is not None and training.network != "probe":
                own = (slope, coefficient, settings)
                checkpoint = _checkpoint(checkpoints, members[0], pool, training, own)
            train(
                network,
                pool,
                members,
                training,
                objective,
                coefficient=coefficient,
                checkpoint=checkpoint,
                on_step=on_step,
            )
            for s in sorted({j // n_members for j in group}):
                mine = [place for place, j in enumerate(group) if j // n_members == s]
                trained[s].append(network.take(mine) if isinstance(network, Probe) else network)
    return [
        (Model(tuple(networks), pool.scaling, seed, training), pool)
        for networks, pool, seed in zip(trained, pools, seeds, strict=True)
    ]


def _whole(seeds: Sequence[int]) -> list[int]:
    """Take different whole numbers, as Python's own: random numbers hang on how they print."""
    found = list(seeds) if np.iterable(seeds) else []
    whole = all(isinstance(s, int | np.integer) and not isinstance(s, bool) for s in found)
    if not found or not whole or len(set(found)) < len(found):
        raise InputError(f"seeds must be one or more different whole numbers, got {seeds!r}")
    return [int(seed) for seed in found]


def _pools(
    data: DataSet | Sequence[DataSet], training: Training | None, seeds: Sequence[int]
) -> list[Pool]:
    each = [data] * len(seeds) if isinstance(data, DataSet) else list(data)
    if len(each) != len(seeds):
        raise ShapeError(
            f"data must be one set, or one for each of {len(seeds)} seeds, got {len(each)}"
        )
    device = find_device(training.device if training else "auto")
    made = {id(one): make_pool(one, device) for one in {id(one): one for one in each}.values()}
    return [made[id(one)] for one in each]


def _rows(n: int, index: int, folds: int) -> IntArray:
    """All rows, or all but fold ``index``; folds are dealt once for all seeds."""
    if not folds:
        return np.arange(n)
    return np.flatnonzero(stream("folds", n).permutation(n) % folds != index % folds)


def _groups(jobs: Sequence[_Job], training: Training) -> list[list[int]]:
    """Probes that may train as one stack: as many features, classes and batches an epoch."""
    if training.network != "probe":
        return [[j] for j in range(len(jobs))]
    groups: dict[tuple[int, ...], list[int]] = {}
    for j, (pool, member) in enumerate(jobs):
        n_batches = -(-len(member.rows) // training.batch_size)
        groups.setdefault((*pool.scaling.shape, pool.n_classes, n_batches), []).append(j)
    return list(groups.values())


def _stack(jobs: Sequence[_Job]) -> tuple[Pool, list[Member]]:
    """Put the pools of a group one after another, and move its members' rows along."""
    pools = list({id(pool): pool for pool, _ in jobs}.values())
    if len(pools) == 1:
        return pools[0], [member for _, member in jobs]
    offset, n_before = {}, 0
    for pool in pools:
        offset[id(pool)] = n_before
        n_before += len(pool)
    together = replace(
        pools[0],
        inputs=torch.cat([pool.inputs for pool in pools]),
        targets=torch.cat([pool.targets for pool in pools]),
    )
    return together, [replace(m, rows=m.rows + offset[id(pool)]) for pool, m in jobs]


def _initial(pool: Pool, members: Sequence[Member], training: Training, slope: float) -> Network:
    seeds = [hashed(*member.names, "start") for member in members]
    shape, n_classes = pool.scaling.shape, pool.n_classes
    if training.network == "probe":
        return Probe.initial(shape[0], n_classes, seeds, width=training.width, slope=slope)
    network: Network
    if training.network == "small_cnn":
        size = (shape[0], shape[1], shape[2])
        network = seeded(seeds[0], lambda: SmallCNN(size, n_classes, slope=slope))
    else:
        stem: Stem = "cifar" if training.network == "resnet18" else "imagenet"
        resnet = seeded(seeds[0], lambda: ResNet18(shape[2], n_classes, stem=stem, slope=slope))
        if training.weights is not None:
            load_weights(resnet, training.weights)
        network = resnet
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _checkpoint(
    folder: str | os.PathLike[str],
    member: Member,
    pool: Pool,
    training: Training,
    settings: tuple[object, ...],
) -> Checkpoint:
    """A member's file, and all that its training hangs on, the content of files too."""
    weights = None if training.weights is None else sha256(Path(training.weights))
    which = repr((*member.names, training, *settings, pool.checksum(), weights))
    return Checkpoint(Path(folder) / ("-".join(map(str, member.names)) + ".pt"), which)


@contextmanager
def _bar(jobs: Sequence[_Job], training: Training, progress: bool) -> Iterator[_OnStep | None]:
    """A bar over all points of all epochs, with their rate and the last epoch's loss."""
    if not progress:
        yield None
        return
    from tqdm import tqdm

    n_points = training.epochs * sum(len(member.rows) for _, member in jobs)
    with tqdm(total=n_points, unit=" points", unit_scale=True, desc=jobs[0][1].method) as bar:

        def on_step(n: int, loss: float | None) -> None:
            bar.update(n)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.4f}")

        yield on_step
