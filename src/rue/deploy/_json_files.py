"""JSON files of rules and maps: written completely or not at all, and read with one-line errors."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rue._text import one_line
from rue.errors import FileError, InputError
from rue.io.atomic import replacing

__all__ = ["read_json", "write_json"]

Built = TypeVar("Built")


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write an object as JSON; raise FileError if the file cannot be written."""
    text = json.dumps(content, indent=2, allow_nan=False)
    with replacing(Path(path)) as file:
        file.write(text.encode() + b"\n")


def read_json(path: str | Path, what: str, build: Callable[[Mapping[str, Any]], Built]) -> Built:
    """Return what ``build`` makes of the object in a file; raise FileError if it cannot."""
    path = Path(path)
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(known, dict):
            raise InputError(f"must hold an object, got {type(known).__name__}")
        return build(known)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise FileError(f"{path}: is not {what}: lacks {error}") from None
    except RecursionError:
        raise FileError(f"{path}: is not {what}: it is nested too deeply") from None
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise FileError(f"{path}: is not {what}: {one_line(error)}") from None
