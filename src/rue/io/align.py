"""Predictions and truth brought together: rows matched, components realised."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Scored
from rue.components import decompose, realize
from rue.errors import AlignmentError, FileError, InputError
from rue.io.predictions import Columns, Predictions, read_predictions
from rue.io.truth import Truth
from rue.losses import Loss, get_loss
from rue.truth.annotations import Annotations
from rue.truth.answer_losses import answers

__all__ = ["align", "read_components", "read_runs", "realized"]


def read_components(
    path: str | Path,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
) -> Columns:
    """Read a prediction file and give its components under a loss, estimated and realised.

    ``truth`` may be None where the file has its own ``counts``, or holds components. ``values``
    default to those of the file, then to those of the truth.
    """
    return realized(read_predictions(path), truth, loss, values=values, seed=seed)


def read_runs(
    paths: Mapping[str, str | Path],
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
) -> dict[str, Columns]:
    """Read prediction files of the same points, by method, rows in the order of the first file.

    Rows are matched by ids where all files have them, else by position. What people said must
    be the same in all of them. ``with_answers`` asks for what each answer costs too.
    """
    runs: dict[str, Columns] = {}
    ids: dict[str, NDArray[np.str_] | None] = {}
    for method, path in paths.items():
        read = read_predictions(path)
        runs[method] = realized(
            read, truth, loss, values=values, seed=seed, with_answers=with_answers
        )
        ids[method] = None if isinstance(read, Columns) else read.ids
    (first, columns), *others = runs.items()
    for method, other in others:
        here, there = ids[first], ids[method]
        if here is not None and there is not None:
            _require_known(other.path, here, columns.path, there)
            _require_known(columns.path, there, other.path, here)
            order = np.argsort(there)[np.searchsorted(np.sort(there), here)]
            other = runs[method] = other.part(order)
        if len(other.star) != len(columns.star):
            raise AlignmentError(
                f"{other.path}: has {len(other.star)} points but {columns.path} has "
                f"{len(columns.star)}, and methods are compared on the same points"
            )
        said, meant = other.annotations, columns.annotations
        if said is not None and meant is not None and (said.probs != meant.probs).any():
            row = int(np.argmax((said.probs != meant.probs).any(axis=1)))
            raise AlignmentError(
                f"{other.path}: what people said differs from {columns.path}, first at row {row}"
            )
    return runs


def realized(
    predictions: Predictions | Columns,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
) -> Columns:
    """Give the components of predictions already read; see :func:`read_components`."""
    path = predictions.path
    if isinstance(predictions, Columns):
        if with_answers:
            raise FileError(f"{path}: holds components, so there are no people to draw")
        return predictions
    truth = truth or predictions.truth
    if truth is None:
        raise FileError(f"{path}: has no counts of its own, so a truth file is needed")
    annotations, groups = align(predictions, truth)
    groups = {"class": annotations.probs.argmax(axis=1), **predictions.groups, **groups}
    said = annotations.values
    if values is None and predictions.values is not None:
        if said is not None and not np.array_equal(said, predictions.values):
            raise FileError(f"{path}: values differ from those of {truth.path}")
        values = predictions.values
    try:
        loss = get_loss(loss, values=said if values is None else values)
        star = realize(annotations, predictions.belief, loss, actions=predictions.actions)
        hat = decompose(predictions.belief, loss, seed=seed)
        said_by = None
        if with_answers:
            belief, actions = predictions.belief, predictions.actions
            said_by = answers(annotations, belief, loss, actions=actions)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    outside = isinstance(predictions.belief, Scored)
    return Columns(path, star, hat, groups, outside, annotations, loss, said_by)


def align(predictions: Predictions, truth: Truth) -> tuple[Annotations, Mapping[str, NDArray[Any]]]:
    """Give the annotations and their columns in the order of the predictions.

    With ids on both sides rows are matched by them, one to one; otherwise by position.
    """
    annotations = truth.annotations
    here, there = predictions.ids, truth.ids
    if here is None or there is None:
        if len(predictions.belief) != len(annotations):
            raise AlignmentError(
                f"{predictions.path}: has {len(predictions.belief)} points but {truth.path} has "
                f"{len(annotations)}, and without ids on both sides rows must match by position"
            )
        return annotations, truth.groups
    for path, ids in ((predictions.path, here), (truth.path, there)):
        names, counts = np.unique(ids, return_counts=True)
        if (counts > 1).any():
            raise AlignmentError(
                f"{path}: ids must not repeat, {int((counts > 1).sum())} do, "
                f"first {str(names[np.argmax(counts > 1)])!r}"
            )
    _require_known(truth.path, here, predictions.path, there)
    _require_known(predictions.path, there, truth.path, here)
    order = np.argsort(there)[np.searchsorted(np.sort(there), here)]
    return annotations[order], {k: v[order] for k, v in truth.groups.items()}


def _require_known(
    lacking: Path, wanted: NDArray[np.str_], wanting: Path, known: NDArray[np.str_]
) -> None:
    missing = ~np.isin(wanted, known)
    if missing.any():
        raise AlignmentError(
            f"{lacking}: lacks {int(missing.sum())} of the ids in {wanting}, "
            f"first {str(wanted[np.argmax(missing)])!r}"
        )
