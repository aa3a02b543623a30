"""Prediction files: what a model says about each point, read and checked.

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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, as_vector, require_finite, round_to_scale
from rue.beliefs import Belief, Dirichlet, Draws, RealBelief, Scored
from rue.beliefs.sampled_labels import label_frequencies
from rue.components import Components
from rue.errors import FileError, InputError, ShapeError
from rue.io.formats import load_table
from rue.io.json_lines import is_json_lines, json_arrays, load_json_lines
from rue.io.matching import BY_NAME, Matching, checked_classes
from rue.io.npz import load_npz, npz_shapes
from rue.io.points import find_id_name
from rue.io.ratings import json_ratings
from rue.io.real_values import REAL_ARRAYS, real_belief, real_kind
from rue.io.tables import prediction_arrays_of_table
from rue.io.truth import (
    Truth,
    counted_truth,
    group_columns,
    ids_of,
    names_of,
    wanted_arrays,
)
from rue.runs import Run

__all__ = [
    "Predictions",
    "draws_first",
    "holds_components",
    "read_estimates",
    "read_predictions",
]

_ARRAYS = ("probs", "logits", "alpha", "sampled_labels", "counts")
_SCALARS = ("epistemic", "actions", "method")
_COMPONENTS = ("aleatoric", "epistemic", "risk", "regret")
_COMPONENT_NAMES = {"aleatoric", "risk", "regret"}  # a prediction may have an epistemic score


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
        return _predictions(path, load_npz(path, wanted), matching)
    if is_json_lines(path):
        records = load_json_lines(path)
        real = () if real_kind(records[0]) is None else REAL_ARRAYS
        arrays = json_arrays(
            path, records, (*_ARRAYS, *real), scalars=_SCALARS, id_name=matching.id_name
        )
        if "ratings" in records[0]:
            arrays["ratings"] = json_ratings(path, records, matching.id_name)["ratings"]
        return _predictions(path, arrays, matching)
    if suffix in (".csv", ".tsv", ".parquet"):
        table = load_table(path)
        if _COMPONENT_NAMES & set(table):
            return _components(path, table, matching)
        arrays = prediction_arrays_of_table(
            path, table, id_name=matching.id_name, classes=matching.classes
        )
        return _predictions(path, arrays, matching)
    raise FileError(
        f"{path}: predictions must be .npz, .csv, .parquet or JSON lines, got {suffix!r}"
        + ("" if path.exists() else ", and there is no such file")
    )


def _predictions(path: Path, arrays: Mapping[str, NDArray[Any]], matching: Matching) -> Predictions:
    real = real_kind(arrays)
    if real is not None:
        return _real_predictions(path, arrays, real, matching)
    kinds = [kind for kind in ("probs", "logits", "alpha", "sampled_labels") if kind in arrays]
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
            belief = _belief(kind, array)
        if "epistemic" in arrays:
            belief = Scored(belief.mean(), arrays["epistemic"])
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


def _belief(kind: str, array: NDArray[Any]) -> Belief:
    if kind == "alpha":
        return Dirichlet(array)
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"{kind} must have shape (n_points, n_draws, n_classes) or (n_points, n_classes), "
            f"got {array.shape}"
        )
    if kind == "logits":
        if array.dtype.kind not in "fiu":
            raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
        require_finite("logits", array)
        logits = array.astype(np.float64)
        exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
        array = exp / exp.sum(axis=-1, keepdims=True)
    return Draws(array if array.ndim == 3 else array[:, None, :])


def holds_components(path: str | Path) -> bool:
    """Return whether a file is a table of components, and not of predictions."""
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        return False
    return bool(_COMPONENT_NAMES & set(load_table(path)))


def read_estimates(
    path: str | Path, *, matching: Matching = BY_NAME
) -> tuple[Components, Components | None, NDArray[np.str_] | None]:
    """Read components from a table: the estimated ones, the realised ones if there, and ids."""
    path = Path(path)
    table = load_table(path)
    ids = ids_of(path, table, len(next(iter(table.values()))), matching.id_name)
    if "risk" in table or "regret" in table:
        run = _components(path, table, matching)
        return run.hat, run.star, ids
    zero = np.zeros(len(next(iter(table.values()))))
    return _components(path, {**table, "risk": zero, "regret": zero}, matching).hat, None, ids


def _components(path: Path, table: Mapping[str, NDArray[Any]], matching: Matching = BY_NAME) -> Run:
    missing = [name for name in _COMPONENTS if name not in table]
    if missing:
        raise FileError(
            f"{path}: must have the columns {', '.join(_COMPONENTS)}, lacks {missing[0]}"
        )
    try:
        aleatoric, epistemic, risk, regret = (as_vector(n, table[n]) for n in _COMPONENTS)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    scale = np.abs(risk).max()
    broken = (regret < -1e-12 * scale) | (regret > risk + 1e-12 * scale)
    if broken.any():
        row = int(np.argmax(broken))
        raise FileError(
            f"{path}: regret must be from 0 to the risk, "
            f"got {regret[row]:g} of {risk[row]:g} at row {row}"
        )
    star = Components(
        _rounded(risk, scale), _rounded(risk - regret, scale), _rounded(regret, scale)
    )
    total = aleatoric + epistemic
    hat = Components(
        _rounded(total, np.abs(total).max()),
        _rounded(aleatoric, np.abs(aleatoric).max()),
        _rounded(epistemic, np.abs(epistemic).max()),
    )
    return Run(
        star,
        hat,
        method=path.stem,
        ids=ids_of(path, table, len(risk), matching.id_name),
        loss=_loss_of(path, table),
        groups={k: v for k, v in table.items() if k not in _COMPONENTS},
        path=path,
    )


def _loss_of(path: Path, table: Mapping[str, NDArray[Any]]) -> str:
    """Return the loss that a table of components names in a column ``loss``, or nothing."""
    names = sorted(set(table["loss"].astype(np.str_).tolist())) if "loss" in table else [""]
    if len(names) > 1:
        raise FileError(f"{path}: must hold components of one loss, got {', '.join(names)}")
    return names[0]


def _rounded(column: FloatArray, scale: float) -> FloatArray:
    """Round to 1e-12 of the largest value, because the scale of the loss is not known.

    Realised components share a scale; an estimated one may be from outside and has its own.
    """
    return round_to_scale(column, float(scale) or 1.0)
