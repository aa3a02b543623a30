"""Predictions in tables and JSON lines as the named arrays that an .npz would hold.

A wide table has a column per class. A long one has the columns ``id``, ``draw`` (where there are
several), ``class`` and ``prob``, ``logit`` or ``alpha``. A JSON line has a list of numbers, or an
object from class name to number, under a key such as ``probs``. Rows with the same id are the
draws of one point; all other columns that say the same in all draws are groups.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rue._text import are_numbers, sorted_names
from rue.io.answer_rows import Order
from rue.io.answer_tables import has_no_names, require_no_stray_words, stated_classes
from rue.io.columns import plain_name
from rue.io.files import Frame, row_ids, without_index
from rue.io.logs import PAIRS
from rue.io.names import Matching, find_id_name
from rue.io.point_rows import PointRows, point_rows
from rue.losses.outcomes import written_name

REAL_KINDS = {
    "NormalInverseGamma": ("mu", "nu", "alpha", "beta"),
    "Samples": ("samples",),
    "Gaussians": ("mean", "sd"),
}
"""The arrays that each belief about real numbers is made of."""

KINDS = ("probs", "logits", "alpha", "sampled_labels")
_ARRAYS = (*KINDS, "counts", "ratings", "samples", "mean", "sd", "mu", "nu", "beta")
BELIEF_ARRAYS = (*_ARRAYS, "epistemic", "actions", "values", "ids", "classes", "method", "range")
"""The arrays that a prediction file may hold; the first one present has a row per point."""

_PROBABILITIES = ("prob", "probs", "probability", "score", "p")
_LONG = {
    "prob": "probs",
    "probs": "probs",
    "probability": "probs",
    "logit": "logits",
    "logits": "logits",
    "alpha": "alpha",
}


def real_kind(names: Any) -> str | None:
    """Return which belief about real numbers a file's arrays hold, or None if they hold none."""
    if any(name in names for name in ("probs", "logits", "sampled_labels")):
        return None
    return next(
        (kind for kind, needed in REAL_KINDS.items() if all(name in names for name in needed)), None
    )


class TableArrays(NamedTuple):
    """The arrays of a table of predictions, what the order of classes says, and notes.

    ``used`` are the columns that were read as predictions; other columns that say the same in all
    ``rows`` of a point are added to the arrays.
    """

    arrays: dict[str, NDArray[Any]]
    order: Order
    used: Collection[str | None]
    notes: Sequence[str] = ()
    rows: PointRows | None = None


def belief_arrays(frame: Frame, matching: Matching) -> TableArrays:
    """Return what a table of predictions holds."""
    name = find_id_name(frame.path, list(frame.columns), matching.id_name)
    frame = without_index(frame, name, matching.classes or ())
    methods = method_column(frame)
    if methods is not None:
        words = list(dict.fromkeys(frame.columns[methods].words.tolist()))
        raise frame.error(
            f"must hold one method, got {', '.join(words[:4])}; write a file for "
            "each, or give it without a name to rue evaluate"
        )
    if PAIRS in frame.columns:
        raise frame.error(
            "has two probabilities for each of several labels",
            advice={"--multi-label": "takes each label as a binary problem"},
        )
    table = _layout(frame, name, matching)
    used = [*table.used, name, frame.find("draw")]
    arrays = table.arrays if table.rows is None else table.rows.with_groups(table.arrays, used)
    return table._replace(arrays=arrays, used=used)


def _layout(frame: Frame, name: str | None, matching: Matching) -> TableArrays:
    """Find out which layout a table of predictions has, and return what it holds."""
    nested = [
        key
        for key in _ARRAYS
        if key in frame.columns and (frame.columns[key].is_nested or key == "sampled_labels")
    ]
    kind = real_kind([plain_name(column) for column in frame.columns])
    key, of_class, sample = frame.find(*_LONG), frame.find("class"), frame.find("sample")
    label = frame.find("label", "answer", "prediction", "predicted_label")
    if matching.positive is not None:
        return _wide(frame, name, matching)
    if nested:
        return _of_lists(frame, name, nested)
    if kind is not None:
        rows = PointRows.of(frame, name)
        used = [column for column in frame.columns if plain_name(column) in REAL_KINDS[kind]]
        arrays = {plain_name(column): rows.stacked(frame.numbers(column)) for column in used}
        return TableArrays(arrays, "none", used, rows.notes, rows)
    if sample is not None and name is not None:
        return TableArrays(_of_samples(frame, name, sample), "none", [sample])
    if of_class is not None and key is not None:
        return _long(frame, name, of_class, key)
    if label is not None and len(frame.number_columns({name, frame.find("draw"), label})) < 2:
        return _labels(frame, name, label)
    return _wide(frame, name, matching)


def method_column(frame: Frame) -> str | None:
    """Return the column that says which of several methods a row is of; None if there is one."""
    names = ["method", "model"]
    if frame.find("label") is not None and len(frame.number_columns()) < 2:
        names.append("annotator")  # labels that models gave
    for name in filter(None, map(frame.find, names)):
        column = frame.columns[name]
        if column.is_nested or len(np.unique(column.words)) < 2:
            continue
        if plain_name(name) == "method" or column.numbers is None:  # numbered models are draws
            return name
    return None


