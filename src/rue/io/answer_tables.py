"""Which layout of answers a table has: an answer in each row or cell, or numbers by class."""

import fnmatch
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue._text import are_numbers, sorted_names
from rue.io.answer_rows import (
    AnswerRows,
    FileAnswers,
    Order,
    answers_in_column,
    answers_in_columns,
    point_columns,
)
from rue.io.columns import plain_name
from rue.io.files import Frame, row_ids, without_index
from rue.io.memory import reading
from rue.io.names import ANNOTATOR_NAMES, Matching, find_id_name

LABEL_NAMES = ("label", "answer")
_COUNTS = {
    *("count", "counts", "votes", "n_votes", "n", "freq", "frequency", "n_answers", "num"),
    "occurrences",
}
_SHARES = ("probs", "label_dist", "soft_label")
_BY_CLASS = ("counts", "label_counter", "label_count", "votes", *_SHARES)
_LISTS = ("individual_human_scores", "labels", "annotations", "answers", "ratings", "label_list")
_NESTED = (*_BY_CLASS, *_LISTS)  # the first of several
TOTALS = ("total", "c_total", "n_annotators", "num_annotators", "n_answers", "n_votes", "n_ratings")
_NO_CLASSES = {
    *("year", "fold", "seed", "index", "length", "n_words", "n_tokens", "split", "age", "mos"),
    *("sd", "std", "mean", "entropy", "agreement", "gold", "majority", *TOTALS),
}
_ONE_ANNOTATOR = re.compile(
    r"(annotator|annotation|annot|ann|rater|rating|worker|coder|judge|labell?er|expert|turker|"
    r"reader|radiologist|reviewer|person|anno)[ _-]?[0-9a-z]{1,4}"
)
_NO_ANNOTATORS = {"text", "split", "lang", "language", "source", "dataset", "document", "gold"}
_MOST_WORDS = 30  # that several columns share, if each holds an annotator's answers
_MOST_ANSWERS, _LARGEST_ANSWER = 12, 100  # of a scale that annotators answer on
READ_AS_COUNTS = (
    "were taken as classes with counts; where each holds the answers of an annotator, "
    "--annotator names these columns"
)


def answers_in_table(
    frame: Frame, by: Sequence[str], matching: Matching
) -> AnswerRows | FileAnswers:
    """Find out which layout a table has, and return its answers, one by one or by class."""
    id_name = find_id_name(frame.path, list(frame.columns), matching.truth_id or matching.id_name)
    annotators = (matching.annotator or "").split(",")
    named = (matching.label, matching.rating, *annotators, *(matching.classes or ()), *by)
    frame = without_index(frame, id_name, filter(None, named))
    others = {id_name, *by}
    stated = matching.label or matching.rating
    nested = None if stated else _nested(frame, others)
    if nested is not None:
        column, usual = frame.columns[nested], plain_name(nested)
        may_be_counts = usual in _BY_CLASS or not any(isinstance(c, list) for c in column.cells)
        if may_be_counts and all(map(_are_numbers, column.cells)):
            return _by_class(frame, id_name, nested)
        _require_labels(frame, nested)
        is_rating = usual == "ratings"
        return answers_in_column(frame, id_name, nested, matching, is_rating=is_rating)
    if matching.annotator is not None and not frame.has(matching.annotator):
        names = _named_columns(frame, matching.annotator)
        return answers_in_columns(frame, id_name, names, matching)
    counted = frame.find(*_COUNTS)
    label = stated or frame.find(*LABEL_NAMES)
    is_rating = label is None or (matching.label is None and stated is not None)
    label = label or frame.find("rating")
    if label is None and counted is not None:
        label, is_rating = frame.find("class"), False
    is_counted = matching.classes is not None and set(matching.classes) <= set(frame.columns)
    is_answer = stated is not None or not (
        label is None or is_counted or _is_gold(frame, id_name, label, others)
    )
    if label is not None and is_answer:
        return answers_in_column(
            frame, id_name, label, matching, is_rating=is_rating, counted=counted
        )
    if set(matching.classes or ()).isdisjoint(frame.columns):
        names = [
            name
            for name in frame.columns
            if name not in others and _ONE_ANNOTATOR.fullmatch(plain_name(name))
        ]
        names = names if len(names) > 1 else _word_columns(frame, others)
        if len(names) > 1:
            return answers_in_columns(frame, id_name, names, matching)
    return _wide(frame, id_name, {*others, label}, matching)


