"""Changes of tables, and tables as .csv and .parquet files."""

import csv
import io
import random
from pathlib import Path
from typing import Any

from fuzz import odd
from fuzz.bytewise import change_bytes, encode

Table = list[list[str]]
"""Rows of cells, the header first."""


def change_table(rng: random.Random, table: Table) -> Table:
    """Return a table with other cells, names, rows or columns."""
    table = [list(row) for row in table]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        row = rng.randrange(len(table))
        column = rng.randrange(len(table[0])) if table[0] else 0
        match rng.randrange(11):
            case 0:
                table[0][column : column + 1] = [rng.choice((*odd.NAMES, odd.cell(rng)))]
            case 1:
                del table[row]
            case 2:
                table.insert(row, list(table[rng.randrange(len(table))]))
            case 3:
                table = [[*line[:column], *line[column + 1 :]] for line in table]
            case 4:
                table = [[*line, *line[column : column + 1]] for line in table]
            case 5:
                table[row] = table[row][: rng.randrange(len(table[row]) + 1)]
            case 6:
                table[row] = [*table[row], odd.cell(rng)]
            case 7:
                rng.shuffle(table)
            case 8:
                same = odd.cell(rng)
                for line in table[1:]:
                    line[column : column + 1] = [same]
            case _:
                table[row][column : column + 1] = [odd.cell(rng)]
        if not table:
            return [[]]
    return table


def written(line: list[Any], **options: Any) -> str:
    """Write one line of a table without its end, which csv.writer does not let be anything."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", **options).writerow(line)
    return buffer.getvalue().removesuffix("\n")


def write_csv(rng: random.Random, path: Path, table: Table, *, odd_form: bool) -> None:
    """Write a table; in an ``odd_form`` with other separators, line ends, codes or bytes."""
    separator = rng.choice(",,,;\t|") if odd_form else ","
    end = rng.choice(("\n", "\n", "\r\n", "\r", ",\n", "\n\n")) if odd_form else "\n"
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)) if odd_form else csv.QUOTE_MINIMAL
    text = "".join(written(line, delimiter=separator, quoting=quoting) + end for line in table)
    content = encode(rng, text) if odd_form else text.encode("utf-8", "surrogatepass")
    if odd_form and rng.random() < 0.4:
        content = change_bytes(rng, content)
    path.write_bytes(content)


def write_parquet(rng: random.Random, path: Path, table: Table, *, odd_form: bool) -> None:
    """Write a table; in an ``odd_form`` with nulls, nested or other types, and other bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [row for row in table[1:] if len(row) == len(table[0])]
    names = [name.encode("utf-8", "replace").decode() for name in table[0]]
    columns = [_column(pa, [row[j] for row in rows]) for j in range(len(names))]
    if odd_form and columns:
        j = rng.randrange(len(columns))
        columns[j] = _odd_column(rng, pa, columns[j])
    packing = rng.choice(("NONE", "SNAPPY", "GZIP")) if odd_form else "NONE"
    made = pa.Table.from_arrays(columns, names)
    pq.write_table(made, path, compression=packing, row_group_size=rng.choice((1, 5, 1000)))
    if odd_form and rng.random() < 0.4:
        path.write_bytes(change_bytes(rng, path.read_bytes()))


def _column(pa: Any, cells: list[str]) -> Any:
    try:
        return pa.array([float(cell) for cell in cells], pa.float64())
    except ValueError:
        return pa.array([cell.encode("utf-8", "replace").decode() for cell in cells], pa.string())


def _odd_column(rng: random.Random, pa: Any, column: Any) -> Any:
    cells = column.to_pylist()
    match rng.randrange(8):
        case 0:
            return pa.array([None if rng.random() < 0.3 else cell for cell in cells], column.type)
        case 1:
            return pa.array([[cell] for cell in cells])
        case 2:
            return pa.array([{"a": cell} for cell in cells])
        case 3:
            return column.dictionary_encode()
        case 4:
            return pa.array([str(cell).encode() for cell in cells], pa.binary())
        case 5:
            return pa.nulls(len(cells))
        case 6:
            return pa.array([i * 10**9 for i in range(len(cells))], pa.timestamp("ns"))
        case _:
            return pa.array([bool(i % 2) for i in range(len(cells))])
