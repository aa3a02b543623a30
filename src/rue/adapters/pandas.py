"""pandas: a frame of answers in long form, one row per item and annotator."""

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rue.errors import InputError
from rue.losses.outcomes import Classes, as_number, written_name
from rue.truth.annotations import Annotations

__all__ = ["annotations"]


def annotations(
    frame: pd.DataFrame,
    *,
    item: str = "item",
    annotator: str | None = "annotator",
    label: str = "label",
    classes: ArrayLike | None = None,
) -> Annotations:
    """Return the annotations that a frame with one row per answer contains.

    Parameters
    ----------
    frame : pandas.DataFrame
        The answers; columns that the other arguments do not name are ignored.
    item, annotator, label : str
        The names of its columns. An annotator may answer once per item. Use ``annotator=None``
        if the frame does not say who answered; then duplicated rows cannot be detected.
    classes : array_like of shape (n_classes,), optional
        All possible labels, in order. By default the categories of a categorical column, or else
        the labels that occur, sorted. Numbers are their own scale.

    Returns
    -------
    Annotations
        The counts with the items as ids, in order of first occurrence, and the labels as classes.

    Raises
    ------
    InputError
        If a column is missing or has missing values, an annotator answers an item twice, or a
        label is none of the classes.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"item": ["b", "b", "a"], "annotator": [1, 2, 1], "label": ["yes", "no", "yes"]}
    ... )
    >>> truth = annotations(frame)
    >>> truth.ids.tolist(), truth.outcomes.names, truth.counts.tolist()
    (['b', 'a'], ('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    wanted = [item, label] if annotator is None else [item, annotator, label]
    for name in wanted:
        if list(frame.columns).count(name) != 1:
            raise InputError(
                f"frame must have one column {name!r}, got {', '.join(map(str, frame.columns))}"
            )
    if frame.empty:
        raise InputError("frame must hold at least one answer, got none")
    for name in wanted:
        missing = frame[name].isna().to_numpy()
        if missing.any():
            row = int(np.argmax(missing))
            raise InputError(f"{name} must not have missing values, first at row {row}")
        if frame[name].dtype == object:
            for row, value in enumerate(frame[name]):
                if not isinstance(value, Hashable):
                    kind = type(value).__name__
                    raise InputError(f"{name} must be names or numbers, got a {kind} at row {row}")
    if annotator is not None:
        again = frame.duplicated([item, annotator]).to_numpy()
        if again.any():
            row = int(np.argmax(again))
            raise InputError(
                "an annotator may answer once per item, "
                f"{int(again.sum())} rows are repeated, first row {row}: "
                f"{annotator} {frame[annotator].iloc[row]!s} on {item} {frame[item].iloc[row]!s}"
            )
    labels = frame[label]
    order = _order(labels, label) if classes is None else pd.Index(_listed(classes))
    if order.hasnans:
        raise InputError(f"classes must not have missing values, got {list(order)}")
    if not order.is_unique:
        raise InputError(f"classes must not repeat, got {order[order.duplicated()][0]!r} twice")
    column = {written_name(str(name)): k for k, name in enumerate(order)}  # 1 and "1" are one class
    codes, names = pd.factorize(labels)
    columns = np.array([column.get(written_name(str(name)), -1) for name in names])[codes]
    if (columns < 0).any():
        row = int(np.argmax(columns < 0))
        raise InputError(
            f"{label} must be one of the classes, got {labels.tolist()[row]!r} at row {row}"
        )
    rows, items = pd.factorize(frame[item])
    cells = np.bincount(rows * len(order) + columns, minlength=len(items) * len(order))
    ids = np.array([str(name) for name in items])
    if len(np.unique(ids)) < len(ids):
        raise InputError(f"{item} must have different names, got some with the same text")
    stated: Literal["none", "given", "scale", "user"] = "none" if classes is None else "user"
    if classes is None and isinstance(labels.dtype, pd.CategoricalDtype):
        stated = "scale" if labels.cat.ordered else "given"
    outcomes = Classes([str(name) for name in order], order=stated)
    return Annotations(cells.reshape(len(items), len(order)), ids=ids, classes=outcomes)


def _order(labels: "pd.Series[Any]", label: str) -> Any:
    if isinstance(labels.dtype, pd.CategoricalDtype):
        categories = labels.cat.categories
        numbers = [n for n in (as_number(str(name)) for name in categories) if n is not None]
        is_scale = len(numbers) == len(categories)  # numbers are their own
        return categories[np.argsort(numbers)] if is_scale else categories
    try:
        return pd.Index(labels.unique()).infer_objects().sort_values()
    except TypeError:
        kinds = sorted({type(x).__name__ for x in labels})
        raise InputError(
            f"{label} must have one type, or pass classes, got {' and '.join(kinds)}"
        ) from None


def _listed(classes: Any) -> list[Any]:
    if isinstance(classes, str | set) or np.ndim(np.asarray(classes, dtype=object)) != 1:
        raise InputError(f"classes must be a list of labels, got {classes!r}")
    return list(classes)
