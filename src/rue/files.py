"""Prediction and truth files: read and check.

A prediction file is an ``.npz`` with ``probs`` or ``logits``, (n, draws, k) or (n, k), or
``alpha`` (n, k); optionally ``epistemic`` (n), ``actions``, ``values``, ``ids``, ``counts`` and
``method``, a word. Any other array of length n is a column that rows may be grouped by. A
``.csv`` or ``.parquet`` with the columns ``aleatoric, epistemic, risk, regret`` holds components
already computed.

A truth file holds counts, or known probabilities where they are not whole numbers: ``.npy``,
``.npz`` (``counts`` or ``probs``), ``.csv`` (with or without a header) or ``.parquet``. In the
latter two a column ``id`` or ``ids`` names the rows, columns of text and those named by ``by``
are groups, and all others are classes.

Pickled arrays are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, as_vector, require_finite
from rue._raw_files import IDS, load_npy, load_npz, load_table
from rue.annotations import Annotations
from rue.answers import Answers
from rue.beliefs import Belief, Dirichlet, Draws, Scored
from rue.components import Components, bracket_end
from rue.errors import FileError, InputError, ShapeError
from rue.losses import CostMatrix, Loss

__all__ = [
    "Columns",
    "Predictions",
    "Truth",
    "read_cost",
    "read_estimates",
    "read_predictions",
    "read_truth",
]

_COMPONENTS = ("aleatoric", "epistemic", "risk", "regret")
_RESERVED = {"probs", "logits", "alpha", "epistemic", "actions", "values", "ids", "counts"}


@dataclass(frozen=True, eq=False)
class Truth:
    """What people said, with the rows' names and columns to group by."""

    path: Path
    annotations: Annotations
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says, read from a file."""

    path: Path
    belief: Belief
    actions: NDArray[Any] | None = None
    values: FloatArray | None = None
    ids: NDArray[np.str_] | None = None
    truth: Truth | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    named: str | None = None
    """The method, where the file names it."""

    @property
    def method(self) -> str:
        """The file's stem."""
        return self.path.stem


@dataclass(frozen=True, eq=False)
class Columns:
    """Components already computed, one row per point."""

    path: Path
    star: Components
    hat: Components
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    outside: bool = False
    """Whether the epistemic score is from outside and has not the unit of the loss."""
    annotations: Annotations | None = None
    loss: Loss | None = None
    """What the realised components are of, where they were not read as they are."""
    answers: Answers | None = None
    """What each answer costs, where that was asked for."""

    @property
    def method(self) -> str:
        """The file's stem."""
        return self.path.stem

    def part(self, rows: NDArray[Any]) -> "Columns":
        """Keep some of the points: a mask or indices; the bracket is that of these alone."""
        star, people = self.star[rows], None
        if self.annotations is not None and self.loss is not None:
            people = self.annotations[rows]
            star = replace(star, aleatoric_high=bracket_end(people, self.loss))
        groups = {name: column[rows] for name, column in self.groups.items()}
        return replace(
            self,
            star=star,
            hat=self.hat[rows],
            groups=groups,
            annotations=people,
            answers=None if self.answers is None else self.answers[rows],
        )


def read_predictions(path: str | Path) -> Predictions | Columns:
    """Read a prediction file; see the head of this module."""
    path = Path(path)
    match path.suffix.lower():
        case ".npz":
            return _predictions(path, load_npz(path))
        case ".csv" | ".parquet":
            return _columns(path, load_table(path))
    raise FileError(f"{path}: predictions must be .npz, .csv or .parquet, got {path.suffix!r}")


def read_truth(path: str | Path, *, by: str | None = None) -> Truth:
    """Read a truth file; ``by`` names a column that is a group and no class."""
    path = Path(path)
    match path.suffix.lower():
        case ".npy":
            return Truth(path, _annotations(path, load_npy(path), None))
        case ".npz":
            arrays = load_npz(path)
            truth = _counted(path, arrays)
            if truth is None:
                raise FileError(f"{path}: must hold counts or probs, got {_names(arrays)}")
            return truth
        case ".csv" | ".parquet":
            return _truth_table(path, load_table(path), by)
    raise FileError(f"{path}: truth must be .npy, .npz, .csv or .parquet, got {path.suffix!r}")