def _labels(frame: Frame, name: str | None, label: str) -> TableArrays:
    """Return labels that a model gave: each row is a sampled answer."""
    rows = PointRows.of(frame, name)
    words = _full_words(frame, label, frame.columns[label].missing)
    note = f"{frame.path} was read as labels, {rows.rows.shape[1]} per point, as sampled answers"
    return TableArrays({"sampled_labels": words[rows.rows]}, "none", [label], [note], rows)


def _wide(frame: Frame, name: str | None, matching: Matching) -> TableArrays:
    """Return a table with a column of probabilities for each class, or for the positive one."""
    rows, positive = PointRows.of(frame, name), matching.positive
    others = {name, *map(frame.find, ("draw", "epistemic", "method"))}
    if positive is not None:
        columns = [_probability_column(frame, others, positive)]
    elif set(matching.classes or ()) & set(frame.columns):
        columns = list(matching.classes or ())
        lacking = [column for column in columns if column not in frame.columns]
        if lacking:
            raise frame.error(f"has no column for the class {lacking[0]!r}")
    else:
        columns = frame.number_columns(others)
        require_no_stray_words(frame, {*others, *columns})
    if len(columns) < 2 and positive is None:
        raise frame.error(
            f"must have a column of probabilities for each class, or the columns id, "
            f"class and prob, or aleatoric, epistemic, risk and regret; it has {frame.shown}",
            advice={"--positive": "says which of two classes a single probability is of"},
        )
    table = np.stack([frame.numbers(column) for column in columns], axis=1)
    arrays = {"probs": rows.stacked(table if positive is None else table[:, 0])}
    notes = rows.notes
    if positive is None:
        arrays |= {} if has_no_names(columns) else {"classes": np.array(columns)}
    elif plain_name(columns[0]) not in _PROBABILITIES and written_name(columns[0]) != positive:
        notes.append(f"{frame.path}: {read_as(columns[0], positive)}")
    return TableArrays(arrays, "given", columns, notes, rows)


def read_as(column: str, positive: str) -> str:
    """Say that a column of another name has the probability of the positive class."""
    return f"the column {written_name(column)!r} was read as the probability of {positive!r}"


def _probability_column(frame: Frame, others: set[str | None], positive: str) -> str:
    """Return the column of a class's probability: of its name, a usual one, or the only one."""
    columns = frame.number_columns(others)
    usual = [name for name in columns if plain_name(name) in _PROBABILITIES]
    own = [name for name in columns if written_name(name) == positive]
    candidates = own or usual or columns
    if len(candidates) != 1:
        raise frame.error(
            f"must have one column with the probability of {positive!r}, called so "
            f"or prob; it has {frame.shown}"
        )
    return candidates[0]


