"""Read calibration and new points from files, and check them against a rule's kind."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.beliefs import Belief
from rue.components import Components, Run, decompose
from rue.deploy.kind import Kind, largest_loss
from rue.errors import AlignmentError, FileError, InputError
from rue.io.components import Estimates
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import read_points
from rue.io.real_values import rated_truth
from rue.io.runs import make_run
from rue.losses import Classes, Loss, get_loss
from rue.truth.base import Truth
from rue.truth.realized import predicted_person


@dataclass(frozen=True, eq=False)
class DeployPoints:
    """The points of a file."""

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
    """Read calibration points; with ``bounded``, an unbounded loss raises."""
    belief = _read(files, name, matching, realized=True)
    if isinstance(belief, Estimates):
        run, loss_name = belief.run, loss if isinstance(loss, str) else loss.name
        if run.loss_name not in ("", loss_name):
            raise FileError(
                f"{run.path}: holds components of {run.loss_name} loss, got {loss_name}",
                advice={"--loss": f"{run.loss_name} is the right one"},
            )
        notes = make_run(run, truth, loss).notes  # a truth is not used, but must fit
        kind = Kind(method=name or belief.method, belief="components", loss=loss_name)
        return _points(replace(run, method=name or run.method, notes=notes), kind)
    path, truth = Path(belief.source), truth or belief.truth
    if others and truth is not None:
        truth = _about(truth, belief)
    if limits is not None and belief.n_classes:
        raise FileError(f"{path}: is about classes, and a range of answers is for real numbers")
    if truth is not None and not belief.n_classes:
        truth = rated_truth(belief, truth, values)
        with _naming(truth.source):
            truth = truth if limits is None else truth.within(limits)
    run = make_run(belief, truth, loss, values=values, matching=matching).by_id()
    assert run.belief is not None
    assert run.annotations is not None
    assert isinstance(run.loss, Loss)
    own = run.annotations.outcomes.range
    kind = Kind.of(run.belief, run.loss, method=belief.method or None, limits=own)
    bound = _bound(run.belief, run.loss, own) if bounded else None
    return replace(_points(run, kind), path=path, bound=bound)


def _points(run: Run, kind: Kind) -> DeployPoints:
    """Return the points of a run whose answers are known."""
    return DeployPoints(
        Path(run.source),
        run.method,
        run.hat,
        run.star,
        kind,
        run.ids,
        None if run.belief is None else _doubt(run.belief),
        notes=tuple(dict.fromkeys(run.notes)),
        groups=run.groups,
    )


def read_of_kind(
    files: str | Path | Sequence[Path],
    kind: Kind,
    truth: Truth | None = None,
    *,
    owner: str = "the rule",
    name: str | None = None,
    matching: Matching = BY_NAME,
    bound: float | None = None,
    others: bool = False,
) -> DeployPoints:
    """Read points of one file or several; raise if they are known to be of another kind.

    ``bound`` is the largest loss that a promise rests on. With ``others``, the truth may be about
    other points, and what a person is predicted to cost is computed.
    """
    belief = _read(files, name, matching)
    path = Path(belief.run.source if isinstance(belief, Estimates) else belief.source)
    if isinstance(belief, Estimates):
        run = belief.run
        if truth is not None and not others:
            raise FileError(f"{path}: holds components; give risk and regret as columns, not truth")
        name = name or belief.method
        file_kind = Kind(method=name, belief="components", loss=run.loss_name or None)
        with _naming(path):
            kind.require(file_kind, str(path), owner=owner)
        return DeployPoints(path, name or path.stem, run.hat, belief.star, kind, run.ids)
    try:
        placed = kind.placed(belief, owner)
    except AlignmentError as error:
        raise AlignmentError(f"{path}: {error.message}", advice=error.advice) from None
    file_kind = Kind.of(placed, get_loss("zero_one"), method=belief.method or None)
    with _naming(path):
        file_kind = replace(file_kind, loss=None, values=_values(belief, kind))
        kind.require(file_kind, str(path), owner=owner)
    loss = kind.get_loss()
    if bound is not None and bound == largest_loss(kind):
        _bound(placed, loss, kind.range)  # otherwise the user stated another bound
    if kind.classes is not None and belief.outcomes.names is None:
        note = (
            f"{path} does not name its classes: its columns were taken as "
            f"{', '.join(kind.classes)} in this order (--classes says otherwise)"
        )
        placed = placed._with(notes=(*belief.notes, note))
    if others and truth is not None:  # without ids its answers are those of the other points
        named = truth.ids is not None and belief.ids is not None
        truth = belief.truth or (_about(truth, belief) if named else None)
    truth = truth or belief.truth
    if truth is None:
        hat, star, ids, notes = decompose(placed, loss), None, placed.ids, placed.notes
    else:
        run = make_run(placed, truth, loss, matching=matching)
        hat, star, ids, notes = run.hat, run.star, run.ids, run.notes
        placed = run.belief or placed
    if others:
        hat = replace(hat, person=predicted_person(placed, loss))
    method, notes = belief.method or path.stem, tuple(dict.fromkeys(notes))
    return DeployPoints(path, method, hat, star, kind, ids, _doubt(placed), notes=notes)


def _read(
    files: str | Path | Sequence[Path],
    name: str | None,
    matching: Matching,
    *,
    realized: bool = False,
) -> Belief | Estimates:
    paths = [Path(files)] if isinstance(files, str | Path) else list(files)
    return read_points(paths, name=name, matching=matching, realized=realized)


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Let errors name a file."""
    try:
        yield
    except InputError as error:
        raise error.about(path) from None


def _about(truth: Truth, belief: Belief) -> Truth:
    """Return the answers about the points of the predictions, if some have these ids."""
    if truth.ids is None or belief.ids is None:
        return truth
    rows = np.flatnonzero(np.isin(truth.ids, belief.ids))
    return truth[rows] if len(rows) else truth


def _values(belief: Belief, kind: Kind) -> tuple[float, ...] | None:
    """Return the scale that the file itself states, in the order of the rule's classes."""
    own = belief.outcomes
    if own.given_values is None or kind.values is None:
        return None
    if own.names is None or kind.classes is None:
        return own.given_values
    value = dict(zip(own.names, own.given_values, strict=True))
    return tuple(value[name] for name in Classes(kind.classes).names or ())


def _bound(belief: Belief, loss: Loss, limits: tuple[float, float] | None) -> float:
    with _naming(belief.source):
        return belief.loss_bound(loss, belief.placed_actions(loss), limits)


def _doubt(belief: Belief) -> FloatArray | None:
    mean = belief.mean_probs()
    return None if mean is None else np.asarray(1.0 - mean.max(axis=1))
