"""The schema of a cell's row.json, checked before any of it is used."""

import math
from collections.abc import Callable
from typing import Any

__all__ = ["find_problem", "is_number"]

_Check = Callable[[Any], bool]


def find_problem(row: Any) -> str | None:
    """Return what is wrong with a row as it was read from JSON, or None."""
    if not isinstance(row, dict):
        return "it is no JSON object"
    for key, check in _KEYS.items():
        if key not in row and key != "proxies":
            return f"it lacks {key}"
        if not check(row.get(key, {})):
            return f"its {key} is malformed"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the floats
        return False


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _object_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _list_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_result(value: Any) -> bool:
    """Return whether a value is one evaluation: text, notes, and numbers or None."""
    if not isinstance(value, dict) or not {"method", "loss"} <= set(value):
        return False
    words, notes = ("method", "loss", "group", "convention"), _list_of(_is_text)
    return all(
        _is_text(v) if k in words else notes(v) if k == "notes" else v is None or is_number(v)
        for k, v in value.items()
    )


def _is_proxies(value: Any) -> bool:
    """Return whether a value holds numbers by key, and optional ``details``."""
    return isinstance(value, dict) and all(
        v is None or key == "details" or is_number(v) for key, v in value.items()
    )


def _is_data(value: Any) -> bool:
    checks = {
        "checksums": _object_of(_is_text),
        "n_train": is_number,
        "n_test": is_number,
        "notes": _list_of(_is_text),
    }
    return isinstance(value, dict) and all(check(value.get(key)) for key, check in checks.items())


_KEYS: dict[str, _Check] = {
    "checksum": _is_text,
    "cell": _is_object,
    "config": lambda value: isinstance(value, dict) and _is_object(value.get("settings")),
    "config_hash": _is_text,
    "rows": _list_of(_is_result),
    "proxies": _is_proxies,
    "data": _is_data,
    "seconds": _object_of(is_number),
    "versions": _object_of(_is_text),
    "predictions_sha256": _is_text,
}