def _long(frame: Frame, name: str | None, of_class: str, key: str) -> TableArrays:
    """Return a table with a row for each point, draw and class."""
    ids = row_ids(frame, name)
    if ids is None:
        raise frame.error("one row per class needs a column that names the points (id)")
    values = frame.numbers(key)
    labels = _full_words(frame, of_class, frame.columns[of_class].words == "")
    names, code = np.unique(labels, return_inverse=True)
    occurring = list(dict.fromkeys(labels.tolist()))
    classes = sorted_names(occurring) if are_numbers(occurring) else occurring
    stated = frame.columns[of_class].order
    if stated is not None:
        classes = [word for word in stated if word in set(occurring)]
        strange = [word for word in occurring if word not in stated]
        if strange:
            raise frame.error(f"{of_class} {strange[0]!r} is none of the classes {[*stated]}")
    place = {text: k for k, text in enumerate(classes)}
    column = np.array([place[text] for text in names.tolist()])[code]
    parts, draws = _named_draws(frame, ids)
    pairs, first, pair = np.unique(parts, return_index=True, return_inverse=True)
    cells, times = np.unique(pair * len(classes) + column, return_counts=True)
    if (times > 1).any():
        twice = int(cells[np.argmax(times > 1)])
        shown = str(pairs[twice // len(classes)]).replace("\0", ", draw ")
        raise frame.error(f"{shown!r}, {classes[twice % len(classes)]!r} must be in one row only")
    grid = np.full((len(pairs), len(classes)), np.nan)
    grid[pair, column] = values
    if np.isnan(grid).any():
        i, k = np.argwhere(np.isnan(grid))[0]
        raise frame.error(
            f"every point must have a row for each class, {str(ids[first[i]])!r} has "
            f"none for {classes[k]!r}"
        )
    order = np.argsort(first)  # pairs as they first occur
    first, grid = first[order], grid[order]
    of_draws = None if draws is None else draws[first].tolist()
    rows = point_rows(frame, ids[first], of_draws, len(first))
    assert rows.ids is not None
    arrays = {_LONG[plain_name(key)]: rows.stacked(grid)}
    arrays |= {"classes": np.array(classes), "ids": rows.ids}
    return TableArrays(arrays, frame.columns[of_class].order_kind, [of_class, key])


def _named_draws(
    frame: Frame, ids: NDArray[np.str_]
) -> tuple[NDArray[np.str_], NDArray[np.str_] | None]:
    """Return a name for the point and draw of each row, and the draw where there are several."""
    draw = frame.find("draw")
    if draw is None:
        return ids, None
    words = frame.columns[draw].words
    return np.char.add(np.char.add(ids, "\0"), words), words


def _full_words(frame: Frame, name: str, empty: NDArray[np.bool]) -> NDArray[np.str_]:
    """Return the words of a column, or raise if a row is empty."""
    if empty.any():
        row = int(np.argmax(empty))
        raise frame.error(f"every row needs a {name}, {frame.place(row)} has none")
    return frame.columns[name].words


def _of_samples(frame: Frame, name: str, sample: str) -> dict[str, NDArray[Any]]:
    """Return sampled values, one per row."""
    ids = row_ids(frame, name)
    assert ids is not None
    pairs, draws = _named_draws(frame, ids)
    values = point_rows(frame, pairs, None, len(frame))  # the rows of each draw
    first = values.rows[:, 0]
    of_draws = None if draws is None else draws[first].tolist()
    rows = point_rows(frame, ids[first], of_draws, len(first))
    assert rows.ids is not None
    return {"samples": frame.numbers(sample)[values.rows][rows.rows], "ids": rows.ids}


def _of_lists(frame: Frame, name: str | None, keys: Sequence[str]) -> TableArrays:
    """Return what JSON lines hold as lists, or as objects from class to number."""
    order: Order = "given"
    rows = PointRows.of(frame, name)
    arrays: dict[str, NDArray[Any]] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for key in keys:
        values = frame.columns[key].listed
        if None in values:
            where = frame.place(values.index(None))
            raise frame.error(f"{key} must be in every line, missing in {where}")
        if isinstance(values[0], dict):
            if len({tuple(value) for value in values if isinstance(value, dict)}) > 1:
                order = "none"  # each line has its own order, as by probability
            classes[key], values = _by_class(frame, key, values)
        if key == "ratings":
            lists = [value if isinstance(value, list) else [value] for value in values]
            longest = max(map(len, lists))
            values = [[*row, *[np.nan] * (longest - len(row))] for row in lists]
        arrays[key] = rows.stacked(_stack(frame, key, values))
        if key in ("counts", "ratings") and rows.rows.shape[1] > 1:
            arrays[key] = _same_in_draws(frame, key, arrays[key])
    if len(set(classes.values())) > 1:
        one, other = list(classes)[:2]
        raise frame.error(f"{one} and {other} must name the same classes in the same order")
    if classes:
        arrays["classes"] = np.array(next(iter(classes.values())))
    elif "classes" in frame.columns and frame.columns["classes"].is_nested:
        arrays["classes"] = np.array(stated_classes(frame))
    return TableArrays(arrays, order, keys, rows=rows)


def _same_in_draws(frame: Frame, key: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the answers of each point once; they must not differ between its draws."""
    same = (array == array[:, :1]) | ((array != array) & (array[:, :1] != array[:, :1]))
    if not same.all():
        raise frame.error(f"{key} must be the same for all draws of a point")
    return np.asarray(array[:, 0])


def _by_class(
    frame: Frame, key: str, values: Sequence[Any]
) -> tuple[tuple[str, ...], list[list[Any]]]:
    names = tuple(str(name) for name in values[0])
    names = tuple(sorted_names(names)) if are_numbers(names) else names
    rows = []
    for i, value in enumerate(values):
        if not isinstance(value, dict) or set(value) != set(names):
            got = ", ".join(map(str, value)) if isinstance(value, dict) else repr(value)
            raise frame.error(
                f"{key} must name the classes {', '.join(names)} in every line, "
                f"{frame.place(i)} has {got[:80]}"
            )
        rows.append([value[name] for name in names])
    return names, rows


def _stack(frame: Frame, key: str, values: Sequence[Any]) -> NDArray[Any]:
    """Stack the lists of all lines; they must have one shape and hold numbers or words."""
    arrays = [_as_array(frame, key, value, i) for i, value in enumerate(values)]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1:
        i = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
        raise frame.error(
            f"{key} must have the same shape in every line, {shapes[0]} in "
            f"{frame.place(0)} and {shapes[i]} in {frame.place(i)}"
        )
    if len({array.dtype.kind in "US" for array in arrays}) > 1:
        raise frame.error(f"{key} must hold numbers or words, not both")
    largest = max(array.dtype.itemsize for array in arrays)
    frame.columns[key].budget.take(largest * arrays[0].size * len(arrays))
    return np.stack(arrays)


def _as_array(frame: Frame, key: str, value: Any, row: int) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        raise frame.error(f"{key} must be a list without gaps, {frame.place(row)} is not") from None
    if array.dtype.kind not in "fiubU" or not array.size:
        raise frame.error(f"{key} must hold numbers, {frame.place(row)} has {str(value)[:60]}")
    return array
