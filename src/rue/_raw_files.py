"""Raw files: archives, arrays and tables as columns of numpy, every failure a clear error.

Pickled arrays are refused.
"""

import csv
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an .npz archive."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FileError(f"{path}: is not an .npz archive")
            return {name: archive[name] for name in archive.files}
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise FileError(f"{path}: cannot be read as .npz: {_reason(error)}") from None


def load_npy(path: Path) -> NDArray[Any]:
    """Map an .npy array into memory, read-only."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: cannot be read as .npy: {_reason(error)}") from None
    if not isinstance(array, np.ndarray):
        raise FileError(f"{path}: is an archive, not an .npy array")
    return array


def load_table(path: Path) -> dict[str, NDArray[Any]]:
    """Read a table as columns; without a header they are named by their number."""
    try:
        return _load_parquet(path) if path.suffix.lower() == ".parquet" else _load_csv(path)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: cannot be read: {error}") from None


def _reason(error: Exception) -> str:
    text = str(error)
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled objects, which are refused"
    return text or "it is truncated or empty"


def _load_parquet(path: Path) -> dict[str, NDArray[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            table = pq.read_table(file)
    except pa.ArrowException as error:
        raise FileError(f"{path}: cannot be read as .parquet: {error}") from None
    if not table.num_rows:
        raise FileError(f"{path}: holds no rows")
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            raise FileError(f"{path}: column {name} has {column.null_count} missing values")
        array = column.to_numpy()
        columns[name] = array if array.dtype.kind in "fiub" else array.astype(np.str_)
    return columns


def _load_csv(path: Path) -> dict[str, NDArray[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise FileError(f"{path}: is empty")
    first = rows[0]
    header = first if any(_is_text(cell) for cell in first) else [str(j) for j in range(len(first))]
    header = [name.strip() for name in header]
    if len(set(header)) < len(header):
        raise FileError(f"{path}: column names must not repeat, got {', '.join(header)}")
    body = rows[1:] if header != [str(j) for j in range(len(first))] else rows
    if not body:
        raise FileError(f"{path}: holds no rows")
    for number, row in enumerate(body, len(rows) - len(body) + 1):
        if len(row) != len(header):
            raise FileError(f"{path}: line {number} has {len(row)} cells, expected {len(header)}")
    columns = zip(header, zip(*body, strict=True), strict=True)
    # A column without a name is the row numbers that pandas writes.
    return {name: _column(path, name, cells) for name, cells in columns if name}


def _column(path: Path, name: str, cells: tuple[str, ...]) -> NDArray[Any]:
    """Numbers if all cells are; text if none is."""
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
