"""Runs of one method or several, from their files: all of the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Belief, Convention
from rue.components import Run
from rue.errors import AlignmentError, FileError, InputError
from rue.io.belief_tables import read_as
from rue.io.doubts import (
    as_annotators,
    draws_first,
    require_no_further_class,
    require_no_lost_class,
    without_doubt,
)
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import read_method, read_predictions
from rue.io.probabilities import require_known_answers
from rue.io.real_values import rated_truth
from rue.losses import Classes, Loss
from rue.truth.alignment import Alignment, align_rows, align_with_notes, with_one_order
from rue.truth.base import Truth


def make_run(
    belief: Belief | Run,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool | None = False,
    matching: Matching = BY_NAME,
    convention: Convention = "definition",
) -> Run:
    """Return the components of predictions already read; see :func:`read_run`."""
    path = belief.source
    if isinstance(belief, Run):
        if with_answers:
            raise FileError(f"{path}: holds components, so annotators cannot be resampled")
        if matching.min_annotators is not None:
            raise FileError(f"{path}: holds components, so min_annotators cannot choose its points")
        return belief if truth is None else _beside(belief, truth)
    overridden = () if truth is None else _overridden(belief, truth, matching)
    truth = truth or belief.truth
    if truth is None:
        raise FileError(
            f"{path}: has no answers of its own (counts or ratings), so a truth is needed",
            advice={"--truth": "gives it, as a file or as a data set's name"},
        )
    if not belief.n_classes:
        truth, values = rated_truth(belief, truth, values), None
    if matching.positive is not None:
        belief = _with_both_names(belief, truth)
    strange = () if belief.outcomes.complete else require_known_answers(belief, truth)
    if matching.normalize and matching.classes is None:
        require_no_further_class(belief, truth)
    if truth.notes:
        require_no_lost_class(belief, truth)
        truth = without_doubt(truth, belief)
    truth, belief, notes = align_files(belief, truth, matching)
    if matching.min_annotators is not None:
        truth, belief, notes = _answered(truth, belief, notes, matching.min_annotators)
    try:
        run = Run.from_belief(
            truth,
            belief,
            loss,
            values=values,
            method=belief.method or Path(path).stem,
            with_answers=with_answers,
            seed=seed,
            convention=convention,
        )
    except InputError as error:
        raise error.about(path) from None
    most = truth.majority()
    return replace(
        run,
        ids=truth.ids if run.ids is None else run.ids,
        groups={**({} if most is None else {"class": most}), **belief.groups, **truth.groups},
        path=Path(path),
        notes=(*belief.notes, *truth.notes, *overridden, *strange, *notes, *run.notes),
    )


def _overridden(belief: Belief, truth: Truth, matching: Matching) -> tuple[str, ...]:
    """Return a note where a file's own answers are not those of the truth."""
    own = belief.truth
    if own is None:
        return ()
    note = f"{belief.source}: its own answers differ from {truth.source} and were not used"
    here, there, _ = align_rows(own, truth, common=True, by_position=matching.by_position)
    own, truth = own if here is None else own[here], truth if there is None else truth[there]
    return () if own.first_difference(truth) is None else (note,)


def in_one_order(methods: Sequence[Belief | Run]) -> list[Belief | Run]:
    """Return methods with the classes of each, and of its own answers, in one order."""
    beliefs = iter(with_one_order([method for method in methods if isinstance(method, Belief)]))
    placed = [next(beliefs) if isinstance(method, Belief) else method for method in methods]
    if len(placed) == 1:
        return placed
    from rue.io.members import noted_twins  # which one method does not need

    return noted_twins(placed)


def align_files(belief: Belief, truth: Truth, matching: Matching = BY_NAME) -> Alignment:
    """Return what two files say on the same points and classes, as the user wants them matched."""
    if belief.ids is None and truth.ids is None:
        _require_same_rows(belief, truth)
    n_draws = belief.n_draws
    if len(belief) != len(truth) == n_draws and (belief.ids is None or truth.ids is None):
        shape = (len(belief), n_draws, belief.n_classes)
        raise AlignmentError(f"{belief.source}: {draws_first('probs', shape, len(truth))}")
    try:
        return align_with_notes(
            truth, belief, common=matching.common, by_position=matching.by_position
        )
    except AlignmentError as error:  # it names the files
        error.advice |= as_annotators(truth)
        raise
    except InputError as error:
        raise error.about(belief.source) from None


def _require_same_rows(belief: Belief, truth: Truth) -> None:
    """Raise if rows without ids have the same names, in a column of both files, in another order.

    The column has a name that rue does not know as one of ids, such as ``image``.
    """
    if len(belief) != len(truth):
        return
    for name in belief.groups.keys() & truth.groups.keys():
        own, others = belief.groups[name].tolist(), truth.groups[name].tolist()
        if own != others and len(set(own)) == len(own) and set(own) == set(others):
            row = next(i for i, cell in enumerate(own) if cell != others[i])
            raise AlignmentError(
                f"{belief.source} and {truth.source} have no ids, and the same {name} in another "
                f"order, first {str(own[row])[:60]!r} and {str(others[row])[:60]!r} at row {row}",
                advice={"--id": f"{name} matches rows by it"},
            )


