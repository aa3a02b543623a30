"""Read your own answers: one row per answer, one row per point with counts, or arrays of counts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rue.data.own.answers import OwnAnswers
from rue.data.own.counted import read_arrays, read_wide
from rue.data.own.long import read_long
from rue.data.own.table import find_columns, read_table
from rue.errors import FileError, InputError

__all__ = ["read_answers"]


def read_answers(
    path: Path, given: Mapping[str, str | None], classes: Sequence[str] | None = None
) -> OwnAnswers:
    """Read a file of answers in any of the three layouts.

    Parameters
    ----------
    path
        A .csv, .tsv, .jsonl or .parquet table, or an .npz with ``counts``.
    given
        What -> its column, where the user said so (``id``, ``label``, ``annotator``, ...).
    classes
        The classes in their order; None takes those that occur, numbers by size and words
        by the alphabet.
    """
    if classes is not None and len(set(classes)) < len(classes):
        raise InputError(f"classes must differ, got {', '.join(classes)}")
    if path.suffix.lower() == ".npz":
        return read_arrays(path, classes)
    table = read_table(path)
    # Texts may be in a separate file.
    elsewhere = {"text"} if given.get("text") not in table.columns else set()
    columns = find_columns(table, {k: v for k, v in given.items() if k not in elsewhere})
    if columns.id is None:
        raise FileError(
            f"{path} needs a column of ids (id, uid, item), it has {', '.join(table.columns)}: "
            "give --id"
        )
    if columns.label is not None or columns.rating is not None:
        return read_long(table, columns, classes)
    return read_wide(table, columns, classes)
