"""The ids of the points, and their texts or small images if they are available.

A file of items is a ``.csv`` or ``.parquet`` with the columns ``id`` and ``text``, or an
``.npz`` with ``ids`` and ``text`` or ``images`` (uint8, (n, height, width) or (n, height, width,
3)). Rows are matched by id.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._text import JsonObject
from rue.errors import AlignmentError, FileError
from rue.io.arrays import load_npz, npz_shapes
from rue.io.files import read_frame
from rue.io.names import ID_NAMES, named_rows
from rue.report.model import DataCard, Items, ReportEntry

PICTURED = 3_000
"""The largest number of images, those of the points with the largest regret."""


def items_of(
    ids: NDArray[np.str_],
    *,
    data: str | None,
    file: Path | None,
    texts: Sequence[str] | None,
    entries: Sequence[ReportEntry],
) -> tuple[dict[str, str], Items]:
    """Return the facts of a data set of the registry, and the items of its points."""
    facts: dict[str, str] = {}
    shown: Callable[[int], Any] | None = None if texts is None else texts.__getitem__
    if data is not None:
        facts, names, inputs = _from_registry(data)
        if inputs is not None:
            shown = _read_by_row(inputs, _match(ids, names, f"data set {data}"))
    if file is not None:
        names, inputs = _from_file(file)
        shown = _read_by_row(inputs, _match(ids, names, str(file)))
    if shown is None:
        return facts, Items(ids)
    if isinstance(shown(0), str):
        return facts, Items(ids, tuple(str(shown(i)) for i in range(len(ids))))
    drawn = [entry.run.star.epistemic for entry in entries if entry.run is not None]
    regret = np.max(drawn, axis=0)
    pictured = tuple(np.argsort(-regret, kind="stable")[:PICTURED].tolist())
    images = (shown(i) for i in pictured)
    rgb = (np.dstack([image] * 3) if image.ndim == 2 else image for image in images)
    return facts, Items(ids, None, tuple(rgb), pictured)


def _read_by_row(inputs: Any, rows: NDArray[np.int64]) -> Callable[[int], Any]:
    """Return a function that reads the input of a point, because images may be on disk."""
    return lambda i: inputs[int(rows[i])]


def _from_registry(name: str) -> tuple[dict[str, str], NDArray[np.str_], Any]:
    from rue.data import load

    data = load(name)
    ids, inputs = data.ids, data.inputs if data.task in ("text", "image") else None
    if inputs is None and name.endswith("-features"):
        with suppress(FileError):  # images are optional
            whole = load(name.removesuffix("-features"), split="test")
            if len(whole) == len(data.test):  # the ids are row numbers, so match by position
                ids, inputs = data.ids[data.test], whole.inputs
    facts = {
        "classes": ", ".join(data.class_names) if data.n_classes <= 12 else f"{data.n_classes:,}",
        "licence": data.licence,
        "citation": data.citation,
    }
    facts |= {f"note {i}" if i > 1 else "note": note for i, note in enumerate(data.notes, 1)}
    return facts, ids, inputs


def _from_file(path: Path) -> tuple[NDArray[np.str_], Any]:
    match path.suffix.lower():
        case ".npz":
            shapes = npz_shapes(path)
            shown_as = ("text", "images")
            arrays = load_npz(path, [k for k in shapes if k in shown_as or k.lower() in ID_NAMES])
        case ".csv" | ".parquet":
            frame = read_frame(path)
            arrays = {n: c.group for n, c in frame.columns.items() if not c.is_nested}
            shapes = {name: column.shape for name, column in arrays.items()}
        case _:
            raise FileError(f"{path}: items must be .npz, .csv or .parquet, got {path.suffix!r}")
    names = next((column for key, column in arrays.items() if key.lower() in ID_NAMES), None)
    shown = arrays.get("text", arrays.get("images"))
    if names is None or shown is None:
        received = ", ".join(shapes) or "nothing"
        raise FileError(f"{path}: must contain ids and text or images, got {received}")
    if "text" in arrays:
        if shown.ndim != 1 or shown.dtype.kind not in "OUSfiub":
            raise FileError(
                f"{path}: text must be one text per item, got {shown.dtype} of {shown.shape}"
            )
        shown = np.char.decode(shown, "utf-8", "replace") if shown.dtype.kind == "S" else shown
        shown = shown.astype(np.str_).astype(object)
    elif shown.dtype != np.uint8 or shown.ndim not in (3, 4) or shown.shape[3:] not in ((), (3,)):
        raise FileError(
            f"{path}: images must be uint8 of shape (n, height, width) or (n, height, width, 3), "
            f"got {shown.dtype} of {shown.shape}"
        )
    if names.shape != (len(shown),):
        raise FileError(f"{path}: has ids of shape {names.shape} but {len(shown)} items")
    return named_rows(path, names, "ids"), shown


def _match(ids: NDArray[np.str_], names: NDArray[np.str_], source: str) -> NDArray[np.int64]:
    place = {name: row for row, name in enumerate(names.tolist())}
    rows = np.array([place.get(name, -1) for name in ids.tolist()])
    if (rows < 0).any():
        raise AlignmentError(
            f"{source}: lacks {int((rows < 0).sum())} of the points, "
            f"first {str(ids[np.argmax(rows < 0)])!r}"
        )
    return rows


_BYTES = 2_400_000
_MOST = 3_000


def votes_of(
    card: DataCard,
    entries: Sequence[ReportEntry],
    shown: NDArray[np.int64],
    room: float,
    add: Callable[[NDArray[Any], str], list[Any]],
) -> tuple[JsonObject, list[JsonObject]]:
    """Return the answers of a data set and the predicted distributions of its entries."""
    answers = card.answers
    names = None if answers is None else answers.outcomes.names
    classes = {} if names is None else {"classes": list(names)}
    counts = None if answers is None else answers.votes
    if answers is None or counts is None or not len(shown):
        return classes, [{} for _ in entries]
    rows = _first_rows(entries, shown, answers.n_classes, room)
    votes = {"rows": rows.tolist(), "counts": add(counts[shown[rows]], "f4")}
    stored: dict[int, list[Any]] = {}  # the losses of a method share its distributions
    predicted: list[JsonObject] = []
    for entry in entries:
        if entry.mean is None:
            predicted.append({})
            continue
        if id(entry.mean) not in stored:
            stored[id(entry.mean)] = add(entry.mean[shown[rows]], "f4")
        predicted.append({"mean": stored[id(entry.mean)]})
    return classes | {"votes": votes | {"exact": answers.counts is None}}, predicted


def _first_rows(
    entries: Sequence[ReportEntry], shown: NDArray[np.int64], n_classes: int, room: float
) -> NDArray[np.int64]:
    """Return the rows that come first when points are sorted by any entry's regret."""
    n_arrays = 1 + len({id(entry.mean) for entry in entries if entry.mean is not None})
    most = max(int(room * min(_MOST, _BYTES / (4 * n_classes * n_arrays))), 1)
    if len(shown) <= most:
        return np.arange(len(shown))
    best = np.full(len(shown), len(shown))
    for entry in entries:
        if entry.run is not None:
            order = np.argsort(-entry.run.star.epistemic[shown], kind="stable")
            place = np.empty_like(order)
            place[order] = np.arange(len(shown))
            best = np.minimum(best, place)
    return np.sort(np.argsort(best, kind="stable")[:most])
