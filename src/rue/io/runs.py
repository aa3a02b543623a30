"""Runs of one method or several, from their files: all of the same points."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from numpy.typing import ArrayLike

from rue.components import Run
from rue.errors import AlignmentError
from rue.io.align import in_one_order, make_run, match_rows
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import Predictions, read_method, read_predictions
from rue.io.truth import Truth
from rue.losses import Loss

__all__ = ["make_runs", "read_run", "read_runs", "same_points"]


def read_run(
    path: str | Path,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    matching: Matching = BY_NAME,
) -> Run:
    """Read a prediction file and return its components under a loss, estimated and realised.

    Parameters
    ----------
    path
        The prediction file.
    truth
        What annotators said; None where the file has its own ``counts`` or ``ratings``, or holds
        components.
    loss
        The loss, or its name.
    values
        The scale of the classes; by default that of the file, then that of the truth.
    seed
        As in :func:`rue.decompose`.
    matching
        How rows and columns are matched.

    Returns
    -------
    Run
        Of n_points points, in the order of the prediction file.

    Raises
    ------
    FileError
        If the file cannot be read, or there is no truth.
    AlignmentError
        If rows or classes of the file and the truth cannot be matched.
    """
    read = read_predictions(path, matching=matching)
    return make_run(read, truth, loss, values=values, seed=seed, matching=matching)


def read_runs(
    methods: Mapping[str, str | Path | Sequence[str | Path]],
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
    matching: Matching = BY_NAME,
) -> list[Run]:
    """Read the files of several methods, rows in the order of the first method's.

    Parameters
    ----------
    methods
        The file, or the files, of each method by name.
    truth, loss, values, seed, matching
        As in :func:`read_run`.
    with_answers
        Whether to keep what each answer costs.

    Returns
    -------
    list of Run
        One for each method, all of the same points.

    Raises
    ------
    FileError
        If a file cannot be read.
    AlignmentError
        If the methods are of different points (without ``matching.common``), one has ids and
        another has not, or annotators said different things in them.
    """
    reads = [
        read_method([files] if isinstance(files, str | Path) else list(files), matching=matching)
        for files in methods.values()
    ]
    read = dict(zip(methods, in_one_order(reads), strict=True))
    return make_runs(
        read, truth, loss, values=values, seed=seed, with_answers=with_answers, matching=matching
    )


def make_runs(
    methods: Mapping[str, Predictions | Run],
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool = False,
    matching: Matching = BY_NAME,
) -> list[Run]:
    """Return the runs of methods already read, all of the same points; see :func:`read_runs`."""
    runs = [
        replace(
            make_run(
                read,
                truth,
                loss,
                values=values,
                seed=seed,
                with_answers=with_answers,
                matching=matching,
            ),
            method=method,
        )
        for method, read in methods.items()
    ]
    return same_points(runs, matching)


def same_points(runs: Sequence[Run], matching: Matching = BY_NAME) -> list[Run]:
    """Return runs of the same points, rows in the order of the first run's.

    Raises
    ------
    AlignmentError
        If rows cannot be matched, or annotators said different things about a point.
    """
    kept = list(runs[:1])
    for other in runs[1:]:
        first = kept[0]
        here, there, notes = match_rows(
            first.path, first.ids, len(first), other.path, other.ids, len(other), matching
        )
        if here is not None:
            kept = [run[here] for run in kept]
        other = other if there is None else other[there]
        if matching.by_position:  # the user says that these are the same points
            other = replace(other, ids=kept[0].ids)
        _require_same_answers(kept[0], other)
        kept.append(replace(other, notes=(*other.notes, *notes)))
    return kept


def _require_same_answers(first: Run, other: Run) -> None:
    said, meant = other.annotations, first.annotations
    if said is None or meant is None:
        return
    row = said.first_difference(meant)
    if row is not None:
        raise AlignmentError(
            f"{other.path}: the annotators' answers differ from {first.path}, first at row {row}"
        )
