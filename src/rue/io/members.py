"""One method saved in several files: its members, or further points.

Files about the same points are the draws of a method, as ensembles save them; files about other
points add these points. A mixture that fits neither is an error.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.beliefs import Draws, Gaussians, Samples
from rue.components import Run
from rue.errors import AlignmentError, FileError
from rue.io.align import match_rows, truth_with_classes, with_classes
from rue.io.names import require_unique
from rue.io.predictions import Predictions
from rue.io.truth import Truth
from rue.truth.annotations import Annotations

__all__ = ["joined"]


def _member(read: Predictions | Run) -> Predictions:
    if isinstance(read, Run) or not isinstance(read.belief, _Drawn):
        what = "components" if isinstance(read, Run) else type(read.belief).__name__
        raise FileError(
            f"{read.path}: several files of one method must hold probs, logits or sampled_labels "
            f"(for real numbers mean and sd, or samples), got {what}"
        )
    return read


def joined(read: Sequence[Predictions | Run]) -> Predictions:
    """Return the predictions of one method from those of its files, two or more.

    Raises
    ------
    FileError
        If a file holds something that cannot be joined.
    AlignmentError
        If files share some of their points but not all, or points have different numbers of draws.
    """
    first, *others = [_member(each) for each in read]
    members = [first, *(_like(first, member) for member in others)]
    parts = _parts(members)
    n_draws = [sum(_drawn(member).n_draws for member in part) for part in parts]
    if len(set(n_draws)) > 1:
        sizes = ", ".join(
            f"{n} about those of {part[0].path.name}"
            for n, part in zip(n_draws, parts, strict=True)
        )
        raise AlignmentError(
            f"{first.path}: every point of a method must have the same number of draws, got {sizes}"
        )
    whole = [_draws_of(part) for part in parts]
    ids = [part.ids for part in whole if part.ids is not None]
    kept = set.intersection(*(set(part.groups) for part in whole))
    return replace(
        first,
        path=Path(f"{first.path} and {len(members) - 1} more"),
        belief=_concatenated([_drawn(part) for part in whole], axis=0),
        ids=np.concatenate(ids) if ids else None,
        actions=None,
        truth=_joined_truth(whole),
        groups={name: np.concatenate([part.groups[name] for part in whole]) for name in kept},
        named=None,
        notes=tuple(note for member in members for note in member.notes),
    )


def _like(first: Predictions, member: Predictions) -> Predictions:
    """Bring a member's classes into the order of the first one's."""
    own, meant = _drawn(member), _drawn(first)
    if type(own) is not type(meant):
        raise AlignmentError(
            f"{member.path}: holds {type(own).__name__} but {first.path} {type(meant).__name__}"
        )
    if own.n_classes != meant.n_classes:
        raise AlignmentError(
            f"{member.path}: has {own.n_classes} classes but {first.path} has {meant.n_classes}"
        )
    if (member.ids is None) != (first.ids is None):
        bare, named = (member, first) if member.ids is None else (first, member)
        raise AlignmentError(f"{bare.path}: has no ids but {named.path} has; all files need them")
    if member.actions is not None or first.actions is not None:
        raise FileError(f"{member.path}: actions cannot be joined from several files")
    member = _in_class_order(first, member)
    if _numbers(member.values) != _numbers(first.values):
        raise AlignmentError(f"{member.path}: its values differ from those of {first.path}")
    return member


def _parts(members: Sequence[Predictions]) -> list[list[Predictions]]:
    """Return the files by the points that they are about."""
    if members[0].ids is None:
        for member in members[1:]:
            if len(member.belief) != len(members[0].belief):
                raise AlignmentError(
                    f"{member.path}: has {len(member.belief):,} points but {members[0].path} has "
                    f"{len(members[0].belief):,}; files without ids must have the same points"
                )
        return [list(members)]
    parts: dict[frozenset[str], list[Predictions]] = {}
    for member in members:
        assert member.ids is not None
        require_unique(member.path, member.ids)
        parts.setdefault(frozenset(member.ids.tolist()), []).append(member)
    seen: dict[str, Predictions] = {}
    for ids, part in parts.items():
        shared = next((name for name in ids if name in seen), None)
        if shared is not None:
            raise AlignmentError(
                f"{part[0].path}: shares some of its ids with {seen[shared].path}, such as "
                f"{shared!r}, but not all; files of one method must have the same points, or none "
                "in common"
            )
        seen |= dict.fromkeys(ids, part[0])
    return list(parts.values())


def _draws_of(part: Sequence[Predictions]) -> Predictions:
    """Stack files about the same points, rows in the order of the first."""
    first = part[0]
    beliefs = []
    for member in part:
        _, rows, _ = match_rows(
            *(first.path, first.ids, len(first.belief)),
            *(member.path, member.ids, len(member.belief)),
        )
        drawn = _drawn(member)
        beliefs.append(drawn if rows is None else drawn[rows])
        _require_same_truth(first, member, rows)
    return replace(first, belief=_concatenated(beliefs, axis=1))


def _numbers(values: FloatArray | None) -> list[float]:
    return [] if values is None else values.tolist()


def _in_class_order(first: Predictions, member: Predictions) -> Predictions:
    own = member.belief
    if not isinstance(own, Draws):
        return member
    if (member.classes is None) != (first.classes is None):
        bare, named = (member, first) if member.classes is None else (first, member)
        raise AlignmentError(
            f"{bare.path}: does not name its classes but {named.path} does; all files of a method "
            "need them",
            advice={"--classes": "names the columns of those without"},
        )
    if member.truth is not None:
        said = truth_with_classes(member.truth, first.path, first.classes)
        member = replace(member, truth=said)
    return with_classes(member, first.path, first.classes, own.n_classes)[0]


def _require_same_truth(first: Predictions, member: Predictions, rows: IntArray | None) -> None:
    """Raise if the files' own answers about the same points differ."""
    if first.truth is None or member.truth is None:
        return
    said = member.truth.annotations
    row = first.truth.annotations.first_difference(said if rows is None else said[rows])
    if row is not None:
        raise AlignmentError(
            f"{member.path}: the annotators' answers differ from {first.path}, first at row {row}"
        )


def _joined_truth(parts: Sequence[Predictions]) -> Truth | None:
    """Return the files' own counts; None where a part has none."""
    truths = [part.truth for part in parts if part.truth is not None]
    if len(truths) < len(parts) or len(parts) == 1:
        return truths[0] if len(parts) == len(truths) else None
    said = [each.annotations for each in truths]
    counts = [each.counts for each in said if isinstance(each, Annotations)]
    counted = [each for each in counts if each is not None]
    if len(counted) < len(parts):
        return None
    ids = np.concatenate([each.ids for each in truths if each.ids is not None])
    values = parts[0].values
    return replace(
        truths[0], annotations=Annotations(np.concatenate(counted), values), ids=ids, groups={}
    )


_Drawn = (Draws, Gaussians, Samples)


def _drawn(member: Predictions) -> Draws | Gaussians | Samples:
    assert isinstance(member.belief, _Drawn)  # or it could not have been a member
    return member.belief


def _concatenated(
    beliefs: Sequence[Draws | Gaussians | Samples], axis: int
) -> Draws | Gaussians | Samples:
    """Join beliefs of one kind along points (0) or draws (1)."""
    names = [each.name for each in fields(beliefs[0])]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(belief, name) for belief in beliefs], axis=axis)
        for name in names
    }
    return type(beliefs[0])(**arrays)
