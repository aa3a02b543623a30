"""The one training loop.

It trains a stack of networks that share nothing, each with its own rows, data order, dropout
masks, start, learning rate, weight decay and best epoch. The loss is the sum of the members'
losses, so every member has the gradient it would have alone, and both optimisers act on each
number by itself. A member that has stopped leaves the stack, which does not affect the others.
"""

import copy
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from rue._arrays import IntArray
from rue._kernels.threads import kept_memory
from rue.data.splits import stream
from rue.errors import InputError
from rue.methods._training.checkpoints import (
    PATIENCE,
    Best,
    Checkpoint,
    Stateful,
    held_out_loss,
)
from rue.methods._training.networks import (
    LANES,
    NetworkStack,
    find_precision,
    leading,
    project_exactly,
    project_members,
)
from rue.methods._training.objectives import Objective
from rue.methods._training.pools import Pool, crop_and_flip, flip
from rue.methods._training.settings import Training

if TYPE_CHECKING:
    from rue.methods._training.weights import Moments

_LEVELS = 1 << 16  # dropout masks are drawn as 16-bit numbers
_OnStep = Callable[[int, float | None], None]


class StackOptimizer:
    """AdamW (fused), or SGD with momentum 0.9, on a stack of networks.

    Members with the same settings lie side by side, so each run of them is a slice of every
    parameter; torch's own optimiser takes the slices as parameters of one group.
    """

    def __init__(self, network: NetworkStack, settings: Sequence[Training]) -> None:
        self.settings = list(settings)
        self.whole = list(network.parameters())
        self.runs: list[slice] = []
        groups: list[dict[str, Any]] = []
        for (lr, decay), run in groupby(settings, key=lambda s: (s.lr, s.weight_decay)):
            first = self.runs[-1].stop if self.runs else 0
            self.runs.append(slice(first, first + len(list(run))))
            groups.append({"params": [], "lr": lr, "weight_decay": decay})
        if len(self.runs) == 1:
            groups[0]["params"] = self.whole
        else:
            for group, part in zip(groups, self.runs, strict=True):
                group["params"] = [nn.Parameter(p.detach()[part]) for p in self.whole]
        self.rates = [group["lr"] for group in groups]
        self.torch: torch.optim.Optimizer
        if settings[0].optimizer == "adamw":
            self.torch = torch.optim.AdamW(groups, fused=True)
        else:
            nesterov = settings[0].schedule == "one_cycle"
            self.torch = torch.optim.SGD(groups, lr=self.rates[0], momentum=0.9, nesterov=nesterov)

    def scale_rates(self, factor: float) -> None:
        """Set every rate to ``factor`` times its own."""
        for group, rate in zip(self.torch.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor

    def step(self, loss: Tensor) -> None:
        """Take one step down the gradient of a sum of the members' losses."""
        for parameter in self.whole:
            parameter.grad = None
        torch.autograd.backward(loss)
        if len(self.runs) > 1:
            for group, part in zip(self.torch.param_groups, self.runs, strict=True):
                for own, parameter in zip(group["params"], self.whole, strict=True):
                    own.grad = None if parameter.grad is None else parameter.grad[part]
        self.torch.step()

    def take(self, network: NetworkStack, members: Sequence[int]) -> "StackOptimizer":
        """Continue with some of the members, whose networks are ``network``."""
        other = StackOptimizer(network, [self.settings[i] for i in members])
        index = torch.tensor(list(members))
        for place in range(len(self.whole)):
            states = [self.torch.state[group["params"][place]] for group in self.torch.param_groups]
            joined = {
                name: torch.cat([state[name] for state in states])[index]
                for name, value in states[0].items()
                if isinstance(value, Tensor) and value.ndim
            }
            for group, part in zip(other.torch.param_groups, other.runs, strict=True):
                # What is not of a number each, the count of steps, is the same for all members.
                own = {
                    name: joined[name][part] if name in joined else copy.deepcopy(value)
                    for name, value in states[0].items()
                }
                other.torch.state[group["params"][place]] = own
        return other


@dataclass(frozen=True, eq=False)
class Member:
    """One network of a stack: whose it is, how it is trained, and on which rows of the pool."""

    method: str
    seed: int
    index: int
    rows: IntArray
    training: Training
    dropout: float = 0.0
    held_out: slice | None = None

    @property
    def names(self) -> tuple[str, int, int]:
        """The names from which its random numbers are hashed."""
        return self.method, self.seed, self.index


def train(
    network: NetworkStack,
    pool: Pool,
    members: Sequence[Member],
    objective: Objective,
    *,
    coefficient: float | None = None,
    checkpoint: Checkpoint | None = None,
    record: "Moments | None" = None,
    on_step: _OnStep | None = None,
) -> list[int]:
    """Train a stack of networks in place; return the epoch of each member's weights."""
    training = members[0].training
    stack = _Stack(
        network,
        StackOptimizer(network, [member.training for member in members]),
        list(members),
        list(range(len(members))),
        coefficient,
        leading([] if coefficient is None else network.hidden()),
    )
    best = None if members[0].held_out is None else Best(network)
    # A network with a checkpoint trains by itself, so these parts stay the same.
    parts: dict[str, Stateful | None] = {
        "network": network,
        "optimizer": stack.optimizer.torch,
        "best": best,
        "record": record,
    }
    start = 0
    if checkpoint is not None and checkpoint.path.exists():
        device = next(network.parameters()).device
        start = checkpoint.read(device, stack.vectors, parts)
        if best is not None:
            stack = stack.going_on(best, start, np.ones(len(members), bool), on_step)
    network.train()
    for epoch in range(start, training.epochs if stack.places else start):
        with nullcontext() if training.is_probe else kept_memory():
            losses = _run_epoch(stack, pool, objective, epoch, on_step)
        if best is None and not np.isfinite(losses).all():
            raise diverged(members[int(np.argmin(np.isfinite(losses)))].training)
        if best is not None:
            rows = [m.held_out for m in stack.members if m.held_out is not None]
            chunk = 1024 if training.is_probe else 256
            held_out = held_out_loss(stack.network, pool, rows, objective, chunk)
            best.update(stack.network, stack.places, epoch + 1, held_out)
        if record is not None:
            record.after_epoch(network)
        if checkpoint is not None:
            checkpoint.write(epoch + 1, stack.vectors, parts)
        if on_step is not None:
            on_step(0, float(losses.mean()))
        if best is not None:
            stack = stack.going_on(best, epoch + 1, np.isfinite(losses), on_step)
            if not stack.places:
                break
    if best is not None:
        network.load_state_dict(best.state)
    if coefficient is not None:
        project_exactly(network.hidden(), coefficient)
    network.eval()
    return [training.epochs] * len(members) if best is None else best.epoch.tolist()


def diverged(training: Training) -> InputError:
    """Return the message for a training that diverged."""
    return InputError(f"training diverged, its loss is not finite: lr {training.lr} is too high")


def keep(rng: np.random.Generator, shape: Sequence[int], dropout: float) -> np.ndarray:
    """Return which units are kept, each with probability 1 - dropout to within 2^-17."""
    size = math.prod(shape)
    words = rng.bit_generator.random_raw(-(-size // 4))  # of 64 bits, four units each
    return words.view(np.uint16)[:size].reshape(shape) >= round(dropout * _LEVELS)


@dataclass(frozen=True, eq=False)
class _Stack:
    """The members that still train, and their places in the stack that was given."""

    network: NetworkStack
    optimizer: StackOptimizer
    members: list[Member]
    places: list[int]
    coefficient: float | None
    vectors: list[Tensor]

    def project(self) -> None:
        """Keep the hidden layers' norms at most at the coefficient, where there is one."""
        if self.coefficient is not None:
            project_members(self.network.hidden(), self.vectors, self.coefficient)

    def going_on(
        self, best: Best, epoch: int, finite: np.ndarray, on_step: _OnStep | None
    ) -> "_Stack":
        """Remove the members that have diverged or stopped improving."""
        training = self.members[0].training
        patience = PATIENCE if training.is_constant else training.epochs
        on = [
            i
            for i, place in enumerate(self.places)
            if finite[i] and epoch - best.epoch[place] < patience
        ]
        if len(on) == len(self.members):
            return self
        if on_step is not None:
            n_left = sum(len(m.rows) for i, m in enumerate(self.members) if i not in on)
            on_step(n_left * (training.epochs - epoch), None)
        if not on:
            return replace(self, members=[], places=[])
        network = self.network.take(on)
        network.train()
        return _Stack(
            network,
            self.optimizer.take(network, on),
            [self.members[i] for i in on],
            [self.places[i] for i in on],
            self.coefficient,
            [v[torch.tensor(on)] for v in self.vectors],
        )


def _run_epoch(
    stack: _Stack,
    pool: Pool,
    objective: Objective,
    epoch: int,
    on_step: _OnStep | None,
) -> np.ndarray:
    """Run the steps of an epoch; return the mean loss of each member."""
    device = pool.inputs.device
    training = stack.members[0].training
    streams = [stream(*member.names, "epoch", epoch) for member in stack.members]
    way = {"none": None, "flips": flip, "crops": crop_and_flip}[training.augment]
    augment = None if way is None else functools.partial(way, rng=streams[0])
    n_features = stack.network.head()[0].shape[2]
    total = torch.zeros(len(stack.members), device=device)
    batches = list(_batches(stack.members, streams))
    n_steps = len(batches)
    mixed = find_precision(training, device) == "bfloat16"
    for step, (rows, weight) in enumerate(batches, epoch * n_steps):
        stack.optimizer.scale_rates(training.rate_factor(step, n_steps * training.epochs, epoch))
        x, y = pool.batch(rows.to(device), augment)
        mask = _mask(stack.members, streams, (rows.shape[1], n_features))
        with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
            logits = stack.network(x, None if mask is None else mask.to(device))
        losses = (objective(logits, y) * weight.to(device)).sum(1)
        stack.optimizer.step(losses.sum())
        stack.project()
        total += losses.detach()
        if on_step is not None:
            on_step(int(weight.count_nonzero()), None)
    return (total / n_steps).cpu().numpy()


def _batches(
    members: Sequence[Member], streams: Sequence[np.random.Generator]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Return rows (n_members, n) in each member's own order, and each row's weight in the loss."""
    training = members[0].training
    longest = max(len(member.rows) for member in members)
    order = np.zeros((len(members), longest), np.int64)
    real = np.zeros((len(members), longest), np.float32)
    for i, (member, rng) in enumerate(zip(members, streams, strict=True)):
        order[i, : len(member.rows)] = rng.permutation(member.rows)
        real[i, : len(member.rows)] = 1.0
    bounds = [*range(0, longest, training.batch_size), longest]
    if not training.is_probe and len(bounds) > 2 and bounds[-2] == longest - 1:
        del bounds[-2]
    for first, last in pairwise(bounds):
        fill = (0, 0), (0, -(last - first) % LANES if training.is_probe else 0)
        real_part = np.pad(real[:, first:last], fill)
        share = real_part / real_part.sum(axis=1, keepdims=True)
        yield torch.from_numpy(np.pad(order[:, first:last], fill)), torch.from_numpy(share)


def _mask(
    members: Sequence[Member], streams: Sequence[np.random.Generator], shape: Sequence[int]
) -> Tensor | None:
    """Return the factors of each member's features (n, n_features): 0, or 1 / (1 - p)."""
    if not any(member.dropout for member in members):
        return None
    masks = np.stack([keep(rng, shape, m.dropout) for m, rng in zip(members, streams, strict=True)])
    stays = torch.tensor([1 - member.dropout for member in members])[:, None, None]
    return torch.from_numpy(masks.view(np.uint8)).float().div_(stays)
