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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import as_vector, require_finite, require_shape
from rue.beliefs import Belief, ClassBelief, Dirichlet, Draws, RealBelief, Scored
from rue.beliefs.sampled_labels import sampled_labels
from rue.components import Run
from rue.errors import AlignmentError, FileError, InputError, ShapeError
from rue.io.answers import answers_of_arrays, group_columns
from rue.io.arrays import save_npz
from rue.io.belief_tables import BELIEF_ARRAYS, Order, belief_arrays, real_kind
from rue.io.components import components_of, is_component_table
from rue.io.files import read_frame
from rue.io.names import (
    BY_NAME,
    Matching,
    checked_classes,
    find_id_name,
    ids_of,
    in_stated_order,
)
from rue.io.real_values import padded_ratings, real_arrays, real_belief
from rue.io.truth import truth_of_answers
from rue.losses import Classes
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = [
    "draws_first",
    "prediction_arrays",
    "read_belief",
    "read_method",
    "read_predictions",
    "save_predictions",
]


def read_belief(path: str | os.PathLike[str], *, matching: Matching = BY_NAME) -> Belief:
    """Read what a model says from a prediction file, with the names that the file gives.

    Parameters
    ----------
    path : str or path
        The file: ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.json`` or
        ``.jsonl``, with the arrays and columns that :mod:`rue.io.predictions` lists.
    matching : Matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Draws, Dirichlet, Scored, Gaussians, Samples or NormalInverseGamma
        The belief about n_points points, with ``ids``, ``outcomes``, ``method`` and ``actions``
        where the file has them. Answers that the file holds are its ``truth``.

    Raises
    ------
    FileError
        If the file is not there, or holds no predictions.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, rue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ensemble.npz")
    ...     np.savez(path, probs=np.full((2, 5, 3), 1 / 3), ids=["a", "b"], method="ensemble")
    ...     belief = rue.read_belief(path)
    >>> belief.method, belief.ids.tolist(), belief.probs.shape
    ('ensemble', ['a', 'b'], (2, 5, 3))
    """
    belief = read_predictions(Path(path), matching=matching)
    if isinstance(belief, Run):
        raise FileError(f"{path}: holds components, not a belief; rue.io.read_run reads it")
    return belief


def read_predictions(path: str | Path, *, matching: Matching = BY_NAME) -> Belief | Run:
    """Read a prediction file; its formats are in the description of this module.

    Parameters
    ----------
    path
        The file.
    matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Belief or Run
        The belief, with the file's own answers as its ``truth``; a Run where the file holds
        components already computed.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as predictions.
    """
    frame = read_frame(
        path,
        names=[name for name in (matching.id_name, *(matching.classes or ())) if name],
        arrays=BELIEF_ARRAYS,
        max_memory=matching.max_memory,
    )
    if not frame.is_table:
        return predictions_of(frame.path, frame.arrays, matching)
    if is_component_table(frame):
        return components_of(frame, matching)
    arrays, order, notes = belief_arrays(frame, matching)
    id_name = "ids" if "ids" in arrays else None
    try:
        belief = predictions_of(frame.path, arrays, replace(matching, id_name=id_name), order)
    except FileError as error:
        names = arrays["classes"].tolist() if "classes" in arrays else []
        if "must sum to 1" not in error.message or not set(names) <= set(frame.columns):
            raise
        raise FileError(
            f"{error.message}; the columns taken for classes are {', '.join(names)}",
            advice={"--classes": "states those that are"} | error.advice,
        ) from None
    return belief.with_source(str(frame.path), notes=(*frame.notes, *notes))


def read_method(
    paths: Sequence[str | Path], *, name: str | None = None, matching: Matching = BY_NAME
) -> Belief | Run:
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
    Belief or Run
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
    if isinstance(found, Run):
        return replace(found, method=name)
    return found.with_method(name)


