"""The answers of your own data set, independent of the layout of the file."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rue._arrays import FloatArray, IntArray
from rue.data.own.table import Columns, Table, is_number
from rue.errors import FileError

__all__ = ["Layout", "OwnAnswers", "attributes_of", "first_twice", "values_of"]

Layout = Literal["long", "wide", "arrays"]
_ATTRIBUTES = ("text", "image", "split", "group")


@dataclass(frozen=True, kw_only=True)
class OwnAnswers:
    """The answers about each point.

    Attributes
    ----------
    path, layout, columns
        The file; its layout, ``long`` (one row per answer), ``wide`` (one row per point) or
        ``arrays`` (an .npz); and the meaning of its columns.
    ids
        One name per point, in the order of the file.
    class_names, values
        The classes, and the numbers that they stand for where all of them are numbers.
    counts
        How many chose each class, (n_points, n_classes); None where answers are real numbers.
    ratings
        The real-valued answers about each point; None where answers are classes.
    n_annotators
        The number of different annotators; None if the file does not name them.
    n_repeated, repeated
        How many answers repeat one by the same annotator about the same point, and the first
        such pair.
    n_blank, n_silent
        The numbers of empty answers, and of points with only empty answers; both are left out.
    attributes
        Further columns by their meaning, with one cell per point.
    """

    path: Path
    layout: Layout
    columns: Columns
    ids: list[str]
    class_names: tuple[str, ...] = ()
    values: tuple[float, ...] | None = None
    counts: IntArray | None = None
    ratings: tuple[FloatArray, ...] | None = None
    n_annotators: int | None = None
    n_repeated: int = 0
    repeated: str = ""
    n_blank: int = 0
    n_silent: int = 0
    attributes: Mapping[str, list[str]] = field(default_factory=dict)


def attributes_of(
    table: Table, columns: Columns, keys: list[str], ids: list[str]
) -> dict[str, list[str]]:
    """Return the columns that describe a point, one cell per point; rows of a point must agree."""
    found = {}
    for what in _ATTRIBUTES:
        name = getattr(columns, what)
        if name is None:
            continue
        cells: dict[str, str] = {}
        for line, key, cell in zip(table.lines, keys, table.text(name), strict=True):
            if cells.setdefault(key, cell) != cell:
                raise FileError(
                    f"{table.path}: line {line}: {key} has a second {name}, "
                    f"{cell[:40]!r} after {cells[key][:40]!r}"
                )
        found[what] = [cells[key] for key in ids]
    return found


def values_of(names: tuple[str, ...]) -> tuple[float, ...] | None:
    """Return the classes as numbers, if they are increasing numbers; else None."""
    if not all(map(is_number, names)):
        return None
    values = tuple(map(float, names))
    return values if all(a < b for a, b in itertools.pairwise(values)) else None


def first_twice(words: Sequence[str]) -> str | None:
    """Return the first word that repeats an earlier one, or None."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None
