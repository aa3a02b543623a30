"""Truth files: what annotators said, with the names of points and classes.

- arrays: ``counts`` (n, k), ``probs`` for a known p*, or ``ratings`` (n, n_answers) with NaN for
  an answer that is not there, and optionally ``ids``, ``classes``, ``values``, ``range``;
- one row per answer: ``id``, ``label`` or ``rating``, ``annotator`` where it is known; or one row
  per class with a ``count``;
- a list of answers per point (``labels``, ``annotations``, ...), an object from annotator to
  answer, or one from class to number (``counts``, ``label_counter``, ``probs``);
- one column per annotator; or one column per class (wide), with shares where there is a total.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, chunked
from rue.errors import FileError, InputError
from rue.io.answer_rows import LEFT_OUT, AnswerRows, FileAnswers
from rue.io.answer_tables import answers_in_table
from rue.io.files import Frame, read_frame
from rue.io.names import (
    BY_NAME,
    RESERVED,
    Matching,
    checked_classes,
    group_columns,
    ids_of,
    in_stated_order,
    unused_note,
)
from rue.io.probabilities import span
from rue.io.real_values import range_of, ratings_of_array
from rue.losses import Classes
from rue.truth.annotations import Annotations
from rue.truth.base import Truth
from rue.truth.ratings import Ratings

_EXACT = ": p* is taken as exact, so there is no bracket"
_ENOUGH_ROWS = 20  # to conclude something from a common divisor
ANSWER_ARRAYS = ("counts", "probs", "ratings")
_NOT_SHARES = {
    "--shares": "takes percentages of unknown many answers, so that p* is exact",
    "--n-answers": "says how many answered each point",
}


def read_truth(
    path: str | os.PathLike[str],
    *,
    by: str | Sequence[str] | None = None,
    matching: Matching = BY_NAME,
) -> Truth:
    r"""Read what annotators said from a file, with the names of points and classes.

    Parameters
    ----------
    path : str or path
        The file: a table, array file or JSON of the layouts in :mod:`rue.io.answers`, or a
        prediction file with ``counts`` or ``ratings``.
    by : str or sequence of str, optional
        A column, or several, that are groups and no classes.
    matching : Matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Annotations or Ratings
        The answers about n_points points, with ids, classes and groups where there are any. Of a
        prediction file, its own ``counts`` or ``ratings``.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as truth.

    Examples
    --------
    >>> import tempfile, pathlib, rue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "answers.csv")
    ...     _ = path.write_text("id,no,yes\na,1,1\nb,0,1\n")
    ...     truth = rue.read_truth(path)
    >>> truth.ids.tolist(), truth.outcomes.names, truth.counts.tolist()
    (['a', 'b'], ('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """
    by = (by,) if isinstance(by, str) else tuple(by or ())
    frame = read_answers_frame(Path(path), by=by, matching=matching)
    return truth_of_answers(answers_of(frame, by=by, matching=matching), matching.classes)


def read_answers_frame(path: str | Path, *, by: Sequence[str], matching: Matching) -> Frame:
    """Read the frame of a file of answers."""
    if not Path(path).exists():
        raise FileError(f"{path}: there is no such file or data set")
    stated = (*by, matching.truth_id or matching.id_name, matching.label, matching.annotator)
    return read_frame(
        path,
        names=[name for name in stated if name],
        arrays=(*ANSWER_ARRAYS, *RESERVED),
        max_memory=matching.max_memory,
    )


def answers_of(
    frame: Frame, *, by: Sequence[str] = (), matching: Matching = BY_NAME
) -> FileAnswers:
    """Return the answers that a frame holds."""
    if frame.is_table:
        return with_facts(frame, answers_in_table(frame, by, matching), by, matching)
    arrays = answers_of_arrays(frame.path, frame.arrays, matching)
    if arrays is None:
        raise frame.error(f"must hold counts, probs or ratings, got {frame.shown}")
    unused = [name for name in (*arrays.groups, *frame.unused) if name not in by]
    return _with_unused(as_stated(arrays, matching), unused)


def with_facts(
    frame: Frame, answers: AnswerRows | FileAnswers, by: Sequence[str], matching: Matching
) -> FileAnswers:
    """Return the answers of a table with what the user says, and a note about unused columns."""
    if isinstance(answers, AnswerRows):
        answers = answers.of_points(frame)
    paths = (*answers.used, *answers.columns.values(), *by)
    used = {part for name in paths for part in (name, name.split(".")[0])}
    unused = [name for name in frame.columns if name not in used]
    return _with_unused(as_stated(answers, matching), unused)


def _with_unused(answers: FileAnswers, names: Sequence[str]) -> FileAnswers:
    """Return answers with a note about what the file holds and nobody used."""
    return replace(answers, notes=(*answers.notes, *unused_note(answers.path, names)))


def answers_of_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], matching: Matching = BY_NAME
) -> FileAnswers | None:
    """Return the answers in named arrays, or None if they hold none."""
    name = next((name for name in ("counts", "ratings", "probs", "") if name in arrays), None)
    if name is None:
        return None
    table, values, counts, classes = arrays[name], None, None, None
    ratings = ratings_of_array(path, table) if name == "ratings" else None
    if ratings is None:
        if table.ndim != 2 or table.dtype.kind not in "fiub" or 0 in table.shape:
            raise FileError(
                f"{path}: counts must have shape (n_points, n_classes) and hold numbers, got "
                f"{table.dtype} of shape {table.shape}"
            )
        counts, values = np.asarray(table), arrays.get("values")
        if "classes" in arrays:
            classes = checked_classes(path, arrays["classes"], table.shape[1])
    return FileAnswers(
        path=path,
        layout="arrays",
        n_points=len(table),
        ids=ids_of(path, arrays, len(table), matching.truth_id or matching.id_name),
        counts=counts,
        named_shares=name == "probs",
        ratings=ratings,
        range=None if ratings is None else range_of(path, arrays.get("range")),
        classes=classes,
        values=values,
        groups=group_columns(arrays, len(table)),
    )


