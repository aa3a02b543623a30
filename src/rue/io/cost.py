"""Cost matrices from files."""

from pathlib import Path

import numpy as np

from rue.errors import FileError, InputError
from rue.io.arrays import load_npy
from rue.io.files import read_frame
from rue.losses import CostMatrix

__all__ = ["read_cost"]


def read_cost(path: str | Path) -> CostMatrix:
    """Read a cost matrix C[action, class] from .npy, or from .csv without a header."""
    path = Path(path)
    match path.suffix.lower():
        case ".npy":
            costs = load_npy(path)
        case ".csv":
            frame = read_frame(path, matrix=True)
            costs = np.stack([frame.numbers(name) for name in frame.columns], axis=1)
            n_classes = costs.shape[1]
            if len(costs) == n_classes + 1 and (costs[0] == np.arange(n_classes)).all():
                raise FileError(
                    f"{path}: line 1 is 0, 1, ..., so it may name the classes or be an action: "
                    "leave it out, or give an .npy"
                )
        case _:
            raise FileError(f"{path}: a cost matrix must be .npy or .csv, got {path.suffix!r}")
    try:
        return CostMatrix(costs)
    except InputError as error:
        raise error.about(path) from None
