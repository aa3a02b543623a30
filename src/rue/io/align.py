"""Predictions and truth brought together: rows and classes matched, components realised.

Rows and classes are matched by name, or by position where neither file has names.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import IntArray
from rue._text import are_numbers, sorted_names
from rue.beliefs import Convention, Dirichlet, Draws, RealBelief, Scored
from rue.components import Run
from rue.errors import AlignmentError, FileError, InputError
from rue.io.names import BY_NAME, Matching, require_unique
from rue.io.predictions import Predictions, draws_first
from rue.io.real_values import rated_truth
from rue.io.truth import Truth
from rue.losses import CostMatrix, Loss, get_loss
from rue.losses._valued import Valued
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = [
    "align",
    "class_order",
    "in_one_order",
    "make_run",
    "match_rows",
    "scale_notes",
    "truth_with_classes",
    "with_classes",
]


def make_run(
    predictions: Predictions | Run,
    truth: Truth | None,
    loss: str | Loss,
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    with_answers: bool | None = False,
    matching: Matching = BY_NAME,
    convention: Convention = "definition",
) -> Run:
    """Return the components of predictions already read; see :func:`rue.io.runs.read_run`."""
    path = predictions.path
    if isinstance(predictions, Run):
        if with_answers:
            raise FileError(f"{path}: holds components, so annotators cannot be resampled")
        return predictions if truth is None else _beside(predictions, truth)
    truth = truth or predictions.truth
    if truth is None:
        raise FileError(
            f"{path}: has no answers of its own (counts or ratings), so a truth is needed",
            advice={"--truth": "gives it, as a file or as a data set's name"},
        )
    if isinstance(predictions.belief, RealBelief):
        truth = rated_truth(path, truth, values)
        values = None
    own = predictions.classes
    predictions, truth, notes = align(predictions, truth, matching)
    notes = (*notes, *scale_notes(own, truth.classes, values, loss))
    annotations, said = truth.annotations, truth.annotations.values
    if values is None and predictions.values is not None:
        if said is not None and not np.array_equal(said, predictions.values):
            raise FileError(f"{path}: values differ from those of {truth.path}")
        values = predictions.values
    if values is None and said is None:
        _require_number_order(truth.classes or predictions.classes, loss, path)
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
            convention=convention,
        )
    except InputError as error:
        raise error.about(path) from None
    return replace(
        run,
        ids=truth.ids if predictions.ids is None else predictions.ids,
        groups={**_majority(truth), **predictions.groups, **truth.groups},
        classes=truth.classes or predictions.classes,
        path=predictions.path,
        notes=(*predictions.notes, *notes, *run.notes),
    )


def _beside(run: Run, truth: Truth) -> Run:
    """Return components with their own risk and regret, if they are of the truth's points."""
    if run.ids is not None and truth.ids is not None:
        unknown = run.ids[~np.isin(run.ids, truth.ids)]
        if len(unknown):
            raise FileError(
                f"{run.path}: holds components of points that {truth.path} does not have, such as "
                f"{str(unknown[0])!r}; give predictions instead of components",
                advice={"--truth": "is not needed for components"},
            )
    note = f"risk and regret are those that {run.path} holds: {truth.path} was not used for them"
    return replace(run, notes=(*run.notes, note))


def scale_notes(
    own: tuple[str, ...] | None,
    meant: tuple[str, ...] | None,
    values: ArrayLike | None,
    loss: str | Loss,
) -> tuple[str, ...]:
    """Return a note where values or costs are given and a file's classes were reordered."""
    if meant is None or own in (None, meant):
        return ()
    if values is None and not isinstance(loss, CostMatrix):
        return ()
    return (f"values and costs are those of the classes {', '.join(meant)}, in this order",)


