"""A file as several truths: one for each label, or one for each group of annotators.

Of multi-label answers, each label is a binary problem: whether an annotator chose it or not.
A truth has, for each annotator of a point, a set of labels: a text such as ``a,b``, a list, an
object from annotator to either, or several rows of one annotator; or a column of counts for each
label beside the number of annotators. Predictions have a probability for each label, which need
not sum to 1; those of LeWiDi have a pair, (no, yes), for each. A group of annotators is named by a
column of a truth with one row per answer, and all groups are on the same points.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue._text import sorted_names
from rue.beliefs import Belief, Draws
from rue.components import Run
from rue.errors import AlignmentError, FileError
from rue.io.answer_rows import AnswerRows, FileAnswers
from rue.io.answer_tables import LABEL_NAMES, TOTALS, answers_in_table
from rue.io.answers import read_answers_frame, truth_of_answers, with_facts
from rue.io.belief_tables import belief_arrays
from rue.io.columns import is_missing
from rue.io.files import Frame, row_ids, without_index
from rue.io.logs import PAIRS
from rue.io.names import (
    ANNOTATOR_NAMES,
    BY_NAME,
    Matching,
    find_id_name,
    ids_of,
    index_names,
    unused_note,
)
from rue.io.predictions import method_name, read_belief_frame
from rue.io.runs import align_files
from rue.losses import Classes
from rue.truth.annotations import Annotations
from rue.truth.base import Truth

_SETS = (*LABEL_NAMES, "labels", "annotations", "answers")
_SEPARATORS = re.compile(r"[,;|]")
_MOST_GROUPS = 10


def read_label_truths(
    path: str | Path, *, by: Sequence[str] = (), matching: Matching = BY_NAME
) -> dict[str, Annotations]:
    """Read how many annotators chose each label of each point, and how many did not."""
    frame = read_answers_frame(path, by=by, matching=matching)
    path = frame.path
    if not frame.is_table:
        raise FileError(f"{path}: multi-label answers are read from tables and JSON, not arrays")
    wanted = matching.truth_id or matching.id_name
    id_name = find_id_name(frame.path, list(frame.columns), wanted)
    stated = [name for name in (*by, wanted, matching.label, matching.annotator) if name]
    ids = row_ids(frame, id_name)
    if ids is None:
        raise FileError(
            f"{path}: multi-label answers need an id: which point they are about",
            advice={"--truth-id": "names it"},
        )
    notes = (*frame.notes, *unused_note(path, index_names(frame.columns, id_name, stated)))
    frame = without_index(frame, id_name, stated)
    column = matching.label or frame.find(*_SETS)
    if column is None:
        names, labels, chosen, n_annotators = _counted(frame, ids, {id_name, *by}, matching)
    else:
        sets, more = _label_sets(frame, ids, column, matching)
        notes = (*notes, *more)
        names, labels, chosen, n_annotators = _tallied(frame, column, sets, matching)
    first = {name: row for row, name in reversed(list(enumerate(ids.tolist())))}
    rows = np.array([first[name] for name in names])
    groups = {name: frame.column(name).group[rows] for name in by if frame.has(name)}
    counts = np.stack([n_annotators[:, None] - chosen, chosen], axis=2)
    return {
        label: Annotations(counts[:, k], ids=names, classes=_both(label)).with_source(
            str(path), groups=groups, notes=() if k else notes
        )
        for k, label in enumerate(labels)
    }


def read_label_beliefs(
    path: str | Path, labels: Sequence[str], *, matching: Matching = BY_NAME
) -> dict[str, Belief]:
    """Read the probability of each label as a belief about not chosen and chosen."""
    frame = read_belief_frame(path, matching)
    path = frame.path
    arrays: Mapping[str, NDArray[Any]] = frame.arrays
    id_name = matching.id_name
    if PAIRS in frame.columns:
        arrays = _of_pairs(frame, matching)
        id_name = None
    elif frame.is_table:
        arrays = belief_arrays(frame, matching)[0]
        id_name = None
    probs = _probabilities(path, arrays)
    own = [str(name) for name in arrays.get("classes", np.array(matching.classes or labels))]
    notes = list(frame.notes)
    if len(own) != probs.shape[-1]:
        raise FileError(
            f"{path}: must have a probability for each label, got {probs.shape[-1]} for "
            f"{', '.join(own)}"
        )
    lacking = [label for label in labels if label not in own]
    if lacking:
        raise AlignmentError(
            f"{path}: lacks the label {lacking[0]!r}, which somebody chose; it has {', '.join(own)}"
        )
    if "classes" not in arrays and matching.classes is None:
        notes.append(
            f"{path} does not name its labels: they were taken as {', '.join(own)} in this order "
            "(--classes says otherwise)"
        )
    ids = ids_of(path, arrays, len(probs), id_name)
    method = method_name(arrays)
    beliefs: dict[str, Belief] = {}
    for label in labels:
        p = probs[:, :, own.index(label)]
        belief = Draws(np.stack([1 - p, p], axis=2), ids=ids, classes=_both(label), method=method)
        beliefs[label] = belief.with_source(str(path), notes=() if beliefs else tuple(notes))
    return beliefs


def _both(label: str) -> Classes:
    return Classes([f"not {label}", label], order="scale")


def _label_sets(
    frame: Frame, ids: NDArray[np.str_], column: str, matching: Matching
) -> tuple[dict[str, dict[str, set[str]]], list[str]]:
    """Return the labels that each annotator chose, by point and annotator, and notes."""
    name = matching.annotator or frame.find(*ANNOTATOR_NAMES)
    people = None if name is None else frame.column(name).words
    sets: dict[str, dict[str, set[str]]] = {}
    n_none = n_out = 0
    for row, cell in enumerate(frame.column(column).cells):
        point = sets.setdefault(str(ids[row]), {})
        if isinstance(cell, dict):
            answers = {str(person): value for person, value in cell.items()}
        elif isinstance(cell, list) and any(isinstance(part, list) for part in cell):
            answers = {f"{row} {i}": part for i, part in enumerate(cell)}
        elif is_missing(cell):
            # A row of an annotator is an answer, as [] is in JSON; a word such as n/a is none.
            is_none = people is not None and not (isinstance(cell, str) and cell.strip())
            n_none, n_out = n_none + is_none, n_out + (not is_none)
            answers = {str(people[row]): []} if people is not None and is_none else {}
        else:
            answers = {f"{row}" if people is None else str(people[row]): cell}
        for person, value in answers.items():
            labels = _labels(frame, column, value, row)
            if labels is not None:
                point.setdefault(person, set()).update(labels)
    notes = []
    if n_none:
        notes.append(f"{frame.path}: {n_none:,} empty cells were read as a choice of no label")
    if n_out:
        notes.append(f"{frame.path}: {n_out:,} rows without an answer were left out")
    return sets, notes


def _labels(frame: Frame, column: str, value: Any, row: int) -> set[str] | None:
    """Return the labels of an answer: an empty list is a choice of none, a missing one is None."""
    if isinstance(value, list):
        if any(isinstance(part, list | dict) for part in value):
            raise frame.error(
                f"{column} must hold a list of labels per annotator, got {str(value)[:60]}", row
            )
        return {str(part).strip() for part in value}
    if is_missing(value):
        return None
    parts = {part.strip() for part in _SEPARATORS.split(str(value))}
    return parts - {""}


def _tallied(
    frame: Frame, column: str, sets: Mapping[str, Mapping[str, set[str]]], matching: Matching
) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    """Return points, labels, how many annotators chose each, and how many there are."""
    silent = [name for name, point in sets.items() if not point]
    if silent:
        raise frame.error(
            f"every point needs at least one answer, {len(silent):,} of "
            f"{len(sets):,} have none, first {silent[0]!r}; drop them from the truth"
        )
    occurring = {label for point in sets.values() for labels in point.values() for label in labels}
    order = frame.columns[column].order if column in frame.columns else None
    labels = list(matching.classes or order or sorted_names(list(occurring)))
    strange = sorted(occurring - set(labels))
    if strange or not labels:
        got = repr(strange[0]) if strange else "none"
        raise frame.error(
            f"{column} must hold labels of {', '.join(labels) or 'some kind'}, got {got}",
            advice={"--classes": "names all labels"},
        )
    place = {label: k for k, label in enumerate(labels)}
    chosen = np.zeros((len(sets), len(labels)))
    for row, point in enumerate(sets.values()):
        for own in point.values():
            chosen[row, [place[label] for label in own]] += 1
    return list(sets), labels, chosen, np.array([float(len(point)) for point in sets.values()])


def _counted(
    frame: Frame, ids: NDArray[np.str_], others: set[str | None], matching: Matching
) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    """Return points, labels, counts and the number of annotators of a table with all of them."""
    total = frame.find(*TOTALS)
    if total is None:
        raise frame.error(
            f"must have a column of labels, or counts of each label beside "
            f"n_annotators; it has {frame.shown}",
            advice={"--label": "names the column of labels"},
        )
    labels = list(matching.classes or frame.number_columns({*others, total}))
    n_annotators = frame.numbers(total)
    chosen = np.stack([frame.numbers(label) for label in labels], axis=1)
    wrong = (chosen < 0) | (chosen > n_annotators[:, None])
    if wrong.any():
        row, k = (int(i) for i in np.argwhere(wrong)[0])
        raise frame.error(
            f"{labels[k]} must be from 0 to {total}, got {chosen[row, k]:g} of "
            f"{n_annotators[row]:g}",
            row,
        )
    return ids.tolist(), labels, chosen, n_annotators


def _of_pairs(frame: Frame, matching: Matching) -> dict[str, NDArray[Any]]:
    """Return the arrays of a submission with a pair of probabilities for each label."""
    try:
        pairs = np.array(list(frame.columns[PAIRS].cells), np.float64)
    except (ValueError, TypeError):
        pairs = np.zeros(0)
    if pairs.ndim != 3 or pairs.shape[2] != 2 or not np.allclose(pairs.sum(axis=2), 1, atol=1e-6):
        raise frame.error(
            "every line must have the same number of labels, each with two "
            "probabilities that sum to 1"
        )
    ids = row_ids(frame, find_id_name(frame.path, list(frame.columns), matching.id_name))
    return {"probs": pairs[:, :, 1]} | ({} if ids is None else {"ids": ids})


def _probabilities(path: Path, arrays: Mapping[str, NDArray[Any]]) -> FloatArray:
    """Return the probability of each label, (n_points, n_draws, n_labels)."""
    kind = "probs" if "probs" in arrays else "logits"
    array = arrays.get(kind)
    if array is None or array.ndim not in (2, 3) or array.dtype.kind not in "fiu":
        raise FileError(
            f"{path}: must hold probs or logits of shape (n_points, n_labels) or (n_points, "
            f"n_draws, n_labels), got {', '.join(arrays) if array is None else array.shape}"
        )
    numbers = array.astype(np.float64)
    if kind == "logits":
        numbers = np.exp(-np.logaddexp(0.0, -numbers))
    inside = (numbers >= 0) & (numbers <= 1)
    if not inside.all():
        row = int(np.argwhere(~inside)[0][0])
        raise FileError(
            f"{path}: probabilities of labels must be between 0 and 1, not at row {row}"
        )
    return numbers if numbers.ndim == 3 else numbers[:, None]


@dataclass(frozen=True, eq=False)
class AnnotatorGroups:
    """The answers of all annotators, and those of each group about the points that all answered."""

    whole: Truth
    truths: dict[str, Truth]

    def on_points(self, belief: Belief | Run, matching: Matching) -> Belief:
        """Return the predictions about the points of the groups, once all are matched."""
        if isinstance(belief, Run):
            raise FileError(f"{belief.path}: holds components, and groups need predictions")
        _, aligned, notes = align_files(belief, self.whole, matching)
        first = next(iter(self.truths.values()))
        part = aligned[np.isin(aligned.ids, first.ids)]  # type: ignore[arg-type]
        return part.with_source(part.source, notes=notes)


def read_annotator_groups(
    path: str | Path, column: str, *, by: Sequence[str] = (), matching: Matching = BY_NAME
) -> AnnotatorGroups:
    """Read the answers of each group of annotators that a column of a truth names."""
    frame = read_answers_frame(path, by=(*by, column), matching=matching)
    if not frame.is_table:
        raise FileError(f"{path}: groups of annotators need one row per answer, and this is arrays")
    rows = answers_in_table(frame, (*by, column), matching)
    groups = frame.column(column)
    if isinstance(rows, FileAnswers) or groups.is_nested:
        raise FileError(
            f"{path}: {column} must say who gave an answer, so there must be one row per answer "
            f"with the columns id, label and {column}"
        )
    words, missing = groups.words[rows.rows], groups.missing[rows.rows]
    names = sorted(set(words[~missing].tolist()))
    if not 2 <= len(names) <= _MOST_GROUPS:
        raise FileError(
            f"{path}: {column} must have 2 to {_MOST_GROUPS} groups of annotators, got {len(names)}"
        )

    def truth_of(part: AnswerRows, **changes: Any) -> Truth:
        answers = with_facts(frame, part, (*by, column), matching)
        return truth_of_answers(replace(answers, **changes), matching.classes)

    whole = truth_of(rows)
    answered = [set(rows.ids[(words == n) & ~missing & ~rows.missing].tolist()) for n in names]
    common = set.intersection(*answered)
    if not common:
        raise FileError(
            f"{path}: no point has answers of all groups of {column} ({', '.join(names[:5])})"
        )
    ids = np.array([point in common for point in rows.ids.tolist()])
    parts = {name: rows.at((words == name) & ~missing & ids) for name in names}
    truths = {name: truth_of(part, notes=()) for name, part in parts.items()}
    notes = _notes(truths, len(whole), int(missing.sum()), column, path)
    first = truths[names[0]]
    truths[names[0]] = first.with_source(str(path), notes=(*whole.notes, *notes))
    return AnnotatorGroups(whole, truths)


def _notes(
    truths: dict[str, Truth], n_points: int, n_unknown: int, column: str, path: Any
) -> list[str]:
    """Return which points and answers were left out, and whether numbers of answers differ."""
    notes = []
    n_common = len(next(iter(truths.values())))
    if n_common < n_points:
        notes.append(
            f"{n_points - n_common:,} of {n_points:,} points lack answers of a group of {column} "
            "and were left out"
        )
    if n_unknown:
        notes.append(f"{path}: {n_unknown:,} answers without a {column} are in no group")
    means = {name: float(truth.n_annotators.mean()) for name, truth in truths.items()}
    if max(means.values()) > 1.02 * min(means.values()):
        shown = ", ".join(f"{name} {mean:.3g}" for name, mean in means.items())
        notes.append(
            f"groups differ in answers per point ({shown}): regret of fewer answers is biased "
            "upwards, so compare risk, or regret_unbiased"
        )
    return notes
