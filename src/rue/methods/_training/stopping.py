"""Early stopping: each member's loss on held-out points, and its weights at the best epoch.

The best epoch of a member does not depend on the other members.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from rue._arrays import FloatArray
from rue.methods._training.networks import LANES, Network
from rue.methods._training.objectives import Objective
from rue.methods._training.pools import Pool

__all__ = ["PATIENCE", "Best", "held_out_loss"]

PATIENCE = 5
"""Epochs without a lower validation loss after which a member stops (constant rates only)."""


class Best:
    """The best epoch of each member so far, and its weights."""

    def __init__(self, network: Network) -> None:
        self.n_members = network.n_members
        self.loss = np.full(network.n_members, np.inf)
        self.epoch = np.zeros(network.n_members, np.int64)
        self.state = {name: value.clone() for name, value in network.state_dict().items()}

    def update(
        self, network: Network, members: Sequence[int], epoch: int, losses: FloatArray
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
    network: Network, pool: Pool, held_out: Sequence[slice], objective: Objective, chunk: int
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
