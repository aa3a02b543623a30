"""Checkpoints: the state after an epoch, from which training resumes bit for bit.

They contain no state of random numbers, which are hashed from the epoch
(:mod:`rue.data.splits`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rue._arrays import FloatArray
from rue.errors import FileError
from rue.io.atomic import replacing
from rue.methods._training.networks import LANES, NetworkStack
from rue.methods._training.objectives import Objective
from rue.methods._training.pools import Pool

PATIENCE = 5
"""Epochs without a lower validation loss after which a member stops (constant rates only)."""


class Best:
    """The best epoch of each member so far, and its weights."""

    def __init__(self, network: NetworkStack) -> None:
        self.n_members = network.n_members
        self.loss = np.full(network.n_members, np.inf)
        self.epoch = np.zeros(network.n_members, np.int64)
        self.state = {name: value.clone() for name, value in network.state_dict().items()}

    def update(
        self, network: NetworkStack, members: Sequence[int], epoch: int, losses: FloatArray
    ) -> None:
        """Keep the weights of the members whose loss is the lowest so far."""
        places = np.flatnonzero(losses < self.loss[list(members)])
        better = np.asarray(members)[places]
        self.loss[better], self.epoch[better] = losses[places], epoch
        if not len(places):
            return
        for name, value in network.state_dict().items():
            if self.n_members == 1:
                self.state[name].copy_(value)
            else:
                self.state[name][torch.from_numpy(better)] = value[torch.from_numpy(places)]

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"loss": self.loss.tolist(), "epoch": self.epoch.tolist(), "state": self.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self.loss = np.array(state["loss"], dtype=np.float64)
        self.epoch = np.array(state["epoch"], dtype=np.int64)
        self.state = dict(state["state"])


@torch.no_grad()
def held_out_loss(
    network: NetworkStack, pool: Pool, held_out: Sequence[slice], objective: Objective, chunk: int
) -> FloatArray:
    """Return each member's mean loss on its own held-out rows of the pool, shape (n_members,)."""
    losses = np.empty(network.n_members)
    network.eval()
    for start, stop in dict.fromkeys((part.start, part.stop) for part in held_out):
        places = [i for i, part in enumerate(held_out) if (part.start, part.stop) == (start, stop)]
        stack = network if len(places) == network.n_members else network.take(places)
        total = torch.zeros(len(places), dtype=torch.float64, device=pool.inputs.device)
        for _, x, y in pool.chunks(slice(start, stop), chunk):
            n = len(y)
            if x.ndim == 2:
                x, y = (functional.pad(part, (0, 0, 0, -n % LANES)) for part in (x, y))
            logits = stack(x.expand(len(places), *x.shape))
            loss = objective(logits, y.expand(len(places), *y.shape))
            total += loss[:, :n].double().sum(1)
        losses[places] = (total / (stop - start)).cpu().numpy()
    network.train()
    return losses


class Stateful(Protocol):
    """A part of training with a state: a network, an optimiser, the best epochs, a record."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint: numbers and tensors."""

    def load_state_dict(self, state: dict[str, Any], /) -> Any:
        """Restore the state from a checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """A file, and a text that identifies its training."""

    path: Path
    training: str

    def write(
        self, epoch: int, vectors: list[Tensor], parts: Mapping[str, Stateful | None]
    ) -> None:
        """Write the state after ``epoch`` epochs, completely or not at all."""
        states = {n: None if part is None else part.state_dict() for n, part in parts.items()}
        with replacing(self.path) as file:
            content = {"training": self.training, "epoch": epoch, "vectors": vectors, **states}
            torch.save(content, file)

    def read(
        self, device: torch.device, vectors: list[Tensor], parts: Mapping[str, Stateful | None]
    ) -> int:
        """Load the state into all arguments; return the number of epochs done."""
        try:
            state = torch.load(self.path, map_location=device, weights_only=True)
            written, epoch = state["training"], int(state["epoch"])
            if written == self.training:
                vectors[:] = state["vectors"]
                for name, part in parts.items():
                    if part is not None:
                        part.load_state_dict(state[name])
        except Exception:  # torch raises errors of pickle, zip, the OS and its own
            raise FileError(f"{self.path}: is not a checkpoint") from None
        if written != self.training:
            raise FileError(f"{self.path}: is a checkpoint of another training: {written}")
        return epoch
