"""A frame as what annotators said: counts of classes, shares, or real-valued answers.

- arrays: ``counts`` (n, k), ``probs`` for a known p*, or ``ratings`` (n, n_answers) with NaN for
  an answer that is not there, and optionally ``ids``, ``classes``, ``values``, ``range``;
- one row per answer: ``id``, ``label`` or ``rating``, ``annotator`` where it is known; or one row
  per class with a ``count``;
- a list of answers per point (``labels``, ``annotations``, ...), an object from annotator to
  answer, or one from class to number (``counts``, ``label_counter``, ``probs``);
- one column per annotator; or one column per class (wide), with shares where there is a total.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, chunked
from rue.errors import FileError
from rue.io.answer_tables import Said, said_in_table
from rue.io.files import Frame, read_frame
from rue.io.names import BY_NAME, Matching, checked_classes, ids_of

_EXACT = ": p* is taken as exact, so there is no bracket"
_ENOUGH_ROWS = 20  # to conclude something from a common divisor
Layout = Literal["long", "wide", "arrays"]
ANSWER_ARRAYS = ("counts", "probs", "ratings")
RESERVED = frozenset(
    {
        *("probs", "logits", "alpha", "sampled_labels", "epistemic", "actions", "values", "ids"),
        *("counts", "classes", "method", "mean", "sd", "samples", "mu", "nu", "beta", "ratings"),
        *("range", "labels"),
    }
)
"""Names of arrays that are no columns to group by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FileAnswers:
    """What annotators said about each point of a file: counts, known probabilities or ratings."""

    path: Path
    layout: Layout
    n_points: int
    ids: NDArray[np.str_] | None = None
    counts: FloatArray | None = None
    probs: FloatArray | None = None
    ratings: tuple[FloatArray, ...] | None = None
    range: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None
    order: Literal["none", "given", "scale"] = "given"
    values: FloatArray | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    n_annotators: int | None = None
    repeated: tuple[str, ...] = ()
    n_blank: int = 0
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def silent(self) -> IntArray:
        """The points without any answer."""
        if self.ratings is not None:
            return np.flatnonzero([not len(row) for row in self.ratings])
        if self.counts is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(~self.counts.any(axis=1))

    def named(self, classes: tuple[str, ...] | None) -> "FileAnswers":
        """Give the classes of a file without names those that the user said."""
        table = self.counts if self.probs is None else self.probs
        if classes is None or self.classes is not None or table is None:
            return self
        return replace(self, classes=classes) if len(classes) == table.shape[1] else self


def read_answers(
    path: str | Path, *, by: Sequence[str] = (), matching: Matching = BY_NAME
) -> FileAnswers:
    """Read the answers in a file; ``by`` names columns that are no classes."""
    return answers_of(read_answers_frame(path, by=by, matching=matching), by=by, matching=matching)


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
        return answers_of_said(frame, said_in_table(frame, by, matching), by, matching)
    answers = answers_of_arrays(frame.path, frame.arrays, matching)
    if answers is None:
        raise FileError(f"{frame.path}: must hold counts, probs or ratings, got {frame.shown}")
    unused = [name for name in (*answers.groups, *frame.unused) if name not in by]
    answers = replace(answers, unused=tuple(unused)).named(matching.classes)
    return as_stated(answers, matching)


def answers_of_said(frame: Frame, said: Said, by: Sequence[str], matching: Matching) -> FileAnswers:
    """Return what a table says as answers about points."""
    paths = (*said.used, *said.columns.values(), *by)
    used = {part for name in paths for part in (name, name.split(".")[0])}
    unused = tuple(name for name in frame.columns if name not in used)
    answers = replace(_collected(frame, said), unused=unused).named(matching.classes)
    return as_stated(answers, matching)


def answers_of_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], matching: Matching = BY_NAME
) -> FileAnswers | None:
    """Return the answers in named arrays, or None if they hold none."""
    id_name = matching.truth_id or matching.id_name
    if "ratings" in arrays and "counts" not in arrays:
        ratings = _ratings_of_array(path, arrays["ratings"])
        return FileAnswers(
            path=path,
            layout="arrays",
            n_points=len(ratings),
            ids=ids_of(path, arrays, len(ratings), id_name),
            ratings=ratings,
            range=_range(path, arrays.get("range")),
            groups=group_columns(arrays, len(ratings)),
        )
    table = next((arrays[name] for name in ("counts", "probs", "") if name in arrays), None)
    if table is None:
        return None
    if table.ndim != 2 or table.dtype.kind not in "fiub" or 0 in table.shape:
        raise FileError(
            f"{path}: counts must have shape (n_points, n_classes) and hold numbers, got "
            f"{table.dtype} of shape {table.shape}"
        )
    n_points, n_classes = table.shape
    classes = None
    if "classes" in arrays:
        classes = checked_classes(path, arrays["classes"], n_classes)
    answers = FileAnswers(
        path=path,
        layout="arrays",
        n_points=n_points,
        ids=ids_of(path, arrays, n_points, id_name),
        classes=classes,
        values=arrays.get("values"),
        groups=group_columns(arrays, n_points),
    )
    return _counts_or_probs(answers, np.asarray(table), noted="counts" in arrays or "" in arrays)


def as_stated(answers: FileAnswers, matching: Matching) -> FileAnswers:
    """Return counts as what the user says that they are, or note that they may be percentages."""
    if matching.normalize and answers.probs is not None and (answers.probs < 2**53).all():
        sums = answers.probs.sum(axis=1, keepdims=True)
        if not (sums > 0).all():
            return answers
        if (answers.probs < 0).any():
            return answers  # refused later
        note = f"{answers.path}: shares were divided by their sums, {span(sums)}"
        return replace(answers, probs=answers.probs / sums, notes=(*answers.notes, note))
    table = answers.counts if answers.probs is None else answers.probs
    if table is None or (table < 0).any() or not table.any(axis=1).all():
        return answers
    if not (table < 2**53).all():  # what is no number of answers is refused later
        return answers
    sums = table.sum(axis=1, keepdims=True, dtype=np.float64)
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


