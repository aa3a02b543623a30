"""One method saved in several files: its members, or further points.

Files about the same points are the draws of a method, as ensembles save them; files about other
points add these points. A mixture that fits neither is an error.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.beliefs import Belief, Draws, Gaussians, Samples
from rue.errors import AlignmentError, FileError
from rue.io.matching import class_order, require_unique
from rue.io.prediction_arrays import Predictions
from rue.runs import Run

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
        truth=None if len(parts) > 1 else first.truth,
        groups={name: np.concatenate([part.groups[name] for part in whole]) for name in kept},
        named=None,
    )


def _like(first: Predictions, member: Predictions) -> Predictions:
    """Bring a member's classes into the order of the first one's."""
    own, meant = _drawn(member), _drawn(first)
    if type(own) is not type(meant):
        raise AlignmentError(
            f"{member.path}: holds {type(own).__name__} but {first.path} {type(meant).__name__}"
        )
    if isinstance(own, Belief) and isinstance(meant, Belief) and own.n_classes != meant.n_classes:
        raise AlignmentError(
            f"{member.path}: has {own.n_classes} classes but {first.path} has {meant.n_classes}"
        )
    if (member.ids is None) != (first.ids is None):
        bare, named = (member, first) if member.ids is None else (first, member)
        raise AlignmentError(f"{bare.path}: has no ids but {named.path} has; all files need them")
    if member.actions is not None or first.actions is not None:
        raise FileError(f"{member.path}: actions cannot be joined from several files")
    if not isinstance(own, Draws):
        return member
    order, _ = class_order(member.path, member.classes, first.path, first.classes, own.n_classes)
    if order is None:
        return member
    return replace(member, belief=Draws(own.probs[..., order]), classes=first.classes)


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
    members = [_in_order(first.ids, member) for member in part]
    return replace(first, belief=_concatenated(members, axis=1))


def _in_order(ids: NDArray[np.str_] | None, member: Predictions) -> Draws | Gaussians | Samples:
    drawn = _drawn(member)
    if ids is None or member.ids is None or np.array_equal(ids, member.ids):
        return drawn
    order = np.argsort(member.ids)
    return drawn[order[np.searchsorted(member.ids, ids, sorter=order)]]


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
