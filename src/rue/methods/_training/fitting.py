"""Fitting: train all networks of a method together, and choose among settings.

Probes of all seeds, members and settings train as stacks; networks for images one after another.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from rue._arrays import IntArray
from rue.data.dataset import DataSet
from rue.data.splits import N_FOLDS, hashed, hold_out, stream
from rue.errors import FileError, InputError
from rue.io.atomic import sha256
from rue.methods._training.checkpoints import Checkpoint
from rue.methods._training.models import Model
from rue.methods._training.networks import (
    NetworkStack,
    Probe,
    SmallCNN,
    find_device,
    seeded,
)
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import Pool, make_pool
from rue.methods._training.resnet import ResNet9, ResNet18, Stem, load_weights
from rue.methods._training.settings import Training, chosen_trials, n_tuned, trials, tuning_axes
from rue.methods._training.training import Member, diverged, train
from rue.methods.learner import FitRequest, Recipe, Trained

_OnStep = Callable[[int, float | None], None]
_N_WHITENING = 2_000  # images by which a first layer is whitened
_MOST = 1 << 24  # parameters of a stack: larger ones do not fit in the processor's caches
_IMAGE_NETWORKS = (
    "small_cnn, resnet9, resnet18 or resnet18_imagenet (in a suite: small_images, resnet9, cifar "
    "or fine_tuning)"
)


@dataclass(frozen=True, eq=False)
class Job:
    """One network to train: the indices of its pool, setting and seed."""

    pool: Pool
    member: Member
    trial: int
    seed: int


def fit_models(recipe: Recipe, request: FitRequest, training: Training) -> list[Trained]:
    """Train all members of all seeds and settings; return the best of each seed."""
    seeds = request.seeds
    pool_of = {
        id(data): _held_out_and_pool(data, recipe, training)
        for data in {id(data): data for data in request.data}.values()
    }
    sets, pools = zip(*(pool_of[id(data)] for data in request.data), strict=True)
    settings = trials(training, tuning_axes(training, dropout=recipe.dropout))
    n = n_tuned(training, len(seeds))
    models = fit_pools(
        recipe, pools[:n], [[setting] * n for setting in settings], seeds[:n], request
    )
    best = models[0]
    if len(settings) > 1:
        losses = [
            [_log_loss(model, pool, recipe) for model, pool in zip(trial, pools[:n], strict=True)]
            for trial in models
        ]
        best = [models[t][s] for s, t in enumerate(chosen_trials(np.array(losses), training))]
    if n < len(seeds):
        chosen = [[best[0].training] * (len(seeds) - n)]
        best += fit_pools(recipe, pools[n:], chosen, seeds[n:], request)[0]
    for model in best:
        if min(model.epochs) == 0:
            raise diverged(model.training)
    return [Trained(*trained) for trained in zip(sets, best, pools, strict=True)]


def fit_pools(
    recipe: Recipe,
    pools: Sequence[Pool],
    settings: Sequence[Sequence[Training]],
    seeds: Sequence[int],
    request: FitRequest,
) -> list[list[Model]]:
    """Train every member on each seed's pool with each of its settings; return all models."""
    jobs = [
        Job(pool, make_member(recipe, pool, seed, i, setting), t, s)
        for t, trial in enumerate(settings)
        for s, (pool, seed, setting) in enumerate(zip(pools, seeds, trial, strict=True))
        for i in range(recipe.n_members)
    ]
    folder = _checkpoint_folder(jobs[0], request)
    parts: dict[tuple[int, int], list[tuple[NetworkStack, list[int], list[int]]]] = {}
    with _bar(jobs, request.progress) as on_step:
        for group in groups(jobs, recipe):
            pool, members = stack(group)
            network = initial(pool, members, recipe).to(pool.inputs.device)
            epochs = train(
                network,
                pool,
                members,
                recipe.objective or cross_entropy,
                coefficient=recipe.coefficient,
                on_step=on_step,
                checkpoint=find_checkpoint(folder, members[0], pool, recipe),
            )
            for key in dict.fromkeys((job.trial, job.seed) for job in group):
                mine = [i for i, job in enumerate(group) if (job.trial, job.seed) == key]
                indices = [members[i].index for i in mine]
                part = network.take(mine), [epochs[i] for i in mine], indices
                parts.setdefault(key, []).append(part)
    models: list[list[Model]] = []
    for t, trial in enumerate(settings):
        models.append([])
        for s, (pool, seed, setting) in enumerate(zip(pools, seeds, trial, strict=True)):
            networks, of_epochs, of_members = zip(*parts[t, s], strict=True)
            own = (tuple(chain.from_iterable(each)) for each in (of_epochs, of_members))
            models[-1].append(Model(networks, pool.scaling, seed, setting, *own))
    return models


