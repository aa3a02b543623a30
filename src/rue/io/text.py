"""Tables of text: .csv, .tsv and .txt files, with or without a header.

The separator is the one that divides the first lines into equally many cells; numbers between
semicolons or tabs may have decimal commas. What the first line is decides whether it is a header.
"""

import csv
import io
import itertools
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from rue._text import marked, unprotected
from rue.errors import FileError
from rue.io.columns import FrameColumn, is_number, is_percentage
from rue.io.files import Frame, suffix_of
from rue.io.memory import MemoryBudget, reading
from rue.io.names import ANNOTATOR_NAMES, ID_NAMES, UNNAMED

COLUMN_WORDS = {
    *(*ID_NAMES, *ANNOTATOR_NAMES, "name", "file", "file_name", "path", "image", "index"),
    *("text", "document", "split", "fold", "group", "cluster", "dataset", "method", "loss", "seed"),
    *("label", "class", "answer", "rating"),
    *("draw", "prob", "probs", "probability", "logit", "logits", "alpha", "count", "counts"),
    *("votes", "aleatoric", "epistemic", "total", "risk", "regret", "score", "accept"),
}
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?(?:\s*%)?")
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}
_LOOKED_AT = 20  # lines


def read_text(
    path: Path,
    text: str,
    budget: MemoryBudget,
    names: Collection[str] = (),
    *,
    matrix: bool = False,
) -> Frame:
    """Read the table in a text; ``names`` are columns that a header may have."""
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as old Macs end lines
    usual = "\t" if suffix_of(path) == ".tsv" else ","
    separator = _separator(text, usual)
    with reading(path, ".csv"):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        lines = [(reader.line_num, row) for row in reader if row]
    if not lines:
        raise FileError(f"{path}: is empty")
    if all(len(row) > 1 and not row[-1].strip() for _, row in lines):
        lines = [(number, row[:-1]) for number, row in lines]  # a separator at each line's end
    first = lines[0][1]
    if usual == "\t" and (first[-1].strip().startswith("[") or all(map(is_number, first))):
        from rue.io.logs import lewidi_submission

        submission = lewidi_submission(path, lines)
        if submission is not None:
            cells_by_name, note = submission
            columns = {name: FrameColumn(cells, budget) for name, cells in cells_by_name.items()}
            return Frame(path, columns, {}, [number for number, _ in lines], True, (note,))
    header = [name.strip() for name in lines[0][1]]
    notes = []
    if separator != usual:
        notes.append(f"{path} was read as separated by {_SEPARATORS[separator]}")
    if separator != "," and _decimal_commas(lines):
        notes.append(f"{path} was read with decimal commas")
    others = [] if matrix else [row for _, row in lines[1:]]
    named = is_header(path, [name.lstrip("'") for name in header], names, others)
    if named:
        header = [unprotected(name) for name in header]
        del lines[0]
    else:
        header = [str(j) for j in range(len(header))]
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise FileError(f"{path}: column names must not repeat, {twice[0]!r} does")
    if not lines:
        raise FileError(f"{path}: holds no rows")
    for number, row in lines:
        if len(row) != len(header):
            raise FileError(f"{path}: line {number} has {len(row)} cells, expected {len(header)}")
    cells: list[Sequence[str]] = list(zip(*(row for _, row in lines), strict=True))
    for j, column in enumerate(cells):
        if marked(header[j].removeprefix("'"), column) == header[j] != header[j].removeprefix("'"):
            header[j] = header[j].removeprefix("'")  # as rue writes a column of protected cells
            cells[j] = [unprotected(cell.strip()) for cell in column]
    columns = {
        name or UNNAMED: FrameColumn(column, budget)
        for name, column in zip(header, cells, strict=True)
    }
    if UNNAMED in columns and (next(iter(columns)) != UNNAMED or columns[UNNAMED].counts_rows):
        del columns[UNNAMED]
    return Frame(path, columns, {}, [number for number, _ in lines], named, tuple(notes))


def is_header(
    path: Path,
    cells: Sequence[str],
    names: Collection[str] = (),
    others: Sequence[Sequence[str]] = (),
) -> bool:
    """Return whether the first line of a table is its header, by what the line is."""
    words = [
        cell.strip()
        for cell in cells
        if not (is_number(cell) or is_percentage(cell) or cell.strip().lower() == "nan")
    ]
    if not words:
        return len(cells) > 1 and _are_numbered(path, cells, others)
    if len(words) == len(cells):
        return True
    usual = COLUMN_WORDS | {name.lower() for name in names}
    if not cells[0].strip() or any(word.lower() in usual for word in words):
        return True
    raise FileError(
        f"{path}: line 1 holds words and numbers ({', '.join(cells)[:60]}), so it may be a header "
        "or a row: add a line of column names above it, or call the column of row names id"
    )


def _are_numbered(path: Path, cells: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether a line 0, 1, ..., K-1 names columns; raise where it may be a row as well."""
    if [cell.strip() for cell in cells] != [str(j) for j in range(len(cells))] or not others:
        return False
    flat = [cell for row in others for cell in row]
    if not all(map(is_number, flat)):
        return True
    if any("." in cell for cell in flat):  # whoever writes 0.3 writes 1.0
        return True
    sums = {sum(map(float, row)) for row in others}
    if len(sums) == 1 and len(cells) * (len(cells) - 1) / 2 not in sums:
        return True  # every other point has the same number of answers, and this one has not
    raise FileError(
        f"{path}: line 1 is {', '.join(cells)[:60]}, so it may name the columns or be a row: "
        "write names of classes into a header line"
    )


def _separator(text: str, usual: str) -> str:
    """Return what separates cells: the same number of times in each of the first lines."""
    lines = [line for line in itertools.islice(io.StringIO(text), _LOOKED_AT + 1) if line.strip()]
    lines = lines[:_LOOKED_AT]
    plain = [re.sub(r'"[^"]*"', "", line) for line in lines]
    regular = [
        separator
        for separator in (usual, *_SEPARATORS)
        if plain and plain[0].count(separator) and len({p.count(separator) for p in plain}) == 1
    ]
    if not regular:
        return next((s for s in (usual, *_SEPARATORS) if plain and s in plain[0]), usual)
    if regular[0] == "," and ";" in regular:  # 1;0,5;0,5 has commas, too
        halves = [cell for line in plain for cell in line.strip().split(";")]
        if all(_DECIMAL_COMMA.fullmatch(cell) for cell in halves if "," in cell):
            return ";"
    return regular[0]


def _decimal_commas(lines: Sequence[tuple[int, list[str]]]) -> bool:
    """Write decimal commas as points, in place, unless a cell has a point; say whether.

    The first line may name classes, such as 0.5.
    """
    cells = [cell for _, row in lines[1:] for cell in row]
    if not any(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in cells):
        return False
    if any("." in cell and is_number(cell) for cell in cells):
        return False
    for _, row in lines:
        row[:] = [
            cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell
            for cell in row
        ]
    return True