def align(
    predictions: Predictions, truth: Truth, matching: Matching = BY_NAME
) -> tuple[Predictions, Truth, tuple[str, ...]]:
    """Return the predictions and the truth of the same points and classes, and notes.

    Parameters
    ----------
    predictions
        What a model says; its rows keep their order.
    truth
        What annotators said; its classes keep their order.
    matching
        Whether to keep only common points, or to match rows by position.

    Returns
    -------
    predictions : Predictions
        Its points that are kept, its columns in the order of the truth's classes.
    truth : Truth
        Its rows in the order of the predictions'.
    notes : tuple of str
        What a reader of the numbers must know.

    Raises
    ------
    AlignmentError
        If rows or classes cannot be matched.
    """
    n_here, n_there = predictions.belief.n_points, len(truth.annotations)
    belief = predictions.belief
    if (
        n_here != n_there
        and isinstance(belief, Draws)
        and belief.n_draws == n_there
        and (predictions.ids is None or truth.ids is None)
    ):
        shape = belief.probs.shape
        raise AlignmentError(f"{predictions.path}: {draws_first('probs', shape, n_there)}")
    here, there, notes = match_rows(
        predictions.path, predictions.ids, n_here, truth.path, truth.ids, n_there, matching
    )
    if here is not None:
        predictions = predictions[here]
    if there is not None:
        truth = replace(
            truth,
            annotations=truth.annotations[there],
            ids=None if truth.ids is None else truth.ids[there],
            groups={name: column[there] for name, column in truth.groups.items()},
        )
    if isinstance(truth.annotations, Ratings) or isinstance(predictions.belief, RealBelief):
        return predictions, truth, (*truth.notes, *notes)
    predictions, more = with_classes(
        predictions, truth.path, truth.classes, truth.annotations.n_classes
    )
    return predictions, truth, (*truth.notes, *notes, *more)


def with_classes(
    predictions: Predictions, path: Path, classes: tuple[str, ...] | None, n_classes: int
) -> tuple[Predictions, tuple[str, ...]]:
    """Return the predictions with their columns in the order of another file's classes, and notes.

    Parameters
    ----------
    predictions
        What a model says.
    path, classes, n_classes
        The other file, for messages, the names of its classes, if it has any, and their number.

    Returns
    -------
    predictions : Predictions
        Of n_classes classes.
    notes : tuple of str
        A sentence where the order was taken on trust.

    Raises
    ------
    AlignmentError
        If the numbers or the names of the classes differ.
    """
    belief = predictions.belief
    if isinstance(belief, RealBelief):
        raise AlignmentError(f"{predictions.path}: is about real numbers but {path} about classes")
    if predictions.sampled and isinstance(belief, Draws):  # classes may never have been sampled
        belief, predictions = _widened(belief, classes, n_classes, predictions)
    if belief.n_classes != n_classes:
        class_order(predictions.path, predictions.classes, path, classes, belief.n_classes)
        raise AlignmentError(
            f"{predictions.path}: has {belief.n_classes} classes but {path} has {n_classes}"
        )
    order, notes = class_order(
        predictions.path, predictions.classes, path, classes, belief.n_classes
    )
    if order is None:
        return predictions, notes
    actions = predictions.actions
    if actions is not None:
        if actions.ndim != 2:
            raise AlignmentError(
                f"{predictions.path}: has actions, so its classes must be in the order of "
                f"{path}: {', '.join(classes or ())}"
            )
        actions = actions[:, order]
    match belief:
        case Draws():
            belief = Draws(belief.probs[..., order])
        case Dirichlet():
            belief = Dirichlet(belief.alpha[:, order])
        case Scored():
            belief = Scored(belief.probs[:, order], belief.epistemic)
    values = None if predictions.values is None else predictions.values[order]
    return (
        replace(predictions, belief=belief, actions=actions, values=values, classes=classes),
        notes,
    )


def truth_with_classes(truth: Truth, path: Path, classes: tuple[str, ...] | None) -> Truth:
    """Return the truth with its columns in the order of another file's classes.

    Parameters
    ----------
    truth
        What annotators said.
    path, classes
        The other file, for messages, and the names of its classes, if it has any.

    Returns
    -------
    Truth
        Of the same points and classes; unchanged where one side does not name its classes.

    Raises
    ------
    AlignmentError
        If both name their classes and the names differ.
    """
    said = truth.annotations
    if classes is None or truth.classes is None or not isinstance(said, Annotations):
        return truth
    order, _ = class_order(truth.path, truth.classes, path, classes, said.n_classes)
    if order is None:
        return truth
    values = None if said.values is None else said.values[order]
    if said.counts is None:
        said = Annotations.from_probs(said.probs[:, order], values)
    else:
        said = Annotations(said.counts[:, order], values)
    return replace(truth, annotations=said, classes=classes)


