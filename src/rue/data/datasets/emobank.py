"""EmoBank: five readers and five writers rated each sentence's emotion from 1 to 5.

Buechel and Hahn (2017): valence, arousal and dominance of 10,548 sentences, with all
individual ratings. A rating of 1 in all three means that the annotator found nothing to rate; such
answers are left out, as in the authors' means.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from rue._arrays import IntArray, require_one_of
from rue.data.dataset import DataSet, count, counted
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader, csv_rows
from rue.data.splits import Splits, hashed_folds, named_splits, rotate, shared_groups
from rue.errors import FileError
from rue.truth.annotations import Annotations

Perspective = Literal["both", "readers", "writers"]
Folds = Literal["official", "document"]
VALUES = np.arange(1.0, 6.0)
VALUES.setflags(write=False)

_PERSPECTIVES: tuple[Perspective, ...] = ("both", "readers", "writers")
_FOLDS: tuple[Folds, ...] = ("official", "document")
_DIMENSIONS = ("valence", "arousal", "dominance")
_SPLIT, _TEXTS, _DOCUMENTS = "emobank.csv", "raw.csv", "meta.tsv"
_RATINGS = {"readers": "individual_reader_ratings.csv", "writers": "individual_writer_ratings.csv"}
_RATINGS_KNOWN = ("1", "2", "3", "4", "5")
_PARTS = {"train": "train", "dev": "validation", "test": "test"}
_HEADLINES = "SemEval"  # the one document whose sentences are unrelated


def load(
    reader: Reader,
    entry: Entry,
    *,
    seed: int,
    perspective: Perspective = "both",
    folds: Folds = "official",
) -> DataSet:
    """Load one dimension: texts, and how many annotators gave each rating from 1 to 5."""
    require_one_of("perspective", perspective, _PERSPECTIVES)
    require_one_of("folds", folds, _FOLDS)
    texts = _column(reader, _TEXTS, "text")
    documents = _column(reader, _DOCUMENTS, "document", delimiter="\t")
    parts = _column(reader, _SPLIT, "split")
    ids = list(texts)
    row_of = {name: row for row, name in enumerate(ids)}
    _require_ids(_DOCUMENTS, documents, row_of, whole=True)
    _require_ids(_SPLIT, parts, row_of)
    groups = [
        name if documents[name] == _HEADLINES else documents[name].strip() or name for name in ids
    ]
    counts = np.zeros((len(ids), len(VALUES)), np.int64)
    n_void = 0
    dimension = _DIMENSIONS.index(entry.name.removeprefix("emobank-"))
    for who, path in _RATINGS.items():
        if perspective in ("both", who):
            n_void += _tally(reader, path, row_of, dimension, counts)
    annotated = np.flatnonzero(counts.any(axis=1))
    notes = counted(
        (n_void, "answer", "of 1, 1, 1 set aside: nothing to rate"),
        (len(ids) - len(annotated), "sentence", "left without an answer"),
    )
    if folds == "official":
        splits, further = _official(ids, parts, groups)
        notes += further
    else:
        splits = rotate(hashed_folds("emobank", groups, seed=seed), seed)
    return make_data_set(
        entry,
        reader,
        inputs=np.array(list(texts.values()), dtype=object),
        ids=np.array(ids, dtype=np.str_),
        class_names=tuple(f"{value:g}" for value in VALUES),
        values=VALUES,
        annotations=Annotations(counts[annotated], VALUES),
        annotated=annotated,
        extras={"document": np.array(groups, dtype=np.str_)},
        notes=notes,
        train=np.intersect1d(splits["train"], annotated),
        validation=np.intersect1d(splits["validation"], annotated),
        test=np.intersect1d(splits["test"], annotated),
    )


def _rows(
    reader: Reader, name: str, columns: tuple[str, ...], delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    return csv_rows(reader.member(name, *_places(name)), name, columns, delimiter=delimiter)


def _column(reader: Reader, name: str, column: str, delimiter: str = ",") -> dict[str, str]:
    """Return one column as a dictionary by id."""
    cells: dict[str, str] = {}
    for line, (key, value) in _rows(reader, name, ("id", column), delimiter):
        if not key.strip() or key in cells:
            raise FileError(f"{name}: line {line} must have an id of its own, got {key!r}")
        cells[key] = value
    return cells


def _require_ids(
    name: str, cells: dict[str, str], row_of: dict[str, int], *, whole: bool = False
) -> None:
    """Raise if a file has an id without a text, or lacks the id of a text."""
    unknown = [key for key in cells if key not in row_of]
    if unknown:
        raise FileError(f"{name}: {count(len(unknown), 'id')} without a text, first {unknown[0]}")
    missing = [key for key in row_of if key not in cells] if whole else []
    if missing:
        raise FileError(f"{name} lacks {count(len(missing), 'id')}, first {missing[0]}")


def _tally(
    reader: Reader, name: str, row_of: dict[str, int], dimension: int, counts: IntArray
) -> int:
    """Add the answers of one file to the counts; return how many were left out."""
    n_void = 0
    for line, (key, *cells) in _rows(reader, name, ("id", "V", "A", "D")):
        ratings = [cell.strip() for cell in cells]
        if key not in row_of:
            raise FileError(f"{name}: line {line} rates {key!r}, which has no text")
        if any(rating not in _RATINGS_KNOWN for rating in ratings):
            raise FileError(f"{name}: line {line}: ratings must be 1 to 5, got {ratings}")
        if ratings == ["1", "1", "1"]:
            n_void += 1
        else:
            counts[row_of[key], _RATINGS_KNOWN.index(ratings[dimension])] += 1
    return n_void


def _official(
    ids: list[str], parts: dict[str, str], groups: list[str]
) -> tuple[Splits, tuple[str, ...]]:
    """Return the published splits, and notes about them."""
    unknown = [part for part in parts.values() if part not in _PARTS]
    if unknown:
        choices = ", ".join(_PARTS)
        raise FileError(f"{_SPLIT}: split must be one of {choices}, got {unknown[0]!r}")
    part = [_PARTS.get(parts.get(name, ""), "") for name in ids]
    return named_splits(part), counted(
        (part.count(""), "sentence", "in no part of the official split"),
        (shared_groups(groups, part), "document", "in more than one part of the official split"),
    )


def _places(name: str) -> tuple[str, ...]:
    folders = ("emobank", "emobank/corpus", "EmoBank-master/corpus")
    zips = ("emobank/EmoBank-master.zip", "EmoBank-master.zip")
    return (*(f"{folder}/{name}" for folder in folders), *zips)


_FILES = (_SPLIT, _TEXTS, _DOCUMENTS, *_RATINGS.values())
ENTRIES = entries("emobank", load=load, needs=tuple(map(_places, _FILES)))
