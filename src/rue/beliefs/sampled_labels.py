"""Sampled labels: the answers that a language model gave when it was asked several times.

Twenty labels sampled from one model and one prompt estimate *one* distribution: their frequencies.
That is one draw, and its spread is aleatoric. Epistemic uncertainty needs several draws: other
models, prompts or fine-tuning seeds, each with its own samples. To call each sampled label a draw
of its own would claim that every draw is certain, so aleatoric 0 and all uncertainty epistemic.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import IntArray, is_whole
from rue._text import sorted_names
from rue.beliefs.draws import Draws
from rue.errors import InputError, ShapeError
from rue.losses.outcomes import Classes


def sampled_labels(labels: ArrayLike, classes: Sequence[Any] | int | None = None) -> Draws:
    """Return sampled labels as draws: one empirical distribution per model or prompt.

    Parameters
    ----------
    labels
        Words or whole numbers, shape (n_points, n_answers) for one model and prompt, or
        (n_points, n_draws, n_answers) for several.
    classes
        All classes in the order of the annotations; or their number, for labels that are
        0..n_classes-1. By default the labels that occur; a class of the truth that was never
        sampled has probability 0, and whole numbers are names of classes or, where those are
        words, their places.

    Returns
    -------
    Draws
        Of shape (n_points, n_draws, n_classes), with the names of the classes.

    Raises
    ------
    InputError
        If a label is none of the classes.
    ShapeError
        If ``labels`` has another shape.

    Examples
    --------
    >>> from rue.adapters import sampled_labels
    >>> sampled_labels([["yes", "no", "yes", "yes"]], classes=["no", "yes"]).probs
    array([[[0.25, 0.75]]])
    """
    names, probs = label_frequencies(labels, classes)
    if isinstance(classes, int | np.integer):
        return Draws(probs)
    if classes is not None:
        return Draws(probs, classes=names)
    columns = np.flatnonzero(probs.any(axis=(0, 1)))
    if len(columns) < 2:  # there are no fewer than two classes
        columns = np.arange(len(names))
    sampled = Classes([names[k] for k in columns], order="none", complete=False)
    return Draws(probs[..., columns], classes=sampled)


def label_frequencies(
    labels: ArrayLike, classes: Sequence[Any] | int | None = None
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the classes' names and the frequency of each, (n_points, n_draws, n_classes)."""
    array = np.asarray(labels)
    if array.dtype == object and all(isinstance(label, str) for label in array.ravel().tolist()):
        array = array.astype(np.str_)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ShapeError(
            "sampled labels must have shape (n_points, n_answers) or (n_points, n_draws, "
            f"n_answers), none of them 0, got {array.shape}"
        )
    array = array[:, None, :] if array.ndim == 2 else array
    names, code = _codes(array, classes)
    n_points, n_draws, n_answers = array.shape
    cell = np.arange(n_points * n_draws)[:, None] * len(names) + code.reshape(-1, n_answers)
    counts = np.bincount(cell.ravel(), minlength=n_points * n_draws * len(names))
    return names, counts.reshape(n_points, n_draws, len(names)) / n_answers


def _codes(
    array: NDArray[Any], classes: Sequence[Any] | int | None
) -> tuple[tuple[str, ...], IntArray]:
    if array.dtype.kind == "f" and is_whole(array).all():
        array = array.astype(np.int64)
    if array.dtype.kind in "iub" and (classes is None or isinstance(classes, int | np.integer)):
        n_classes = int(array.max()) + 1 if classes is None else int(classes)
        bad = (array < 0) | (array >= n_classes)
        if bad.any() or n_classes < 2:
            got = array[bad][0] if bad.any() else f"{n_classes} class"
            raise InputError(f"sampled labels must be from 0 to {n_classes - 1}, got {got}")
        _require_few(n_classes, array)
        return tuple(str(k) for k in range(n_classes)), array.astype(np.int64)
    if array.dtype.kind not in "US" and array.dtype.kind not in "iub":
        raise InputError(f"sampled labels must be words or whole numbers, got dtype {array.dtype}")
    distinct, code = np.unique(array.astype(np.str_), return_inverse=True)
    if isinstance(classes, int | np.integer):
        raise InputError(f"sampled labels that are words need the classes' names, got {classes}")
    names = sorted_names(distinct.tolist()) if classes is None else [str(name) for name in classes]
    if classes is None and len(names) == 1:
        raise InputError(
            f"all sampled labels are {names[0]!r}, and there must be two classes or more",
            advice={"--classes": "names all of them"},
        )
    if len(set(names)) < max(2, len(names)):
        raise InputError(f"classes must be two or more different names, got {names}")
    place = {name: k for k, name in enumerate(names)}
    strange = [name for name in distinct.tolist() if name not in place]
    if strange:
        raise InputError(f"every sampled label must be one of {names}, got {strange[0]!r}")
    return tuple(names), np.array([place[name] for name in distinct.tolist()])[
        code.reshape(array.shape)
    ]


def _require_few(n_classes: int, array: NDArray[Any]) -> None:
    """Raise if a large label makes so many classes that their frequencies take too much memory."""
    n_points, n_draws, _ = array.shape
    needed = n_classes * (24 * n_points * n_draws + 100)
    if needed > max(1 << 30, 100 * array.nbytes):
        raise InputError(
            f"sampled labels that are numbers must be from 0 to n_classes - 1, got "
            f"{n_classes - 1}, which would be {n_classes:,} classes: name the classes, or give "
            "labels as words"
        )
