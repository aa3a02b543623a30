"""Write the TOML file of your own data set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rue._schema import plain
from rue.data.own.description import Description
from rue.errors import InputError
from rue.io.atomic import replacing

__all__ = ["save_description", "write_description"]

_HEADER = "# Written by `rue data check`."


def save_description(description: Description, path: Path) -> None:
    """Write the TOML file; a file that the check did not write is not overwritten."""
    if path.suffix != ".toml":
        raise InputError(f"the description must be a .toml file, got {path}")
    if path.exists():
        try:
            ours = path.is_file() and path.read_text(encoding="utf-8").startswith(_HEADER)
        except (OSError, UnicodeDecodeError):
            ours = False
        if not ours:
            raise InputError(
                f"{path} exists and is not from `rue data check`",
                advice={"--out": "chooses another file"},
            )
    with replacing(path) as file:
        file.write(write_description(description).encode())


def write_description(description: Description) -> str:
    """Return the text of the TOML file."""
    lines = [
        _HEADER,
        f'# Use it in a suite: datasets = ["{description.name}.toml"]',
        f"answers = {_toml(description.answers)}",
    ]
    if description.columns:
        lines.append(f"columns = {_toml(description.columns)}")
    for key in ("classes", "inputs", "splits", "licence", "citation"):
        value = getattr(description, key)
        if value:
            lines.append(f"{key} = {_toml(value)}")
    for key, values in (
        ("facts", plain(description.facts) or {}),
        ("checksums", description.checksums),
    ):
        lines += ["", f"[{key}]"]
        lines += [f"{_key(k)} = {_toml(v)}" for k, v in values.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if bare else _toml(name)
