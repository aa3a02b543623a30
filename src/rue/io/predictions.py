"""Prediction files: what a model says about each point, read and written.

A prediction file is ``.npz``, JSON lines (whatever the file is called), ``.csv`` or ``.parquet``:

- Array files hold ``probs`` or ``logits``, (n, draws, k) or (n, k), ``alpha`` (n, k), or
  ``sampled_labels``, (n, n_answers) or (n, draws, n_answers); where both are there ``probs`` win
  over ``logits``. Optional are ``epistemic`` (n), ``actions``, ``values``, ``classes`` (k names),
  ``ids``, ``counts`` and ``method``, a word. Any other array of length n is a column to group by.
- For real-valued outcomes they hold ``mean`` and ``sd``, ``samples``, or ``mu``, ``nu``, ``alpha``
  and ``beta`` instead, and ``ratings`` in place of ``counts``: see :mod:`rue.io.real_values`.
- A JSON line is one point, or one draw of it: see :mod:`rue.io.json_lines`.
- A table is wide or long: see :mod:`rue.io.tables`. One with the columns ``aleatoric``,
  ``epistemic``, ``risk`` and ``regret`` holds components already computed.

Pickled arrays are refused.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Belief, RealBelief
from rue.errors import FileError, InputError
from rue.io.component_tables import components_of, is_component_table
from rue.io.formats import load_table
from rue.io.json_lines import is_json_lines, json_arrays, load_json_lines
from rue.io.matching import BY_NAME, Matching
from rue.io.npz import load_npz, npz_shapes, save_npz
from rue.io.prediction_arrays import Predictions, prediction_arrays, predictions_of
from rue.io.ratings import json_ratings
from rue.io.real_values import REAL_ARRAYS, real_kind
from rue.io.tables import prediction_arrays_of_table
from rue.io.truth import wanted_arrays
from rue.runs import Run
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["Predictions", "read_method", "read_predictions", "save_predictions"]

_ARRAYS = ("probs", "logits", "alpha", "sampled_labels", "counts")
_SCALARS = ("epistemic", "actions", "method")


def read_predictions(path: str | Path, *, matching: Matching = BY_NAME) -> Predictions | Run:
    """Read a prediction file; its formats are in the description of this module.

    Parameters
    ----------
    path
        The file.
    matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Predictions or Run
        A Run where the file holds components already computed.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as predictions.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        wanted = wanted_arrays(npz_shapes(path), *_ARRAYS, *REAL_ARRAYS)
        return predictions_of(path, load_npz(path, wanted), matching)
    if is_json_lines(path):
        records = load_json_lines(path)
        real = () if real_kind(records[0]) is None else REAL_ARRAYS
        arrays = json_arrays(
            path, records, (*_ARRAYS, *real), scalars=_SCALARS, id_name=matching.id_name
        )
        if "ratings" in records[0]:
            arrays["ratings"] = json_ratings(path, records, matching.id_name)["ratings"]
        return predictions_of(path, arrays, matching)
    if suffix in (".csv", ".tsv", ".parquet"):
        table = load_table(path, named=[matching.id_name] if matching.id_name else [])
        if is_component_table(table):
            return components_of(path, table, matching)
        arrays = prediction_arrays_of_table(
            path, table, id_name=matching.id_name, classes=matching.classes
        )
        return predictions_of(path, arrays, matching)
    raise FileError(
        f"{path}: predictions must be .npz, .csv, .parquet or JSON lines, got {suffix!r}"
        + ("" if path.exists() else ", and there is no such file")
    )


def read_method(
    paths: Sequence[str | Path], *, name: str | None = None, matching: Matching = BY_NAME
) -> Predictions | Run:
    """Read one method from one file or several.

    Parameters
    ----------
    paths
        The files, in the order of the draws.
    name
        The name of the method; that of the (first) file by default.
    matching
        As in :func:`read_predictions`.

    Returns
    -------
    Predictions or Run
        Several files make one belief of draws: (n_points, n_draws, n_classes), points in the
        order in which the files have them first. A Run where a single file holds components.

    Raises
    ------
    FileError
        If a file cannot be read, or several files do not all hold probs or logits.
    AlignmentError
        If files share some of their points but not all, or points have different numbers of draws.
    """
    read = [read_predictions(path, matching=matching) for path in paths]
    if not read:
        raise FileError("a method needs at least one file, got none")
    if len(read) > 1:
        from rue.io.members import joined  # which few commands need

        read = [joined(read)]
    (found,) = read
    if name is None:
        return found
    return replace(found, method=name) if isinstance(found, Run) else replace(found, named=name)


def save_predictions(
    path: str | os.PathLike[str],
    belief: Belief | RealBelief,
    *,
    ids: Sequence[object] | NDArray[Any] | None = None,
    values: ArrayLike | None = None,
    annotations: Annotations | Ratings | None = None,
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
        A different name for each point, length n_points. Files are matched by them.
    values
        The number that each class stands for, shape (n_classes,). Defaults to the values of
        ``annotations``, where they have some.
    annotations
        What annotators said about the same points, so that the file needs no truth file beside it.
    classes
        A different name for each class, length n_classes.
    method
        The method's name in tables; without it, the name of the file.

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
