"""Truth files: what annotators said, as counts or known probabilities.

A truth file holds counts, or known probabilities where they are not whole numbers: ``.npy``,
``.npz`` (``counts`` or ``probs``), ``.csv`` (with or without a header) or ``.parquet``. In the
latter two a column ``id`` or ``ids`` names the rows, columns of text and those named by ``by``
are groups, and all others are classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError, InputError
from rue.io.formats import IDS, load_table
from rue.io.npz import load_npy, load_npz, npz_shapes
from rue.truth.annotations import Annotations

__all__ = [
    "RESERVED",
    "Truth",
    "counted_truth",
    "group_columns",
    "ids_of",
    "names_of",
    "read_truth",
    "text_ids",
    "wanted_arrays",
]

RESERVED = {
    *("probs", "logits", "alpha", "epistemic", "actions"),
    *("values", "classes", "ids", "counts"),
}
"""Names of arrays that are no columns to group by."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What people said, with the rows' names and columns to group by."""

    path: Path
    annotations: Annotations
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def read_truth(path: str | Path, *, by: str | None = None) -> Truth:
    """Read a truth file; ``by`` names a column that is a group and no class."""
    path = Path(path)
    match path.suffix.lower():
        case ".npy":
            return Truth(path, _annotations(path, load_npy(path), None))
        case ".npz":
            shapes = npz_shapes(path)
            truth = counted_truth(path, load_npz(path, wanted_arrays(shapes, "counts", "probs")))
            if truth is None:
                raise FileError(f"{path}: must hold counts or probs, got {names_of(shapes)}")
            return truth
        case ".csv" | ".parquet":
            return _truth_table(path, load_table(path, named=[by] if by else []), by)
    raise FileError(f"{path}: truth must be .npy, .npz, .csv or .parquet, got {path.suffix!r}")


def counted_truth(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Truth | None:
    """Return the truth in a file's arrays, or None if they hold neither counts nor probs."""
    found = arrays.get("counts", arrays.get("probs"))
    if found is None:
        return None
    annotations = _annotations(path, found, arrays.get("values"))
    n_points = len(annotations)
    ids = ids_of(path, arrays, n_points)
    return Truth(path, annotations, ids, group_columns(arrays, n_points))


def _annotations(path: Path, array: NDArray[Any], values: NDArray[Any] | None) -> Annotations:
    try:
        known = array.ndim == 2 and array.dtype.kind == "f" and bool(np.isfinite(array).all())
        if known and (array % 1 != 0).any():
            return Annotations.from_probs(array, values)
        return Annotations(array, values)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _truth_table(path: Path, table: Mapping[str, NDArray[Any]], by: str | None) -> Truth:
    classes = [
        name
        for name, column in table.items()
        if name.lower() not in IDS and name != by and column.dtype.kind in "fiub"
    ]
    if not classes:
        raise FileError(
            f"{path}: must have a column of counts for each class, got {names_of(table)}"
        )
    annotations = _annotations(path, np.stack([table[name] for name in classes], axis=1), None)
    groups = {k: v for k, v in table.items() if k not in classes and k.lower() not in IDS}
    return Truth(path, annotations, ids_of(path, table, len(annotations)), groups)


def ids_of(
    path: Path, arrays: Mapping[str, NDArray[Any]], n_points: int
) -> NDArray[np.str_] | None:
    """Return the names of the rows as text, or None if there are none."""
    ids = next((column for name, column in arrays.items() if name.lower() in IDS), None)
    if ids is None:
        return None
    if ids.shape != (n_points,):
        raise FileError(f"{path}: ids must have shape ({n_points},), got {ids.shape}")
    return text_ids(path, ids)


def text_ids(path: Path, ids: NDArray[Any]) -> NDArray[np.str_]:
    """Return the names of rows as text; raise if they are neither text nor whole numbers."""
    whole = ids.dtype.kind in "iu"
    if ids.dtype.kind == "f":
        whole = bool((np.isfinite(ids) & (np.abs(ids) < 2**53) & (ids == np.rint(ids))).all())
        ids = ids.astype(np.int64) if whole else ids
    if not whole and ids.dtype.kind not in "US":
        raise FileError(f"{path}: ids must be text or whole numbers, got dtype {ids.dtype}")
    if ids.dtype.kind == "S":
        return np.char.decode(ids, "utf-8", "replace")
    return ids.astype(np.str_)


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
        if name in RESERVED or name == "method" or (shape == n_points and len(shape) == 1)
    ]


def names_of(arrays: Mapping[str, Any]) -> str:
    """Return the names of a file's arrays, for an error message."""
    return ", ".join(arrays) or "nothing"