def in_one_order(methods: Sequence[Predictions | Run]) -> list[Predictions | Run]:
    """Return methods with the classes of each, and of its own answers, in one order.

    Files may hold the same classes in different orders, and values and costs belong to one of them:
    that of the first file that names its classes. Methods with other classes are left alone.
    """
    named = [m for m in methods if isinstance(m, Predictions) and m.classes is not None]
    if not named:
        return list(methods)
    first, kept = named[0], list(methods)
    for i, each in enumerate(methods):
        if isinstance(each, Run) or each.classes in (None, first.classes):
            continue
        if set(each.classes or ()) != set(first.classes or ()):
            continue
        if each.truth is not None:
            said = truth_with_classes(each.truth, first.path, first.classes)
            each = replace(each, truth=said)
        kept[i], _ = with_classes(each, first.path, first.classes, len(first.classes or ()))
    return kept


def match_rows(
    first: Path | None,
    here: NDArray[np.str_] | None,
    n_here: int,
    second: Path | None,
    there: NDArray[np.str_] | None,
    n_there: int,
    matching: Matching = BY_NAME,
) -> tuple[IntArray | None, IntArray | None, tuple[str, ...]]:
    """Return which rows of two files are the same points, in the order of the first file.

    Parameters
    ----------
    first, second
        The files, for messages.
    here, there
        The ids of their rows, shape (n_here,) and (n_there,); None where rows have no names.
    n_here, n_there
        How many rows they have.
    matching
        What the user asked for.

    Returns
    -------
    rows_here, rows_there : int arrays of shape (n_points,), or None
        The rows of each file; None where they are all rows in their order.
    notes : tuple of str
        What a reader should know: how many points ``common`` dropped.

    Raises
    ------
    AlignmentError
        If ids repeat, one side has ids and the other has not, an id is on one side only (without
        ``common``), or files without ids have different numbers of rows.
    """
    if matching.by_position or (here is None and there is None):
        if n_here != n_there:
            raise AlignmentError(
                f"{first}: has {n_here:,} points but {second} has {n_there:,}, and rows that are "
                "matched by position must be as many; add ids to both"
            )
        return None, None, ()
    if here is None or there is None:
        named, bare = (first, second) if there is None else (second, first)
        raise AlignmentError(
            f"{bare}: has no ids but {named} has, so rows cannot be matched by id; add a column id",
            advice={
                "--id": "says the name of such a column",
                "--by-position": "matches rows that are in the same order",
            },
        )
    for path, ids in ((first, here), (second, there)):
        require_unique(path, ids)
    order = np.argsort(there)
    place = np.minimum(np.searchsorted(there, here, sorter=order), len(there) - 1)
    row = order[place]
    known = there[row] == here
    n_common = int(known.sum())
    if n_common < len(here) and not matching.common:
        raise _lacks(second, first, here[~known], n_common, len(here))
    if n_common < len(there) and not matching.common:
        missing = there[~np.isin(there, here)]
        raise _lacks(first, second, missing, n_common, len(there))
    if not n_common:
        raise AlignmentError(
            f"{first} and {second} have no id in common, first {str(here[0])!r} and "
            f"{str(there[0])!r}"
        )
    notes = _dropped(first, len(here), second, len(there), n_common)
    kept = np.flatnonzero(known)
    if n_common == len(there) == len(here) and np.array_equal(here, there):
        return None, None, notes
    return (None if n_common == len(here) else kept), row[kept], notes


