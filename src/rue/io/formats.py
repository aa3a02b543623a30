"""Raw files: archives, arrays and tables as columns of numpy, every failure a clear error.

Pickled arrays are refused.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError

IDS = ("ids", "id")
"""What a column of row names may be called, in either case."""


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an .npz archive."""
    with _opened(path) as file, _reading(path, ".npz"):
        archive = np.load(file, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise FileError(f"{path}: is an .npy array, not an .npz archive")
        with archive:
            members = {name: archive[name] for name in archive.files}
    return {name: array for name, array in members.items() if isinstance(array, np.ndarray)}


def load_npy(path: Path) -> NDArray[Any]:
    """Map an .npy array into memory, read-only."""
    with _opened(path):  # says no better than numpy
        pass
    with _reading(path, ".npy"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise FileError(f"{path}: is an archive, not an .npy array")
    return array


def load_table(path: Path) -> dict[str, NDArray[Any]]:
    """Read a .csv or .parquet as columns; without a header they are named by their number."""
    with _opened(path) as file:
        return _load_parquet(path, file) if path.suffix.lower() == ".parquet" else _load_csv(path)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader raises on a broken file into one clear error."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        raise FileError(f"{path}: cannot be read as {kind}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = str(error)
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled objects, which are refused"
    return text or "it is truncated or empty"


def _load_parquet(path: Path, file: BinaryIO) -> dict[str, NDArray[Any]]:
    import pyarrow.parquet as pq

    with _reading(path, ".parquet"):
        table = pq.read_table(file)
        columns = {}
        for name in table.column_names:
            if name.startswith("__index_level_"):
                continue  # the row numbers that pandas writes
            column = table.column(name)
            if column.null_count:
                raise FileError(f"{path}: column {name} has {column.null_count} missing values")
            array = column.to_numpy()
            columns[name] = array if array.dtype.kind in "fiub" else array.astype(np.str_)
    if not table.num_rows:
        raise FileError(f"{path}: holds no rows")
    return columns


def _load_csv(path: Path) -> dict[str, NDArray[Any]]:
    with _reading(path, ".csv"), path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        lines = [(reader.line_num, row) for row in reader if row]
    if not lines:
        raise FileError(f"{path}: is empty")
    if all(len(row) > 1 and not row[-1].strip() for _, row in lines):
        lines = [(number, row[:-1]) for number, row in lines]  # a comma at the end of each line
    names = [name.strip() for name in lines[0][1]]
    numbers = [str(j) for j in range(len(names))]
    # A row 0, 1, 2, ... is the header that pandas gives to columns without names.
    if any(_is_text(name) for name in names) or (names == numbers and len(names) > 2):
        del lines[0]
    else:
        names = numbers
    if len(set(names)) < len(names):
        raise FileError(f"{path}: column names must not repeat, got {', '.join(names)}")
    if not lines:
        raise FileError(f"{path}: holds no rows")
    for number, row in lines:
        if len(row) != len(names):
            raise FileError(f"{path}: line {number} has {len(row)} cells, expected {len(names)}")
    columns = zip(names, zip(*(row for _, row in lines), strict=True), strict=True)
    # A column without a name is the row numbers that pandas writes.
    return {name: _column(path, name, cells) for name, cells in columns if name}


def _column(path: Path, name: str, cells: tuple[str, ...]) -> NDArray[Any]:
    """Numbers if all cells are, else text; ids are text, whatever they look like."""
    if name.lower() in IDS:
        return np.array([cell.strip() for cell in cells])
    text = [i for i, cell in enumerate(cells) if _is_text(cell)]
    if not text:
        return np.array([float(cell) for cell in cells])
    if "" in (blank := [cells[i].strip() for i in text]) and len(text) < len(cells):
        row = text[blank.index("")]
        raise FileError(f"{path}: column {name} has an empty cell at row {row}")
    return np.array([cell.strip() for cell in cells])


def _is_text(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return True
    return False
