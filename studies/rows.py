"""Rows of a study on disk, and the stamp that says what computed them."""

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import rue
from studies import RESULTS, ROWS

Row = dict[str, Any]
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch")


def versions(*more: str) -> Row:
    """Return the versions of rue, Python and what rue computes with, and of more packages."""
    numbers = {"rue": rue.__version__, "python": platform.python_version()}
    for package in (*PACKAGES, *more):
        with suppress(PackageNotFoundError):
            numbers[package] = version(package)
    return numbers


def stamp(
    *more: str,
    checksums: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    """Return what computed a record: versions, checksums of the data, and settings."""
    made: Row = {"versions": versions(*more)}
    if checksums is not None:
        made["checksums"] = dict(checksums)
    if settings is not None:
        made["settings"] = dict(settings)
    return made


def where(rows: Iterable[Row], **values: Any) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if values.items() <= row.items()]


def grouped(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Return the rows by the value of a key, or by the tuple of several, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        values = tuple(row[key] for key in keys)
        groups.setdefault(values if len(keys) > 1 else values[0], []).append(row)
    return groups


def read_rows(name: str) -> Row:
    """Return the record docs/rows/NAME.json, or an empty one if there is none yet."""
    file = ROWS / f"{name}.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def read_run(name: str) -> Row:
    """Return an imported run of the benchmark, docs/results/NAME.json."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text()))


def write_rows(name: str, record: Mapping[str, Any]) -> None:
    """Write the record to docs/rows/NAME.json."""
    ROWS.mkdir(exist_ok=True)
    (ROWS / f"{name}.json").write_text(as_json(record))


def as_json(record: Mapping[str, Any]) -> str:
    """Return a record as every JSON file of docs/ has it."""
    return json.dumps(record, indent=1) + "\n"
