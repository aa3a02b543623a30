"""The names of points and classes in files, and what a user says about them."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rue._arrays import is_whole
from rue.beliefs.base import PerPoint
from rue.errors import AlignmentError, FileError, InputError
from rue.losses import Classes
from rue.losses.outcomes import written_name

Named = TypeVar("Named", bound=PerPoint)

ID_NAMES = ("id", "ids", "uid", "item", "item_id")
"""What the column that names the points may be called, in either case."""

ANNOTATOR_NAMES = ("annotator", "annotator_id", "worker", "worker_id", "rater", "rater_id")
"""What the column that names the annotators may be called."""

UNNAMED = "Unnamed: 0"
"""A column in front without a name, as pandas and R write the names of rows."""

RESERVED = frozenset(
    {
        *("probs", "logits", "alpha", "sampled_labels", "epistemic", "actions", "values", "ids"),
        *("counts", "classes", "method", "mean", "sd", "samples", "mu", "nu", "beta", "ratings"),
        *("range", "labels"),
    }
)
"""Names of arrays that are no columns to group by."""

_SCORE_WORDS = ("uncert", "epistemic", "score", "varian", "entropy", "confid", "density")
_INDEX = re.compile(r"unnamed: 0(\.\d+)?|__index_level_\d+__", re.IGNORECASE | re.ASCII)
_WEAK_ID_NAMES = ("task", UNNAMED.lower(), "__index_level_0__")  # if no other column names rows


@dataclass(frozen=True)
class Matching:
    """What a user says about how files are read and matched.

    Attributes
    ----------
    id_name
        The column that names the points, where it has none of the usual names.
    classes
        The classes in the order of the columns, for files that do not name their columns.
    common
        Keep the points that are on both sides, instead of raising where one lacks some.
    by_position
        Match rows by position even where one side, or both, have ids.
    truth_id
        The column that names the points of the truth, by default ``id_name``.
    label
        The column of the answers of a truth, or a dotted path to it.
    rating
        The column of real-valued answers of a truth.
    annotator
        The column of annotators; or the columns that hold one annotator each, by commas.
    positive
        The class that predictions with one probability per point are about.
    choices
        The answers that generated texts may name: each text is read as the one that it names.
    min_annotators
        Leave out the points with fewer answers.
    n_answers
        How many answers each point has, for counts that are percentages or shares of them.
    shares
        Whether counts are shares of unknown many answers, so that p* is taken as exact.
    normalize
        Whether probabilities, of a model or of answers, are divided by their sum.
    groups
        Columns that a command groups or clusters by, so that no note calls them unused.
    max_memory
        How many bytes reading a file may take.
    """

    id_name: str | None = None
    classes: tuple[str, ...] | None = None
    common: bool = False
    by_position: bool = False
    truth_id: str | None = None
    label: str | None = None
    rating: str | None = None
    annotator: str | None = None
    positive: str | None = None
    choices: tuple[str, ...] | None = None
    min_annotators: int | None = None
    n_answers: int | None = None
    shares: bool = False
    normalize: bool = False
    groups: tuple[str, ...] = ()
    max_memory: int | None = None

    def __post_init__(self) -> None:
        names = self.classes
        if self.positive is not None:
            object.__setattr__(self, "positive", written_name(self.positive))
        if names is not None and (len(names) < 2 or len(set(names)) < len(names)):
            raise InputError(f"classes must be two or more different names, got {list(names)}")
        if self.choices is not None and len({c.casefold() for c in self.choices}) < max(
            2, len(self.choices)
        ):
            raise InputError(f"choices must be two or more answers, got {list(self.choices)}")
        if self.shares and self.n_answers is not None:
            raise InputError("shares have no number of answers: give one of shares and n_answers")
        if self.common and self.by_position:
            raise InputError(
                "common points are matched by id, so they cannot be matched by position"
            )


def in_stated_order(thing: Named, stated: Sequence[str] | None) -> Named:
    """Return a truth or a belief with its classes in the order of --classes."""
    own = thing.outcomes
    if stated is None or not own.n or (own.names is None and len(stated) != own.n):
        return thing
    names = Classes(stated).names or ()
    strange = [name for name in own.names or () if name not in names]
    if strange:
        raise AlignmentError(
            f"{thing.source}: has the class {strange[0]!r}, which is none of {', '.join(names)}",
            advice={"--classes": "must name all classes"},
        )
    return thing.with_classes([name for name in names if name in (own.names or names)])


BY_NAME = Matching()
"""The default: by name, every point on both sides."""

BY_POSITION = Matching(by_position=True)
"""For points that are matched already."""


def find_id_name(path: Path, names: Sequence[str], wanted: str | None = None) -> str | None:
    """Return which of a file's columns names the points, or None if there is none."""
    if wanted is not None:
        if wanted not in names and wanted.split(".")[0] not in names:
            raise FileError(
                f"{path}: has no column {wanted!r} to name its rows, only {', '.join(names)[:200]}",
                advice={"--truth-id": "names that of the truth, where it is another"},
            )
        return wanted
    candidates = [name for name in names if name.lower() in ID_NAMES]
    if len(candidates) > 1:
        raise FileError(
            f"{path}: {' and '.join(candidates)} could both name the rows",
            advice={"--id": "chooses one"},
        )
    weak = [name for usual in _WEAK_ID_NAMES for name in names if name.lower() == usual]
    return next(iter([*candidates, *weak]), None)


