"""Checks of single values in a suite's file; each error names the key and the value."""

import difflib
import math
from collections.abc import Collection
from typing import Any

from rue.errors import InputError

__all__ = [
    "as_names",
    "nearest",
    "require_different",
    "require_known",
    "require_like",
    "require_table",
]


def require_different(key: str, values: Collection[object]) -> None:
    """Raise unless there are one or more values, all different."""
    if not values or len(set(values)) < len(values):
        raise InputError(f"{key} must be one or more different ones, got {list(values)}")


def require_like(what: str, value: Any, usual: Any) -> None:
    """Raise unless a value has the type of the default; a float may be a whole number."""
    if isinstance(usual, float) and type(value) in (int, float) and math.isfinite(value):
        return
    if isinstance(usual, float) or type(value) is not type(usual):
        raise InputError(f"{what} must be like {usual!r}, got {value!r}")


def as_names(key: str, values: Any) -> tuple[str, ...]:
    """Return a list of names as a tuple; raise if it is no such list."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{key} must be a list of names, got {values!r}")
    return tuple(values)


def require_table(key: str, value: Any) -> None:
    """Raise unless a value is a table of TOML."""
    if not isinstance(value, dict):
        raise InputError(f"{key} must be a table, [{key}], got {value!r}")


def require_known(what: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise for the first of ``given`` that is unknown; the error suggests the nearest name."""
    for name in given:
        if name not in known:
            raise InputError(
                f"{what} must be of {', '.join(known)}, got {name!r}{nearest(name, known)}"
            )


def nearest(name: str, known: Collection[str]) -> str:
    """Return a question that names the nearest known name, or nothing if none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.4)
    return f": did you mean {near[0]!r}?" if near else ""
