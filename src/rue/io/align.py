"""Predictions and truth brought together: rows matched, components realised."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._text import are_numbers, sorted_names
from rue.beliefs import Convention, Dirichlet, Draws, RealBelief, Scored
from rue.components import Run
from rue.errors import AlignmentError, FileError, InputError
from rue.io.matching import BY_NAME, Matching, class_order, match_rows
from rue.io.predictions import Predictions, draws_first
from rue.io.truth import Truth
from rue.losses import CostMatrix, Loss, get_loss
from rue.losses._valued import Valued
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = [
    "align",
    "in_one_order",
    "make_run",
    "rated_truth",
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
            f"{path}: has no answers of its own (counts or ratings), so a truth file is needed "
            "(--truth)"
        )
    if isinstance(predictions.belief, RealBelief):
        truth = rated_truth(predictions, truth, values)
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
        raise FileError(f"{path}: {error}") from None
    return replace(
        run,
        ids=truth.ids if predictions.ids is None else predictions.ids,
        groups={**_majority(truth), **predictions.groups, **truth.groups},
        classes=truth.classes or predictions.classes,
        path=predictions.path,
        notes=(*notes, *run.notes),
    )


def _beside(run: Run, truth: Truth) -> Run:
    """Return components with their own risk and regret, if they are of the truth's points."""
    if run.ids is not None and truth.ids is not None:
        unknown = run.ids[~np.isin(run.ids, truth.ids)]
        if len(unknown):
            raise FileError(
                f"{run.path}: holds components of points that {truth.path} does not have, such as "
                f"{str(unknown[0])!r}; omit --truth, or give predictions instead of components"
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


def rated_truth(predictions: Predictions, truth: Truth, values: ArrayLike | None) -> Truth:
    """Return real-valued answers: those of the truth, or its counts on a scale of numbers."""
    said = truth.annotations
    if isinstance(said, Ratings):
        return truth
    if said.counts is None:
        raise FileError(
            f"{predictions.path}: is about real numbers, and {truth.path} holds probabilities of "
            "classes; give a row per answer with a column rating"
        )
    scale = said.values if values is None else values
    if scale is None:
        raise FileError(
            f"{predictions.path}: is about real numbers, and {truth.path} counts classes; say "
            "which number each stands for with --values, or give a row per answer with a column "
            "rating"
        )
    try:
        ratings = Ratings.from_counts(said.counts, scale)
    except InputError as error:
        raise FileError(f"{truth.path}: {error}") from None
    return replace(truth, annotations=ratings, classes=None)


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
            f"for {meant.name} loss; order them by number (in tables --classes does)"
        )


def _majority(truth: Truth) -> dict[str, NDArray[Any]]:
    """Return the class that most annotators chose, by name where classes have names."""
    if isinstance(truth.annotations, Ratings):
        return {}
    most = truth.annotations.probs.argmax(axis=1)
    return {"class": most if truth.classes is None else np.array(truth.classes)[most]}