def read_cost(path: str | Path) -> CostMatrix:
    """Read a cost matrix C[action, class] from .npy, or from .csv without a header."""
    path = Path(path)
    match path.suffix.lower():
        case ".npy":
            costs = load_npy(path)
        case ".csv":
            table = load_table(path)
            costs = np.stack(list(table.values()), axis=1)
        case _:
            raise FileError(f"{path}: a cost matrix must be .npy or .csv, got {path.suffix!r}")
    try:
        return CostMatrix(costs)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _predictions(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Predictions:
    kinds = [kind for kind in ("probs", "logits", "alpha") if kind in arrays]
    if len(kinds) != 1:
        raise FileError(f"{path}: must hold one of probs, logits or alpha, got {_names(arrays)}")
    try:
        belief = _belief(kinds[0], arrays[kinds[0]])
        if "epistemic" in arrays:
            belief = Scored(belief.mean(), arrays["epistemic"])
        values = as_vector("values", arrays["values"]) if "values" in arrays else None
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    n_points = len(belief)
    groups = {k: v for k, v in arrays.items() if k not in _RESERVED and v.shape == (n_points,)}
    ids = _ids(path, arrays, n_points)
    counted = {k: arrays[k] for k in ("counts", "ids", "values") if k in arrays}
    truth = _counted(path, counted) if "counts" in arrays else None
    named = arrays.get("method")
    if named is not None and (named.ndim or named.dtype.kind != "U"):
        named = None  # a column, or a number
    return Predictions(
        path,
        belief,
        arrays.get("actions"),
        values,
        ids,
        truth,
        groups,
        None if named is None else str(named),
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


def read_estimates(
    path: str | Path,
) -> tuple[Components, Components | None, NDArray[np.str_] | None]:
    """Read components from a table: the estimated ones, the realised ones if there, and ids."""
    path = Path(path)
    table = load_table(path)
    ids = _ids(path, table, len(next(iter(table.values()))))
    if "risk" in table or "regret" in table:
        columns = _columns(path, table)
        return columns.hat, columns.star, ids
    zero = np.zeros(len(next(iter(table.values()))))
    return _columns(path, {**table, "risk": zero, "regret": zero}).hat, None, ids


def _columns(path: Path, table: Mapping[str, NDArray[Any]]) -> Columns:
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
    return Columns(path, star, hat, {k: v for k, v in table.items() if k not in _COMPONENTS})


def _rounded(column: FloatArray, scale: float) -> FloatArray:
    """Rounding is not ranking: to 1e-12 of the largest there is, the loss's scale not being known.

    Realised components share a scale; an estimated one may be from outside and has its own.
    """
    unit = float(scale) or 1.0
    return np.asarray(np.rint(column / unit * 1e12) / 1e12 * unit)


def _counted(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Truth | None:
    found = arrays.get("counts", arrays.get("probs"))
    if found is None:
        return None
    annotations = _annotations(path, found, arrays.get("values"))
    n_points = len(annotations)
    groups = {k: v for k, v in arrays.items() if k not in _RESERVED and v.shape == (n_points,)}
    return Truth(path, annotations, _ids(path, arrays, n_points), groups)


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
        raise FileError(f"{path}: must have a column of counts for each class, got {_names(table)}")
    annotations = _annotations(path, np.stack([table[name] for name in classes], axis=1), None)
    groups = {k: v for k, v in table.items() if k not in classes and k.lower() not in IDS}
    return Truth(path, annotations, _ids(path, table, len(annotations)), groups)


def _ids(path: Path, arrays: Mapping[str, NDArray[Any]], n_points: int) -> NDArray[np.str_] | None:
    ids = next((column for name, column in arrays.items() if name.lower() in IDS), None)
    if ids is None:
        return None
    if ids.shape != (n_points,):
        raise FileError(f"{path}: ids must have shape ({n_points},), got {ids.shape}")
    if ids.dtype.kind == "f":
        if not (np.isfinite(ids).all() and (np.abs(ids) < 2**53).all() and (ids % 1 == 0).all()):
            raise FileError(f"{path}: ids must be text or whole numbers, got dtype {ids.dtype}")
        ids = ids.astype(np.int64)
    if ids.dtype.kind == "S":
        return np.char.decode(ids, "utf-8", "replace")
    return ids.astype(np.str_)


def _names(arrays: Mapping[str, Any]) -> str:
    return ", ".join(arrays) or "nothing"
