"""One method saved in several files: its members, or further points.

Files about the same points are the draws of a method, as ensembles save them; files about other
points add these points. A mixture that fits neither is an error. Equal methods are noted.
"""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from rue.beliefs import Belief
from rue.components import Run
from rue.errors import AlignmentError, FileError
from rue.io.predictions import same_rows
from rue.losses import Classes
from rue.truth.alignment import align_rows
from rue.truth.annotations import Annotations
from rue.truth.base import Truth


def _member(read: Belief | Run) -> Belief:
    if isinstance(read, Run) or read.n_draws is None:
        what = "components" if isinstance(read, Run) else type(read).__name__
        raise FileError(
            f"{read.source}: several files of one method must hold probs, logits or "
            f"sampled_labels (for real numbers mean and sd, or samples), got {what}"
        )
    return read


def joined(read: Sequence[Belief | Run]) -> Belief:
    """Return the belief of one method from those of its files, two or more."""
    first, *others = _with_all_classes([_member(each) for each in read])
    members = [first, *(_like(first, member) for member in others)]
    parts = _parts(members)
    n_draws = [sum(member.n_draws or 0 for member in part) for part in parts]
    if len(set(n_draws)) > 1:
        sizes = ", ".join(
            f"{n} about those of {Path(part[0].source).name}"
            for n, part in zip(n_draws, parts, strict=True)
        )
        raise AlignmentError(
            f"{first.source}: every point of a method must have the same number of draws, got "
            f"{sizes}"
        )
    beliefs = [_draws_of(part) for part in parts]
    ids = [belief.ids for belief in beliefs if belief.ids is not None]
    shared = set.intersection(*(set(belief.groups) for belief in beliefs))
    groups = {name: np.concatenate([belief.groups[name] for belief in beliefs]) for name in shared}
    belief = _concatenated(beliefs, axis=0)._with(
        outcomes=first.outcomes.joined_orders(*(member.outcomes for member in members)),
        notes=tuple(note for member in members for note in member.notes),
    )
    source = f"{first.source} and {len(members) - 1} more"
    belief = belief.with_ids(np.concatenate(ids) if ids else None)
    return belief.with_source(source, groups=groups)._with(truth=_joined_truth(beliefs))


def _with_all_classes(members: list[Belief]) -> list[Belief]:
    """Return members of sampled labels with the classes that any of them sampled."""
    outcomes = [member.outcomes for member in members]
    if any(own.complete or own.names is None for own in outcomes):
        return members
    names = tuple(dict.fromkeys(name for own in outcomes for name in own.names or ()))
    union = Classes(names, order="none", complete=False)
    return [member._in_columns(member.outcomes._columns_of(names), union) for member in members]


def _like(first: Belief, member: Belief) -> Belief:
    """Bring a member's classes into the order of the first one's."""
    own, meant = member.outcomes, first.outcomes
    if type(member) is not type(first):
        raise AlignmentError(
            f"{member.source}: holds {type(member).__name__} but {first.source} "
            f"{type(first).__name__}"
        )
    if own.n != meant.n:
        raise AlignmentError(
            f"{member.source}: has {own.n} classes but {first.source} has {meant.n}"
        )
    if (member.ids is None) != (first.ids is None):
        bare, named = (member, first) if member.ids is None else (first, member)
        raise AlignmentError(
            f"{bare.source}: has no ids but {named.source} has; all files need them"
        )
    if member.actions is not None or first.actions is not None:
        raise FileError(f"{member.source}: actions cannot be joined from several files")
    if (own.names is None) != (meant.names is None):
        bare, named = (member, first) if own.names is None else (first, member)
        raise AlignmentError(
            f"{bare.source}: does not name its classes but {named.source} does; all files of a "
            "method need them",
            advice={"--classes": "names the columns of those without"},
        )
    strange = sorted(set(own.names or ()) ^ set(meant.names or ()))
    if strange:
        raise AlignmentError(
            f"{member.source} and {first.source} must name the same classes, got "
            f"{', '.join(own.names or ())} and {', '.join(meant.names or ())}; {strange[0]!r} is "
            "on one side only"
        )
    columns = np.arange(own.n) if meant.names is None else own._columns_of(meant.names)
    placed = own.part(columns)
    if placed.given_values != meant.given_values:
        raise AlignmentError(f"{member.source}: its values differ from those of {first.source}")
    truth = member.truth
    if truth is not None and truth.outcomes.n:
        truth = truth._in_columns(columns, placed)
    return member._in_columns(columns, placed)._with(truth=truth)


