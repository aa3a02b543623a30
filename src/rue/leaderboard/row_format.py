"""The format of a submission's row.json, checked before it is used."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rue.bench._row_schema import is_number
from rue.bench.conventions import convention_of
from rue.errors import InputError
from rue.losses import get_loss
from rue.metrics.columns import COLUMNS

__all__ = ["OWN_REGIME", "require_definition", "row_facts"]

OWN_REGIME = "own"
"""The regime of a submission that names none: its settings are its own."""

_LONGEST = 200
_DIGITS = 3, 12
_PREDICTIONS = ("predictions.npz", "predictions.jsonl", "predictions.parquet", "predictions.csv")
_NOT_CLAIMS = ("loss", "method", "group", "notes", "convention", "n_points", "n_floored")


def row_facts(folder: Path, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a Submission that a row.json in a folder states.

    Raises
    ------
    ValueError
        If something is missing or malformed.
    """
    known = (*_CHECKS, "rows")
    for key in row:
        if key not in known:
            raise ValueError(f"{key!r} must be one of {', '.join(known)}")
    for key in ("method", "data", "rows"):
        if key not in row:
            raise ValueError(f"it lacks {key!r}")
    for key, (check, rule) in _CHECKS.items():
        if key in row and not check(row[key]):
            raise ValueError(f"{key} must be {rule}, got {row[key]!r:.60}")
    facts = {key: row[key] for key in _CHECKS if key in row}
    facts["claims"] = _claims(row["rows"], row["method"])
    facts["predictions"] = _predictions(folder, row.get("predictions"))
    if "truth" in facts and (folder / facts["truth"]).is_file():
        facts["truth"] = folder / facts["truth"]
    if "values" in facts:
        facts["values"] = tuple(map(float, facts["values"]))
    return {"regime": OWN_REGIME, "seed": 0, **facts}


def require_definition(row: Mapping[str, Any]) -> None:
    """Raise ValueError if a row follows another convention than Definition 1."""
    if (found := convention_of(row)) != "definition":
        raise ValueError(
            f"its rows follow the convention {found}, and a leaderboard has rows of Definition 1"
        )


def _claims(rows: Any, method: str) -> dict[str, dict[str, float | None]]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("rows must be a list of one object for each loss")
    found: dict[str, dict[str, float | None]] = {}
    for i, row in enumerate(rows):
        loss = row.get("loss")
        if not isinstance(loss, str):
            raise ValueError(f"rows[{i}] must have a loss, got {loss!r:.60}")
        try:
            get_loss(loss)
        except InputError as error:
            raise ValueError(str(error)) from None
        if loss in found:
            raise ValueError(f"rows must have each loss once, got {loss} twice")
        if row.get("method", method) != method:
            raise ValueError(f"rows[{i}] must be of the method {method}, got {row['method']!r:.60}")
        require_definition(row)
        if "n_aurec" not in row:
            raise ValueError(f"rows[{i}] must have n_aurec")
        found[loss] = {}
        for key, value in row.items():
            if key in _NOT_CLAIMS:
                continue
            if key not in COLUMNS:
                raise ValueError(f"rows[{i}] must have columns of rue evaluate, got {key!r}")
            if value is not None and not is_number(value):
                raise ValueError(f"rows[{i}].{key} must be a number or null, got {value!r:.60}")
            found[loss][key] = value
    return found


def _predictions(folder: Path, name: str | None) -> Path:
    names = _PREDICTIONS if name is None else (name,)
    there = [each for each in names if (folder / each).is_file()]
    if not there:
        raise ValueError(f"there is no {names[0]} beside it")
    if len(there) > 1:
        raise ValueError(f"there must be one prediction file beside it, got {', '.join(there)}")
    return folder / there[0]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= _LONGEST


def _is_file_name(value: Any) -> bool:
    return _is_name(value) and Path(value).name == value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_checksum(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "method": (_is_name, f"a name of at most {_LONGEST} characters"),
    "data": (_is_name, f"a name of at most {_LONGEST} characters"),
    "regime": (_is_name, f"a name of at most {_LONGEST} characters"),
    "seed": (_is_whole, "a whole number, at least 0"),
    "truth": (_is_file_name, "the name of a data set, or of a file in the same folder"),
    "predictions": (_is_file_name, "the name of a file in the same folder"),
    "values": (lambda v: isinstance(v, list) and all(map(is_number, v)), "a list of numbers"),
    "predictions_sha256": (_is_checksum, "64 digits, hexadecimal"),
    "data_sha256": (_is_checksum, "64 digits, hexadecimal"),
    "digits": (
        lambda v: _is_whole(v) and _DIGITS[0] <= v <= _DIGITS[1],
        f"a number of decimals from {_DIGITS[0]} to {_DIGITS[1]}",
    ),
    "settings": (lambda v: isinstance(v, dict), "a JSON object"),
    "link": (
        lambda v: isinstance(v, str) and re.match(r"https?://[^\s]+$", v) is not None,
        "an address that starts with https:// or http://",
    ),
}
