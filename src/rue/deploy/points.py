"""Read calibration and new points from files, and check them against a rule's kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.beliefs import Belief, ClassBelief
from rue.components import Components, Run, decompose
from rue.deploy.kind import Kind, loss_bound
from rue.deploy.rule import Rule
from rue.errors import FileError, InputError
from rue.io.align import align, make_run, scale_notes, truth_with_classes, with_classes
from rue.io.components import holds_components, named_method, read_estimates
from rue.io.names import BY_NAME, BY_POSITION, Matching
from rue.io.predictions import Predictions, read_method
from rue.io.real_values import rated_truth
from rue.io.truth import Truth
from rue.losses import Loss, get_loss
from rue.truth.person import predicted_person
from rue.truth.ratings import Ratings

__all__ = ["DeployPoints", "read_calibration", "read_new", "read_of_kind"]


@dataclass(frozen=True, eq=False)
class DeployPoints:
    """The points of a file.

    Attributes
    ----------
    path : Path
        The (first) file.
    method : str
        The name of the method: the given one, the file's own, or its stem.
    hat : Components
        Estimated components.
    star : Components or None
        Realised components, if there are answers.
    kind : Kind
        What the points are.
    ids : ndarray of shape (n_points,) or None
        Names of the points.
    doubt : ndarray of shape (n_points,) or None
        One minus the largest predicted probability, if there are probabilities.
    bound : float or None
        The largest possible loss, if it is known.
    notes : tuple of str
        What a reader of the numbers must know, a sentence each.
    groups : mapping of str to ndarray of shape (n_points,)
        Columns of the points, by name.
    """

    path: Path
    method: str
    hat: Components
    star: Components | None
    kind: Kind
    ids: NDArray[np.str_] | None = None
    doubt: FloatArray | None = None
    bound: float | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def read_calibration(
    files: str | Path | Sequence[Path],
    truth: Truth | None,
    loss: str | Loss,
    *,
    name: str | None = None,
    values: ArrayLike | None = None,
    bounded: bool = False,
    limits: tuple[float, float] | None = None,
    matching: Matching = BY_NAME,
    others: bool = False,
) -> DeployPoints:
    """Read calibration points of one file or several; with ``bounded``, an unbounded loss raises.

    ``name`` is that of the method, if it is given. ``limits`` is the range of real-valued answers,
    where the truth does not say it. With ``others`` the truth may be about other points, too.
    """
    predictions = _read(files, name, matching)
    path = predictions.path or _paths(files)[0]
    if isinstance(predictions, Run):
        kind = Kind(
            method=name or named_method(path),
            belief="components",
            loss=loss if isinstance(loss, str) else loss.name,
        )
        if predictions.loss_name not in ("", kind.loss):
            raise FileError(
                f"{path}: holds components of {predictions.loss_name} loss, got {kind.loss}",
                advice={"--loss": f"{predictions.loss_name} is the right one"},
            )
        beside = make_run(predictions, truth, loss)  # a truth is not used, but must fit
        return DeployPoints(
            *(path, predictions.method, predictions.hat, predictions.star, kind, predictions.ids),
            notes=beside.notes,
            groups=predictions.groups,
        )
    answered = truth or predictions.truth
    if others and answered is not None:
        answered = _about(answered, predictions)
    noted: tuple[str, ...] = ()
    if answered is not None:  # the points and classes that both have
        if not predictions.belief.n_classes:
            answered = rated_truth(predictions.path, answered, values)
        elif limits is not None:
            raise FileError(f"{path}: is about classes, and a range of answers is for real numbers")
        named = predictions.classes
        predictions, answered, noted = align(predictions, answered, matching)
        noted += scale_notes(named, answered.classes, values, loss)
        if limits is not None and isinstance(answered.annotations, Ratings):
            answered = replace(answered, annotations=_within(answered, limits))
    run = make_run(predictions, answered, loss, values=values, matching=BY_POSITION)
    assert answered is not None  # otherwise nothing could be realised
    said = answered.annotations
    own = said.range if isinstance(said, Ratings) else None
    scales = (None if isinstance(said, Ratings) else values, predictions.values, said.values)
    loss = get_loss(loss, values=next((s for s in scales if s is not None), None))
    bound = None
    if bounded:
        bound = _bound(predictions, loss, own)
    return DeployPoints(
        path,
        run.method,
        run.hat,
        run.star,
        replace(
            Kind.of(predictions.belief, loss, method=predictions.named, limits=own),
            classes=answered.classes or predictions.classes,
        ),
        predictions.ids,
        _doubt(predictions.belief),
        bound,
        tuple(dict.fromkeys((*noted, *run.notes))),
        run.groups,
    )


def read_new(
    files: str | Path | Sequence[Path],
    rule: Rule,
    truth: Truth | None = None,
    *,
    name: str | None = None,
    matching: Matching = BY_NAME,
    others: bool = False,
) -> DeployPoints:
    """Read new points of one file or several; raise if they are not what the rule is made for.

    Their answers come from ``truth``, or from the file itself if it holds them. ``name`` is that of
    the method, if it is given. With ``others`` the truth may be about other points, too, and is
    used only if the file has no answers.
    """

    def check(predictions: Predictions, loss: Loss) -> None:
        usual = _usual_bound(predictions.belief, loss, rule.kind)
        if rule.delta is not None and rule.bound == usual:
            _bound(predictions, loss, rule.kind.range)  # otherwise the user stated another bound

    return read_of_kind(
        files, rule.kind, truth, name=name, matching=matching, check=check, others=others
    )


def read_of_kind(
    files: str | Path | Sequence[Path],
    kind: Kind,
    truth: Truth | None = None,
    *,
    owner: str = "the rule",
    name: str | None = None,
    matching: Matching = BY_NAME,
    check: Callable[[Predictions, Loss], object] = lambda _, __: None,
    others: bool = False,
) -> DeployPoints:
    """Read points of one file or several; raise if they are known to be of another kind.

    ``owner`` is what has the kind, for messages. ``check`` raises for predictions that are refused
    for other reasons.
    """
    paths = _paths(files)
    path = paths[0]
    if len(paths) == 1 and holds_components(path):
        if truth is not None and not others:
            raise FileError(f"{path}: holds components; give risk and regret as columns, not truth")
        hat, star, ids, loss_name = read_estimates(path, matching=matching)
        name = name or named_method(path)
        found = Kind(method=name, belief="components", loss=loss_name or None)
        _require(kind, found, path, owner)
        return DeployPoints(path, name or path.stem, hat, star, kind, ids)
    predictions = _read(paths, name, matching)
    assert isinstance(predictions, Predictions)  # only a table holds components
    path = predictions.path
    notes = predictions.notes
    if kind.classes is not None:
        predictions, more = with_classes(predictions, Path(owner), kind.classes, len(kind.classes))
        notes = (*notes, *more)
    found = Kind.of(predictions.belief, get_loss("zero_one"), method=predictions.named)
    _require(kind, replace(found, loss=None, values=_values(predictions, kind)), path, owner)
    loss = kind.get_loss()
    check(predictions, loss)
    star = None
    if others and truth is not None:  # without ids its answers are those of the other points
        named = truth.ids is not None and predictions.ids is not None
        truth = predictions.truth or (_about(truth, predictions) if named else None)
    truth = truth or predictions.truth
    if truth is not None:  # in the order of the rule's classes, to which its loss belongs
        classes = predictions.classes or kind.classes
        truth = truth_with_classes(truth, path, classes)
        run = make_run(predictions, truth, loss, matching=matching)
        star, notes = run.star, (*notes, *run.notes)
        if len(run) != len(predictions.belief):  # only those with answers are kept
            assert predictions.ids is not None  # otherwise none could be dropped
            assert run.ids is not None
            predictions = predictions[np.isin(predictions.ids, run.ids)]
    return DeployPoints(
        path,
        predictions.method,
        replace(
            decompose(predictions.belief, loss), person=predicted_person(predictions.belief, loss)
        ),
        star,
        kind,
        predictions.ids,
        _doubt(predictions.belief),
        notes=tuple(dict.fromkeys(notes)),
    )


def _paths(files: str | Path | Sequence[Path]) -> list[Path]:
    return [Path(files)] if isinstance(files, str | Path) else list(files)


def _read(
    files: str | Path | Sequence[Path], name: str | None, matching: Matching
) -> Predictions | Run:
    return read_method(_paths(files), name=name, matching=matching)


def _about(truth: Truth, predictions: Predictions) -> Truth:
    """Return the answers about the points of the predictions, if some have these ids."""
    if truth.ids is None or predictions.ids is None:
        return truth
    rows = np.flatnonzero(np.isin(truth.ids, predictions.ids))
    if not len(rows):
        return truth
    groups = {name: column[rows] for name, column in truth.groups.items()}
    return replace(truth, annotations=truth.annotations[rows], ids=truth.ids[rows], groups=groups)


def _values(predictions: Predictions, kind: Kind) -> tuple[float, ...] | None:
    if predictions.values is None or kind.values is None:
        return None
    return tuple(predictions.values.tolist())


def _require(kind: Kind, found: Kind, path: Path, owner: str) -> None:
    try:
        kind.require(found, str(path), owner=owner)
    except InputError as error:
        raise error.about(path) from None


def _usual_bound(belief: Belief, loss: Loss, kind: Kind) -> float | None:
    """Return the bound of the loss itself, or None if it has none."""
    if belief.n_classes:
        return loss.bound(belief.n_classes)
    return None if kind.range is None else loss.real().bound(*kind.range)


def _within(truth: Truth, limits: tuple[float, float]) -> Ratings:
    assert isinstance(truth.annotations, Ratings)
    try:
        return truth.annotations.within(limits)
    except InputError as error:
        raise error.about(truth.path) from None


def _bound(predictions: Predictions, loss: Loss, limits: tuple[float, float] | None) -> float:
    try:
        return loss_bound(loss, predictions.belief, predictions.actions, limits)
    except InputError as error:
        raise error.about(predictions.path) from None


def _doubt(belief: Belief) -> FloatArray | None:
    if not isinstance(belief, ClassBelief):
        return None
    mean: Any = belief.mean()
    return np.asarray(1.0 - mean.max(axis=1))
