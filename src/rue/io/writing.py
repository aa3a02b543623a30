"""Prediction files, as ``rue evaluate`` reads them (:mod:`rue.io.predictions`)."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rue.beliefs import Belief, Dirichlet, Draws, Scored
from rue.errors import InputError, ShapeError
from rue.io.atomic import replacing

if TYPE_CHECKING:
    from rue.data.dataset import DataSet

__all__ = ["prediction_arrays", "save_predictions"]


def save_predictions(
    path: str | os.PathLike[str], belief: Belief, data: "DataSet", *, method: str | None = None
) -> None:
    """Write a belief about the points of ``data`` to an .npz, with their ids, values and counts.

    ``data`` is the part that was predicted, such as ``data.part("test")``; counts are written
    where all its points have some. ``method`` names the method in the file. A file is there whole
    or not at all.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"path must end in .npz, got {path.name}")
    arrays = prediction_arrays(belief, data)
    if method is not None:
        arrays["method"] = method
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez(file, **arrays)


def prediction_arrays(belief: Belief, data: "DataSet") -> dict[str, Any]:
    """Give the arrays of a prediction file, by name."""
    if belief.n_points != len(data):
        raise ShapeError(f"belief must have {len(data)} points, got {belief.n_points}")
    arrays: dict[str, Any] = {"ids": data.ids, "values": data.values}
    annotations = data.annotations
    if annotations is not None and len(data.annotated) == len(data):
        counts = annotations.probs if annotations.counts is None else annotations.counts
        arrays["counts"] = np.empty_like(counts)
        arrays["counts"][data.annotated] = counts
    match belief:
        case Draws():
            arrays["probs"] = belief.probs
        case Dirichlet():
            arrays["alpha"] = belief.alpha
        case Scored():
            arrays |= {"probs": belief.probs, "epistemic": belief.epistemic}
        case _:
            raise InputError(f"belief must be Draws, Dirichlet or Scored, got {belief!r}")
    return arrays