def index_names(names: Iterable[str], id_name: str | None, stated: Iterable[str]) -> list[str]:
    """Return the columns that number the rows of a table where another one names its points."""
    kept = {id_name, *stated}
    return [name for name in names if id_name and name not in kept and _INDEX.fullmatch(name)]


def ids_of(
    path: Path, arrays: Mapping[str, NDArray[Any]], n_points: int, id_name: str | None = None
) -> NDArray[np.str_] | None:
    """Return the names of the rows of arrays as text, or None if there are none."""
    name = find_id_name(path, list(arrays), id_name)
    if name is None:
        return None
    ids = arrays[name]
    if ids.shape != (n_points,):
        raise FileError(f"{path}: {name} must have shape ({n_points},), got {ids.shape}")
    return named_rows(path, ids, name)


def named_rows(path: Path, values: Sequence[Any] | NDArray[Any], name: str) -> NDArray[np.str_]:
    """Return the ids of rows as text: words, or whole numbers without a point."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "fiubSUO":
            raise FileError(
                f"{path}: {name} must be text or whole numbers, got dtype {values.dtype}; "
                f"give {name}.astype(str)"
            )
        fast = _fast_names(values)
        if fast is not None:
            return _without_points(fast)
        values = values.tolist()
    texts = []
    for row, value in enumerate(values):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        missing = value is None or (isinstance(value, float) and math.isnan(value)) or value == ""
        if missing or isinstance(value, bool) or not isinstance(value, str | int):
            got = "nothing" if missing else repr(value)[:60]
            raise FileError(
                f"{path}: {name} must be text or a whole number in every row, got {got} at row "
                f"{row}; for objects give {name}.astype(str)"
            )
        texts.append(str(value))
    return _without_points(np.array(texts, dtype=np.str_))


def unused_note(path: Path, names: Iterable[str], *, scores: bool = False) -> tuple[str, ...]:
    """Return a note that names what a file holds and nobody used."""
    unused = list(dict.fromkeys(name for name in names if name))
    if not unused:
        return ()
    verb = "was" if len(unused) == 1 else "were"
    shown = ", ".join(unused[:8]) + (f" and {len(unused) - 8} more" if len(unused) > 8 else "")
    is_score = scores and any(word in name.lower() for name in unused for word in _SCORE_WORDS)
    hint = "; a score of epistemic uncertainty must be called epistemic" if is_score else ""
    return (f"{path}: {shown} {verb} not used{hint}",)


def checked_classes(path: Path, names: NDArray[Any], n_classes: int) -> tuple[str, ...]:
    """Return a file's class names as text, or raise unless there is a different one per class."""
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    texts = tuple(str(name) for name in names.tolist()) if names.ndim == 1 else ()
    if names.dtype.kind == "f" and bool(np.isfinite(names).all()):
        texts = tuple(map(written_name, names.astype(np.str_).tolist()))
    elif names.dtype.kind not in "USiub":
        texts = ()
    if len(texts) != n_classes or len(set(texts)) < n_classes:
        raise FileError(
            f"{path}: classes must be {n_classes} different names, one per column, got "
            f"{str(names.tolist())[:120]}"
        )
    return texts


def group_columns(arrays: Mapping[str, NDArray[Any]], n_points: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that rows may be grouped by: one number or word for each point."""
    return {
        name: np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
        for name, array in arrays.items()
        if name not in RESERVED and array.shape == (n_points,) and array.dtype.kind in "fiubUSM"
    }


def _without_points(ids: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return ids that are all written like 1.0 as 1."""
    if len(ids) and ids[0].endswith(".0") and np.char.endswith(ids, ".0").all():
        stems = np.char.partition(ids, ".")[:, 0]
        if np.char.isdigit(np.char.lstrip(stems, "-")).all():
            return np.asarray(stems, dtype=np.str_)
    return ids


def _fast_names(ids: NDArray[Any]) -> NDArray[np.str_] | None:
    """Return the names of an array of one type without a loop; None if a row may have none."""
    if ids.dtype.kind == "f":
        return ids.astype(np.int64).astype(np.str_) if is_whole(ids).all() else None
    if ids.dtype.kind == "S":
        ids = np.char.decode(ids, "utf-8", "replace")
    if ids.dtype.kind == "U":
        return None if (ids == "").any() else ids
    return ids.astype(np.str_) if ids.dtype.kind in "iu" else None
