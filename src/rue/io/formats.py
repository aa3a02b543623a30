"""Tables on disk: .csv and .parquet files, read and written as columns of numpy.

A .csv may or may not have a header; what its first line is decides (:func:`is_header`). Numbers
are written with all their digits, so that a table that is written and read back has the same bits.
"""

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue._text import protected, unprotected
from rue.errors import FileError, InputError
from rue.io.atomic import replacing
from rue.io.opening import (
    ANNOTATOR_NAMES,
    ID_NAMES,
    file_size,
    opened,
    reading,
    require_memory,
    size_of_text,
    text_array,
)

__all__ = ["is_header", "load_table", "open_parquet", "save_table"]


_COLUMN_WORDS = {
    *(*ID_NAMES, *ANNOTATOR_NAMES, "name", "file", "file_name", "path", "image", "index"),
    *("text", "document", "split", "fold", "group", "cluster", "dataset", "method", "loss", "seed"),
    *("label", "class", "answer", "rating"),
    *("draw", "prob", "probs", "probability", "logit", "logits", "alpha", "count", "counts"),
    *("votes", "aleatoric", "epistemic", "total", "risk", "regret", "score", "accept"),
}
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf)", re.IGNORECASE
)
_PER_ROW = 16  # bytes that a row of a parquet column takes at least


