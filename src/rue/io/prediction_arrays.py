"""Predictions as the named arrays of a file, in both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_vector, require_finite, require_shape
from rue.beliefs import Belief, Dirichlet, Draws, RealBelief, Scored
from rue.beliefs.sampled_labels import label_frequencies
from rue.errors import FileError, InputError, ShapeError
from rue.io.matching import BY_NAME, Matching, checked_classes, find_id_name, ids_of
from rue.io.ratings import padded_ratings
from rue.io.real_values import real_arrays, real_belief, real_kind
from rue.io.truth import Truth, counted_truth, group_columns, names_of
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["Predictions", "draws_first", "prediction_arrays", "predictions_of"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says, read from one file or several.

    Attributes
    ----------
    path
        The (first) file.
    belief
        The belief about n_points points.
    actions
        What was deployed, shape (n_points,) or (n_points, n_classes), where the file says.
    values
        The scale of the classes, shape (n_classes,), where the file says.
    ids
        The names of the points, shape (n_points,); None where they have none.
    truth
        The file's own counts, where it has some.
    groups
        Columns to group by, each of shape (n_points,), by name.
    named
        The method, where the file names it.
    classes
        The names of the classes, shape (n_classes,); None where they have none.
    sampled
        Whether the belief is of sampled labels, so that classes which were never sampled may be
        missing.
    """

    path: Path
    belief: Belief | RealBelief
    actions: NDArray[Any] | None = None
    values: FloatArray | None = None
    ids: NDArray[np.str_] | None = None
    truth: Truth | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    named: str | None = None
    classes: tuple[str, ...] | None = None
    sampled: bool = False

    @property
    def method(self) -> str:
        """The name in the file, or else the file's stem."""
        return self.named or self.path.stem

    def __getitem__(self, rows: NDArray[Any]) -> "Predictions":
        """Return the predictions of some of the points: a mask or indices."""
        return replace(
            self,
            belief=self.belief[rows],
            actions=None if self.actions is None else self.actions[rows],
            ids=None if self.ids is None else self.ids[rows],
            groups={name: column[rows] for name, column in self.groups.items()},
        )


