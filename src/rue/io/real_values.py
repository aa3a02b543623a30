"""Beliefs about real numbers in files, and answers that are real numbers.

Beliefs are the arrays ``mean`` and ``sd``, (n, draws) or (n,); ``samples``, (n, draws, n_values),
or (n, n_values) for one draw; or ``mu``, ``nu``, ``alpha`` and ``beta``, (n,) together. In JSON
lines and tables they have the same names; lines or rows with the same id are the draws of one
point. A table of samples has the columns ``id``, ``draw`` (where there are several) and
``sample``, a row for each value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue.beliefs import Gaussians, NormalInverseGamma, RealBelief, Samples
from rue.errors import FileError, InputError, ShapeError
from rue.io.opening import named_rows
from rue.io.points import column_of, numbers, point_rows
from rue.io.truth import Truth
from rue.truth.ratings import Ratings

__all__ = ["REAL_ARRAYS", "rated_truth", "real_arrays", "real_belief", "real_columns", "real_kind"]

REAL_ARRAYS = ("mean", "sd", "samples", "mu", "nu", "beta")
_KINDS = {
    "NormalInverseGamma": ("mu", "nu", "alpha", "beta"),
    "Gaussians": ("mean", "sd"),
    "Samples": ("samples",),
}
_OF_CLASSES = ("probs", "logits", "sampled_labels")


def real_kind(names: Mapping[str, Any] | Sequence[str]) -> str | None:
    """Return which belief about real numbers a file's arrays hold, or None if they hold none.

    Examples
    --------
    >>> real_kind(["ids", "mean", "sd"])
    'Gaussians'
    >>> real_kind(["ids", "probs", "mean"]) is None
    True
    """
    if any(name in names for name in _OF_CLASSES):
        return None
    for kind, arrays in _KINDS.items():
        if all(name in names for name in arrays):
            return kind
    return None


def real_belief(path: Path, arrays: Mapping[str, NDArray[Any]], kind: str) -> RealBelief:
    """Return the belief of that kind; see the description of this module.

    Raises
    ------
    FileError
        If arrays have other shapes, a number is invalid, or there is an epistemic score, which
        only a belief about classes may have.
    """
    if "epistemic" in arrays:
        raise FileError(
            f"{path}: an epistemic score from another source is read with probs, not with "
            f"{' and '.join(_KINDS[kind])}"
        )
    try:
        if kind == "NormalInverseGamma":
            return NormalInverseGamma(*(arrays[name] for name in _KINDS[kind]))
        if kind == "Samples":
            values = arrays["samples"]
            if values.ndim not in (2, 3):
                raise ShapeError(
                    "samples must have shape (n_points, n_draws, n_values) or "
                    f"(n_points, n_values), got {values.shape}"
                )
            return Samples(values if values.ndim == 3 else values[:, None, :])
        mean, sd = (a[:, None] if a.ndim == 1 else a for a in (arrays["mean"], arrays["sd"]))
        return Gaussians(mean, sd)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def real_arrays(belief: RealBelief) -> dict[str, NDArray[Any]]:
    """Return the arrays by which a file holds a belief about real numbers."""
    match belief:
        case Gaussians():
            return {"mean": belief.mean, "sd": belief.sd}
        case Samples():
            return {"samples": belief.values}
        case NormalInverseGamma():
            return {name: getattr(belief, name) for name in _KINDS["NormalInverseGamma"]}
    raise InputError(
        f"belief must be Gaussians, Samples or NormalInverseGamma, got {type(belief).__name__}"
    )


def real_columns(
    path: Path, table: Mapping[str, NDArray[Any]], id_name: str | None
) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a table about real numbers, or None if the table is not one.

    Parameters
    ----------
    path
        For messages.
    table
        Columns by name, n_rows each.
    id_name
        The column that names the points, if there is one.

    Raises
    ------
    FileError
        If a column does not hold numbers, or points have different numbers of draws or values.
    """
    sample = column_of(table, "sample")
    kind = real_kind([column.lower() for column in table])
    if kind is None and (sample is None or id_name is None):
        return None
    n_rows = len(next(iter(table.values())))
    ids = None if id_name is None else named_rows(path, table[id_name], id_name)
    draw = column_of(table, "draw")
    draws: list[Any] = [None] * n_rows if draw is None else table[draw].tolist()
    if kind is None:
        assert sample is not None
        assert ids is not None
        pairs = np.array([f"{name}\0{label}" for name, label in zip(ids, draws, strict=True)])
        values = point_rows(path, n_rows, pairs)  # the rows of each draw
        first = values.rows[:, 0]
        rows = point_rows(path, len(first), ids[first], [draws[row] for row in first])
        samples = numbers(path, table, sample)[values.rows][rows.rows]
        return {"samples": samples, "ids": rows.ids}
    rows = point_rows(path, n_rows, ids, draws)
    named = [column_of(table, name) for name in _KINDS[kind]]
    columns = [column for column in named if column is not None]
    found: dict[str, NDArray[Any]] = {
        c.lower(): rows.stacked(numbers(path, table, c)) for c in columns
    }
    if ids is not None:
        found["ids"] = rows.ids
    for column, cells in table.items():
        if column not in (*columns, id_name, draw):
            kept = rows.once(cells.tolist())
            if kept is not None:
                found[column] = np.array(kept)
    return found


def rated_truth(path: Path | None, truth: Truth, values: ArrayLike | None) -> Truth:
    """Return the real-valued answers for the predictions in ``path``.

    They are those of the truth, or its counts on a scale of numbers.
    """
    said = truth.annotations
    if isinstance(said, Ratings):
        return truth
    if said.counts is None:
        raise FileError(
            f"{path}: is about real numbers, and {truth.path} holds probabilities of "
            "classes; give a row per answer with a column rating"
        )
    scale = said.values if values is None else values
    if scale is None:
        raise FileError(
            f"{path}: is about real numbers, and {truth.path} counts classes; say "
            "which number each stands for with --values, or give a row per answer with a column "
            "rating"
        )
    try:
        ratings = Ratings.from_counts(said.counts, scale)
    except InputError as error:
        raise FileError(f"{truth.path}: {error}") from None
    return replace(truth, annotations=ratings, classes=None)
