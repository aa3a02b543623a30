"""Predictions and truth brought together: rows matched, components realised."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.errors import AlignmentError, FileError, InputError
from rue.io.predictions import Predictions, read_predictions
from rue.io.truth import Truth
from rue.losses import Loss
from rue.runs import Run
from rue.truth.annotations import Annotations

__all__ = ["align", "make_run", "read_run", "read_runs"]


def read_run(
    path: str | Path,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
) -> Run:
    """Read a prediction file and return its components under a loss, estimated and realised.

    ``truth`` may be None where the file has its own ``counts``, or holds components. ``values``
    default to those of the file, then to those of the truth.
    """
    return make_run(read_predictions(path), truth, loss, values=values, seed=seed)


def read_runs(
    paths: Mapping[str, str | Path],
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
) -> list[Run]:
    """Read prediction files of the same points, by method, rows in the order of the first file.

    Rows are matched by ids where all files have them, else by position. What people said must
    be the same in all of them. ``with_answers`` asks for what each answer costs too.
    """
    runs: list[Run] = []
    for method, path in paths.items():
        read = read_predictions(path)
        run = make_run(read, truth, loss, values=values, seed=seed, with_answers=with_answers)
        run = replace(run, method=method)
        runs.append(_like(runs[0], run) if runs else run)
    return runs


def _like(first: Run, other: Run) -> Run:
    """Return a run with its rows in the order of the first one's."""
    here, there = first.ids, other.ids
    if here is not None and there is not None:
        _require_known(other.path, here, first.path, there)
        _require_known(first.path, there, other.path, here)
        if not np.array_equal(here, there):
            other = other[np.argsort(there)[np.searchsorted(np.sort(there), here)]]
    if len(other) != len(first):
        raise AlignmentError(
            f"{other.path}: has {len(other)} points but {first.path} has {len(first)}, "
            "and methods are compared on the same points"
        )
    said, meant = other.annotations, first.annotations
    row = None if said is None or meant is None else said.first_difference(meant)
    if row is not None:
        raise AlignmentError(
            f"{other.path}: what people said differs from {first.path}, first at row {row}"
        )
    return other


def make_run(
    predictions: Predictions | Run,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
) -> Run:
    """Return the components of predictions already read; see :func:`read_run`."""
    path = predictions.path
    if isinstance(predictions, Run):
        if with_answers:
            raise FileError(f"{path}: holds components, so there are no people to draw")
        return predictions
    truth = truth or predictions.truth
    if truth is None:
        raise FileError(f"{path}: has no counts of its own, so a truth file is needed")
    annotations, groups = align(predictions, truth)
    said = annotations.values
    if values is None and predictions.values is not None:
        if said is not None and not np.array_equal(said, predictions.values):
            raise FileError(f"{path}: values differ from those of {truth.path}")
        values = predictions.values
    try:
        run = Run.from_belief(
            annotations,
            predictions.belief,
            loss,
            values=values,
            actions=predictions.actions,
            method=predictions.method,
            with_answers=with_answers,
            seed=seed,
        )
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    return replace(
        run,
        ids=truth.ids if predictions.ids is None else predictions.ids,
        groups={"class": annotations.probs.argmax(axis=1), **predictions.groups, **groups},
        path=predictions.path,
    )


def align(predictions: Predictions, truth: Truth) -> tuple[Annotations, Mapping[str, NDArray[Any]]]:
    """Return the annotations and their columns in the order of the predictions.

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
    lacking: Path | None, wanted: NDArray[np.str_], wanting: Path | None, known: NDArray[np.str_]
) -> None:
    missing = ~np.isin(wanted, known)
    if missing.any():
        raise AlignmentError(
            f"{lacking}: lacks {int(missing.sum())} of the ids in {wanting}, "
            f"first {str(wanted[np.argmax(missing)])!r}"
        )
