"""Rows of a study on disk, and the stamp that says what computed them."""

import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import rue
from studies import ROWS

Row = dict[str, Any]


def stamp(
    *packages: str,
    checksums: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    """Return what computed a record: versions, checksums of the data, and settings.

    Packages that are not installed are left out. Merge the result into the record:
    ``stamp("numpy", settings={"seeds": [0, 1]}) | {"rows": rows}``.
    """
    versions = {"rue": rue.__version__, "python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    made: Row = {"versions": versions}
    if checksums is not None:
        made["checksums"] = dict(checksums)
    if settings is not None:
        made["settings"] = dict(settings)
    return made


def read_rows(name: str) -> Row:
    """Return the record docs/rows/NAME.json, or an empty one if there is none yet."""
    file = ROWS / f"{name}.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def write_rows(name: str, record: Mapping[str, Any]) -> None:
    """Write the record to docs/rows/NAME.json."""
    ROWS.mkdir(exist_ok=True)
    (ROWS / f"{name}.json").write_text(as_json(record))


def as_json(record: Mapping[str, Any]) -> str:
    """Return a record as every JSON file of docs/ has it."""
    return json.dumps(record, indent=1) + "\n"
