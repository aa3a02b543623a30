"""What annotators answered beside what each method predicts, for the points listed on the page."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.report.model import DataCard, ReportEntry

__all__ = ["votes_of"]

_BYTES = 2_400_000
_MOST = 3_000


def votes_of(
    card: DataCard,
    entries: Sequence[ReportEntry],
    shown: NDArray[np.int64],
    room: float,
    add: Callable[[NDArray[Any], str], list[Any]],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answers of a data set and the predicted distributions of its entries."""
    answers = card.answers
    classes = {} if card.classes is None else {"classes": list(card.classes)}
    if answers is None or not len(shown):
        return classes, [{} for _ in entries]
    rows = _first_rows(entries, shown, answers.n_classes, room)
    counts = answers.probs if answers.counts is None else answers.counts
    votes = {"rows": rows.tolist(), "counts": add(counts[shown[rows]], "f4")}
    stored: dict[int, list[Any]] = {}  # the losses of a method share its distributions
    predicted: list[dict[str, Any]] = []
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
