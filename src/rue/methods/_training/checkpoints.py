"""Checkpoints: the state after an epoch, from which training resumes bit for bit.

They contain no state of random numbers, which are hashed from the epoch
(:mod:`rue.methods._training.streams`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from rue.errors import FileError
from rue.io.atomic import replacing
from rue.methods._training.networks import Network
from rue.methods._training.stopping import Best

__all__ = ["Checkpoint", "EpochRecord"]


class EpochRecord(Protocol):
    """What is collected from the weights after each epoch, such as their moments."""

    def after_epoch(self, network: Network) -> None:
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
        network: Network,
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
        network: Network,
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