def _checkpoint_folder(job: Job, request: FitRequest) -> Path | None:
    """Create the folder of checkpoints, without its parents; None for probes, which have none."""
    if request.checkpoints is None or job.member.training.is_probe:
        return None
    folder = Path(request.checkpoints)
    try:
        folder.mkdir(exist_ok=True)  # if the folder of a run was moved, it is not created again
    except OSError as error:
        raise FileError(f"{folder}: cannot be created for checkpoints: {error.strerror}") from None
    return folder


def _stops(recipe: Recipe, training: Training) -> bool:
    """Return whether networks keep their best epoch."""
    anneals = training.is_probe or training.schedule == "one_cycle"
    return training.regime == "tuned" or not (anneals or recipe.dropout)


def _log_loss(model: Model, pool: Pool, recipe: Recipe) -> float:
    """Return the log loss of the mean prediction on the points held out; inf if it diverged."""
    if min(model.epochs) == 0:
        return float("inf")
    total = 0.0
    for _, x, y in pool.chunks(pool.held_out, model.chunk):
        if recipe.log_loss is not None:
            total += float(recipe.log_loss(model, x, y.double()).sum())
            continue
        mean = model.mean(x) if recipe.mean is None else recipe.mean(model, x)
        logs = mean.double().clamp(min=1e-12).log()
        total -= float((y.double() / y.double().sum(-1, keepdim=True) * logs).sum())
    return total / len(pool.inputs[pool.held_out])


def _held_out_and_pool(data: DataSet, recipe: Recipe, training: Training) -> tuple[DataSet, Pool]:
    # With one_cycle no epoch is chosen, but all methods learn the same points, temperature or not.
    held_out = recipe.held_out or _stops(recipe, training) or training.schedule == "one_cycle"
    data = hold_out(data) if held_out else replace(data, validation=data.validation[:0])
    device = find_device(training.device)
    pool = make_pool(data, device, statistics=training.statistics, kind=recipe.kind)
    if training.is_probe != (pool.inputs.ndim == 2):
        images = "images", _IMAGE_NETWORKS
        kind, way = ("a matrix", "probe") if pool.inputs.ndim == 2 else images
        raise InputError(f"network {training.network!r} does not take {kind}: set network to {way}")
    if not training.is_probe and pool.n_train == 1:
        raise InputError("a network for images needs at least 2 training points, got 1")
    return data, pool


@contextmanager
def _bar(jobs: Sequence[Job], progress: bool) -> Iterator[_OnStep | None]:
    """Return a progress bar over all points of all epochs, with the loss of the last epoch."""
    if not progress:
        yield None
        return
    from tqdm import tqdm

    members = [job.member for job in jobs]
    n_points = sum(m.training.epochs * len(m.rows) for m in members)
    with tqdm(total=n_points, unit=" points", unit_scale=True, desc=members[0].method) as bar:

        def on_step(n: int, loss: float | None) -> None:
            bar.update(n)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.4f}")

        yield on_step


def make_member(recipe: Recipe, pool: Pool, seed: int, index: int, setting: Training) -> Member:
    """Return a network to train: its rows of the pool, and how it is trained."""
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
        rows = rows[fold_of_each(len(rows)) != fold % N_FOLDS]
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
        held_out=pool.held_out if _stops(recipe, setting) else None,
    )


def fold_of_each(n: int) -> IntArray:
    """Return the fold, 0..4, of each of n rows; it is the same for all seeds."""
    return stream("folds", n).permutation(n) % N_FOLDS


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
    offsets = np.cumsum([0, *(len(pool.inputs) for pool in pools)]).tolist()
    offset = dict(zip(map(id, pools), offsets, strict=False))
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
    folder: str | os.PathLike[str] | None, member: Member, pool: Pool, recipe: Recipe
) -> Checkpoint | None:
    """Return the checkpoint of a member, identified by all that its training depends on."""
    if folder is None:
        return None
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
    member_of[pool.train] = folds + 1
    # Row i of the logits is of member model.members[i].
    row_of = torch.tensor([model.members.index(i) for i in range(1 + N_FOLDS)]).to(member_of.device)
    parts = []
    for rows, x, y in pool.chunks(slice(0, len(pool.inputs)), model.chunk):
        logs = torch.log_softmax(model.logits(x).double(), -1)
        own = logs[row_of[member_of[rows]], torch.arange(len(x), device=member_of.device)]
        target = y.double() / y.double().sum(-1, keepdim=True)
        parts.append((torch.special.xlogy(target, target) - target * own).sum(-1, keepdim=True))
    return torch.cat(parts).clamp(min=0).float()