def _nested(frame: Frame, others: set[str | None]) -> str | None:
    """Return the column of lists or objects that holds the answers."""
    names = [
        name
        for name, column in frame.columns.items()
        if plain_name(name) in _NESTED and name not in others and column.is_nested
    ]
    return min(names, key=lambda name: _NESTED.index(plain_name(name)), default=None)


def _are_numbers(cell: Any) -> bool:
    """Whether the values in a list or an object are numbers, not words."""
    values = list(cell.values()) if isinstance(cell, dict) else cell
    return not isinstance(values, list) or all(type(v) in (int, float) for v in values)


def _require_labels(frame: Frame, name: str) -> None:
    """Raise for words in a column that holds numbers by class."""
    if plain_name(name) in _BY_CLASS and plain_name(name) != "votes":
        cells = frame.columns[name].cells
        row = next(i for i, cell in enumerate(cells) if not _are_numbers(cell))
        rule = f"{name} must hold numbers by class, got {str(cells[row])[:60]}"
        raise frame.error(rule, row, advice={"--label": "names the column of answers"})


def _is_gold(frame: Frame, id_name: str | None, label: str, others: set[str | None]) -> bool:
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
    ids = row_ids(frame, id_name)
    if not all(table is not None and _are_counts(table) for table in tables):
        return False
    if ids is not None and len(np.unique(ids)) == len(ids):
        raise frame.error(
            f"answers may be in {label} or counted in {', '.join(numeric[:4])}",
            advice={"--label": "names the column of answers", "--classes": "names those of counts"},
        )
    return False


def _numeric(frame: Frame, others: set[str | None]) -> list[str]:
    """Return the columns of numbers that may count a class."""
    names = frame.number_columns(others)
    return [name for name in names if plain_name(name) not in _NO_CLASSES]


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
            raise frame.error(f"has no column {part.strip()!r}, only {frame.shown}")
        columns += names
    return list(dict.fromkeys(columns))


def _by_class(frame: Frame, id_name: str | None, name: str) -> FileAnswers:
    """Return the numbers by class that each row holds, as a list or as an object."""
    cells = frame.columns[name].cells
    classes: tuple[str, ...] | None = None
    order: Order = "none"
    if any(isinstance(cell, dict) for cell in cells):
        keys = [tuple(cell) if isinstance(cell, dict) else () for cell in cells]
        if () in keys:
            row = keys.index(())
            raise frame.error(
                f"{name} must give a number by class in every row, got {str(cells[row])[:60]}", row
            )
        names = list(dict.fromkeys(key for row in keys for key in row))
        order = "given" if len(set(keys)) == 1 else "none"
        names = sorted_names(names) if order == "none" or are_numbers(names) else names
        classes = tuple(map(str, names))
        lists = [[cell.get(key, 0) for key in names] for cell in cells]
    else:
        lists = list(cells)
        lengths = [len(cell) if isinstance(cell, list) else -1 for cell in lists]
        if len(set(lengths)) > 1 or -1 in lengths:
            row = next(i for i, n in enumerate(lengths) if n != lengths[0] or n < 0)
            raise frame.error(f"{name} must be a list of the same length in every row, not", row)
        if "classes" in frame.columns:
            classes, order = stated_classes(frame), "given"
    with reading(frame.path, f"a table with numbers in {name}"):
        table = np.array(lists, np.float64)
    named_shares = plain_name(name) in _SHARES
    answers = _of_points(frame, id_name, {name, "classes"}, table)
    return replace(answers, named_shares=named_shares, classes=classes, order=order)


def stated_classes(frame: Frame) -> tuple[str, ...]:
    """Return the list ``classes`` that every row repeats."""
    lists = {tuple(map(str, cell or ())) for cell in frame.columns["classes"].cells}
    if len(lists) > 1:
        one, other = sorted(lists)[:2]
        raise frame.error(
            f"classes must be the same list in every row, got {list(one)} and {list(other)}"
        )
    return lists.pop()


