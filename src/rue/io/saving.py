"""Tables written to disk: .csv and .parquet, completely or not at all."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rue._text import marked, protected
from rue.errors import FileError, InputError
from rue.io.atomic import replacing

__all__ = ["save_table"]


def save_table(path: Path, columns: Mapping[str, NDArray[Any]], *, parents: bool = False) -> None:
    """Write columns to a .csv or .parquet file, completely or not at all.

    Read back, numbers have the same bits. Text that a spreadsheet would
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


def _save_csv(file: BinaryIO, columns: Mapping[str, NDArray[Any]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    cells = {name: _written(np.asarray(column)) for name, column in columns.items()}
    writer.writerow(marked(protected(name), column) for name, column in cells.items())
    writer.writerows(zip(*cells.values(), strict=True))
    text.detach()


def _written(column: NDArray[Any]) -> list[str]:
    match column.dtype.kind:
        case "b":
            return ["1" if cell else "0" for cell in column]
        case "f" | "i" | "u":
            return [repr(cell) for cell in column.tolist()]  # all digits
        case _:
            return [protected(str(cell)) for cell in column.tolist()]
