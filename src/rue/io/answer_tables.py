"""Which layout of answers a table has, and what it says: an answer each, or a row per point."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, is_whole
from rue._text import are_numbers, sorted_names
from rue.errors import FileError
from rue.io.files import Frame, FrameColumn, is_missing, plain_name, row_ids, without_index
from rue.io.memory import reading
from rue.io.names import ANNOTATOR_NAMES, Matching, find_id_name
from rue.losses.outcomes import boolean_name, written_name

LABEL_NAMES = ("label", "answer")
RATING_NAMES = ("rating",)
_COUNTS = (
    "count",
    "counts",
    "votes",
    "n_votes",
    "n",
    "freq",
    "frequency",
    "n_answers",
    "num",
    "occurrences",
)
_LISTS = ("individual_human_scores", "labels", "annotations", "answers", "ratings", "label_list")
_BY_CLASS = ("counts", "label_counter", "label_count", "votes", "probs", "label_dist", "soft_label")
_SHARES = ("probs", "label_dist", "soft_label")
TOTALS = (
    "total",
    "c_total",
    "n_annotators",
    "num_annotators",
    "n_answers",
    "n_votes",
    "n_ratings",
)
_NO_CLASSES = {
    *("year", "fold", "seed", "index", "length", "n_words", "n_tokens", "split", "age", "mos"),
    *("sd", "std", "mean", "entropy", "agreement", "gold", "majority", *TOTALS),
}
_ONE_ANNOTATOR = re.compile(
    r"(annotator|annotation|annot|ann|rater|rating|worker|coder|judge|labell?er|expert|turker|"
    r"reader|radiologist|reviewer|person|anno)[ _-]?[0-9a-z]{1,4}"
)
Order = Literal["none", "given", "scale"]
"""What the order of a file's classes says; see :class:`rue.Classes`."""