def _wide(
    frame: Frame, id_name: str | None, others: set[str | None], matching: Matching
) -> FileAnswers:
    """Return the numbers of a table with a column for each class."""
    stated = matching.classes
    names = [name for name in stated or () if name in frame.columns]
    if not names:  # nobody need have chosen all stated classes
        names = _numeric(frame, others)
        require_no_stray_words(frame, {*others, *names})
    if len(names) < 2:
        raise frame.error(
            f"must have a column of counts for each class, or one row per answer "
            f"with the columns id and label; it has {frame.shown}",
            advice={"--label": "names the column of answers", "--classes": "names those of counts"},
        )
    blank = np.stack([frame.column(name).missing for name in names], axis=1)
    table = np.stack([frame.numbers(name, missing=0.0) for name in names], axis=1)
    notes = []
    if blank.any():
        if not _are_counts(table):
            row, k = (int(i) for i in np.argwhere(blank)[0])
            raise frame.error(f"column {names[k]} has an empty cell", row)
        notes.append(f"{frame.path}: {int(blank.sum()):,} empty cells were read as a count of 0")
    total = frame.find(*TOTALS)
    counts = None if total is None or total in names else _shares_of(frame, table, total)
    if counts is not None:
        notes.append(f"{frame.path}: shares times {total} were read as counts")
        table = counts
    elif stated is None and _may_be_answers(table):
        notes.append(f"{frame.path}: {', '.join(names)} {READ_AS_COUNTS}")
    used = {*names} if counts is None else {*names, str(total)}
    answers = _of_points(frame, id_name, used, table, notes)
    numbered = has_no_names(names) and not frame.named
    return replace(answers, classes=None if numbered else tuple(names))


def _of_points(
    frame: Frame,
    id_name: str | None,
    used: Collection[str],
    table: FloatArray,
    notes: Sequence[str] = (),
) -> FileAnswers:
    """Return a table with a row of numbers for each point."""
    rows = np.arange(len(frame))
    own = set() if id_name is None else {id_name.split(".")[0]}
    return FileAnswers(
        path=frame.path,
        layout="wide",
        n_points=len(frame),
        ids=row_ids(frame, id_name),
        counts=table,
        groups=point_columns(frame, {*used, *own}, rows, rows, rows),
        columns={} if id_name is None else {"id": id_name},
        used=frozenset(used),
        notes=(*frame.notes, *notes),
    )


def has_no_names(columns: Sequence[str]) -> bool:
    """Return whether columns are only numbered, as those of a file without a header are."""
    return list(columns) == [str(j) for j in range(len(columns))]


def _shares_of(frame: Frame, table: FloatArray, total: str) -> FloatArray | None:
    """Return shares times a column of totals as counts; None unless they are whole."""
    numbers, sums = frame.columns[total].numbers, table.sum(axis=1)
    percent = bool((sums == 100).all())
    if numbers is None or (_are_counts(table) and not percent):
        return None
    if percent and (numbers == 100).all():
        return None
    if not ((table >= 0) & (table <= 101)).all() or not ((numbers > 0) & (numbers < 1e9)).all():
        return None
    scale = 100.0 if np.allclose(sums, 100, atol=0.5) else 1.0
    counts = table / scale * numbers[:, None]
    whole = np.rint(counts)
    if not np.allclose(sums / scale, 1, atol=0.02) or np.abs(counts - whole).max() > 0.25:
        return None
    return whole if (whole.sum(axis=1) == numbers).all() else None


def _may_be_answers(table: FloatArray) -> bool:
    """Whether counts may be the answers of an annotator per column: few numbers, no equal sums."""
    if not _are_counts(table) or len(table) < 2 or np.ptp(table.sum(axis=1)) == 0:
        return False
    numbers = np.unique(table)
    return len(numbers) <= _MOST_ANSWERS and numbers[-1] <= _LARGEST_ANSWER


def _are_counts(table: FloatArray) -> bool:
    return bool(((table >= 0) & (np.floor(table) == table) & np.isfinite(table)).all())


def require_no_stray_words(frame: Frame, others: Collection[str | None]) -> None:
    """Raise for another column of numbers with some words in it: it may be a class."""
    for name, column in frame.columns.items():
        if name in others or column.is_nested or isinstance(column.cells, np.ndarray):
            continue
        words = column.word_rows
        if 0 < len(words) <= len(column) // 2:
            raise frame.error(
                f"column {name} holds numbers and "
                f"{str(column.cells[words[0]])[:40]!r} at {frame.place(words[0])}; correct it",
                advice={"--classes": "says which columns are classes"},
            )
