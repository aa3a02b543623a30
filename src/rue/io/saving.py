"""Predictions (.npz) and tables (.csv, .parquet) written to disk, completely or not at all."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import as_vector
from rue._text import marked, protected
from rue.beliefs.base import Belief, require_any_belief
from rue.errors import FileError, InputError, ShapeError
from rue.io.arrays import save_npz
from rue.io.atomic import replacing
from rue.truth.alignment import align, require_kinds
from rue.truth.base import Truth


def save_predictions(
    path: str | os.PathLike[str],
    belief: Belief,
    *,
    ids: Sequence[object] | NDArray[Any] | None = None,
    values: ArrayLike | None = None,
    annotations: Truth | None = None,
    classes: Sequence[str] | None = None,
    method: str | None = None,
) -> None:
    """Write a belief to an .npz file that ``rue evaluate`` reads.

    The file is written completely or not at all; missing folders are created. Read back, the
    belief and the counts have the same bits.

    Parameters
    ----------
    path
        The file to write; it must end in ``.npz``.
    belief
        What the model says: ``Draws``, ``Dirichlet`` or ``Scored``, or about real numbers
        ``Gaussians``, ``Samples`` or ``NormalInverseGamma``.
    ids
        A different name for each point, length n_points. Files are matched by them. Defaults to
        those of the belief or of ``annotations``.
    values
        The number that each class stands for, shape (n_classes,). Defaults to the values of
        ``annotations`` or of the belief, where they have some.
    annotations
        What annotators said about the same points, so that the file needs no truth file beside it.
        Where both have ids or names of classes, they are matched by them.
    classes
        A different name for each class, length n_classes. Defaults to those of the belief or of
        ``annotations``.
    method
        The method's name in tables. Defaults to that of the belief, and without one to the name of
        the file.

    Raises
    ------
    InputError
        If an argument does not fit the belief.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, rue
    >>> belief = rue.Draws(np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.2, 0.8], [0.4, 0.6]]]))
    >>> answers = rue.Annotations([[3, 1], [0, 4]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "mine.npz"
    ...     rue.save_predictions(path, belief, ids=["a", "b"], annotations=answers, method="mine")
    ...     sorted(np.load(path))
    ['counts', 'ids', 'method', 'probs']
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise InputError(f"path must end in .npz, got {path.name}")
    arrays = prediction_arrays(
        belief, ids=ids, values=values, annotations=annotations, classes=classes, method=method
    )
    save_npz(path, arrays, parents=True)


def prediction_arrays(
    belief: Belief,
    *,
    ids: Sequence[object] | NDArray[Any] | None = None,
    values: ArrayLike | None = None,
    annotations: Truth | None = None,
    classes: Sequence[str] | None = None,
    method: str | None = None,
) -> dict[str, Any]:
    """Return the arrays of a prediction file by name; see :func:`save_predictions`."""
    require_any_belief(belief)
    if ids is not None:
        belief = belief.with_ids(_names("ids", ids, belief.n_points))
    if classes is not None and belief.n_classes:
        belief = belief.with_classes(_names("classes", classes, belief.n_classes).tolist())
    if annotations is not None:
        require_kinds(annotations, belief)
        shape = (len(annotations), annotations.n_classes)
        if shape != (len(belief), belief.n_classes):
            raise ShapeError(
                f"annotations must have {len(belief)} points and {belief.n_classes} classes, got "
                f"{shape[0]} and {shape[1]}"
            )
        if annotations.ids is None or belief.ids is None:  # the ids of one side are of both
            belief = belief if annotations.ids is None else belief.with_ids(annotations.ids)
            annotations = annotations.with_ids(belief.ids)
        annotations, belief = align(annotations, belief)
    arrays: dict[str, Any] = {} if belief.ids is None else {"ids": belief.ids}
    if method or belief.method:
        arrays["method"] = np.asarray(method or belief.method, dtype=np.str_)
    if annotations is not None:
        arrays |= annotations.arrays()
        values = annotations.values if values is None else values
    if belief.n_classes:
        values = belief.outcomes.values if values is None else values
        if values is not None:
            arrays["values"] = as_vector("values", values, belief.n_classes)
        if belief.outcomes.names is not None:
            arrays["classes"] = np.array(belief.outcomes.names, dtype=np.str_)
    return arrays | belief.arrays()


def save_table(path: Path, columns: Mapping[str, NDArray[Any]], *, parents: bool = False) -> None:
    """Write columns to a .csv or .parquet file, completely or not at all."""
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise FileError(f"{path}: a table must be .csv or .parquet, got {path.suffix!r}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"columns must all have the same length, got {lengths}")
    with replacing(path, parents=parents) as file:
        if kind == ".csv":
            _save_csv(file, columns)
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrays = {name: pa.array(np.asarray(column)) for name, column in columns.items()}
            pq.write_table(pa.table(arrays), file)


def _save_csv(file: BinaryIO, columns: Mapping[str, NDArray[Any]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    cells = {name: _written(np.asarray(column)) for name, column in columns.items()}
    writer.writerow(marked(protected(name), column) for name, column in cells.items())
    writer.writerows(zip(*cells.values(), strict=True))
    text.detach()


def _written(column: NDArray[Any]) -> list[str]:
    match column.dtype.kind:
        case "b":
            return ["1" if cell else "0" for cell in column]
        case "f" | "i" | "u":
            return [repr(cell) for cell in column.tolist()]  # all digits
        case _:
            return [protected(str(cell)) for cell in column.tolist()]


def _names(what: str, names: Sequence[object] | NDArray[Any], length: int) -> NDArray[np.str_]:
    texts = np.array([str(name) for name in names], dtype=np.str_)
    if texts.shape != (length,):
        raise ShapeError(f"{what} must have shape ({length},), got {texts.shape}")
    unique, counts = np.unique(texts, return_counts=True)
    if len(unique) < length:
        raise InputError(f"{what} must not repeat, {str(unique[np.argmax(counts > 1)])!r} does")
    return texts