def class_order(
    first: Path | None,
    here: Sequence[str] | None,
    second: Path | None,
    there: Sequence[str] | None,
    n_classes: int,
) -> tuple[IntArray | None, tuple[str, ...]]:
    """Return which column of the first file is each class of the second, and notes.

    Parameters
    ----------
    first, second
        The files, for messages.
    here, there
        The names of their classes, shape (n_classes,); None where columns have no names. If the
        other side's names are the numbers 0..n_classes-1, these columns have their numbers.
    n_classes
        How many columns the first file has.

    Returns
    -------
    columns : int array of shape (n_classes,), or None
        The columns of the first file in the order of the second; None where that is their order.
    notes : tuple of str
        A sentence where one side alone names its classes, so that their order was taken on trust.

    Raises
    ------
    AlignmentError
        If both name their classes and the names differ.
    """
    if here is None and there is None:
        return None, ()
    numbered = [str(j) for j in range(n_classes)]
    if set(here or there or ()) == set(numbered):  # columns without names are 0..n_classes-1
        here, there = here or numbered, there or numbered
    if here is None or there is None:
        names, bare = (here, second) if there is None else (there, first)
        assert names is not None
        if len(names) != n_classes:
            return None, ()  # another error names both numbers
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return None, (
            f"{bare} does not name its classes: its columns were taken as {shown} in this order "
            "(--classes says otherwise)",
        )
    if set(here) != set(there):
        strange = sorted(set(here) ^ set(there))
        raise AlignmentError(
            f"{first} and {second} must name the same classes, got {', '.join(map(str, here))} and "
            f"{', '.join(map(str, there))}; {strange[0]!r} is on one side only"
        )
    if tuple(here) == tuple(there):
        return None, ()
    place = {name: j for j, name in enumerate(here)}
    return np.array([place[name] for name in there]), ()


def _widened(
    belief: Draws, classes: tuple[str, ...] | None, n_classes: int, predictions: Predictions
) -> tuple[Draws, Predictions]:
    missing = n_classes - belief.n_classes
    names = predictions.classes
    if names is not None and classes is not None:
        extra = tuple(name for name in classes if name not in names)
        missing, names = len(extra), (*names, *extra)
    if missing > 0:
        belief = Draws(np.pad(belief.probs, ((0, 0), (0, 0), (0, missing))))
        predictions = replace(predictions, belief=belief, classes=names)
    return belief, predictions


def _require_number_order(
    classes: tuple[str, ...] | None, loss: str | Loss, path: Path | None
) -> None:
    """Raise where the default scale 0..K-1 would contradict the numbers that name the classes."""
    meant = get_loss(loss)
    if classes is None or not isinstance(meant, Valued) or meant.values is not None:
        return
    if are_numbers(classes) and list(classes) != sorted_names(classes):
        shown = ", ".join(classes[:8]) + (", ..." if len(classes) > 8 else "")
        raise FileError(
            f"{path}: the classes {shown} are numbers that do not increase, so they have no scale "
            f"for {meant.name} loss; order them by number",
            advice={"--classes": "does so in tables"},
        )


def _majority(truth: Truth) -> dict[str, NDArray[Any]]:
    """Return the class that most annotators chose, by name where classes have names."""
    if isinstance(truth.annotations, Ratings):
        return {}
    most = truth.annotations.probs.argmax(axis=1)
    return {"class": most if truth.classes is None else np.array(truth.classes)[most]}


def _lacks(
    lacking: Path | None, wanting: Path | None, ids: NDArray[np.str_], n_common: int, n_all: int
) -> AlignmentError:
    return AlignmentError(
        f"{lacking}: lacks {len(ids):,} of the ids in {wanting}, first {str(ids[0])!r}",
        advice={"--common": f"keeps the {n_common:,} of {n_all:,} that are in both"},
    )


def _dropped(
    first: Path | None, n_first: int, second: Path | None, n_second: int, n_common: int
) -> tuple[str, ...]:
    parts = [
        f"{n - n_common:,} of the {n:,} points of {path}"
        for path, n in ((first, n_first), (second, n_second))
        if n > n_common
    ]
    if not parts:
        return ()
    return (f"kept {n_common:,} points and dropped {' and '.join(parts)}",)