def _with_both_names(belief: Belief, truth: Truth) -> Belief:
    """Name the other of two classes as the truth does; the predictions name the positive one."""
    own = belief.outcomes.names or ()
    names = truth.outcomes.names or own
    others = [name for name in names if name not in own] or [own[0]]
    if len(others) > 1 or (others[0] != own[0] != f"not {own[1]}"):
        raise AlignmentError(
            f"{belief.source}: positive must be one of two classes, got {own[1]!r}; "
            f"{truth.source} has {', '.join(names)}"
        )
    if any(note.endswith(read_as(others[0], own[1])) for note in belief.notes):
        raise AlignmentError(
            f"{belief.source}: positive must be the class that its column is called by, "
            f"{others[0]!r}, got {own[1]!r}",
            advice={"--positive": f"{others[0]} reads it as the probability of {others[0]!r}"},
        )
    both = Classes([*others, own[1]], belief.outcomes.given_values, order="user")
    return belief._with(outcomes=both)


def _answered(
    truth: Truth, belief: Belief, notes: tuple[str, ...], min_annotators: int
) -> tuple[Truth, Belief, tuple[str, ...]]:
    """Drop the points with fewer answers, and say how many there are."""
    rows = truth.n_annotators >= min_annotators
    if not rows.any():
        raise InputError(
            f"min_annotators must leave some points, got {min_annotators}: no point of "
            f"{truth.source} has so many answers"
        )
    if rows.all():
        return truth, belief, notes
    few = f"fewer than {min_annotators} answers" if min_annotators > 2 else "one answer"
    note = f"{(~rows).sum():,} of {len(rows):,} points have {few} and were left out"
    return truth[rows], belief[rows], (*notes, note)


def _beside(run: Run, truth: Truth) -> Run:
    """Return components with their own risk and regret, if they are of the truth's points."""
    if run.ids is not None and truth.ids is not None:
        unknown = run.ids[~np.isin(run.ids, truth.ids)]
        if len(unknown):
            raise FileError(
                f"{run.path}: holds components of points that {truth.source} does not have, such "
                f"as {str(unknown[0])!r}; give predictions instead of components",
                advice={"--truth": "is not needed for components"},
            )
    note = f"risk and regret are those that {run.path} holds: {truth.source} was not used for them"
    return replace(run, notes=(*run.notes, note))


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
    methods: Mapping[str, Belief | Run],
    truth: Truth | None,
    loss: str | Loss,
    *,
    matching: Matching = BY_NAME,
    **options: Any,
) -> list[Run]:
    """Return the runs of methods already read, all of the same points; options as in make_run."""
    runs = [
        replace(make_run(read, truth, loss, matching=matching, **options), method=method)
        for method, read in methods.items()
    ]
    return same_points(runs, matching)


def same_points(runs: Sequence[Run], matching: Matching = BY_NAME) -> list[Run]:
    """Return runs of the same points, rows in the order of the first run's."""
    shared = list(runs[:1])
    for other in runs[1:]:
        first = shared[0]
        here, there, notes = align_rows(
            first, other, common=matching.common, by_position=matching.by_position
        )
        if here is not None:
            shared = [run[here] for run in shared]
        other = other if there is None else other[there]
        if matching.by_position:  # the user says that these are the same points
            other = replace(other, ids=shared[0].ids)
        _require_same_answers(shared[0], other)
        _require_same_scale(shared[0], other)
        shared.append(replace(other, notes=(*other.notes, *notes)))
    return shared


def _require_same_answers(first: Run, other: Run) -> None:
    said, meant = other.annotations, first.annotations
    if said is None or meant is None:
        return
    row = said.first_difference(meant)
    if row is None:
        return
    if said.n_classes != meant.n_classes:
        raise AlignmentError(
            f"{other.path}: has {said.n_classes} classes but {first.path} has {meant.n_classes}"
        )
    raise AlignmentError(
        f"{other.path}: the annotators' answers differ from {first.path}, first at row {row}"
    )


def _require_same_scale(first: Run, other: Run) -> None:
    """Raise if two files state other orders of the same classes, and the loss needs one."""
    needed = isinstance(first.loss, Loss) and first.loss.needs_order
    if needed and first.classes and other.classes and first.classes != other.classes:
        raise AlignmentError(
            f"{first.loss_name} loss needs one order of the classes, got "
            f"{', '.join(first.classes)} in {first.path} and {', '.join(other.classes)} in "
            f"{other.path}",
            advice={"--classes": "states it"},
        )
