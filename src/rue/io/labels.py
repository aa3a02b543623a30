"""Reading the labels of a data set: one class for each point, in any file that truth may be in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue._text import are_numbers
from rue.errors import FileError
from rue.io.answers import ANSWER_ARRAYS, RESERVED, read_truth
from rue.io.files import read_frame, suffix_of
from rue.io.names import BY_NAME, Matching, ids_of
from rue.truth.annotations import Annotations
from rue.truth.base import Truth


def read_labels(
    path: str | Path,
    n_classes: int,
    classes: tuple[str, ...] | None = None,
    *,
    matching: Matching = BY_NAME,
) -> Truth:
    """Read labels: a vector of class numbers (.npy, or ``labels`` in an .npz), or a truth file."""
    path = Path(path)
    names = matching.classes or classes
    if suffix_of(path) in (".npy", ".npz"):
        frame = read_frame(path, arrays=("labels", *ANSWER_ARRAYS, *RESERVED))
        labels = frame.arrays.get("labels", frame.arrays.get(""))
        if labels is not None and (labels.ndim == 1 or "labels" in frame.arrays):
            counts = _one_hot(path, labels, n_classes, names)
            ids = ids_of(path, frame.arrays, len(counts), matching.id_name)
            one_each = Annotations(counts, ids=ids, classes=names)
            return one_each.with_source(str(path))
    truth = read_truth(path, matching=replace(matching, classes=names))
    if truth.counts is None:
        raise FileError(f"{path}: labels must be one class for each point")
    n_answers = truth.counts.sum(axis=1)
    if (n_answers != 1).any():
        row = int((n_answers != 1).argmax())
        raise FileError(
            f"{path}: labels must be one class for each point, got {n_answers[row]:g} answers at "
            f"row {row}",
            advice={"--truth": "takes several answers"},
        )
    return truth


def _one_hot(
    path: Path, labels: NDArray[Any], n_classes: int, names: tuple[str, ...] | None
) -> IntArray:
    """Return labels as counts; a number is the class of that name, or else of that column."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise FileError(
            f"{path}: labels must be whole numbers of shape (n_points,), got {labels.dtype} of "
            f"shape {labels.shape}"
        )
    if names is not None and len(names) == n_classes and are_numbers(names):
        column = {int(name): j for j, name in enumerate(names)}
        is_class = np.isin(labels, list(column))
        if not is_class.all():
            row = int(is_class.argmin())
            raise FileError(
                f"{path}: labels must be of the classes {', '.join(names[:8])}"
                f"{', ...' if n_classes > 8 else ''}, got {labels[row]} at row {row}"
            )
        labels = np.array([column[label] for label in labels.tolist()], np.int64)
    wrong = (labels < 0) | (labels >= n_classes)
    if wrong.any():
        row = int(wrong.argmax())
        raise FileError(
            f"{path}: labels must be from 0 to {n_classes - 1}, got {labels[row]} at row {row}"
        )
    return np.asarray(np.eye(n_classes, dtype=np.int64)[labels])
