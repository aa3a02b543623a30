"""Jobs: single networks to train, and how they are grouped into stacks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from rue._arrays import IntArray
from rue.data.splits import N_FOLDS
from rue.errors import InputError
from rue.io.atomic import sha256
from rue.methods._training.checkpoints import Checkpoint
from rue.methods._training.models import Recipe
from rue.methods._training.networks import NetworkStack, Probe, SmallCNN, seeded
from rue.methods._training.pools import Pool
from rue.methods._training.resnet import ResNet9, ResNet18, Stem, load_weights
from rue.methods._training.settings import Training
from rue.methods._training.streams import hashed, stream
from rue.methods._training.training import Member
from rue.methods.learner import Trained

_N_WHITENING = 2_000  # images by which a first layer is whitened
_MOST = 1 << 24  # parameters of a stack: larger ones do not fit in the processor's caches


@dataclass(frozen=True, eq=False)
class Job:
    """One network to train: the indices of its pool, setting and seed."""

    pool: Pool
    member: Member
    trial: int
    seed: int


def make_member(
    recipe: Recipe, pool: Pool, seed: int, index: int, setting: Training, stops: bool
) -> Member:
    rows = np.arange(pool.n_train)
    if recipe.least_answers:
        enough = pool.targets[: pool.n_train].sum(1) >= recipe.least_answers
        rows = rows[enough.cpu().numpy()]
    fold = index if setting.is_probe and recipe.n_members > 1 else None
    if recipe.fold_of is not None:
        fold = recipe.fold_of(index)
    if fold is not None:
        if len(rows) == 1:
            raise InputError("members that leave a fold out need at least 2 training points, got 1")
        rows = rows[_rows(len(rows), fold)]
    # As the authors' code does: networks for images are trained without dropout.
    thinned = recipe.dropout and (setting.is_probe or setting.regime == "tuned")
    # Methods that differ in their predictions alone share networks, as far as seeds are equal.
    shared = setting.network == "resnet9" and recipe.is_plain and not thinned
    return Member(
        "network" if shared else recipe.method,
        seed,
        index,
        rows,
        setting,
        dropout=setting.dropout if thinned else 0.0,
        held_out=pool.held_out if stops else None,
    )


def fold_of_each(n: int) -> IntArray:
    """Return the fold, 0..4, of each of n rows; it is the same for all seeds."""
    return stream("folds", n).permutation(n) % N_FOLDS


def _rows(n: int, index: int) -> IntArray:
    """Return all of n rows except those of fold ``index``."""
    return np.flatnonzero(fold_of_each(n) != index % N_FOLDS)


def groups(jobs: Sequence[Job], recipe: Recipe) -> list[list[Job]]:
    """Group probes into stacks: equal features, outputs, units and batches per epoch."""
    if not jobs[0].member.training.is_probe:
        return [[job] for job in jobs]
    groups: dict[tuple[int, ...], list[Job]] = {}
    for job in jobs:
        setting, n_outputs = job.member.training, recipe.n_outputs(job.pool.n_classes)
        n_batches = -(-len(job.member.rows) // setting.batch_size)
        key = (*job.pool.scaling.shape, n_outputs, setting.width, setting.batch_size, n_batches)
        groups.setdefault(key, []).append(job)
    cut = []
    for (n_features, n_outputs, width, *_), group in groups.items():
        size = max(1, _MOST // ((n_features + n_outputs) * width))
        cut += [group[first : first + size] for first in range(0, len(group), size)]
    return cut


def stack(jobs: Sequence[Job]) -> tuple[Pool, list[Member]]:
    """Concatenate the pools of a group, and shift the rows of its members accordingly."""
    pools = list({id(job.pool): job.pool for job in jobs}.values())
    if len(pools) == 1:
        return pools[0], [job.member for job in jobs]
    offset, n_before = {}, 0
    for pool in pools:
        offset[id(pool)] = n_before
        n_before += len(pool.inputs)
    together = replace(
        pools[0],
        inputs=torch.cat([pool.inputs for pool in pools]),
        targets=torch.cat([_filled_up(pool, pools) for pool in pools]),
    )
    members = []
    for job in jobs:
        by, out = offset[id(job.pool)], job.member.held_out
        moved = None if out is None else slice(out.start + by, out.stop + by)
        members.append(replace(job.member, rows=job.member.rows + by, held_out=moved))
    return together, members


def _filled_up(pool: Pool, pools: Sequence[Pool]) -> torch.Tensor:
    """Return the targets padded to the same width, as ratings may have different maxima."""
    width = max(other.targets.shape[1] for other in pools)
    missing = width - pool.targets.shape[1]
    return torch.nn.functional.pad(pool.targets, (0, missing), value=torch.nan)


def initial(pool: Pool, members: Sequence[Member], recipe: Recipe) -> NetworkStack:
    """Draw the networks' parameters, each member's from its own seed."""
    seeds = [hashed(*member.names, "start") for member in members]
    n_outputs = recipe.n_outputs(pool.n_classes)
    if recipe.wrap is None:
        return _network(pool, seeds, members[0].training, n_outputs, recipe.slope)
    inner = _network(pool, seeds, members[0].training, 1, recipe.slope)
    return recipe.wrap(inner, seeds, n_outputs)


def _network(
    pool: Pool, seeds: Sequence[int], training: Training, n_outputs: int, slope: float
) -> NetworkStack:
    shape = pool.scaling.shape
    if training.is_probe:
        return Probe.initial(shape[0], n_outputs, seeds, width=training.width, slope=slope)
    network: NetworkStack
    if training.network == "small_cnn":
        size = (shape[0], shape[1], shape[2])
        network = seeded(seeds[0], lambda: SmallCNN(size, n_outputs, slope=slope))
    elif training.network == "resnet9":
        small: ResNet9 = seeded(seeds[0], lambda: ResNet9(shape, n_outputs, slope=slope))
        small.whiten(pool.points(slice(0, min(pool.n_train, _N_WHITENING)))[0].cpu())
        network = small
    else:
        stem: Stem = "cifar" if training.network == "resnet18" else "imagenet"
        resnet = seeded(seeds[0], lambda: ResNet18(shape[2], n_outputs, stem=stem, slope=slope))
        if training.weights is not None:
            load_weights(resnet, training.weights)
        network = resnet
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def find_checkpoint(
    folder: str | os.PathLike[str], member: Member, pool: Pool, recipe: Recipe
) -> Checkpoint:
    """Return the checkpoint of a member, identified by all that its training depends on."""
    training = member.training
    weights = None if training.weights is None else sha256(Path(training.weights))
    own = (recipe.slope, recipe.coefficient, recipe.settings)
    which = repr((*member.names, training, *own, pool.checksum(), weights))
    name = "-".join(map(str, member.names)).replace(" ", "-")
    if training.regime == "tuned":
        name += f"-{hashed(training):016x}"[:9]
    return Checkpoint(Path(folder) / f"{name}.pt", which)


def out_of_fold_regret(one: Trained) -> torch.Tensor:
    """Return each point's regret under the network that has not seen it, shape (n_points, 1)."""
    pool, model = one.pool, one.model
    folds = torch.from_numpy(fold_of_each(pool.n_train)).to(pool.inputs.device)
    member_of = torch.zeros(len(pool.inputs), dtype=torch.int64, device=pool.inputs.device)
    member_of[: pool.n_train] = folds + 1
    # Row i of the logits is of member model.members[i].
    row_of = torch.tensor([model.members.index(i) for i in range(1 + N_FOLDS)]).to(member_of.device)
    parts = []
    for first in range(0, len(pool.inputs), model.chunk):
        rows = slice(first, min(first + model.chunk, len(pool.inputs)))
        x, y = pool.points(rows)
        logs = torch.log_softmax(model.logits(x).double(), -1)
        own = logs[row_of[member_of[rows]], torch.arange(len(x), device=member_of.device)]
        target = y.double() / y.double().sum(-1, keepdim=True)
        parts.append((torch.special.xlogy(target, target) - target * own).sum(-1, keepdim=True))
    return torch.cat(parts).clamp(min=0).float()
