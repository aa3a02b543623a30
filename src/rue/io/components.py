"""Tables of components, read and written: what a method estimated and what was realised.

A table has a row per point and the columns ``aleatoric`` and ``epistemic`` (estimated), ``risk``
and ``regret`` (realised). :func:`save_components` writes more of them, so that reading gives back
the same bits: ``total_hat`` (estimated) and ``aleatoric_star`` (the realised Bayes risk), and where
they are known ``standard_error``, ``aleatoric_star_high``, ``person_risk``, ``n_annotators``,
``floored``, ``outside_score``, ``loss`` and ``method``. All other columns are groups.

Without ``total_hat`` or ``aleatoric_star`` these are computed as a sum or a difference. What then
differs by less than 1e-10 of the largest value is taken as equal, and in columns that are given
what differs by less than 1e-12: rounding errors must not rank points. Where ``outside_score`` is
set, total is the aleatoric part, and another ``total_hat`` is replaced with a note.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rue._arrays import FloatArray, as_vector
from rue.components import Components, Run
from rue.errors import FileError, InputError
from rue.io.columns import FrameColumn
from rue.io.files import Frame, row_ids
from rue.io.memory import MemoryBudget
from rue.io.names import BY_NAME, Matching, find_id_name
from rue.io.saving import save_table
from rue.truth.alignment import require_unique

_NEEDED = ("aleatoric", "epistemic", "risk", "regret")
_MARKS = {"aleatoric", "risk", "regret"}  # a table of predictions may have an epistemic score
_HAT = {
    "total_hat": "total",
    "aleatoric": "aleatoric",
    "epistemic": "epistemic",
    "standard_error": "standard_error",
}
"""The columns of estimated components, and which attribute each is."""
_STAR = {
    "risk": "total",
    "aleatoric_star": "aleatoric",
    "regret": "epistemic",
    "aleatoric_star_high": "aleatoric_high",
    "person_risk": "person",
    "n_annotators": "n_annotators",
    "floored": "floored",
}
"""The columns of realised components, and which attribute each is."""
_NUMBERS = (*_HAT, *_STAR, "outside_score")
_EQUAL = 1e-12
_EQUAL_COMPUTED = 1e-10


def save_components(path: str | os.PathLike[str], run: Run) -> None:
    """Write a run's components to a .csv or .parquet file, one row per point.

    ``rue evaluate`` and the other commands read it in place of predictions, and so does
    :func:`rue.io.read_run`. Read back, every component has the same bits. The file is written
    completely or not at all; missing folders are created.

    Parameters
    ----------
    path
        The file; its ending, ``.csv`` or ``.parquet``, decides the format.
    run
        The components, with ids, groups, loss and method where it has them. Answers are not
        written.

    Raises
    ------
    InputError
        If a group has the name of another column of the table.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rue.io import save_components
    >>> import tempfile
    >>> import rue
    >>> run = rue.Run.from_belief(
    ...     rue.Annotations([[3, 1], [1, 3]]), rue.Draws([[[0.5, 0.5]], [[0.25, 0.75]]]), "brier"
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_components(Path(folder) / "mine.csv", run)
    ...     again = rue.io.read_run(Path(folder) / "mine.csv", None, "brier")
    >>> (again.star.epistemic == run.star.epistemic).all()
    np.True_
    """
    columns: dict[str, Any] = {
        "id": run.ids,
        **{name: getattr(run.hat, part) for name, part in _HAT.items()},
        **{name: getattr(run.star, part) for name, part in _STAR.items()},
        "outside_score": np.ones(len(run), bool) if run.hat.outside_score else None,
        "loss": np.full(len(run), run.loss_name) if run.loss_name else None,
        "method": np.full(len(run), run.method) if run.method else None,
    }
    taken = [name for name in run.groups if name in columns]
    if taken:
        raise InputError(f"a group must not be called {taken[0]!r}, which the table needs itself")
    columns = {name: column for name, column in columns.items() if column is not None}
    save_table(Path(path), {**columns, **run.groups}, parents=True)


def is_component_table(frame: Frame) -> bool:
    """Return whether a table holds components, and not predictions."""
    return bool(_MARKS & set(frame.columns))


@dataclass(frozen=True, eq=False)
class Estimates:
    """A table of components of which risk and regret may be unknown, and its method if named."""

    run: Run
    is_realized: bool
    method: str | None

    @property
    def star(self) -> Components | None:
        """The realised components, where the table has them."""
        return self.run.star if self.is_realized else None


def estimates_of(frame: Frame, matching: Matching = BY_NAME, *, realized: bool) -> Estimates:
    """Return the components that a table holds; ``realized`` requires risk and regret."""
    is_realized = realized or "risk" in frame.columns or "regret" in frame.columns
    if not is_realized:
        zero = FrameColumn(np.zeros(len(frame)), MemoryBudget(frame.path, 0))
        frame = replace(frame, columns={**frame.columns, "risk": zero, "regret": zero})
    run = components_of(frame, matching)
    return Estimates(run, is_realized, _word(frame, "method") or None)


def components_of(frame: Frame, matching: Matching = BY_NAME) -> Run:
    """Return the run that a table of components holds."""
    path, table = frame.path, frame.columns
    missing = [name for name in _NEEDED if name not in table]
    if missing == ["risk", "regret"]:
        raise FileError(
            f"{path}: has estimated components without risk and regret, which cannot be computed "
            "from them; use a table with both (rue recalibrate apply --truth FILE writes one), or "
            "the predictions with a truth"
        )
    if missing:
        raise FileError(f"{path}: must have the columns {', '.join(_NEEDED)}, lacks {missing[0]}")
    try:
        columns = {name: _numbers(frame, name) for name in _NUMBERS if name in table}
    except InputError as error:
        raise error.about(path) from None
    _require_regret(path, columns)
    name = find_id_name(path, list(table), matching.id_name)
    ids = row_ids(frame, name)
    if ids is not None and not matching.by_position:
        require_unique(path, ids)
    return Run(
        _star(columns),
        _hat(columns),
        method=_word(frame, "method") or path.stem,
        ids=ids,
        loss=_word(frame, "loss"),
        groups={
            key: column.group
            for key, column in table.items()
            if key not in {*_NUMBERS, "loss", "method", name} and not column.is_nested
        },
        path=path,
        notes=_total_notes(columns),
    )


def _total_notes(columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
    """Return a note if a stored total is the sum with an outside score, which is not used."""
    total = columns.get("total_hat")
    if total is None or not _is_outside(columns) or (total == columns["aleatoric"]).all():
        return ()
    return (
        "the epistemic score has no unit of the loss, so total is the aleatoric part: the stored "
        "total_hat is not used",
    )


def _is_outside(columns: Mapping[str, FloatArray]) -> bool:
    return "outside_score" in columns and bool(columns["outside_score"].any())


def _star(columns: Mapping[str, FloatArray]) -> Components:
    parts: dict[str, Any] = {_STAR[name]: columns[name] for name in _STAR.keys() & columns.keys()}
    if "aleatoric" not in parts:
        scale = float(np.abs(parts["total"]).max())
        parts |= {name: _equalized(parts[name], _EQUAL * scale) for name in ("total", "epistemic")}
        bayes_risk = parts["total"] - parts["epistemic"]
        parts["aleatoric"] = _equalized(bayes_risk, _EQUAL_COMPUTED * scale)
    if "floored" in parts:
        parts["floored"] = parts["floored"] != 0
    return Components(**parts)


def _hat(columns: Mapping[str, FloatArray]) -> Components:
    """Each part has a scale of its own: the epistemic one may be a score from outside."""
    parts: dict[str, Any] = {_HAT[name]: columns[name] for name in _HAT.keys() & columns.keys()}
    if "total" not in parts:
        for name in ("aleatoric", "epistemic"):
            parts[name] = _equalized(parts[name], _EQUAL * float(np.abs(parts[name]).max()))
        total = parts["aleatoric"] + parts["epistemic"]
        parts["total"] = _equalized(total, _EQUAL_COMPUTED * float(np.abs(total).max()))
    return Components(**parts, outside_score=_is_outside(columns))


def _equalized(column: FloatArray, tolerance: float) -> FloatArray:
    """Return the column with values that differ by rounding only replaced by the least of them."""
    near_zero = np.abs(column) <= tolerance
    values, place = np.unique(np.where(near_zero, 0.0, column), return_inverse=True)
    first = np.flatnonzero(np.append(True, np.diff(values) > tolerance))
    end = np.append(first[1:], len(values))
    firsts = values[np.repeat(first, end - first)]
    for chain in np.flatnonzero(values[end - 1] - values[first] > tolerance):  # rare
        anchor = first[chain]
        while anchor < end[chain]:
            after = np.searchsorted(values[: end[chain]], values[anchor] + tolerance, "right")
            firsts[anchor:after] = values[anchor]
            anchor = after
    return np.asarray(firsts[place])


def _numbers(frame: Frame, name: str) -> FloatArray:
    column = frame.numbers(name)
    if name == "n_annotators":  # infinitely many where p* is known
        as_vector(name, np.where(np.isposinf(column), 0.0, column))
        return column.astype(np.float64)
    return as_vector(name, column)


def _require_regret(path: Path, columns: Mapping[str, FloatArray]) -> None:
    risk, regret, bayes_risk = columns["risk"], columns["regret"], columns.get("aleatoric_star")
    scale = np.abs(risk).max()
    if bayes_risk is None:
        broken = (regret < -1e-12 * scale) | (regret > risk + 1e-12 * scale)
        rule = "regret must be from 0 to the risk"
    else:  # an unbiased regret may be below 0
        broken = np.abs(risk - bayes_risk - regret) > 1e-9 * scale
        rule = "regret must be the risk minus aleatoric_star"
    if broken.any():
        row = int(np.argmax(broken))
        raise FileError(f"{path}: {rule}, got {regret[row]:g} of {risk[row]:g} at row {row}")


def _word(frame: Frame, name: str) -> str:
    """Return the one word that a column holds in every row, or nothing if there is none."""
    words = np.unique(frame.columns[name].words).tolist() if name in frame.columns else [""]
    if len(words) > 1:
        raise frame.error(f"must hold components of one {name}, got {', '.join(words)[:100]}")
    return str(words[0])