def _parts(members: Sequence[Belief]) -> list[list[Belief]]:
    """Return the files by the points that they are about."""
    first = members[0]
    if first.ids is None:
        for member in members[1:]:
            if len(member) != len(first):
                raise AlignmentError(
                    f"{member.source}: has {len(member):,} points but {first.source} has "
                    f"{len(first):,}; files without ids must have the same points"
                )
        return [list(members)]
    parts: dict[frozenset[str], list[Belief]] = {}
    for member in members:
        assert member.ids is not None
        parts.setdefault(frozenset(member.ids.tolist()), []).append(member)
    seen: dict[str, Belief] = {}
    for ids, part in parts.items():
        shared = next((name for name in ids if name in seen), None)
        if shared is not None:
            raise AlignmentError(
                f"{part[0].source}: shares some of its ids with {seen[shared].source}, such as "
                f"{shared!r}, but not all; files of one method must have the same points, or none "
                "in common"
            )
        seen |= dict.fromkeys(ids, part[0])
    return list(parts.values())


def _draws_of(part: Sequence[Belief]) -> Belief:
    """Stack files about the same points, rows in the order of the first."""
    first = part[0]
    beliefs = []
    for member in part:
        _, rows, _ = align_rows(first, member)
        beliefs.append(member if rows is None else member[rows])
        said, meant = beliefs[-1].truth, first.truth
        row = None if said is None or meant is None else meant.first_difference(said)
        if row is not None:
            raise AlignmentError(
                f"{member.source}: the annotators' answers differ from {first.source}, first at "
                f"row {row}"
            )
    return _concatenated(beliefs, axis=1)


def _joined_truth(parts: Sequence[Belief]) -> Truth | None:
    """Return the files' own counts; None where a part has none."""
    truths = [part.truth for part in parts if part.truth is not None]
    if len(truths) < len(parts) or len(parts) == 1:
        return truths[0] if len(parts) == len(truths) else None
    counts = [truth.counts for truth in truths if truth.counts is not None]
    if len(counts) < len(parts):
        return None
    ids = np.concatenate([truth.ids for truth in truths if truth.ids is not None])
    whole = Annotations(np.concatenate(counts), ids=ids)
    return whole._with(outcomes=truths[0].outcomes).with_source(truths[0].source)


def _concatenated(beliefs: Sequence[Belief], axis: int) -> Belief:
    """Return the first belief with the arrays of all, joined along points (0) or draws (1)."""
    first = beliefs[0]
    return first._with(
        **{
            name: np.concatenate([getattr(belief, name) for belief in beliefs], axis=axis)
            for name in first._ROWS
        }
    )


def noted_twins(methods: Sequence[Belief | Run]) -> list[Belief | Run]:
    """Return methods, with a note for each that predicts the same as an earlier one."""
    noted: list[Belief | Run] = []
    for method in methods:
        twin = next((one for one in methods[: len(noted)] if _same_belief(one, method)), None)
        if twin is not None and not isinstance(method, Run):
            note = f"{method.source}: its predictions are identical to those of {twin.source}"
            method = method.with_source(method.source, notes=(note,))
        noted.append(method)
    return noted


def _same_belief(one: Belief | Run, other: Belief | Run) -> bool:
    """Whether two methods hold the same numbers about the same points."""
    if isinstance(one, Run) or isinstance(other, Run):
        return False
    if type(one) is not type(other) or len(one) != len(other) or one.outcomes != other.outcomes:
        return False
    rows: list[Any] = [slice(None), slice(None)]
    if one.ids is not None and other.ids is not None:
        rows = [np.argsort(one.ids), np.argsort(other.ids)]
        if not np.array_equal(one.ids[rows[0]], other.ids[rows[1]]):
            return False
    names = [each.name for each in fields(one)]  # type: ignore[arg-type]
    return all(
        same_rows(getattr(one, name), getattr(other, name), rows[0], rows[1]) for name in names
    )