def prediction_arrays(
    belief: Belief | RealBelief,
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
        return arrays | _real_arrays(belief, annotations)
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
    return arrays | _arrays_of(belief)


def predictions_of(
    path: Path, arrays: Mapping[str, NDArray[Any]], matching: Matching = BY_NAME
) -> Predictions:
    """Return the predictions that the named arrays of a file hold.

    Raises
    ------
    FileError
        If they hold no belief, or their shapes do not fit each other.
    """
    kinds = [kind for kind in ("probs", "logits", "alpha", "sampled_labels") if kind in arrays]
    real = real_kind(arrays) if kinds in ([], ["alpha"]) else None
    if real is not None:
        return _real_predictions(path, arrays, real, matching)
    if kinds[:2] == ["probs", "logits"]:
        kinds.remove("logits")
    if len(kinds) != 1:
        raise FileError(
            f"{path}: must hold one of probs, logits, alpha or sampled_labels (for real numbers "
            f"mean and sd, samples, or mu, nu, alpha and beta), got {names_of(arrays)[:200]}"
        )
    kind, array = kinds[0], arrays[kinds[0]]
    named = [arrays["classes"]] if "classes" in arrays else []
    try:
        classes: tuple[str, ...] | None = None
        if kind == "sampled_labels":
            given = [str(name) for name in named[0].tolist()] if named else matching.classes
            classes, array = label_frequencies(array, given)
            belief: Belief = Draws(array)
            if not named and arrays[kind].dtype.kind not in "US":
                classes = matching.classes  # numbers are places, not names
        else:
            belief = _belief_of(kind, array)
        if "epistemic" in arrays:
            single = array.ndim == 2 and kind == "probs"  # taken as it is, to the bit
            belief = Scored(array if single else belief.mean(), arrays["epistemic"])
        values = as_vector("values", arrays["values"]) if "values" in arrays else None
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    n_points, n_classes = belief.n_points, belief.n_classes
    if kind != "sampled_labels":
        classes = matching.classes
        if named:
            classes = checked_classes(path, named[0], n_classes)
        elif classes is not None and len(classes) != n_classes:
            raise FileError(
                f"{path}: has {n_classes} columns but --classes names {len(classes)} classes"
            )
    groups = group_columns(arrays, n_points)
    ids = _ids(path, arrays, kind, array, matching)
    counted = {k: v for k, v in arrays.items() if k in ("counts", "classes", "values")}
    truth = counted_truth(path, counted) if "counts" in arrays else None
    return Predictions(
        path,
        belief,
        arrays.get("actions"),
        values,
        ids,
        None if truth is None else replace(truth, ids=ids),
        groups,
        _method(arrays),
        classes,
        kind == "sampled_labels",
    )


def _real_predictions(
    path: Path, arrays: Mapping[str, NDArray[Any]], kind: str, matching: Matching
) -> Predictions:
    belief = real_belief(path, arrays, kind)
    ids = ids_of(path, arrays, len(belief), matching.id_name)
    said = {k: v for k, v in arrays.items() if k in ("counts", "values", "ratings", "range")}
    truth = counted_truth(path, said)
    if truth is not None and len(truth.annotations) != len(belief):
        raise FileError(
            f"{path}: has predictions of {len(belief):,} points but answers about "
            f"{len(truth.annotations):,}"
        )
    return Predictions(
        path,
        belief,
        arrays.get("actions"),
        ids=ids,
        truth=None if truth is None else replace(truth, ids=ids),
        groups=group_columns(arrays, len(belief)),
        named=_method(arrays),
    )


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


def draws_first(kind: str, shape: tuple[int, ...], n_points: int) -> str:
    """Say that an array has its draws first."""
    return (
        f"{kind} has shape {shape}, but there are {n_points:,} points: draws come second, "
        f"(n_points, n_draws, n_classes); give {kind}.swapaxes(0, 1)"
    )


def _real_arrays(
    belief: RealBelief, annotations: Annotations | Ratings | None
) -> dict[str, NDArray[Any]]:
    if isinstance(annotations, Annotations):
        raise InputError(
            f"annotations of {type(belief).__name__} must be Ratings, got Annotations: use "
            "Ratings.from_counts"
        )
    if annotations is not None and len(annotations) != len(belief):
        raise ShapeError(f"annotations must have {len(belief)} points, got {len(annotations)}")
    return real_arrays(belief) | ({} if annotations is None else padded_ratings(annotations))


def _names(what: str, names: Sequence[object] | NDArray[Any], length: int) -> NDArray[np.str_]:
    found = np.array([str(name) for name in names], dtype=np.str_)
    if found.shape != (length,):
        raise ShapeError(f"{what} must have shape ({length},), got {found.shape}")
    unique, counts = np.unique(found, return_counts=True)
    if len(unique) < length:
        raise InputError(f"{what} must not repeat, {str(unique[np.argmax(counts > 1)])!r} does")
    return found


def _belief_of(kind: str, array: NDArray[Any]) -> Belief:
    """Return the belief that an array holds.

    Parameters
    ----------
    kind
        ``probs``, ``logits`` or ``alpha``.
    array
        Shape (n_points, n_draws, n_classes) or (n_points, n_classes); ``alpha`` the latter.

    Raises
    ------
    InputError
        If the array is no such thing.
    """
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


def _arrays_of(belief: Belief) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold a belief, by name."""
    match belief:
        case Draws():
            return {"probs": belief.probs}
        case Dirichlet():
            return {"alpha": belief.alpha}
        case Scored():
            return {"probs": belief.probs, "epistemic": belief.epistemic}
    raise InputError(f"belief must be Draws, Dirichlet or Scored, got {belief!r}")
