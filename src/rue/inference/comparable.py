"""Which runs can be compared: those of different methods, of the same points, loss and answers."""

from collections.abc import Sequence

import numpy as np

from rue.components import Run
from rue.errors import AlignmentError, InputError, ShapeError
from rue.losses import Classes, CostMatrix, Loss, Valued
from rue.truth.alignment import align_rows

__all__ = ["aligned_runs", "same_loss"]


def aligned_runs(runs: Sequence[Run]) -> list[Run]:
    """Return runs on the first one's points, by id; raise if methods, losses or answers differ."""
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
    for run in runs:
        if run.convention != "definition":
            raise InputError(
                f"runs are resampled by Definition 1, got {run.method!r} by the convention "
                f'"{run.convention}": make it with convention="definition"'
            )
    aligned = [run if run is runs[0] else _on_points(runs[0], run) for run in runs]
    for run in aligned[1:]:
        _require_same(aligned[0], run)
    return aligned


def _on_points(first: Run, other: Run) -> Run:
    """Return a run with its rows in the order of another one's."""
    if len(first) != len(other) and (first.ids is None or other.ids is None):
        raise ShapeError(
            f"all methods must have the same points, got {first.method} {len(first)} and "
            f"{other.method} {len(other)}"
        )
    if (first.ids is None) != (other.ids is None):
        bare = first if first.ids is None else other
        raise AlignmentError(
            f"all runs must have ids, or none, {bare.method!r} has none: give its belief ids, or "
            "drop those of the others (.unnamed())"
        )
    _, rows, _ = align_rows(first, other)
    return other if rows is None else other[rows]


def _require_same(first: Run, other: Run) -> None:
    """Raise where two runs say that they have other losses, points or answers."""
    names = f"{first.method!r} and {other.method!r}"
    if not same_loss(first.loss, other.loss):
        raise InputError(
            f"all runs must have the same loss and scale, got {first.loss_name} and "
            f"{other.loss_name} in {names}"
            + (", with other values or costs" if first.loss_name == other.loss_name else "")
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
        names = [side.name if isinstance(side, Loss) else side for side in (first, other)]
        return names[0] == names[1] or "" in names
    if isinstance(first, CostMatrix) and isinstance(other, CostMatrix):
        if first.classes and other.classes and set(first.classes) == set(other.classes):
            other = other.on_classes(Classes(first.classes))
        return np.array_equal(first.costs, other.costs)
    if isinstance(first, Valued) and isinstance(other, Valued):
        scale = next((side.values for side in (first, other) if side.values is not None), None)
        if scale is not None and not np.array_equal(
            first.offsets(len(scale)), other.offsets(len(scale))
        ):
            return False
    return first.name == other.name
