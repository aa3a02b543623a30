"""Prediction and truth files: read and check.

A prediction file is an ``.npz`` with ``probs`` or ``logits``, (n, draws, k) or (n, k), or
``alpha`` (n, k); optionally ``epistemic`` (n), ``actions``, ``values``, ``ids``, ``counts`` and
``method``, a word. Any other array of length n is a column that rows may be grouped by. A
``.csv`` or ``.parquet`` with the columns ``aleatoric, epistemic, risk, regret`` holds components
already computed.

Pickled arrays are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, as_vector, require_finite
from rue.beliefs import Belief, Dirichlet, Draws, Scored
from rue.components import Components
from rue.errors import FileError, InputError, ShapeError
from rue.io.formats import load_npz, load_table
from rue.io.truth import RESERVED, Truth, counted_truth, ids_of, names_of
from rue.runs import Run

__all__ = [
    "Predictions",
    "read_estimates",
    "read_predictions",
]

_COMPONENTS = ("aleatoric", "epistemic", "risk", "regret")


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


def read_predictions(path: str | Path) -> Predictions | Run:
    """Read a prediction file; a table of components is a run already. See the module's head."""
    path = Path(path)
    match path.suffix.lower():
        case ".npz":
            return _predictions(path, load_npz(path))
        case ".csv" | ".parquet":
            return _components(path, load_table(path))
    raise FileError(f"{path}: predictions must be .npz, .csv or .parquet, got {path.suffix!r}")


def _predictions(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Predictions:
    kinds = [kind for kind in ("probs", "logits", "alpha") if kind in arrays]
    if len(kinds) != 1:
        raise FileError(f"{path}: must hold one of probs, logits or alpha, got {names_of(arrays)}")
    try:
        belief = _belief(kinds[0], arrays[kinds[0]])
        if "epistemic" in arrays:
            belief = Scored(belief.mean(), arrays["epistemic"])
        values = as_vector("values", arrays["values"]) if "values" in arrays else None
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    n_points = len(belief)
    groups = {k: v for k, v in arrays.items() if k not in RESERVED and v.shape == (n_points,)}
    ids = ids_of(path, arrays, n_points)
    counted = {k: arrays[k] for k in ("counts", "ids", "values") if k in arrays}
    truth = counted_truth(path, counted) if "counts" in arrays else None
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
    ids = ids_of(path, table, len(next(iter(table.values()))))
    if "risk" in table or "regret" in table:
        run = _components(path, table)
        return run.hat, run.star, ids
    zero = np.zeros(len(next(iter(table.values()))))
    return _components(path, {**table, "risk": zero, "regret": zero}).hat, None, ids


def _components(path: Path, table: Mapping[str, NDArray[Any]]) -> Run:
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
        ids=ids_of(path, table, len(risk)),
        groups={k: v for k, v in table.items() if k not in _COMPONENTS},
        path=path,
    )


def _rounded(column: FloatArray, scale: float) -> FloatArray:
    """Round to 1e-12 of the largest value, because the scale of the loss is not known.

    Realised components share a scale; an estimated one may be from outside and has its own.
    """
    unit = float(scale) or 1.0
    return np.asarray(np.rint(column / unit * 1e12) / 1e12 * unit)
