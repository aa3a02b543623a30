"""Probabilities as the user says that they are: of one class of two, or not yet normalised."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, require_finite, require_shape
from rue.errors import FileError, InputError
from rue.io.names import Matching
from rue.losses.outcomes import written_name

Arrays = Mapping[str, NDArray[Any]]


def normalized(path: Path, arrays: Arrays) -> tuple[Mapping[str, NDArray[Any]], tuple[str, ...]]:
    """Return arrays with probabilities that sum to 1, and a note about their sums."""
    probs = arrays.get("probs")
    if probs is None or probs.dtype.kind not in "fiu" or probs.ndim not in (2, 3):
        return arrays, ()
    sums = probs.astype(np.float64).sum(axis=-1, keepdims=True)
    if (probs < 0).any():
        row = int(np.argwhere(probs < 0)[0][0])
        raise FileError(
            f"{path}: probabilities must not be negative, got {probs[probs < 0][0]:g} at row "
            f"{row}; write log probabilities under the name logits"
        )
    if not (np.isfinite(sums) & (sums > 0)).all():
        row = int(np.argwhere(~(np.isfinite(sums) & (sums > 0)))[0][0])
        raise FileError(f"{path}: probabilities must have a positive sum, not at row {row}")
    names = arrays["classes"].tolist() if "classes" in arrays else []
    of = f" of {', '.join(map(str, names[:8]))}{', ...' if len(names) > 8 else ''}" if names else ""
    note = f"{path}: probabilities{of} were divided by their sums, {span(sums)}"
    return {**arrays, "probs": probs / sums}, (note,)


def of_both_classes(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    positive: str,
    matching: Matching,
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return arrays of two classes from one number per point (and draw) about the positive one."""
    kind = "probs" if "probs" in arrays else "logits"
    array = arrays.get(kind)
    if array is None or array.ndim > 2 or array.dtype.kind not in "fiu" or "classes" in arrays:
        got = "classes" if "classes" in arrays else ", ".join(arrays)[:120]
        raise FileError(
            f"{path}: with positive={positive!r} it must hold probs or logits of shape (n_points,) "
            f"or (n_points, n_draws), got {got if array is None else array.shape}"
        )
    notes: tuple[str, ...] = ()
    if kind == "probs" and matching.normalize and (array > 1).any() and (array <= 100).all():
        array = array / 100
        notes = (f"{path}: percentages of {positive!r} were divided by 100",)
    if kind == "probs" and not ((array >= 0) & (array <= 1)).all():
        row = int(np.argwhere(~((array >= 0) & (array <= 1)))[0][0])
        raise FileError(
            f"{path}: the probability of {positive!r} must be between 0 and 1, got "
            f"{np.ravel(array[row])[0]:g} at row {row}",
            advice={"--normalize": "divides percentages by 100"},
        )
    numbers = array.astype(np.float64)
    other = 1 - numbers if kind == "probs" else np.zeros_like(numbers)
    others = [name for name in matching.classes or () if written_name(name) != positive]
    names = [others[0] if len(others) == 1 else f"not {positive}", positive]
    both = {kind: np.stack([other, numbers], axis=-1), "classes": np.array(names)}
    return {**arrays, **both}, notes


def from_logits(array: NDArray[Any]) -> FloatArray:
    """Return the probabilities of logits, (n_points, n_classes) or (n_points, n_draws, n_classes).

    They are exp(logit) divided by its sum over the classes.
    """
    require_shape("logits", array, "n_points", *["n_draws"] * (array.ndim - 2), "n_classes")
    if array.dtype.kind not in "fiu":
        raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
    require_finite("logits", array)
    logits = array.astype(np.float64)
    exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exp / exp.sum(axis=-1, keepdims=True))


def span(sums: FloatArray) -> str:
    """Return the least and the largest number, for notes."""
    low, high = float(sums.min()), float(sums.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
