"""Beliefs about real numbers in files, and answers that are real numbers.

Beliefs are the arrays ``mean`` and ``sd``, (n, draws) or (n,); ``samples``, (n, draws, n_values),
or (n, n_values) for one draw; or ``mu``, ``nu``, ``alpha`` and ``beta``, (n,) together. In JSON
lines and tables they have the same names; lines or rows with the same id are the draws of one
point. A table of samples has the columns ``id``, ``draw`` (where there are several) and
``sample``, a row for each value.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.beliefs import Belief, Gaussians, NormalInverseGamma, RealBelief, Samples
from rue.errors import FileError, InputError, ShapeError
from rue.io.belief_tables import REAL_KINDS as _KINDS
from rue.losses import CRPS
from rue.truth.base import Truth
from rue.truth.ratings import Ratings


def real_belief(path: Path, arrays: Mapping[str, NDArray[Any]], kind: str) -> RealBelief:
    """Return the belief of that kind; see the description of this module."""
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
        raise error.about(path) from None


def rated_truth(belief: Belief, truth: Truth, values: ArrayLike | None) -> Truth:
    """Return real-valued answers for a belief: those of the truth, or its counts on a scale."""
    if not truth.outcomes.n:
        return truth
    if truth.counts is None:
        raise FileError(
            f"{belief.source}: is about real numbers, and {truth.source} holds probabilities of "
            "classes; give a row per answer with a column rating"
        )
    if values is None and truth.values is None:
        raise FileError(
            f"{belief.source}: is about real numbers, and {truth.source} counts classes; "
            "give a row per answer with a column rating",
            advice={"--values": "says which number each class stands for"},
        )
    scaled = truth.on_scale(CRPS())
    try:
        outcomes = scaled.outcomes if values is None else scaled.outcomes.with_values(values)
        assert scaled.counts is not None
        ratings = Ratings.from_counts(scaled.counts, outcomes.values, ids=truth.ids)
    except InputError as error:
        raise error.about(truth.source) from None
    return ratings.with_source(truth.source, groups=truth.groups, notes=truth.notes)


def ratings_of_array(path: Path, array: NDArray[Any]) -> tuple[FloatArray, ...]:
    """Return the answers in the rows of an array, without those that are not there."""
    if array.ndim not in (1, 2) or array.dtype.kind not in "fiu" or 0 in array.shape:
        raise FileError(
            f"{path}: ratings must be numbers of shape (n_points, n_answers) or (n_points,), got "
            f"{array.dtype} of shape {array.shape}"
        )
    rows = (array if array.ndim == 2 else array[:, None]).astype(np.float64)
    there = ~np.isnan(rows)
    ends = np.cumsum(there.sum(axis=1))[:-1]
    return tuple(np.split(rows[there], ends))


def range_of(path: Path, limits: NDArray[Any] | None) -> tuple[float, float] | None:
    """Return the least and the largest answer that an array states."""
    if limits is None:
        return None
    if limits.dtype.kind not in "fiu" or limits.size != 2:
        raise FileError(f"{path}: range must be two numbers, low and high, got {limits.tolist()}")
    low, high = limits.astype(np.float64).ravel().tolist()
    return low, high
