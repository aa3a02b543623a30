"""Checkpoints: all that a training needs to go on, bit for bit, from the end of an epoch.

Random numbers are not in it: they are hashed from the epoch (:mod:`rue.methods._training.streams`).
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rue.errors import FileError
from rue.io.atomic import replacing
from rue.methods._training.networks import Network

__all__ = ["Checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """A file, and a text that says which training it is of."""

    path: Path
    training: str

    def write(
        self,
        network: Network,
        optimizer: torch.optim.Optimizer,
        epoch: int,
        vectors: list[Tensor],
    ) -> None:
        """Write the state after ``epoch`` epochs; what was there stays until it is whole."""
        state = {
            "training": self.training,
            "epoch": epoch,
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "vectors": vectors,
        }
        with replacing(self.path) as file:
            torch.save(state, file)

    def read(
        self, network: Network, optimizer: torch.optim.Optimizer, device: torch.device
    ) -> tuple[int, list[Tensor]]:
        """Load the state into both; give the epochs done and the spectral vectors."""
        try:
            state = torch.load(self.path, map_location=device, weights_only=True)
            written, epoch, vectors = state["training"], int(state["epoch"]), list(state["vectors"])
            if written == self.training:
                network.load_state_dict(state["network"])
                optimizer.load_state_dict(state["optimizer"])
        except Exception:  # torch raises whatever it meets: pickle, zip, OS and runtime errors
            raise FileError(f"{self.path}: is not a checkpoint") from None
        if written != self.training:
            raise FileError(f"{self.path}: is a checkpoint of another training: {written}")
        return epoch, vectors
