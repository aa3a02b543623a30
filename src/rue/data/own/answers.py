"""The answers of your own data set, independent of the file's layout, and their agreement."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_array
from rue.errors import FileError, InputError
from rue.io.answer_rows import FileAnswers, Layout
from rue.io.answers import answers_of, silent_points
from rue.io.columns import FrameColumn, is_number
from rue.io.files import Frame, read_frame
from rue.io.memory import MemoryBudget
from rue.io.names import ID_NAMES, Matching, find_id_name
from rue.truth.annotations import Annotations

TABLE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow")
ATTRIBUTES = {
    "text": ("text", "sentence"),
    "image": ("image", "image_path", "file", "file_name"),
    "split": ("split",),
    "group": ("group", "document"),
}
"""The usual names of the columns that describe a point."""


@dataclass(frozen=True, kw_only=True)
class OwnAnswers:
    """The answers about each point that has some, and its other columns."""

    path: Path
    layout: Layout
    ids: list[str]
    class_names: tuple[str, ...] = ()
    annotations: Annotations | None = None
    ratings: tuple[FloatArray, ...] | None = None
    n_annotators: int | None = None
    repeated: tuple[str, ...] = ()
    n_blank: int = 0
    n_silent: int = 0
    attributes: Mapping[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_own_answers(
    path: Path,
    columns: Mapping[str, str | None],
    classes: Sequence[str] | None = None,
    *,
    max_memory: int | None = None,
) -> OwnAnswers:
    """Read a file of answers; ``columns`` says what -> its column, where the user said so."""
    if classes is not None and len(set(classes)) < len(classes):
        raise InputError(f"classes must differ, got {', '.join(classes)}")
    stated = {what: name for what, name in columns.items() if name is not None}
    frame = read_frame(path, names=list(stated.values()), parts=True, max_memory=max_memory)
    attributes = _attribute_columns(frame, stated)
    matching = Matching(
        truth_id=stated.get("id"),
        label=stated.get("label"),
        rating=stated.get("rating"),
        annotator=stated.get("annotator"),
        classes=None if classes is None else tuple(classes),
    )
    _require_columns(frame, stated)
    if frame.is_table and find_id_name(path, list(frame.columns), stated.get("id")) is None:
        raise FileError(
            f"{path} needs a column of ids (id, uid, item), it has {frame.shown}",
            advice={"--id": "names the column of ids"},
        )
    if path.is_dir() and "split" in frame.columns:
        _require_own_ids(frame, find_id_name(path, list(frame.columns), stated.get("id")))
    answers = answers_of(frame, by=list(attributes.values()), matching=matching)
    return _answered(answers, attributes)


def table_with(path: Path, columns: Mapping[str, str | None], *what: str) -> dict[str, list[str]]:
    """Return columns of another table by their meaning, such as ``id`` and ``text``."""
    frame = read_frame(path)
    usual = {"id": ID_NAMES, **ATTRIBUTES}
    names = {
        w: columns.get(w) if frame.has(columns.get(w) or "") else frame.find(*usual[w])
        for w in what
    }
    if None in names.values():
        raise FileError(f"{path} needs the columns {' and '.join(what)}, it has {frame.shown}")
    return {w: frame.column(str(name)).words.tolist() for w, name in names.items()}


def _require_own_ids(frame: Frame, name: str | None) -> None:
    """Raise if two parts of a folder of `datasets` have an id in common."""
    ids, parts = frame.column(str(name)).words, frame.columns["split"].words
    pairs = set(zip(ids.tolist(), parts.tolist(), strict=True))
    part_of: dict[str, str] = {}
    for key, part in sorted(pairs):
        other = part_of.setdefault(key, part)
        if other != part:
            raise FileError(
                f"{frame.path}: ids must not repeat in other parts, {key!r} is in {other} and "
                f"{part}; give the folder of one part"
            )


def _require_columns(frame: Frame, stated: Mapping[str, str]) -> None:
    for what, name in stated.items():
        if what != "text" and frame.is_table and "," not in name and not frame.has(name):
            raise InputError(
                f"{frame.path} has no column {name!r} (--{what}), it has {frame.shown}"
            )


def _attribute_columns(frame: Frame, stated: Mapping[str, str]) -> dict[str, str]:
    """Return which columns describe a point."""
    columns = {}
    for what, usual in ATTRIBUTES.items():
        if what in stated and frame.has(stated[what]):
            columns[what] = stated[what]
            continue
        names = [n for n in frame.columns if n.strip().lower().replace(" ", "_") in usual]
        names = [name for name in names if name not in stated.values()]
        if len(names) > 1:
            raise InputError(
                f"{frame.path}: both {names[0]!r} and {names[1]!r} could be the {what}: "
                f"give --{what}"
            )
        if names or what in frame.arrays:
            columns[what] = names[0] if names else what
    return columns


def _answered(answers: FileAnswers, attributes: Mapping[str, str]) -> OwnAnswers:
    """Return the answers about the points that have some."""
    path, n_points = answers.path, answers.n_points
    if answers.probs is not None:
        raise FileError(
            f"{path}: counts must be whole numbers from 0, got {answers.probs[0].tolist()}",
            advice={"--classes": "says which columns are classes"},
        )
    ids = np.arange(n_points).astype(np.str_) if answers.ids is None else answers.ids
    if len(np.unique(ids)) < n_points:
        unique, times = np.unique(ids, return_counts=True)
        raise FileError(
            f"{path}: the id {str(unique[np.argmax(times > 1)])!r} occurs twice, but there is no "
            "column of answers (label, rating)",
            advice={"--label": "names the column of answers"},
        )
    silent = silent_points(answers)
    if len(silent) == n_points:
        raise FileError(f"{path}: all counts are 0")
    rows = np.setdiff1d(np.arange(n_points), silent)
    cells = {}
    for what, name in attributes.items():
        if name not in answers.groups:
            raise FileError(f"{path}: {name} must be the same in all rows of a point")
        cells[what] = FrameColumn(answers.groups[name], MemoryBudget(path, 0)).words[rows].tolist()
    names, counts, ratings = answers.classes or (), answers.counts, answers.ratings
    if len(names) == 1:
        raise FileError(
            f"{path}: all answers are {names[0]!r}, but at least two classes are needed"
        )
    annotations = None
    if counts is not None:
        names = names or tuple(map(str, range(counts.shape[1])))
        try:
            annotations = Annotations(counts[rows], values_of(names))
        except InputError as error:
            raise error.about(path) from None
    return OwnAnswers(
        path=path,
        layout=answers.layout,
        ids=ids[rows].tolist(),
        class_names=names,
        annotations=annotations,
        ratings=None if ratings is None else tuple(ratings[row] for row in rows),
        n_annotators=answers.n_annotators,
        repeated=answers.repeated,
        n_blank=answers.n_blank,
        n_silent=len(silent),
        attributes=cells,
        notes=answers.notes,
    )


def values_of(names: tuple[str, ...]) -> tuple[float, ...] | None:
    """Return the classes as numbers, if they are increasing numbers; else None."""
    if not names or not all(map(is_number, names)):
        return None
    values = tuple(map(float, names))
    return values if all(a < b for a, b in itertools.pairwise(values)) else None


def pairwise_agreement(counts: ArrayLike) -> float | None:
    """Return the mean probability that two annotators of a point give the same answer."""
    c, m = _pairable(counts)
    if len(c) == 0:
        return None
    return float(np.mean((c * (c - 1)).sum(axis=1) / (m * (m - 1))))


def alpha_of_counts(counts: ArrayLike, values: ArrayLike | None = None) -> float | None:
    """Return Krippendorff's alpha of classes: 1 is perfect agreement, 0 is that of chance."""
    c, m = _pairable(counts)
    if len(c) == 0:
        return None
    n, totals = m.sum(), c.sum(axis=0)
    if values is None:  # unequal pairs, from the equal ones: no table of all pairs of classes
        within, between = m**2 - (c**2).sum(axis=1), n**2 - (totals**2).sum()
    else:
        v = as_array("values", values).astype(np.float64)
        v = v - totals @ v / n
        within = 2 * (m * (c @ v**2) - (c @ v) ** 2)
        between = 2 * n * (totals @ v**2)
    # Each ordered pair of answers about a point has weight 1 / (m - 1), so a point has weight m.
    observed, expected = (within / (m - 1)).sum() / n, between / (n * (n - 1))
    return None if expected == 0 else float(1 - observed / expected)


def alpha_of_ratings(ratings: Sequence[FloatArray]) -> float | None:
    """Return Krippendorff's alpha of real-valued answers (interval), or None as above."""
    rows = [np.asarray(row, dtype=np.float64) for row in ratings if len(row) > 1]
    if not rows:
        return None
    answers = np.concatenate(rows)
    n = len(answers)
    # The sum of squared differences of all ordered pairs is 2 m times the sum of squares.
    observed = sum(2 * len(row) * row.var() * len(row) / (len(row) - 1) for row in rows) / n
    expected = 2 * n * answers.var() * n / (n * (n - 1))
    return None if expected == 0 else float(1 - observed / expected)


def _pairable(counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the counts of points with two answers or more, and how many each has."""
    table = as_array("counts", counts).astype(np.float64)
    n_answers = table.sum(axis=1)
    return table[n_answers > 1], n_answers[n_answers > 1]