def silent_points(answers: FileAnswers) -> IntArray:
    """Return the points without any answer."""
    if answers.ratings is not None:
        return np.flatnonzero([not len(row) for row in answers.ratings])
    if answers.counts is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(~answers.counts.any(axis=1))


def _table(answers: FileAnswers) -> FloatArray | None:
    """Return the counts, or the probabilities where they are known; None for ratings."""
    return answers.counts if answers.probs is None else answers.probs


def as_stated(answers: FileAnswers, matching: Matching) -> FileAnswers:
    """Return numbers by class as what they are: counts, or shares, also where the user says so."""
    answers = _as_counts_or_probs(answers)
    table, names = _table(answers), matching.classes
    if table is None:
        return answers
    if answers.classes is None and names is not None and len(names) == table.shape[1]:
        answers = replace(answers, classes=names)
    # What is no number of answers is refused later.
    if (table < 0).any() or not table.any(axis=1).all() or not (table < 2**53).all():
        return answers
    sums = table.sum(axis=1, keepdims=True, dtype=np.float64)
    if matching.normalize and answers.probs is not None:
        note = f"{answers.path}: shares were divided by their sums, {span(sums)}"
        return replace(answers, probs=answers.probs / sums, notes=(*answers.notes, note))
    others = [note for note in answers.notes if not note.endswith(_EXACT)]
    if matching.shares:
        note = f"{answers.path}: counts were read as shares, so p* is exact and there is no bracket"
        return replace(answers, counts=None, probs=table / sums, notes=(*others, note))
    if matching.n_answers is not None:
        exact = table / sums * matching.n_answers
        counts = np.floor(exact + 1e-9)
        order = np.argsort(np.argsort(counts - exact, axis=1, kind="stable"), axis=1)
        counts += order < matching.n_answers - counts.sum(axis=1, keepdims=True)
        note = f"{answers.path}: counts were scaled to {matching.n_answers} answers per point"
        if np.abs(counts - exact).max() > 0.05:
            note += f" and rounded by up to {np.abs(counts - exact).max():.2g} answers"
        return replace(answers, counts=counts, probs=None, notes=(*others, note))
    if answers.counts is None or answers.layout == "long":
        return answers
    divisor = _common_divisor(table)
    if len(table) > 1 and (np.abs(sums - 100) <= 1).all():  # rounded ones sum to 99 or 101
        about = "" if (sums == 100).all() else "about "
        what = f"all counts of a point sum to {about}100: if they are percentages"
    elif divisor > 1 and len(table) >= _ENOUGH_ROWS:
        what = f"all counts are multiples of {divisor}: if they are scaled"
    else:
        return answers
    note = f"{answers.path}: {what}, --n-answers says how many answered, or --shares that p* is"
    return replace(answers, notes=(*answers.notes, f"{note} exact"))


