"""Cost matrices from files."""

from pathlib import Path

import numpy as np

from rue.errors import FileError, InputError
from rue.io.formats import load_table
from rue.io.opening import load_npy
from rue.losses import CostMatrix

__all__ = ["read_cost"]


def read_cost(path: str | Path) -> CostMatrix:
    """Read a cost matrix C[action, class] from .npy, or from .csv without a header."""
    path = Path(path)
    match path.suffix.lower():
        case ".npy":
            costs = load_npy(path)
        case ".csv":
            table = load_table(path)
            costs = np.stack(list(table.values()), axis=1)
        case _:
            raise FileError(f"{path}: a cost matrix must be .npy or .csv, got {path.suffix!r}")
    try:
        return CostMatrix(costs)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