_MOST_CLASSES = 1_000
_MOST_WORDS = 30  # that several columns share, if each holds an annotator's answers
_MOST_ANSWERS, _LARGEST_ANSWER = 12, 100  # of a scale that annotators answer on
READ_AS_COUNTS = (
    "were taken as classes with counts; where each holds the answers of an annotator, "
    "--annotator names these columns"
)
_NO_ANNOTATORS = {"text", "split", "lang", "language", "source", "dataset", "document", "gold"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """What a table says: one answer per entry, or ``table``, a row of numbers per point."""

    layout: Literal["long", "wide"]
    ids: NDArray[np.str_] | None
    rows: IntArray
    columns: Mapping[str, str]
    used: frozenset[str]
    table: FloatArray | None = None
    exact: bool = False
    classes: tuple[str, ...] | None = None
    order: Order = "none"
    codes: IntArray | None = None
    numbers: FloatArray | None = None
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    missing: NDArray[np.bool] = field(default_factory=lambda: np.zeros(0, bool))
    annotators: NDArray[np.str_] | None = None
    notes: tuple[str, ...] = ()

    def at(self, entries: NDArray[np.bool]) -> "Said":
        """Return some of the answers."""
        return replace(
            self,
            ids=None if self.ids is None else self.ids[entries],
            rows=self.rows[entries],
            codes=None if self.codes is None else self.codes[entries],
            numbers=None if self.numbers is None else self.numbers[entries],
            weights=self.weights[entries],
            missing=self.missing[entries],
            annotators=None if self.annotators is None else self.annotators[entries],
        )


def said_in_table(frame: Frame, by: Sequence[str], matching: Matching) -> Said:
    """Find out which layout a table has, and return what it says."""
    wanted = matching.truth_id or matching.id_name
    id_name = find_id_name(frame.path, list(frame.columns), wanted)
    annotators = (matching.annotator or "").split(",")
    named = (matching.label, matching.rating, *annotators, *(matching.classes or ()), *by)
    frame = without_index(frame, id_name, filter(None, named))
    label, kind = matching.label, "label"
    stated = label or matching.rating
    if label is None and matching.rating is not None:
        label, kind = matching.rating, "rating"
    elif label is None:
        label = frame.find(*LABEL_NAMES)
    if label is None:
        label, kind = frame.find(*RATING_NAMES), "rating"
    others = {id_name, *by}
    nested = _nested(frame, others)
    if stated is None and nested is not None:
        column = frame.columns[nested]
        is_count = plain_name(nested) in _BY_CLASS or not _is_list(column)
        if is_count and _numbers_inside(column):
            return _by_class(frame, id_name, nested)
        if plain_name(nested) in _BY_CLASS and plain_name(nested) != "votes":
            row = next(i for i, cell in enumerate(column.cells) if not _are_numbers(cell))
            raise FileError(
                f"{frame.path}: {nested} must hold numbers by class, got "
                f"{str(column.cells[row])[:60]} at {frame.place(row)}",
                advice={"--label": "names the column of answers"},
            )
        kind = "rating" if plain_name(nested) == "ratings" else "label"
        return _events(frame, id_name, nested, kind, matching)
    if matching.annotator is not None and not frame.has(matching.annotator):
        return _annotator_columns(
            frame, id_name, _named_columns(frame, matching.annotator), matching
        )
    counted = frame.find(*_COUNTS)
    class_name = frame.find("class")
    if label is None and class_name is not None and counted is not None:
        label, kind = class_name, "label"
    counted_classes = matching.classes and set(matching.classes) <= set(frame.columns)
    if label is not None and (
        stated or not (counted_classes or _is_gold(frame, label, others, id_name))
    ):
        return _events(frame, id_name, label, kind, matching, counted)
    if matching.classes is None:
        columns = [
            name
            for name, column in frame.columns.items()
            if name not in others and _ONE_ANNOTATOR.fullmatch(plain_name(name))
        ]
        if len(columns) < 2:
            columns = _word_columns(frame, others)
        if len(columns) > 1:
            return _annotator_columns(frame, id_name, columns, matching)
    return _wide(frame, id_name, {*others, label}, matching)


def _required_ids(frame: Frame, name: str | None) -> NDArray[np.str_]:
    ids = row_ids(frame, name)
    if ids is None:
        raise FileError(
            f"{frame.path}: one row per answer needs an id: which point it is about",
            advice={"--id": "names it"},
        )
    return ids


def _nested(frame: Frame, others: set[str | None]) -> str | None:
    """Return the column of lists or objects that holds the answers."""
    usual = (*_BY_CLASS, *_LISTS)
    columns = [
        name
        for name, column in frame.columns.items()
        if plain_name(name) in usual and name not in others and column.is_nested
    ]
    return min(columns, key=lambda name: usual.index(plain_name(name)), default=None)


def _is_list(column: FrameColumn) -> bool:
    return any(isinstance(cell, list) for cell in column.cells)


def _numbers_inside(column: FrameColumn) -> bool:
    """Whether the values in lists or objects are numbers, not words."""
    return all(map(_are_numbers, column.cells))


def _are_numbers(cell: Any) -> bool:
    values = list(cell.values()) if isinstance(cell, dict) else cell
    return not isinstance(values, list) or all(type(v) in (int, float) for v in values)


def _is_gold(frame: Frame, label: str, others: set[str | None], id_name: str | None) -> bool:
    """Whether a label is the correct class beside counts, and not an answer."""
    column = frame.column(label)
    if column.is_nested or frame.find("annotator", *ANNOTATOR_NAMES) is not None:
        return False
    numeric = [n for n in _numeric(frame, {*others, label}) if plain_name(n) not in _COUNTS]
    if len(numeric) < 2:
        return False
    if set(np.unique(column.words).tolist()) - {""} <= set(numeric):
        return True
    tables = [frame.columns[name].numbers for name in numeric]
    whole = all(t is not None and ((t >= 0) & (t % 1 == 0)).all() for t in tables)
    ids = row_ids(frame, find_id_name(frame.path, list(frame.columns), id_name))
    if whole and ids is not None and len(np.unique(ids)) == len(ids):
        raise FileError(
            f"{frame.path}: answers may be in {label} or counted in {', '.join(numeric[:4])}",
            advice={"--label": "names the column of answers", "--classes": "names those of counts"},
        )
    return False


def _numeric(frame: Frame, others: set[str | None]) -> list[str]:
    """Return the columns of numbers that may count a class."""
    return [
        name
        for name, column in frame.columns.items()
        if name not in others
        and plain_name(name) not in _NO_CLASSES
        and not column.is_nested
        and column.numbers is not None
    ]


def _events(
    frame: Frame,
    id_name: str | None,
    label: str,
    kind: str,
    matching: Matching,
    counted: str | None = None,
) -> Said:
    """Return one answer per row, or several where a row has a list or an object of them."""
    ids = _required_ids(frame, id_name)
    column = frame.column(label)
    annotator = _annotator_column(frame, matching)
    columns = {"id": str(id_name), kind: label}
    rows = np.arange(len(frame))
    if column.is_nested:
        rows, cells, names = _flattened(frame, label, column, annotator)
        answers = FrameColumn(cells, column.budget, column.order, column.order_kind)
        annotators = names
        counted = None
        if annotators is None and len(np.unique(ids)) < len(ids):
            names_of, times = np.unique(ids, return_counts=True)
            raise FileError(
                f"{frame.path}: {str(names_of[np.argmax(times > 1)])!r} has {label} in several "
                "rows; a list must hold all answers about a point"
            )
    else:
        answers = column
        annotators = None if annotator is None else frame.column(annotator).words
    if annotator is not None:
        columns["annotator"] = annotator
    weights = np.ones(len(rows))
    if counted is not None and counted != label:
        weights = frame.numbers(counted)
        if (weights < 0).any() or not is_whole(weights).all():
            row = int(np.argmax((weights < 0) | ~is_whole(weights)))
            raise FileError(
                f"{frame.path}: {counted} must count answers, got {weights[row]:g} at "
                f"{frame.place(row)}"
            )
        columns["count"] = counted
    common: dict[str, Any] = {
        "layout": "long",
        "ids": ids[rows],
        "rows": rows,
        "columns": columns,
        "used": frozenset({label.split(".")[0], annotator or "", counted or ""}),
        "weights": weights,
        "missing": answers.missing,
        "annotators": annotators,
    }
    if common["missing"].all():
        raise FileError(f"{frame.path}: the column {label!r} is empty")
    if kind == "rating" and counted is not None:
        kind = "label"
    if kind == "rating":
        numbers = answers.numbers
        if numbers is None or not np.isfinite(numbers[~common["missing"]]).all():
            bad = _first_bad(answers)
            raise FileError(
                f"{frame.path}: {label} must hold numbers, got {str(answers.cells[bad])[:60]!r} at "
                f"{frame.place(int(rows[bad]))}"
            )
        return Said(numbers=numbers, **common)
    if counted is not None and annotators is None:
        _require_once(frame, ids, answers.words)
    classes, order, codes = _codes(frame, label, answers, matching.classes)
    return Said(classes=classes, order=order, codes=codes, **common)


def _annotator_column(frame: Frame, matching: Matching) -> str | None:
    if matching.annotator is not None:
        return matching.annotator
    return frame.find(*ANNOTATOR_NAMES)


def _flattened(
    frame: Frame, label: str, column: FrameColumn, annotator: str | None
) -> tuple[IntArray, list[Any], NDArray[np.str_] | None]:
    """Return the row, the answer and the annotator of each answer in lists or objects."""
    rows: list[int] = []
    cells: list[Any] = []
    names: list[str] = []
    who = None if annotator is None else frame.column(annotator).cells
    named = True
    for row, cell in enumerate(column.cells):
        if isinstance(cell, dict):
            answers, people = list(cell.values()), [str(name) for name in cell]
        else:
            answers = cell if isinstance(cell, list) else [cell]
            name_cell = None if who is None else who[row]
            people = [str(name) for name in name_cell] if isinstance(name_cell, list) else []
            if name_cell is not None and not isinstance(name_cell, list):
                people = [str(name_cell)]
                if len(answers) > 1:
                    raise FileError(
                        f"{frame.path}: {name_cell} gave several answers at {frame.place(row)}, "
                        f"{str(answers)[:60]}",
                        advice={"--multi-label": "takes each label as a binary problem"},
                    )
            named &= len(people) == len(answers)
        if not answers:
            answers, people = [None], [""]
        if any(isinstance(answer, list | dict) for answer in answers):
            inside = [
                f"{label}.{name}.{key}"
                for name, answer in (cell.items() if isinstance(cell, dict) else ())
                for key in (answer if isinstance(answer, dict) else ())
                if isinstance(answer[key], list)
            ]
            if inside:
                raise FileError(
                    f"{frame.path}: holds answers to several questions",
                    advice={"--label": f"chooses one, such as {' or '.join(inside[:3])}"},
                )
            raise FileError(
                f"{frame.path}: {label} must hold one answer per annotator, got "
                f"{str(answers)[:60]} at {frame.place(row)}",
                advice={"--multi-label": "takes each label as a binary problem"},
            )
        rows += [row] * len(answers)
        cells += answers
        names += people
    return np.array(rows, np.int64), cells, np.array(names, np.str_) if named and names else None


def _annotator_columns(
    frame: Frame, id_name: str | None, columns: Sequence[str], matching: Matching
) -> Said:
    """Return the answers of a table with one column per annotator."""
    ids = _required_ids(frame, id_name)
    n = len(frame)
    cells = [cell for name in columns for cell in _listed(frame.column(name).cells)]
    first = frame.column(columns[0])
    answers = FrameColumn(cells, first.budget, first.order, first.order_kind)
    classes, order, codes = _codes(frame, columns[0], answers, matching.classes)
    shown = ", ".join(columns[:4]) + (", ..." if len(columns) > 4 else "")
    return Said(
        layout="long",
        ids=np.tile(ids, len(columns)),
        rows=np.tile(np.arange(n), len(columns)),
        columns={"id": str(id_name), "annotator": ",".join(columns)},
        used=frozenset(columns),
        classes=classes,
        order=order,
        codes=codes,
        weights=np.ones(n * len(columns)),
        missing=answers.missing,
        annotators=np.repeat(np.array(columns, np.str_), n),
        notes=(f"{frame.path} was read as one column per annotator: {shown}",),
    )


def _word_columns(frame: Frame, others: set[str | None]) -> list[str]:
    """Return the columns of words, if all of them hold the same few: one annotator each."""
    if len(_numeric(frame, others)) > 1:
        return []
    words = {
        name: set(column.words[~column.missing].tolist())
        for name, column in frame.columns.items()
        if name not in others
        and plain_name(name) not in _NO_ANNOTATORS
        and not column.is_nested
        and column.numbers is None
    }
    every = set().union(*words.values()) if words else set()
    few = len(words) > 1 and 1 < len(every) <= max(2, min(_MOST_WORDS, len(frame)))
    shared = all(
        own & set().union(*(w for n, w in words.items() if n != name))
        for name, own in words.items()
    )
    return list(words) if few and shared else []


def _named_columns(frame: Frame, text: str) -> list[str]:
    """Return the columns that a list of names or a pattern means."""
    columns: list[str] = []
    for part in text.split(","):
        names = [name for name in frame.columns if fnmatch.fnmatchcase(name, part.strip())]
        if not names:
            raise FileError(f"{frame.path}: has no column {part.strip()!r}, only {frame.shown}")
        columns += names
    return list(dict.fromkeys(columns))


def _by_class(frame: Frame, id_name: str | None, name: str) -> Said:
    """Return the numbers by class that each row holds, as a list or as an object."""
    column = frame.columns[name]
    ids = row_ids(frame, id_name)
    classes: tuple[str, ...] | None = None
    order: Order = "none"
    if any(isinstance(cell, dict) for cell in column.cells):
        keys = [tuple(cell) if isinstance(cell, dict) else () for cell in column.cells]
        if () in keys:
            row = keys.index(())
            raise FileError(
                f"{frame.path}: {name} must give a number by class in every row, got "
                f"{str(column.cells[row])[:60]} at {frame.place(row)}"
            )
        names = list(dict.fromkeys(key for row in keys for key in row))
        order = "given" if len(set(keys)) == 1 else "none"
        names = sorted_names(names) if order == "none" or are_numbers(names) else names
        lists = [[cell.get(key, 0) for key in names] for cell in column.cells]
        classes = tuple(map(str, names))
    else:
        lengths = {len(cell) if isinstance(cell, list) else -1 for cell in column.cells}
        if len(lengths) > 1 or -1 in lengths:
            lengths_of = [len(c) if isinstance(c, list) else -1 for c in column.cells]
            row = next(i for i, n in enumerate(lengths_of) if n != lengths_of[0] or n < 0)
            raise FileError(
                f"{frame.path}: {name} must be a list of the same length in every row, not at "
                f"{frame.place(row)}"
            )
        lists = list(column.cells)
        if "classes" in frame.columns:
            classes, order = _constant_classes(frame), "given"
    with reading(frame.path, f"a table with numbers in {name}"):
        table = np.array(lists, np.float64)
    return Said(
        layout="wide",
        ids=ids,
        rows=np.arange(len(frame)),
        columns={} if id_name is None else {"id": id_name},
        used=frozenset({name, "classes"}),
        table=table,
        exact=plain_name(name) in _SHARES,
        classes=classes,
        order=order,
    )


def _constant_classes(frame: Frame) -> tuple[str, ...]:
    """Return the list ``classes`` that every row repeats."""
    lists = {tuple(map(str, cell or ())) for cell in frame.columns["classes"].cells}
    if len(lists) > 1:
        one, other = sorted(lists)[:2]
        raise FileError(
            f"{frame.path}: classes must be the same list in every row, got {list(one)} and "
            f"{list(other)}"
        )
    return lists.pop()


def _wide(frame: Frame, id_name: str | None, others: set[str | None], matching: Matching) -> Said:
    """Return the numbers of a table with a column for each class."""
    stated = matching.classes
    if set(stated or ()) & set(frame.columns):  # nobody need have chosen the other classes
        names = [name for name in stated or () if name in frame.columns]
    else:
        names = _numeric(frame, others)
        for name, column in frame.columns.items():
            if name not in {*others, *names}:
                require_no_stray_word(frame, name, column)
    if len(names) < 2:
        raise FileError(
            f"{frame.path}: must have a column of counts for each class, or one row per answer "
            f"with the columns id and label; it has {frame.shown}",
            advice={"--label": "names the column of answers", "--classes": "names those of counts"},
        )
    ids = row_ids(frame, id_name)
    numbers = {name: frame.column(name).numbers for name in names}
    words = [name for name, column in numbers.items() if column is None]
    if words:
        frame.numbers(words[0])  # raises
    columns = [c for c in numbers.values() if c is not None]
    table = np.stack([np.where(np.isnan(c), 0.0, c) for c in columns], axis=1)
    blank = np.stack([frame.column(name).missing for name in names], axis=1)
    if blank.any() and not _are_counts(table):
        row, k = (int(i) for i in np.argwhere(blank)[0])
        raise FileError(f"{frame.path}: column {names[k]} has an empty cell at {frame.place(row)}")
    notes: list[str] = []
    if blank.any():
        notes.append(f"{frame.path}: {int(blank.sum()):,} empty cells were read as a count of 0")
    table, total = _with_total(frame, names, table, notes)
    if stated is None and _may_be_answers(table):
        notes.append(f"{frame.path}: {', '.join(names)} {READ_AS_COUNTS}")
    numbered = has_no_names(names) and not frame.named
    return Said(
        layout="wide",
        ids=ids,
        rows=np.arange(len(frame)),
        columns={} if id_name is None else {"id": id_name},
        used=frozenset({*names, *total}),
        table=table,
        classes=None if numbered else tuple(names),
        order="given",
        notes=tuple(notes),
    )


def has_no_names(columns: Sequence[str]) -> bool:
    """Return whether columns are only numbered, as those of a file without a header are."""
    return list(columns) == [str(j) for j in range(len(columns))]


def _with_total(
    frame: Frame, names: Sequence[str], table: FloatArray, notes: list[str]
) -> tuple[FloatArray, list[str]]:
    """Multiply shares by the total number of answers, where a column states it."""
    total = frame.find(*TOTALS)
    numbers = None if total is None or total in names else frame.columns[total].numbers
    percent = bool((table.sum(axis=1) == 100).all())
    if total is None or numbers is None or (_are_counts(table) and not percent):
        return table, []
    if percent and (numbers == 100).all():
        return table, []
    if not ((table >= 0) & (table <= 101)).all() or not ((numbers > 0) & (numbers < 1e9)).all():
        return table, []
    sums = table.sum(axis=1)
    scale = 100.0 if np.allclose(sums, 100, atol=0.5) else 1.0
    counts = table / scale * numbers[:, None]
    whole = np.rint(counts)
    if not np.allclose(sums / scale, 1, atol=0.02) or np.abs(counts - whole).max() > 0.25:
        return table, []
    if not (whole.sum(axis=1) == numbers).all():
        return table, []
    notes.append(f"{frame.path}: shares times {total} were read as counts")
    return whole, [total]


def _may_be_answers(table: FloatArray) -> bool:
    """Whether counts may be the answers of an annotator per column: few numbers, no equal sums."""
    if not _are_counts(table) or len(table) < 2 or np.ptp(table.sum(axis=1)) == 0:
        return False
    numbers = np.unique(table)
    return len(numbers) <= _MOST_ANSWERS and numbers[-1] <= _LARGEST_ANSWER


def _are_counts(table: FloatArray) -> bool:
    return bool(((table >= 0) & (np.floor(table) == table) & np.isfinite(table)).all())


def require_no_stray_word(frame: Frame, name: str, column: FrameColumn) -> None:
    """Raise for a column of numbers with some words in it: it may be a class."""
    if column.is_nested or isinstance(column.cells, np.ndarray):
        return
    parsed = [is_missing(c) or _is_numeric(c) for c in column.cells]
    n_words = len(parsed) - sum(parsed)
    if 0 < n_words <= len(parsed) // 2 and not column.missing.all():
        row = parsed.index(False)
        raise FileError(
            f"{frame.path}: column {name} holds numbers and {str(column.cells[row])[:40]!r} at "
            f"{frame.place(row)}; correct it",
            advice={"--classes": "says which columns are classes"},
        )


def _is_numeric(cell: Any) -> bool:
    return FrameColumn([cell], None).numbers is not None  # type: ignore[arg-type]


def _first_bad(column: FrameColumn) -> int:
    for row, cell in enumerate(column.cells):
        numbers = FrameColumn([cell], column.budget).numbers
        if not is_missing(cell) and (numbers is None or not np.isfinite(numbers).all()):
            return row
    return 0


def _codes(
    frame: Frame, name: str, column: FrameColumn, stated: Sequence[str] | None
) -> tuple[tuple[str, ...], Order, IntArray]:
    """Return the classes, what their order says, and the class of each answer."""
    numbers = column.numbers
    if isinstance(column.cells, np.ndarray) and column.cells.dtype.kind in "iu":
        words = column.words  # exact beyond 2^53 as well
    elif numbers is not None:
        there = numbers[~column.missing]
        if not is_whole(there).all():
            row = int(np.argmin(is_whole(np.nan_to_num(numbers))))
            raise FileError(
                f"{frame.path}: {name} must be a class, got {numbers[row]:g} at row {row}; real "
                "answers belong into a column rating"
            )
        words = np.nan_to_num(numbers).astype(np.int64).astype(np.str_)
    else:
        words = column.words
    occurring, codes = np.unique(words, return_inverse=True)
    occurring = np.array([boolean_name(word) for word in occurring.tolist()], np.str_)
    words = occurring[codes]
    answered = set(np.unique(words[~column.missing]).tolist())
    if len(answered) > _MOST_CLASSES:
        raise FileError(
            f"{frame.path}: {len(answered):,} different labels: if they are numbers on a scale, "
            "call the column rating"
        )
    order: Order = "none"
    if stated is not None:
        names = [written_name(text) for text in stated] if numbers is not None else list(stated)
        names = [boolean_name(name) for name in names]
        strange = sorted(answered - set(names))
        if strange:
            raise FileError(f"{frame.path}: {name} {strange[0]!r} is none of the classes {names}")
    elif column.order is not None:
        names, order = list(column.order), column.order_kind
        names = sorted_names(names) if are_numbers(names) else names
    else:
        names = sorted_names(list(answered))
    place = {text: k for k, text in enumerate(names)}
    return tuple(names), order, np.array([place.get(t, 0) for t in occurring.tolist()])[codes]


def _require_once(frame: Frame, ids: NDArray[np.str_], classes: NDArray[np.str_]) -> None:
    order = np.lexsort((classes, ids))
    ids, classes = ids[order], classes[order]
    again = (ids[1:] == ids[:-1]) & (classes[1:] == classes[:-1])
    if again.any():
        row = int(np.argmax(again))
        raise FileError(
            f"{frame.path}: {str(ids[row])!r}, {str(classes[row])!r} must be in one row only"
        )


def _listed(cells: Any) -> list[Any]:
    return cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