def load_table(path: Path, *, named: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Read the columns of a .csv or .parquet file.

    Parameters
    ----------
    path
        The file.
    named
        Columns that the caller will ask for, such as ``--id`` and ``--by``: a first line that has
        one of them is a header.

    Returns
    -------
    dict
        Columns by name, n_rows each: float64 where all cells are numbers, else text. Columns of
        a .csv without a header are named by their number from 0, and ids are text in any case.

    Raises
    ------
    FileError
        If the file is no such table, or would take too much memory.
    """
    with opened(path) as file:
        if path.suffix.lower() == ".parquet":
            return _load_parquet(path, file)
        return _load_csv(path, file, named)


def save_table(path: Path, columns: Mapping[str, NDArray[Any]], *, parents: bool = False) -> None:
    """Write columns to a .csv or .parquet file, completely or not at all.

    Read back with :func:`load_table`, numbers have the same bits. Text that a spreadsheet would
    run as a formula gets an apostrophe, which reading takes away again; blanks at the ends of
    text are not kept by a .csv.

    Parameters
    ----------
    path
        The file to write; its ending decides the format.
    columns
        Columns by name, n_rows each: numbers, or text.
    parents
        Whether to create missing folders.
    """
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise FileError(f"{path}: a table must be .csv or .parquet, got {path.suffix!r}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"columns must all have the same length, got {lengths}")
    with replacing(path, parents=parents) as file:
        if kind == ".csv":
            _save_csv(file, columns)
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrays = {name: pa.array(np.asarray(column)) for name, column in columns.items()}
            pq.write_table(pa.table(arrays), file)


def is_header(path: Path, cells: Sequence[str], named: Collection[str] = ()) -> bool:
    """Return whether the first line of a table is its header, by what the line is.

    A line of numbers is a row, also 0, 1, 2, ...; a line of words is a header. A line of both is
    a header if a word in it is one that names columns (``id``, ``label``, ``split``, ... or one
    of ``named``), or its first cell is empty, as pandas writes above row numbers.

    Raises
    ------
    FileError
        If a line of words and numbers could be either.

    Examples
    --------
    >>> is_header(Path("a.csv"), ["0", "1", "2"]), is_header(Path("a.csv"), ["cat", "dog"])
    (False, True)
    >>> is_header(Path("a.csv"), ["id", "0", "1"])
    True
    """
    words = [cell.strip() for cell in cells if not _is_number(cell)]
    if not words:
        return False
    if len(words) == len(cells):
        return True
    known = _COLUMN_WORDS | {name.lower() for name in named}
    if not cells[0].strip() or any(word.lower() in known for word in words):
        return True
    raise FileError(
        f"{path}: line 1 holds words and numbers ({', '.join(cells)[:60]}), so it may be a header "
        "or a row: add a line of column names above it, or call the column of row names id"
    )


def open_parquet(path: Path, file: BinaryIO, words: Sequence[str] = ()) -> Any:
    """Return an open parquet file whose rows fit into memory.

    ``words`` names columns to keep as a list of words and each row's place in it: a long word
    may stand in many rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = file_size(file)
    # Arrow opens the file itself: a thread of Arrow that calls into Python aborts at exit.
    source = pq.ParquetFile(pa.OSFile(str(path)), read_dictionary=list(words))
    meta = source.metadata
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    require_memory(path, unpacked + meta.num_rows * _PER_ROW * meta.num_columns, size)
    return source


def _load_parquet(path: Path, file: BinaryIO) -> dict[str, NDArray[Any]]:
    import pyarrow as pa

    with reading(path, ".parquet"):
        source = open_parquet(path, file)
        types = {field.name: field.type for field in source.schema_arrow}
        if len(types) < len(source.schema_arrow):
            raise FileError(f"{path}: column names must not repeat")
        words = [name for name, kind in types.items() if _is_words(pa, kind)]
        kept = [name for name, kind in types.items() if name in words or _is_plain(pa, kind)]
        # The row numbers that pandas writes are no column.
        kept = [name for name in kept if not name.startswith("__index_level_")]
        if not source.metadata.num_rows:
            raise FileError(f"{path}: holds no rows")
        source = open_parquet(path, file, words)
        columns = {}
        for name in kept:
            column = source.read(columns=[name], use_threads=False).column(0)
            if column.null_count:
                raise FileError(f"{path}: column {name} has {column.null_count} missing values")
            columns[name] = _words(path, column) if name in words else _numbers(pa, column)
    return columns


def _is_words(pa: Any, kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_plain(pa: Any, kind: Any) -> bool:
    """Whether a column holds single values: numbers, or dates, which become text."""
    kinds = pa.types
    nested_or_raw = kinds.is_nested(kind) or kinds.is_dictionary(kind) or "binary" in str(kind)
    return not (nested_or_raw or kinds.is_null(kind))


def _words(path: Path, column: Any) -> NDArray[np.str_]:
    encoded = column.dictionary_encode().combine_chunks()
    words, place = encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)
    return text_array(path, [words[i] for i in place])


def _numbers(pa: Any, column: Any) -> NDArray[Any]:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    array: NDArray[Any] = column.to_numpy()
    return array if array.dtype.kind in "fiub" else array.astype(np.str_)


def _load_csv(path: Path, file: BinaryIO, named: Collection[str]) -> dict[str, NDArray[Any]]:
    with reading(path, ".csv"):
        size = file_size(file)
        require_memory(path, size, size)
        content = file.read()
        require_memory(path, size_of_text(content, b",\n"), size)
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.reader(text)
        lines = [(reader.line_num, row) for row in reader if row]
    if not lines:
        raise FileError(f"{path}: is empty")
    if all(len(row) > 1 and not row[-1].strip() for _, row in lines):
        lines = [(number, row[:-1]) for number, row in lines]  # a comma at the end of each line
    names = [name.strip() for name in lines[0][1]]
    if is_header(path, names, named):
        names = [unprotected(name) for name in names]
        del lines[0]
    else:
        names = [str(j) for j in range(len(names))]
    if len(set(names)) < len(names):
        raise FileError(f"{path}: column names must not repeat, got {', '.join(names)[:200]}")
    if not lines:
        raise FileError(f"{path}: holds no rows")
    for number, row in lines:
        if len(row) != len(names):
            raise FileError(f"{path}: line {number} has {len(row)} cells, expected {len(names)}")
    columns = zip(names, zip(*(row for _, row in lines), strict=True), strict=True)
    # A column without a name is the row numbers that pandas writes.
    return {name: _column(path, name, cells) for name, cells in columns if name}


def _save_csv(file: BinaryIO, columns: Mapping[str, NDArray[Any]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(protected(name) for name in columns)
    writer.writerows(zip(*map(_written, map(np.asarray, columns.values())), strict=True))
    text.detach()


def _written(column: NDArray[Any]) -> list[str]:
    match column.dtype.kind:
        case "b":
            return ["1" if cell else "0" for cell in column]
        case "f" | "i" | "u":
            return [repr(cell) for cell in column.tolist()]  # all digits
        case _:
            return [protected(str(cell)) for cell in column.tolist()]


def _column(path: Path, name: str, cells: tuple[str, ...]) -> NDArray[Any]:
    """Numbers if all cells are, else text; ids are text, whatever they look like."""
    if name.lower() not in ID_NAMES:
        text = [i for i, cell in enumerate(cells) if not _is_number(cell)]
        if not text:
            return np.array([float(cell) for cell in cells])
        if "" in (blank := [cells[i].strip() for i in text]) and len(text) < len(cells):
            row = text[blank.index("")]
            raise FileError(f"{path}: column {name} has an empty cell at row {row}")
    return text_array(path, [unprotected(cell.strip()) for cell in cells])


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None
