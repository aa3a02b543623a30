"""Checkpoints: the state after an epoch, from which training resumes bit for bit.

They contain no state of random numbers, which are hashed from the epoch
(:mod:`rue.methods._training.streams`).
"""

from collections.abc import Sequence
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

    def content(self) -> dict[str, object]:
        """Return the content for a checkpoint."""
        return {"loss": self.loss.tolist(), "epoch": self.epoch.tolist(), "state": self.state}

    def restore(self, content: dict[str, object]) -> None:
        """Restore the content of a checkpoint."""
        self.loss = np.array(content["loss"], dtype=np.float64)
        self.epoch = np.array(content["epoch"], dtype=np.int64)
        self.state = dict(content["state"])  # type: ignore[call-overload]


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
        for first in range(start, stop, chunk):
            rows = slice(first, min(first + chunk, stop))
            x, y = pool.points(rows)
            n = len(y)
            if x.ndim == 2:
                x, y = (functional.pad(part, (0, 0, 0, -n % LANES)) for part in (x, y))
            logits = stack(x.expand(len(places), *x.shape))
            loss = objective(logits, y.expand(len(places), *y.shape))
            total += loss[:, :n].double().sum(1)
        losses[places] = (total / (stop - start)).cpu().numpy()
    network.train()
    return losses


class EpochRecord(Protocol):
    """What is collected from the weights after each epoch, such as their moments."""

    def after_epoch(self, network: NetworkStack) -> None:
        """Add the weights after one more epoch."""

    def content(self) -> dict[str, Any]:
        """Return the content for a checkpoint: numbers and tensors."""

    def restore(self, content: dict[str, Any]) -> None:
        """Restore the content of a checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """A file, and a text that identifies its training."""

    path: Path
    training: str

    def write(
        self,
        network: NetworkStack,
        optimizer: torch.optim.Optimizer,
        epoch: int,
        vectors: list[Tensor],
        best: Best | None,
        record: EpochRecord | None = None,
    ) -> None:
        """Write the state after ``epoch`` epochs, completely or not at all."""
        state = {
            "training": self.training,
            "epoch": epoch,
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "vectors": vectors,
            "best": None if best is None else best.content(),
            "record": None if record is None else record.content(),
        }
        with replacing(self.path) as file:
            torch.save(state, file)

    def read(
        self,
        network: NetworkStack,
        optimizer: torch.optim.Optimizer,
        vectors: list[Tensor],
        best: Best | None,
        record: EpochRecord | None = None,
    ) -> int:
        """Load the state into all arguments; return the number of epochs done."""
        device = next(network.parameters()).device
        try:
            state = torch.load(self.path, map_location=device, weights_only=True)
            written, epoch = state["training"], int(state["epoch"])
            if written == self.training:
                network.load_state_dict(state["network"])
                optimizer.load_state_dict(state["optimizer"])
                vectors[:] = state["vectors"]
                if best is not None:
                    best.restore(state["best"])
                if record is not None:
                    record.restore(state["record"])
        except Exception:  # torch raises errors of pickle, zip, the OS and its own
            raise FileError(f"{self.path}: is not a checkpoint") from None
        if written != self.training:
            raise FileError(f"{self.path}: is a checkpoint of another training: {written}")
        return epoch
