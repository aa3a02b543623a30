"""A column of a table: its cells as they were read, as numbers and as words."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, is_whole
from rue.io.memory import MemoryBudget

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "<na>"})
"""Cells, in lower case, that say that there is no value."""

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)",
    re.IGNORECASE | re.ASCII,
)
_BLANKS = " \t\r\n\f\v\xa0"
_LONG_WORD = 200


@dataclass(frozen=True, eq=False, repr=False)
class FrameColumn:
    """One column of a table: its cells, and on demand the same as numbers or as words.

    ``order`` is the order of its words, where the file states one, and ``order_kind`` what it says;
    see :class:`rue.Classes`.
    """

    cells: Sequence[Any] | NDArray[Any]
    budget: MemoryBudget
    order: tuple[str, ...] | None = None
    order_kind: Literal["none", "given", "scale"] = "none"

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def numbers(self) -> FloatArray | None:
        """The cells as numbers, NaN where one is missing; None if one is something else."""
        cells = self.cells
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind == "b":
                return None  # False and True are words, as in text files
            return cells.astype(np.float64) if cells.dtype.kind in "fiu" else _parsed(cells)
        return _parsed(cells)

    @cached_property
    def words(self) -> NDArray[np.str_]:
        """The cells as text: whole numbers without a point, nothing where one is missing."""
        cells = self.cells
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiubU":
            if cells.dtype.kind == "f":
                there = ~np.isnan(cells)
                if is_whole(cells[there]).all():
                    words = np.where(there, cells, 0).astype(np.int64).astype(np.str_)
                    return np.where(there, words, "")
                return self._texts([_word(cell) for cell in cells.tolist()])
            return cells if cells.dtype.kind == "U" else cells.astype(np.str_)
        return self._texts([_word(cell) for cell in cells])

    @cached_property
    def missing(self) -> NDArray[np.bool]:
        """Which cells say that there is no value."""
        if isinstance(self.cells, np.ndarray) and self.cells.dtype.kind == "b":
            return np.zeros(len(self), bool)
        if isinstance(self.cells, np.ndarray) and self.cells.dtype.kind in "fiu":
            return np.isnan(self.numbers) if self.numbers is not None else np.zeros(0, bool)
        return np.array([is_missing(cell) for cell in self.cells], bool)

    @property
    def word_rows(self) -> list[int]:
        """The rows whose cells are neither missing nor numbers."""
        cells = enumerate(self.listed)
        return [row for row, cell in cells if not is_missing(cell) and _parsed([cell]) is None]

    @property
    def counts_rows(self) -> bool:
        """Whether the cells number the rows from 0, as the index that pandas writes does."""
        numbers = self.numbers
        return numbers is not None and np.array_equal(numbers, np.arange(len(numbers)))

    @property
    def is_nested(self) -> bool:
        """Whether a cell is a list or an object."""
        cells = self.cells
        return not isinstance(cells, np.ndarray) and any(isinstance(c, list | dict) for c in cells)

    @cached_property
    def group(self) -> NDArray[Any]:
        """The cells as an array to group by: numbers if every cell is one, otherwise words."""
        if isinstance(self.cells, np.ndarray) and self.cells.dtype.kind in "iub":
            return self.cells
        if self.numbers is not None and not np.isnan(self.numbers).any():
            return self.numbers
        if isinstance(self.cells, np.ndarray):
            return self.words
        words = [_word(cell) for cell in self.cells]
        long = max(map(len, words), default=0) > _LONG_WORD  # an array would pad all of them
        return np.array(words, dtype=object) if long else self._texts(words)

    @property
    def listed(self) -> list[Any]:
        """The cells as a list."""
        return self.cells.tolist() if isinstance(self.cells, np.ndarray) else list(self.cells)

    def with_cells(self, cells: Sequence[Any] | NDArray[Any]) -> "FrameColumn":
        """Return a column of other cells, whose words have the same order."""
        return replace(self, cells=cells)

    def at(self, rows: NDArray[Any]) -> "FrameColumn":
        """Return the column of some rows."""
        if isinstance(self.cells, np.ndarray):
            return self.with_cells(self.cells[rows])
        return self.with_cells([self.cells[row] for row in np.arange(len(self))[rows]])

    def _texts(self, words: list[str]) -> NDArray[np.str_]:
        """Return words as an array, in which each takes as much as the longest."""
        longest = max(map(len, words), default=0)
        MemoryBudget(self.budget.path, 0, self.budget.allowed).take(
            4 * max(longest, 1) * len(words)
        )
        return np.array(words, dtype=np.str_)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number; missing ones are none."""
    return _NUMBER.fullmatch(cell.strip(_BLANKS)) is not None


def is_percentage(cell: Any) -> bool:
    """Return whether a cell is a number and a percent sign."""
    return isinstance(cell, str) and cell.rstrip().endswith("%") and is_number(cell.rstrip()[:-1])


def is_missing(cell: Any) -> bool:
    """Return whether a cell says that there is no value."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def plain_name(name: str) -> str:
    """Return the name of a column in lower case, with other characters as underscores."""
    return "".join(c if c.isalnum() else "_" for c in name.strip().lower())


def _parsed(cells: Iterable[Any]) -> FloatArray | None:
    numbers = []
    for cell in cells.tolist() if isinstance(cells, np.ndarray) else cells:
        if isinstance(cell, str):
            if _NUMBER.fullmatch(text := cell.strip(_BLANKS)) is not None:
                numbers.append(float(text))
            elif is_missing(cell):
                numbers.append(math.nan)
            else:
                return None
        elif cell is None:
            numbers.append(math.nan)
        elif isinstance(cell, int | float) and not isinstance(cell, bool):
            try:
                numbers.append(float(cell))
            except OverflowError:
                return None
        else:
            return None
    return np.array(numbers, dtype=np.float64)


def _word(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip(_BLANKS)
    if is_missing(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell)
