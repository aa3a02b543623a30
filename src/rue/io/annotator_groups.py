"""A truth of one row per answer as one truth for each group of annotators, on the same points."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rue.beliefs import Belief
from rue.components import Run
from rue.errors import FileError
from rue.io.answer_rows import AnswerRows, FileAnswers
from rue.io.answer_tables import answers_in_table
from rue.io.answers import read_answers_frame, truth_of_answers, with_facts
from rue.io.names import BY_NAME, Matching
from rue.io.runs import align_files
from rue.truth.base import Truth

_MOST_GROUPS = 10


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
        answers = with_facts(frame, part.of_points(frame), (*by, column), matching)
        return truth_of_answers(replace(answers, **changes), matching.classes)

    whole = truth_of(rows)
    answered = [set(rows.ids[(words == n) & ~missing & ~rows.missing].tolist()) for n in names]
    common = set.intersection(*answered)
    if not common:
        raise FileError(
            f"{path}: no point has answers of all groups of {column} ({', '.join(names[:5])})"
        )
    ids = np.array([point in common for point in rows.ids.tolist()])
    truths: dict[str, Truth] = {}
    for name in names:
        part = rows.at((words == name) & ~missing & ids)
        truths[name] = truth_of(part, notes=(), unused=())
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
