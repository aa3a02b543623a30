"""Tables with an answer in each row or cell: who gave which answer about which point."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, is_whole
from rue._text import are_numbers, sorted_names
from rue.io.columns import FrameColumn
from rue.io.files import Frame, row_ids
from rue.io.names import ANNOTATOR_NAMES, Matching
from rue.losses.outcomes import boolean_name, written_name

Order = Literal["none", "given", "scale"]
"""What the order of a file's classes says; see :class:`rue.Classes`."""

Layout = Literal["long", "wide", "arrays"]
LEFT_OUT = "without an answer were left out"
_MOST_CLASSES = 1_000
_SEVERAL = {"--multi-label": "takes each label as a binary problem"}


@dataclass(frozen=True, kw_only=True, eq=False)
class FileAnswers:
    """What annotators said about each point of a file: counts, known probabilities or ratings.

    ``named_shares`` says that a column or array is called probabilities; ``used`` are the columns
    that were read as answers.
    """

    path: Path
    layout: Layout
    n_points: int
    ids: NDArray[np.str_] | None = None
    counts: FloatArray | None = None
    probs: FloatArray | None = None
    named_shares: bool = False
    ratings: tuple[FloatArray, ...] | None = None
    range: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None
    order: Order = "given"
    values: FloatArray | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    n_annotators: int | None = None
    repeated: tuple[str, ...] = ()
    n_blank: int = 0
    notes: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerRows:
    """Answers one by one, each with its point and the row that it is in.

    They are classes (``codes``) or ``numbers``; ``used`` are the columns that they were in.
    """

    ids: NDArray[np.str_]
    rows: IntArray
    columns: Mapping[str, str]
    used: frozenset[str]
    weights: FloatArray
    missing: NDArray[np.bool]
    annotators: NDArray[np.str_] | None
    classes: tuple[str, ...] = ()
    order: Order = "none"
    codes: IntArray | None = None
    numbers: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def at(self, entries: NDArray[np.bool]) -> "AnswerRows":
        """Return some of the answers."""
        arrays: dict[str, Any] = {
            name: array[entries]
            for name, array in vars(self).items()
            if isinstance(array, np.ndarray)
        }
        return replace(self, **arrays)

    def of_points(self, frame: Frame) -> FileAnswers:
        """Return the answers about each point, points in the order in which they first occur."""
        names, first, place = np.unique(self.ids, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        point, first = rank[place], first[order]
        there = ~self.missing
        annotators = None if self.annotators is None else self.annotators[there]
        answers = FileAnswers(
            path=frame.path,
            layout="long",
            n_points=len(names),
            ids=self.ids[first],
            n_annotators=None if annotators is None else len(set(annotators.tolist()) - {""}),
            repeated=self._repeated(),
            n_blank=int(self.missing.sum()),
            groups=point_columns(
                frame,
                {*self.used, self.columns["id"].split(".")[0]},
                self.rows[first],
                self.rows,
                point,
            ),
            columns=self.columns,
            used=self.used,
            notes=(*frame.notes, *self.notes),
        )
        if self.numbers is not None:
            rows = np.argsort(point[there], kind="stable")
            ends = np.cumsum(np.bincount(point[there], minlength=len(names)))[:-1]
            return replace(answers, ratings=tuple(np.split(self.numbers[there][rows], ends)))
        assert self.codes is not None
        counts = np.zeros((len(names), len(self.classes)))
        np.add.at(counts, (point[there], self.codes[there]), self.weights[there])
        return replace(answers, counts=counts, classes=self.classes, order=self.order)

    def _repeated(self) -> tuple[str, ...]:
        """Return who answered twice about which point, a sentence each."""
        if self.annotators is None:
            return ()
        named = ~self.missing & (self.annotators != "")
        ids, who = self.ids[named], self.annotators[named]
        order = np.lexsort((who, ids))
        again = (ids[order][1:] == ids[order][:-1]) & (who[order][1:] == who[order][:-1])
        later = np.sort(order[1:][again])
        return tuple(f"{who[row]} about {ids[row]}" for row in later)


def point_columns(
    frame: Frame, used: Collection[str], first: IntArray, rows: IntArray, point: IntArray
) -> dict[str, NDArray[Any]]:
    """Return the other columns that say the same in all rows of a point.

    ``first`` is the first row of each point, ``point`` the point of each of the ``rows``.
    """
    columns = {
        name: column.group
        for name, column in frame.columns.items()
        if name not in used and not column.is_nested
    }
    return {
        name: cells[first]
        for name, cells in columns.items()
        if (cells[rows] == cells[first[point]]).all()
    }


def answers_in_column(
    frame: Frame,
    id_name: str | None,
    label: str,
    matching: Matching,
    *,
    is_rating: bool = False,
    counted: str | None = None,
) -> AnswerRows:
    """Return one answer per row, or several where a row has a list or an object of them."""
    ids = _required_ids(frame, id_name)
    answers = column = frame.column(label)
    annotator = matching.annotator or frame.find(*ANNOTATOR_NAMES)
    annotators = None if annotator is None or column.is_nested else frame.column(annotator).words
    rows = np.arange(len(frame))
    weights = np.ones(len(rows))
    if column.is_nested:
        rows, answers, annotators = _flattened(frame, label, column, annotator)
        weights, counted = np.ones(len(rows)), None
        if annotators is None:
            _require_one_row(frame, ids, label)
    if counted is not None and counted != label:
        weights = frame.numbers(counted)
        wrong = (weights < 0) | ~is_whole(weights)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise frame.error(f"{counted} must count answers, got {weights[row]:g}", row)
    if answers.missing.all():
        raise frame.error(f"the column {label!r} is empty")
    is_rating = is_rating and counted is None
    if counted is not None and annotators is None:
        _require_once(frame, ids, answers.words)
    columns = {"id": str(id_name), "rating" if is_rating else "label": label}
    columns |= {} if annotator is None else {"annotator": annotator}
    columns |= {} if counted in (None, label) else {"count": str(counted)}
    all_answers = AnswerRows(
        ids=ids[rows],
        rows=rows,
        columns=columns,
        used=frozenset({label.split(".")[0], annotator or "", counted or ""}),
        weights=weights,
        missing=answers.missing,
        annotators=annotators,
    )
    if is_rating:
        return replace(all_answers, numbers=_ratings(frame, label, answers, rows))
    classes, order, codes = _codes(frame, label, answers, matching.classes)
    return replace(all_answers, classes=classes, order=order, codes=codes)


def answers_in_columns(
    frame: Frame, id_name: str | None, names: Sequence[str], matching: Matching
) -> AnswerRows:
    """Return the answers of a table with one column per annotator."""
    columns = [frame.column(name) for name in names]
    cells = [cell for column in columns for cell in column.listed]
    answers = columns[0].with_cells(cells)
    classes, order, codes = _codes(frame, names[0], answers, matching.classes)
    shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    n = len(frame)
    return AnswerRows(
        ids=np.tile(_required_ids(frame, id_name), len(names)),
        rows=np.tile(np.arange(n), len(names)),
        columns={"id": str(id_name), "annotator": ",".join(names)},
        used=frozenset(names),
        weights=np.ones(len(cells)),
        missing=answers.missing,
        annotators=np.repeat(np.array(names, np.str_), n),
        classes=classes,
        order=order,
        codes=codes,
        notes=(f"{frame.path} was read as one column per annotator: {shown}",),
    )


def _required_ids(frame: Frame, name: str | None) -> NDArray[np.str_]:
    ids = row_ids(frame, name)
    if ids is None:
        raise frame.error(
            "one row per answer needs an id: which point it is about", advice={"--id": "names it"}
        )
    return ids


def _require_one_row(frame: Frame, ids: NDArray[np.str_], label: str) -> None:
    names, times = np.unique(ids, return_counts=True)
    if len(names) < len(ids):
        raise frame.error(
            f"{str(names[np.argmax(times > 1)])!r} has {label} in several rows; a "
            "list must hold all answers about a point"
        )


def _require_once(frame: Frame, ids: NDArray[np.str_], classes: NDArray[np.str_]) -> None:
    pairs, first = np.unique(np.stack([ids, classes], axis=1), axis=0, return_index=True)
    if len(pairs) < len(ids):
        row = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        raise frame.error(f"{str(ids[row])!r}, {str(classes[row])!r} must be in one row only")


def _flattened(
    frame: Frame, label: str, column: FrameColumn, annotator: str | None
) -> tuple[IntArray, FrameColumn, NDArray[np.str_] | None]:
    """Return the row, the answer and the annotator of each answer in lists or objects."""
    rows: list[int] = []
    cells: list[Any] = []
    names: list[str] = []
    who = None if annotator is None else frame.column(annotator).cells
    all_named = True
    for row, cell in enumerate(column.cells):
        if isinstance(cell, dict):
            answers, people = list(cell.values()), [str(name) for name in cell]
        else:
            answers = cell if isinstance(cell, list) else [cell]
            person = None if who is None else who[row]
            people = [] if person is None else [person]
            if isinstance(person, list):
                people = person
            elif person is not None and len(answers) > 1:
                raise frame.error(
                    f"{person} gave several answers at {frame.place(row)}, {str(answers)[:60]}",
                    advice=_SEVERAL,
                )
            all_named &= len(people) == len(answers)
        if any(isinstance(answer, list | dict) for answer in answers):
            _refuse_nested(frame, label, cell, row)
        rows += [row] * max(len(answers), 1)
        cells += answers or [None]
        names += map(str, people if answers else [""])
    named = np.array(names, np.str_) if all_named and names else None
    return np.array(rows, np.int64), column.with_cells(cells), named


def _refuse_nested(frame: Frame, label: str, cell: Any, row: int) -> None:
    """Raise for an answer that is a list or an object itself."""
    questions = [
        f"{label}.{name}.{key}"
        for name, answer in (cell.items() if isinstance(cell, dict) else ())
        for key in (answer if isinstance(answer, dict) else ())
        if isinstance(answer[key], list)
    ]
    if questions:
        raise frame.error(
            "holds answers to several questions",
            advice={"--label": f"chooses one, such as {' or '.join(questions[:3])}"},
        )
    answers = list(cell.values()) if isinstance(cell, dict) else cell
    rule = f"{label} must hold one answer per annotator, got {str(answers)[:60]}"
    raise frame.error(rule, row, advice=_SEVERAL)


def _ratings(frame: Frame, label: str, answers: FrameColumn, rows: IntArray) -> FloatArray:
    """Return the answers as numbers."""
    numbers = answers.numbers
    wrong = answers.word_rows if numbers is None else []
    if numbers is not None:
        wrong = np.flatnonzero(~answers.missing & ~np.isfinite(numbers)).tolist()
    if numbers is None or wrong:
        shown = str(answers.cells[wrong[0]])[:60]
        raise frame.error(f"{label} must hold numbers, got {shown!r}", rows[wrong[0]])
    return numbers


def _codes(
    frame: Frame, name: str, column: FrameColumn, stated: Sequence[str] | None
) -> tuple[tuple[str, ...], Order, IntArray]:
    """Return the classes, what their order says, and the class of each answer."""
    numbers = column.numbers
    is_integer = isinstance(column.cells, np.ndarray) and column.cells.dtype.kind in "iu"
    if numbers is None or is_integer:  # exact beyond 2^53 as well
        words = column.words
    else:
        whole = is_whole(np.where(column.missing, 0, numbers))
        if whole.all():
            words = np.nan_to_num(numbers).astype(np.int64).astype(np.str_)
        elif stated is not None:  # half stars, say
            words = np.array([written_name(str(number)) for number in numbers.tolist()], np.str_)
        else:
            row = int(np.argmin(whole))
            raise frame.error(
                f"{name} must be a class, got {numbers[row]:g} at row {row}; real "
                "answers belong into a column rating",
                advice={"--classes": "takes such numbers as classes, if it names all of them"},
            )
    occurring, codes = np.unique(words, return_inverse=True)
    occurring = np.array([boolean_name(word) for word in occurring.tolist()], np.str_)
    answered = set(occurring[np.unique(codes[~column.missing])].tolist())
    if len(answered) > _MOST_CLASSES:
        raise frame.error(
            f"{len(answered):,} different labels: if they are numbers on a scale, "
            "call the column rating"
        )
    order: Order = "none"
    spell = boolean_name if numbers is None else written_name
    if stated is not None:
        names = [spell(text) for text in stated]
    elif column.order is not None and not are_numbers(column.order):
        names, order = [spell(text) for text in column.order], column.order_kind
    else:
        names = sorted_names([spell(text) for text in column.order or answered])
        order = column.order_kind
    strange = sorted(answered - set(names))
    if strange:
        raise frame.error(f"{name} {strange[0]!r} is none of the classes {names}")
    place = {text: k for k, text in enumerate(names)}
    return tuple(names), order, np.array([place.get(t, 0) for t in occurring.tolist()])[codes]
