"""Read rows of a published table: some of its columns, with line numbers."""

import csv
import io
from collections.abc import Iterator, Sequence

from rue.errors import FileError

__all__ = ["csv_rows"]


def csv_rows(
    data: bytes, path: str, columns: Sequence[str], *, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    r"""Return the line number and the cells of each row that is not blank.

    Parameters
    ----------
    data
        UTF-8, with or without a byte order mark; the first row names the columns.
    path
        The file's name, for messages.
    columns
        The columns to return, in this order. Case, spaces and signs are ignored: "File Name",
        "file_name" and "file-name" are one column.
    delimiter
        The character between two cells.

    Raises
    ------
    FileError
        If a column is missing or occurs twice, a row is too short or too long, or it is no table.

    Examples
    --------
    >>> list(csv_rows(b"Image name,votes\na.png,3\n\nb.png,4\n", "v.csv", ["votes", "image_name"]))
    [(2, ['3', 'a.png']), (4, ['4', 'b.png'])]
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} must be UTF-8: {error}") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = next(reader, [])
        found = [_plain(name) for name in header]
        if any(found.count(_plain(column)) != 1 for column in columns):
            raise FileError(
                f"{path} needs the columns {', '.join(columns)}, "
                f"found {', '.join(header) or 'none'}"
            )
        places = [found.index(_plain(column)) for column in columns]
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                raise FileError(
                    f"{path}: line {reader.line_num} has {len(row)} cells for {len(header)} columns"
                )
            if len(row) <= max(places):
                raise FileError(
                    f"{path}: line {reader.line_num} is too short for the columns "
                    f"{', '.join(columns)}, got {row}"
                )
            yield reader.line_num, [row[place] for place in places]
    except csv.Error as error:
        raise FileError(f"{path} is not a valid csv file: {error}") from None


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name.strip().lower())
