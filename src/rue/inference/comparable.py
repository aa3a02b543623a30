"""Which runs can be compared: those of different methods, of the same points, loss and answers."""

from collections.abc import Sequence

import numpy as np

from rue.components import Run
from rue.errors import InputError, ShapeError
from rue.losses import CostMatrix, Loss
from rue.losses._valued import Valued

__all__ = ["require_runs", "same_loss"]


def require_runs(runs: Sequence[Run]) -> None:
    """Raise unless these are runs of different methods, of the same points, loss and answers."""
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(
                f"runs must be a list of rue.Run, as Run(star, hat, method=...), got {run!r:.40}"
            )
    names = [run.method for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"every run must have a name of its own, got two of {twice!r}: give each its method"
        )
    if len({len(run) for run in runs}) > 1:
        told = ", ".join(f"{run.method} {len(run)}" for run in runs)
        raise ShapeError(f"all methods must have the same points, got {told}")
    for run in runs:
        if run.convention != "definition":
            raise InputError(
                f"runs are resampled by Definition 1, got {run.method!r} by the convention "
                f'"{run.convention}": make it with convention="definition"'
            )
    for run in runs[1:]:
        _require_same(runs[0], run)


def _require_same(first: Run, other: Run) -> None:
    """Raise where two runs say that they have other losses, points or answers."""
    names = f"{first.method!r} and {other.method!r}"
    if not same_loss(first.loss, other.loss):
        raise InputError(
            f"all runs must have the same loss and scale, got {first.loss_name} and "
            f"{other.loss_name} in {names}"
            + (", with other values or costs" if first.loss_name == other.loss_name else "")
        )
    if first.ids is not None and other.ids is not None:
        differs = np.asarray(first.ids).astype(str) != np.asarray(other.ids).astype(str)
        if differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                f"row i must be the same point in all runs, {names} have the ids "
                f"{str(first.ids[row])!r} and {str(other.ids[row])!r} at row {row}; reorder one as "
                "run[rows]"
            )
    if first.annotations is not None and other.annotations is not None:
        row_or_none = other.annotations.first_difference(first.annotations)
        if row_or_none is not None:
            raise InputError(
                f"all runs must have the same answers, those of {names} differ, first at row "
                f"{row_or_none}"
            )


def same_loss(first: str | Loss, other: str | Loss) -> bool:
    """Return whether two losses are the same, with their scale and costs, as far as is known.

    Parameters
    ----------
    first, other
        Losses, or only their names; an empty name is that of any loss.

    Returns
    -------
    bool
        Whether they are. Values that differ by a constant are the same scale.

    Examples
    --------
    >>> from rue import Squared
    >>> same_loss(Squared([1, 2, 3]), Squared()), same_loss(Squared([0, 1, 5]), Squared())
    (True, False)
    """
    if not (isinstance(first, Loss) and isinstance(other, Loss)):
        names = [each.name if isinstance(each, Loss) else each for each in (first, other)]
        return names[0] == names[1] or "" in names
    if isinstance(first, CostMatrix) and isinstance(other, CostMatrix):
        return np.array_equal(first.costs, other.costs)
    if isinstance(first, Valued) and isinstance(other, Valued):
        scale = next((each.values for each in (first, other) if each.values is not None), None)
        if scale is not None and not np.array_equal(
            first.offsets(len(scale)), other.offsets(len(scale))
        ):
            return False
    return first.name == other.name
