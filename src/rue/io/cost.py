"""Cost matrices from files."""

from pathlib import Path

import numpy as np

from rue.errors import FileError, InputError
from rue.io.files import ARROW_SUFFIXES, TEXT_SUFFIXES, Frame, read_frame, suffix_of
from rue.losses import CostMatrix


def read_cost(path: str | Path) -> CostMatrix:
    """Read a cost matrix C[action, class] from .npy or a table; a header names the classes."""
    path = Path(path)
    if suffix_of(path) not in (".npy", *TEXT_SUFFIXES, *ARROW_SUFFIXES):
        raise FileError(f"{path}: a cost matrix must be .npy or .csv, got {path.suffix!r}")
    frame = read_frame(path, matrix=True)
    if not frame.is_table:
        costs, classes = frame.arrays[""], None
    else:
        costs, classes = _table(frame)
    try:
        return CostMatrix(costs, classes=classes)
    except InputError as error:
        raise error.about(path) from None


def _table(frame: Frame) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the costs and the names of the classes; named actions are put in their order."""
    first = next(iter(frame.columns))
    names_actions = frame.columns[first].numbers is None
    classes = tuple(frame.columns)[1:] if names_actions else tuple(frame.columns)
    if not classes:
        raise frame.error("a cost matrix must have a column for each class, got none")
    costs = np.stack([frame.numbers(name) for name in classes], axis=1)
    n_actions, n_classes = costs.shape
    if not frame.named:
        numbers = np.arange(n_classes)
        if n_actions == n_classes + 1 and any((costs[0] == numbers + k).all() for k in (0, 1)):
            raise frame.error(
                f"line 1 is {', '.join(f'{c:g}' for c in costs[0, :3])}, ..., so it "
                "may name the classes or be an action: leave it out, or give an .npy"
            )
        return costs, None
    if names_actions:
        actions = frame.columns[first].words.tolist()
        if set(actions) == set(classes):
            costs = costs[[actions.index(name) for name in classes]]
    return costs, classes
