"""Which rows of a table are the draws of which point."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue.errors import FileError
from rue.io.columns import plain_name
from rue.io.files import Frame, row_ids

_SCALARS = ("epistemic", "actions", "method")
"""Columns of predictions with one value per point, whatever its draws."""


@dataclass(frozen=True, eq=False)
class PointRows:
    """Which rows are draws of which point: (n_points, n_draws), points as they first occur."""

    frame: Frame
    rows: IntArray
    ids: NDArray[np.str_] | None

    @classmethod
    def of(cls, frame: Frame, id_name: str | None) -> "PointRows":
        """Return the draws of each point of a table: the rows with the same id."""
        draw = frame.find("draw")
        cells = [] if draw is None else frame.columns[draw].listed
        draws = cells if any(cell is not None for cell in cells) else None
        return point_rows(frame, row_ids(frame, id_name), draws, len(frame))

    def stacked(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return one entry per point: with draws where a point has several rows."""
        chosen = array[self.rows]
        return chosen[:, 0] if self.rows.shape[1] == 1 else chosen

    def with_groups(
        self, arrays: dict[str, NDArray[Any]], used: Collection[str | None]
    ) -> dict[str, NDArray[Any]]:
        """Add ids, and the columns that say the same in all draws of each point."""
        for name, column in self.frame.columns.items():
            if name in used or column.is_nested:
                continue
            cells, usual = column.group, plain_name(name)
            same = (cells[self.rows] == cells[self.rows[:, :1]]).all(axis=1)
            if same.all():
                arrays[usual if usual in _SCALARS else name] = np.asarray(cells[self.rows[:, 0]])
            elif usual in _SCALARS:
                point = int(np.argmin(same))
                one, other, *_ = dict.fromkeys(cells[self.rows[point]].tolist())
                of = "" if self.ids is None else f" for {str(self.ids[point])!r}"
                raise self.frame.error(
                    f"{name} must be the same for all draws of a point, got {one!r} and "
                    f"{other!r}{of}"
                )
        return arrays if self.ids is None else arrays | {"ids": self.ids}

    @property
    def notes(self) -> list[str]:
        """A note where rows were read as draws only because they have the same id."""
        path, n_draws = self.frame.path, self.rows.shape[1]
        if n_draws == 1 or self.frame.find("draw") is not None:
            return []
        return [
            f"{path} has {n_draws} rows for each id, which were read as {n_draws} draws per point"
        ]


def point_rows(
    frame: Frame, ids: NDArray[np.str_] | None, draws: Sequence[Any] | None, n_rows: int
) -> PointRows:
    """Return which rows are draws of one point: those with the same id, in the order of draws."""
    path = frame.path
    if ids is None:
        if draws is not None and any(draw is not None for draw in draws):
            raise FileError(f"{path}: rows with a draw need an id to say which point they are of")
        return PointRows(frame, np.arange(n_rows)[:, None], None)
    names, first, point, counts = np.unique(
        ids, return_index=True, return_inverse=True, return_counts=True
    )
    if counts.min() != counts.max():
        least = names[counts.argmin()]
        raise FileError(
            f"{path}: every point must have the same number of draws (rows with its id), "
            f"{str(least)!r} has {counts.min()} and {str(names[counts.argmax()])!r} {counts.max()}"
        )
    place = np.empty(len(names), np.int64)
    place[np.argsort(first)] = np.arange(len(names))
    if draws is None:
        rows = np.argsort(place[point], kind="stable").reshape(len(names), -1)
        return PointRows(frame, rows, ids[rows[:, 0]])
    try:
        order = {label: i for i, label in enumerate(dict.fromkeys(draws))}
    except TypeError:
        raise FileError(f"{path}: draw must be a number or a word in every row") from None
    rank = np.array([order[label] for label in draws], dtype=np.int64)
    rows = np.lexsort((np.arange(len(ids)), rank, place[point])).reshape(len(names), -1)
    if not (rank[rows] == rank[rows[0]]).all():
        bad = int(np.argmax((rank[rows] != rank[rows[0]]).any(axis=1)))
        raise FileError(
            f"{path}: every point must have the same draws, each once; "
            f"{str(ids[rows[bad, 0]])!r} does not have those of {str(ids[rows[0, 0]])!r}"
        )
    if len(order) > 1 and (np.diff(rank[rows], axis=1) == 0).any():
        bad = int(np.argmax((np.diff(rank[rows], axis=1) == 0).any(axis=1)))
        raise FileError(f"{path}: {str(ids[rows[bad, 0]])!r} has a draw twice")
    return PointRows(frame, rows, ids[rows[:, 0]])
