"""JSON lines: one object a line, and a message that names the line that is not one."""

import json
from collections.abc import Iterator
from typing import Any

from rue.errors import FileError

__all__ = ["json_lines"]


def json_lines(data: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Return the number and the object of each line that is not blank.

    Parameters
    ----------
    data
        UTF-8, with or without a byte order mark.
    path
        The file's name, for messages.

    Raises
    ------
    FileError
        If a line is not a JSON object, or the file holds none.

    Examples
    --------
    >>> list(json_lines(b'{"uid": "a"}\n\n{"uid": "b"}\n', "pairs.jsonl"))
    [(1, {'uid': 'a'}), (3, {'uid': 'b'})]
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} must be UTF-8: {error}") from None
    empty = True
    for number, line in enumerate(text.split("\n"), 1):  # a text may hold other line separators
        if not line.strip():
            continue
        empty = False
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{path}: line {number} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise FileError(f"{path}: line {number} must be an object, got {line[:40].strip()}")
        yield number, row
    if empty:
        raise FileError(f"{path} holds no line")
