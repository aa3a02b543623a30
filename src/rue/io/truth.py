"""Truth files: what annotators said, as counts, as one row per answer, or as known probabilities.

- ``.npz`` with ``counts`` (or ``probs`` for a known p*), and optionally ``ids``, ``classes`` and
  ``values``; ``.npy`` with counts or probabilities alone.
- ``.csv`` or ``.parquet``, wide: a column per class, with or without a header; or long: a row per
  answer (``id``, ``annotator``, ``label``) or per class (``id``, ``class``, ``count``).
- JSON lines with ``id`` and ``counts``, ``probs`` or ``label``.
- Real-valued answers: ``ratings`` in arrays and lines, or a row or line per answer with
  ``rating`` (:mod:`rue.io.real_values`).

The column that names the points is called ``id``, ``ids``, ``uid``, ``item`` or ``item_id``.
Columns of text and the one named by ``by`` are groups, and all others are classes. Numbers that
are not whole are taken as probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError, InputError
from rue.io.opening import (
    BY_NAME,
    Matching,
    checked_classes,
    find_id_name,
    ids_of,
    load_npy,
    load_npz,
    named_rows,
    npz_shapes,
)
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = [
    "RESERVED",
    "Truth",
    "counted_truth",
    "group_columns",
    "names_of",
    "read_truth",
    "wanted_arrays",
]

RESERVED = {
    "probs",
    "logits",
    "alpha",
    "sampled_labels",
    "epistemic",
    "actions",
    "values",
    "ids",
    "counts",
    "classes",
    "method",
    "mean",
    "sd",
    "samples",
    "mu",
    "nu",
    "beta",
    "ratings",
    "range",
}
"""Names of arrays that are no columns to group by."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What annotators said, with the names of rows and classes and columns to group by.

    Attributes
    ----------
    path
        The file, or the name of a data set.
    annotations
        The answers about n_points points.
    ids
        The names of the points, shape (n_points,); None where they have none.
    groups
        Columns to group by, each of shape (n_points,), by name.
    classes
        The names of the classes, shape (n_classes,); None where they have none.
    notes
        What a reader of the numbers must know, a sentence each.
    """

    path: Path
    annotations: Annotations | Ratings
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def read_truth(
    path: str | Path, *, by: str | Sequence[str] | None = None, matching: Matching = BY_NAME
) -> Truth:
    """Read a truth file; its formats are in the description of this module.

    Parameters
    ----------
    path
        The file.
    by
        A column, or several, that are groups and no classes.
    matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Truth
        The annotations of n_points points, with ids, classes and groups where there are any.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as truth.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rue.io import read_truth
    >>> import tempfile
    >>> from rue.io.opening import save_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "truth.npz"
    ...     save_npz(file, {"counts": np.array([[1, 1], [0, 1]]), "classes": ["no", "yes"]})
    ...     truth = read_truth(file)
    >>> truth.classes, truth.annotations.counts.tolist()
    (('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """
    path = Path(path)
    by = (by,) if isinstance(by, str) else tuple(by or ())
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _named(Truth(path, _annotations(path, load_npy(path), None)), matching)
    if suffix == ".npz":
        shapes = npz_shapes(path)
        arrays = load_npz(path, wanted_arrays(shapes, "counts", "probs", "ratings"))
        if not {"counts", "probs", "ratings"} & set(shapes):
            raise FileError(f"{path}: must hold counts, probs or ratings, got {names_of(shapes)}")
    else:
        found = _text(path, by, matching)
        if isinstance(found, Truth):
            return _named(found, matching)
        arrays = found
    truth = counted_truth(path, arrays, matching)
    if truth is None:
        raise FileError(f"{path}: must hold counts, probs or ratings, got {names_of(arrays)}")
    return _named(truth, matching)


def counted_truth(
    path: Path, arrays: Mapping[str, NDArray[Any]], matching: Matching = BY_NAME
) -> Truth | None:
    """Return the truth in a file's arrays, or None if they hold no counts, probs or ratings."""
    if "ratings" in arrays and "counts" not in arrays:
        from rue.io.ratings import ratings_of_array

        ratings = ratings_of_array(path, arrays["ratings"], arrays.get("range"))
        ids = ids_of(path, arrays, len(ratings), matching.id_name)
        return Truth(path, ratings, ids, group_columns(arrays, len(ratings)))
    found = arrays.get("counts", arrays.get("probs"))
    if found is None:
        return None
    ids = ids_of(path, arrays, len(found) if found.ndim else 0, matching.id_name)
    annotations = _annotations(path, found, arrays.get("values"), ids)
    n_points, n_classes = len(annotations), annotations.n_classes
    groups = group_columns(arrays, n_points)
    classes = None
    if "classes" in arrays:
        classes = checked_classes(path, arrays["classes"], n_classes)
    return Truth(
        path, annotations, ids, groups, classes, _notes(path, annotations, "probs" in arrays)
    )


def group_columns(arrays: Mapping[str, NDArray[Any]], n_points: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that rows may be grouped by: one number or word for each point."""
    return {
        name: np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
        for name, array in arrays.items()
        if name not in RESERVED and array.shape == (n_points,) and array.dtype.kind in "fiubUSM"
    }


def wanted_arrays(shapes: Mapping[str, tuple[int, ...]], *kinds: str) -> list[str]:
    """Return which arrays of a file to read: those with a meaning, and one value for each point.

    The first of ``kinds`` that is there has a row for each point.
    """
    n_points = next((shapes[kind][:1] for kind in kinds if kind in shapes), None)
    return [
        name
        for name, shape in shapes.items()
        if name in RESERVED or (shape == n_points and len(shape) == 1)
    ]


def names_of(arrays: Mapping[str, Any]) -> str:
    """Return the names of a file's arrays, for an error message."""
    return ", ".join(arrays) or "nothing"


def _text(path: Path, by: Sequence[str], matching: Matching) -> Truth | dict[str, NDArray[Any]]:
    """Read JSON lines or a table: its arrays, or the truth where there is a column per class."""
    from rue.io.formats import load_table
    from rue.io.json_lines import is_json_lines
    from rue.io.ratings import rating_arrays
    from rue.io.tables import answer_arrays

    if is_json_lines(path):
        return _json(path, matching)
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise FileError(
            f"{path}: truth must be .npy, .npz, .csv, .parquet or JSON lines, got "
            f"{path.suffix.lower()!r}"
            + ("" if path.exists() else ", and there is no such file or data set")
        )
    table = load_table(path, named=[name for name in (*by, matching.id_name) if name])
    rated = rating_arrays(path, table, matching.id_name)
    found = rated or answer_arrays(path, table, id_name=matching.id_name, classes=matching.classes)
    return _wide(path, table, by, matching) if found is None else found


def _json(path: Path, matching: Matching) -> dict[str, NDArray[Any]]:
    from rue.io.json_lines import json_arrays, load_json_lines
    from rue.io.ratings import json_ratings, rating_arrays
    from rue.io.tables import answer_arrays

    records = load_json_lines(path)
    if {"rating", "ratings"} & set(records[0]):
        return json_ratings(path, records, matching.id_name)
    keys = ("counts", "probs")
    if not any(key in records[0] for key in keys) and any("label" in r for r in records):
        name = find_id_name(path, list(records[0]), matching.id_name)
        columns = [c for c in (name, "annotator", "label") if c is not None]
        table = {}
        for column in columns:
            cells = [record.get(column) for record in records]
            if column == "annotator" and None in cells:
                continue
            table[column] = named_rows(path, cells, column)
        rated = rating_arrays(path, table, matching.id_name)
        found = rated or answer_arrays(path, table, id_name=name, classes=matching.classes)
        assert found is not None
        return found
    arrays = json_arrays(path, records, keys, id_name=matching.id_name)
    for key in keys:
        if key in arrays and arrays[key].ndim != 2:
            raise FileError(f"{path}: {key} must be one list per id, and some ids have several")
    return arrays


def _named(truth: Truth, matching: Matching) -> Truth:
    """Give the classes of a file without names those that the user said."""
    if truth.classes is not None or matching.classes is None:
        return truth
    if isinstance(truth.annotations, Ratings):
        return truth
    if len(matching.classes) != truth.annotations.n_classes:
        return truth  # it is the predictions' columns that the user named
    return Truth(
        truth.path, truth.annotations, truth.ids, truth.groups, matching.classes, truth.notes
    )


def _annotations(
    path: Path,
    array: NDArray[Any],
    values: NDArray[Any] | None,
    ids: NDArray[np.str_] | None = None,
) -> Annotations:
    try:
        real = array.ndim == 2 and array.dtype.kind == "f" and bool(np.isfinite(array).all())
        if real and (array % 1 != 0).any():
            return Annotations.from_probs(array, values)
        empty = array.ndim == 2 and array.dtype.kind in "fiu" and ~array.any(axis=1)
        if isinstance(empty, np.ndarray) and empty.any():
            first = int(np.argmax(empty))
            name = f"row {first}" if ids is None else repr(str(ids[first]))
            raise InputError(
                f"every point needs at least one answer, {int(empty.sum()):,} of {len(empty):,} "
                f"have none, first {name}; drop them from the truth and use --common"
            )
        return Annotations(array, values)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _notes(path: Path, annotations: Annotations, are_probs: bool) -> tuple[str, ...]:
    if annotations.counts is None and not are_probs:
        return (
            f"{path} holds shares, not whole counts: p* is taken as exact, so there is no bracket",
        )
    return ()


def _wide(
    path: Path, table: Mapping[str, NDArray[Any]], by: Sequence[str], matching: Matching
) -> Truth:
    from rue.io.tables import has_no_names

    name = find_id_name(path, list(table), matching.id_name)
    known = matching.classes if matching.classes and set(matching.classes) <= set(table) else None
    classes = (
        list(known)
        if known
        else [
            column
            for column, values in table.items()
            if column not in (name, *by) and values.dtype.kind in "fiub"
        ]
    )
    if not classes:
        raise FileError(
            f"{path}: must have a column of counts for each class, or one row per answer with the "
            f"columns id and label; it has {names_of(table)[:200]}"
        )
    ids = ids_of(path, table, len(table[classes[0]]), matching.id_name)
    counts = np.stack([table[column] for column in classes], axis=1)
    annotations = _annotations(path, counts, None, ids)
    groups = {k: v for k, v in table.items() if k not in classes and k != name}
    names = None if has_no_names(classes) else tuple(classes)
    return Truth(path, annotations, ids, groups, names, _notes(path, annotations, False))