def _as_counts_or_probs(answers: FileAnswers) -> FileAnswers:
    """Return counts that are not whole, or are called probabilities in a table, as such."""
    table = answers.counts
    if table is None:
        return answers
    finite = table.dtype.kind != "f" or bool(np.isfinite(table).all())
    fractional = finite and table.dtype.kind == "f" and bool((table % 1 != 0).any())
    if answers.layout == "long" or not (
        fractional or (answers.named_shares and answers.layout == "wide")
    ):
        return answers
    note = f"{answers.path} holds shares, not whole counts{_EXACT}"
    notes = answers.notes if answers.named_shares else (*answers.notes, note)
    return replace(answers, counts=None, probs=table, notes=notes)


def truth_of_answers(answers: FileAnswers, stated: Sequence[str] | None = None) -> Truth:
    """Return answers as a truth; every point must have one, and each annotator only one."""
    path = answers.path
    if answers.repeated:
        who, _, point = answers.repeated[0].partition(" about ")
        raise FileError(
            f"{path}: an annotator may answer once per point, but {who} answered more than once "
            f"about {point} ({len(answers.repeated):,} in all)"
        )
    silent = silent_points(answers)
    if len(silent):
        first = int(silent[0])
        name = f"row {first}" if answers.ids is None else repr(str(answers.ids[first]))
        raise FileError(
            f"{path}: every point needs at least one answer, {len(silent):,} of "
            f"{answers.n_points:,} have none, first {name}; drop them from the truth",
            advice={
                "--common": "then keeps the points with answers",
                "--annotator": "says which columns hold an annotator each, and no counts",
            },
        )
    notes = answers.notes
    if answers.n_blank:
        what = "cells" if "," in answers.columns.get("annotator", "") else "rows"
        notes = (*notes, f"{path}: {answers.n_blank:,} {what} {LEFT_OUT}")
    try:
        truth: Truth
        if answers.ratings is not None:
            truth = Ratings(answers.ratings, range=answers.range, ids=answers.ids)
        else:
            table = _table(answers)
            assert table is not None
            names = table.shape[1] if answers.classes is None else answers.classes
            classes = Classes(names, answers.values, order=answers.order)
            make = Annotations if answers.probs is None else Annotations.from_probs
            truth = make(table, ids=answers.ids, classes=classes)
    except InputError as error:
        raise with_advice(error, _NOT_SHARES).about(path) from None
    return in_stated_order(truth.with_source(str(path), groups=answers.groups, notes=notes), stated)


def with_advice(error: InputError, advice: Mapping[str, str]) -> InputError:
    """Return an error with what to do where probabilities do not sum to 1, if it says so."""
    if "must sum to 1" in error.message:
        error.advice = {**advice, **error.advice}
    return error


def _common_divisor(table: NDArray[Any]) -> int:
    """Return the greatest common divisor of whole numbers, or 1 if some are not whole."""
    divisor = 0
    for _, part in chunked(table, 1 << 22):
        if divisor == 1 or (table.dtype.kind == "f" and (part % 1 != 0).any()):
            return 1
        divisor = int(np.gcd(divisor, np.gcd.reduce(part.astype(np.int64), axis=None)))
    return divisor