def save_predictions(
    path: str | os.PathLike[str],
    belief: Belief,
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


def prediction_arrays(
    belief: Belief,
    *,
    ids: Sequence[object] | NDArray[Any] | None = None,
    values: ArrayLike | None = None,
    annotations: Annotations | Ratings | None = None,
    classes: Sequence[str] | None = None,
    method: str | None = None,
) -> dict[str, Any]:
    """Return the arrays of a prediction file by name; see :func:`save_predictions`."""
    arrays: dict[str, Any] = {}
    if ids is not None:
        arrays["ids"] = _names("ids", ids, belief.n_points)
    if method is not None:
        arrays["method"] = np.asarray(method, dtype=np.str_)
    if isinstance(belief, RealBelief):
        if isinstance(annotations, Annotations):
            raise InputError(
                f"annotations of {type(belief).__name__} must be Ratings, got Annotations: use "
                "Ratings.from_counts"
            )
        if annotations is None:
            return arrays | real_arrays(belief)
        if len(annotations) != len(belief):
            raise ShapeError(f"annotations must have {len(belief)} points, got {len(annotations)}")
        return arrays | real_arrays(belief) | padded_ratings(annotations)
    if isinstance(annotations, Ratings):
        raise InputError(f"Ratings need a belief about real numbers, got {type(belief).__name__}")
    if values is None and annotations is not None:
        values = annotations.values
    if values is not None:
        arrays["values"] = as_vector("values", values, belief.n_classes)
    if annotations is not None:
        shape = annotations.n_points, annotations.n_classes
        if shape != (belief.n_points, belief.n_classes):
            raise ShapeError(
                f"annotations must have shape ({belief.n_points}, {belief.n_classes}), got {shape}"
            )
        known = annotations.counts is None
        arrays["counts"] = annotations.probs if known else annotations.counts
    if classes is not None:
        arrays["classes"] = _names("classes", classes, belief.n_classes)
    match belief:
        case Draws():
            return arrays | {"probs": belief.probs}
        case Dirichlet():
            return arrays | {"alpha": belief.alpha}
        case Scored():
            return arrays | {"probs": belief.probs, "epistemic": belief.epistemic}
    raise InputError(f"belief must be Draws, Dirichlet or Scored, got {belief!r}")


def predictions_of(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    matching: Matching = BY_NAME,
    order: Order = "given",
) -> Belief:
    """Return the belief that the named arrays of a file hold, and their answers as its truth.

    Raises
    ------
    FileError
        If they hold no belief, or their shapes do not fit each other.
    """
    if matching.positive is not None:
        arrays = _of_both_classes(path, arrays, matching.positive, matching.classes)
    kinds = [kind for kind in ("probs", "logits", "alpha", "sampled_labels") if kind in arrays]
    real = real_kind(arrays) if kinds in ([], ["alpha"]) else None
    try:
        belief: Belief
        if real is not None:
            belief = real_belief(path, arrays, real)
            ids = ids_of(path, arrays, len(belief), matching.id_name)
            own = {"counts", "values", "ratings", "range"}
        else:
            belief, ids = _about_classes(path, arrays, kinds, matching, order)
            own = {"counts", "values", "classes"}
        belief = belief.with_ids(ids).with_actions(arrays.get("actions"))
    except FileError:
        raise
    except AlignmentError as error:
        raise AlignmentError(f"{path}: {error.message}", advice=error.advice) from None
    except InputError as error:
        raise error.about(path) from None
    belief = belief.with_source(str(path), groups=group_columns(arrays, len(belief)))
    belief = in_stated_order(belief, matching.classes).with_method(_method(arrays) or "")
    answers = answers_of_arrays(path, {name: arrays[name] for name in arrays if name in own})
    if answers is None:
        return belief
    if answers.n_points != len(belief):
        raise FileError(
            f"{path}: has predictions of {len(belief):,} points but answers about "
            f"{answers.n_points:,}"
        )
    answers = replace(answers.named(matching.classes), ids=belief.ids, order=order)
    return belief._with(truth=truth_of_answers(answers, matching.classes))


def _of_both_classes(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    positive: str,
    classes: Sequence[str] | None,
) -> dict[str, NDArray[Any]]:
    """Return arrays of two classes from one number per point (and draw) about the positive one."""
    kind = "probs" if "probs" in arrays else "logits"
    array = arrays.get(kind)
    if array is None or array.ndim > 2 or array.dtype.kind not in "fiu" or "classes" in arrays:
        got = "classes" if "classes" in arrays else ", ".join(arrays)[:120]
        raise FileError(
            f"{path}: with positive={positive!r} it must hold probs or logits of shape (n_points,) "
            f"or (n_points, n_draws), got {got if array is None else array.shape}"
        )
    if kind == "probs" and not ((array >= 0) & (array <= 1)).all():
        row = int(np.argwhere(~((array >= 0) & (array <= 1)))[0][0])
        raise FileError(
            f"{path}: the probability of {positive!r} must be between 0 and 1, got "
            f"{np.ravel(array[row])[0]:g} at row {row}"
        )
    numbers = array.astype(np.float64)
    other = 1 - numbers if kind == "probs" else np.zeros_like(numbers)
    others = [name for name in classes or () if name != positive]
    names = [others[0] if len(others) == 1 else f"not {positive}", positive]
    both = {kind: np.stack([other, numbers], axis=-1), "classes": np.array(names)}
    return {**arrays, **both}


def draws_first(kind: str, shape: tuple[int, ...], n_points: int) -> str:
    """Say that an array has its draws first."""
    return (
        f"{kind} has shape {shape}, but there are {n_points:,} points: draws come second, "
        f"(n_points, n_draws, n_classes); give {kind}.swapaxes(0, 1)"
    )


def _about_classes(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    kinds: list[str],
    matching: Matching,
    order: Order,
) -> tuple[ClassBelief, NDArray[np.str_] | None]:
    """Return what arrays of these kinds say about classes, and the names of the points."""
    if kinds[:2] == ["probs", "logits"]:
        kinds.remove("logits")
    if len(kinds) != 1:
        raise FileError(
            f"{path}: must hold one of probs, logits, alpha or sampled_labels (for real numbers "
            f"mean and sd, samples, or mu, nu, alpha and beta), got {', '.join(arrays)[:200]}"
        )
    kind, array = kinds[0], arrays[kinds[0]]
    names: Sequence[str] | None = None
    if kind == "sampled_labels":
        given = arrays["classes"].tolist() if "classes" in arrays else matching.classes
        belief: ClassBelief = sampled_labels(array, given)
    else:
        belief = _belief_of(kind, array)
        names = matching.classes
        if "classes" in arrays:
            names = checked_classes(path, arrays["classes"], belief.n_classes)
        elif names is not None and len(names) != belief.n_classes:
            raise FileError(
                f"{path}: has {belief.n_classes} columns, and {len(names)} classes are named for it"
            )
    if "epistemic" in arrays:
        single = array.ndim == 2 and kind == "probs"  # taken as it is, to the bit
        probs = array if single else belief.mean()
        belief = Scored(probs, arrays["epistemic"])._with(outcomes=belief.outcomes)
    values = as_vector("values", arrays["values"]) if "values" in arrays else None
    if names is not None or values is not None:
        stated = names or belief.outcomes.names or belief.n_classes
        belief = belief._with(outcomes=Classes(stated, values, order=order))
    return belief, _ids(path, arrays, kind, array, matching)


def _method(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Return the method's name, where the file says it: a word, or a column of the same word."""
    word = arrays.get("method")
    if word is not None and word.ndim == 1 and len(set(word.tolist())) == 1:
        word = word[0]
    is_name = word is not None and not np.ndim(word) and np.asarray(word).dtype.kind == "U"
    return str(word) if is_name else None


def _ids(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    kind: str,
    array: NDArray[Any],
    matching: Matching,
) -> NDArray[np.str_] | None:
    """Return the ids; where their number is that of the second axis, blame the axes."""
    names = {k: v for k, v in arrays.items() if k == matching.id_name or v.ndim == 1}
    name = find_id_name(path, list(names), matching.id_name)
    if name is not None and array.ndim == 3 and len(arrays[name]) == array.shape[1] != len(array):
        raise FileError(f"{path}: {draws_first(kind, array.shape, array.shape[1])}")
    return ids_of(path, names, len(array), matching.id_name)


def _belief_of(kind: str, array: NDArray[Any]) -> ClassBelief:
    """Return the belief of an array of probs, logits or alpha; raise if it is none."""
    if kind == "alpha":
        return Dirichlet(array)
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"{kind} must have shape (n_points, n_draws, n_classes) or (n_points, n_classes), "
            f"got {array.shape}"
        )
    if kind == "logits":
        require_shape(kind, array, "n_points", *["n_draws"] * (array.ndim - 2), "n_classes")
        if array.dtype.kind not in "fiu":
            raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
        require_finite("logits", array)
        logits = array.astype(np.float64)
        exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
        array = exp / exp.sum(axis=-1, keepdims=True)
    return Draws(array if array.ndim == 3 else array[:, None, :])


def _names(what: str, names: Sequence[object] | NDArray[Any], length: int) -> NDArray[np.str_]:
    found = np.array([str(name) for name in names], dtype=np.str_)
    if found.shape != (length,):
        raise ShapeError(f"{what} must have shape ({length},), got {found.shape}")
    unique, counts = np.unique(found, return_counts=True)
    if len(unique) < length:
        raise InputError(f"{what} must not repeat, {str(unique[np.argmax(counts > 1)])!r} does")
    return found