def span(sums: FloatArray) -> str:
    """Return the least and the largest number, for notes."""
    low, high = float(sums.min()), float(sums.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def group_columns(arrays: Mapping[str, NDArray[Any]], n_points: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that rows may be grouped by: one number or word for each point."""
    return {
        name: np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
        for name, array in arrays.items()
        if name not in RESERVED and array.shape == (n_points,) and array.dtype.kind in "fiubUSM"
    }


def _counts_or_probs(
    answers: FileAnswers, table: NDArray[Any], *, noted: bool, exact: bool = False
) -> FileAnswers:
    """Add a table of counts; numbers that are not whole are taken as probabilities."""
    finite = table.dtype.kind != "f" or bool(np.isfinite(table).all())
    if exact or (finite and table.dtype.kind == "f" and (table % 1 != 0).any()):
        note = f"{answers.path} holds shares, not whole counts{_EXACT}"
        notes = (*answers.notes, note) if noted else answers.notes
        return replace(answers, probs=table, notes=notes)
    return replace(answers, counts=table)


def _collected(frame: Frame, said: Said) -> FileAnswers:
    """Return what was said as a table, points in the order in which they first occur."""
    notes = (*frame.notes, *said.notes)
    common: dict[str, Any] = {
        "path": frame.path,
        "layout": said.layout,
        "columns": said.columns,
        "notes": notes,
    }
    if said.table is not None:  # a row per point
        answers = FileAnswers(
            n_points=len(said.table),
            ids=said.ids,
            classes=said.classes,
            order=said.order,
            groups=_kept_columns(frame, said, np.arange(len(frame)), np.arange(len(frame))),
            **common,
        )
        return _counts_or_probs(answers, said.table, noted=not said.exact, exact=said.exact)
    assert said.ids is not None
    names, first, place = np.unique(said.ids, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    point, first = rank[place], first[order]
    there = ~said.missing
    answers = FileAnswers(
        n_points=len(names),
        ids=said.ids[first],
        n_annotators=_n_annotators(said, there),
        repeated=_repeated(said, there),
        n_blank=int(said.missing.sum()),
        groups=_kept_columns(frame, said, said.rows[first], said.rows[first][point]),
        **common,
    )
    if said.numbers is not None:
        rows = np.argsort(point[there], kind="stable")
        ends = np.cumsum(np.bincount(point[there], minlength=len(names)))[:-1]
        split = np.split(said.numbers[there][rows], ends)
        return replace(answers, ratings=tuple(split))
    assert said.classes is not None
    assert said.codes is not None
    counts = np.zeros((len(names), len(said.classes)))
    np.add.at(counts, (point[there], said.codes[there]), said.weights[there])
    return replace(answers, counts=counts, classes=said.classes, order=said.order)


def _kept_columns(
    frame: Frame, said: Said, rows: IntArray, same: IntArray
) -> dict[str, NDArray[Any]]:
    """Return the other columns that hold one value per point, in all rows of it."""
    used = {*said.used, *said.columns.get("id", "").split(".")[:1]}
    groups = {}
    for name, column in frame.columns.items():
        if name not in used and not column.is_nested:
            cells = column.group
            if (cells[said.rows] == cells[same]).all():
                groups[name] = cells[rows]
    return groups


def _n_annotators(said: Said, there: NDArray[np.bool]) -> int | None:
    if said.annotators is None:
        return None
    names = np.unique(said.annotators[there])
    return int((names != "").sum())


def _repeated(said: Said, there: NDArray[np.bool]) -> tuple[str, ...]:
    """Return who answered twice about which point, a sentence each."""
    if said.annotators is None or said.ids is None:
        return ()
    named = there & (said.annotators != "")
    ids, who = said.ids[named], said.annotators[named]
    order = np.lexsort((who, ids))
    again = (ids[order][1:] == ids[order][:-1]) & (who[order][1:] == who[order][:-1])
    later = np.sort(order[1:][again])
    return tuple(f"{who[row]} about {ids[row]}" for row in later)


def _ratings_of_array(path: Path, array: NDArray[Any]) -> tuple[FloatArray, ...]:
    if array.ndim not in (1, 2) or array.dtype.kind not in "fiu" or 0 in array.shape:
        raise FileError(
            f"{path}: ratings must be numbers of shape (n_points, n_answers) or (n_points,), got "
            f"{array.dtype} of shape {array.shape}"
        )
    rows = (array if array.ndim == 2 else array[:, None]).astype(np.float64)
    there = ~np.isnan(rows)
    ends = np.cumsum(there.sum(axis=1))[:-1]
    return tuple(np.split(rows[there], ends))


def _range(path: Path, limits: NDArray[Any] | None) -> tuple[float, float] | None:
    if limits is None:
        return None
    if limits.dtype.kind not in "fiu" or limits.size != 2:
        raise FileError(f"{path}: range must be two numbers, low and high, got {limits.tolist()}")
    low, high = limits.astype(np.float64).ravel().tolist()
    return low, high


def _common_divisor(table: NDArray[Any]) -> int:
    """Return the greatest common divisor of whole numbers, or 1 if some are not whole."""
    divisor = 0
    for _, part in chunked(table, 1 << 22):
        if divisor == 1 or (table.dtype.kind == "f" and (part % 1 != 0).any()):
            return 1
        divisor = int(np.gcd(divisor, np.gcd.reduce(part.astype(np.int64), axis=None)))
    return divisor
