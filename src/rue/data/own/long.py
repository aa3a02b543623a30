"""Answers with one row per answer: point, annotator, and a class or a real number."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue.data.own.answers import OwnAnswers, attributes_of, values_of
from rue.data.own.table import Columns, Table, is_number
from rue.errors import FileError, InputError

__all__ = ["read_long"]

_MOST_CLASSES = 1_000


def read_long(table: Table, columns: Columns, classes: Sequence[str] | None) -> OwnAnswers:
    """Collect the answers of each point; empty ones are left out and counted."""
    if columns.label is not None and columns.rating is not None:
        raise InputError(
            f"{table.path} has a column of classes, {columns.label!r}, and one of numbers, "
            f"{columns.rating!r}: rename one of them"
        )
    answer = columns.label or columns.rating
    assert columns.id is not None
    assert answer is not None
    keys = [key.strip() for key in table.text(columns.id)]
    said: dict[str, list[tuple[int, str]]] = {}
    n_blank = 0
    for line, key, cell in zip(table.lines, keys, table.columns[answer], strict=True):
        if not key:
            raise FileError(f"{table.path}: line {line} has no {columns.id}")
        answers = said.setdefault(key, [])
        for each in cell if isinstance(cell, list) else [cell]:  # a JSON line may have several
            if not isinstance(each, str | int | float):
                raise FileError(f"{table.path}: line {line}: {answer} must be text, got {each!r}")
            if str(each).strip():
                answers.append((line, str(each).strip()))
            else:
                n_blank += 1
    ids = [key for key, answers in said.items() if answers]
    if not ids:
        raise FileError(f"{table.path}: the column {answer!r} is empty")
    n_annotators, n_repeated, repeated = _count_annotators(table, columns, keys)
    common: dict[str, Any] = {
        "path": table.path,
        "layout": "long",
        "columns": columns,
        "ids": ids,
        "n_annotators": n_annotators,
        "n_repeated": n_repeated,
        "repeated": repeated,
        "n_blank": n_blank,
        "n_silent": len(said) - len(ids),
        "attributes": attributes_of(table, columns, keys, ids),
    }
    if columns.rating is not None:
        return OwnAnswers(ratings=tuple(_numbers(table, said[key]) for key in ids), **common)
    labels = [label for key in ids for _, label in said[key]]
    if all(map(is_number, labels)):  # 1 and 1.0 are one class
        labels = [f"{float(label):.17g}" for label in labels]
    names = _classes(table.path, labels, classes)
    place = {name: k for k, name in enumerate(names)}
    rows = np.repeat(np.arange(len(ids)), [len(said[key]) for key in ids])
    cells = rows * len(names) + np.array([place[label] for label in labels])
    counts = np.bincount(cells, minlength=len(ids) * len(names)).reshape(len(ids), len(names))
    return OwnAnswers(class_names=names, values=values_of(names), counts=counts, **common)


def _count_annotators(
    table: Table, columns: Columns, keys: list[str]
) -> tuple[int | None, int, str]:
    """Count the annotators, and the answers that repeat one by the same annotator on a point."""
    if columns.annotator is None:
        return None, 0, ""
    names = [name.strip() for name in table.text(columns.annotator)]
    pairs: set[tuple[str, str]] = set()
    repeated = []
    for key, name in zip(keys, names, strict=True):
        if name and (key, name) in pairs:
            repeated.append(f"{name} about {key}")
        pairs.add((key, name))
    return len(set(names) - {""}), len(repeated), repeated[0] if repeated else ""


def _numbers(table: Table, answers: list[tuple[int, str]]) -> FloatArray:
    for line, cell in answers:
        if not is_number(cell):
            raise FileError(f"{table.path}: line {line}: a rating must be a number, got {cell!r}")
    return np.array([float(cell) for _, cell in answers])


def _classes(path: Path, labels: list[str], classes: Sequence[str] | None) -> tuple[str, ...]:
    found = set(labels)
    if classes is not None:
        if all(map(is_number, labels)) and all(map(is_number, classes)):
            classes = [f"{float(name):.17g}" for name in classes]
        unknown = [label for label in labels if label not in classes]
        if unknown:
            raise InputError(
                f"{path}: every label must be one of the classes {', '.join(classes)}, "
                f"got {unknown[0]!r}"
            )
        return tuple(classes)
    if len(found) < 2:
        raise FileError(
            f"{path}: all answers are {labels[0]!r}, but at least two classes are needed"
        )
    if len(found) > _MOST_CLASSES:
        raise FileError(
            f"{path}: {len(found):,} different labels: if they are numbers on a scale, call the "
            "column rating"
        )
    if all(map(is_number, found)):
        return tuple(sorted(found, key=float))
    return tuple(sorted(found))
