"""JSON layouts of other tools as the rows of a table.

- LeWiDi, truth: one object from id to ``annotations``, ``annotators``, ``text``, ``split``.
- JUDGE-BENCH: one object with a list ``instances``.
- Alt-Test: one object from annotator to an object from item to label.
- PyEvALL, EXIST: objects with ``test_case``, ``id`` and ``value``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rue.errors import FileError

__all__ = ["OtherLayout", "known_layout"]

Record = Mapping[str, Any]


@dataclass(frozen=True)
class OtherLayout:
    """The rows that a layout of another tool holds, and a note that names it."""

    records: Sequence[dict[str, Any]]
    note: str


def known_layout(path: Path, records: Sequence[Record]) -> OtherLayout | None:
    """Return the rows of a layout that another tool writes, or None if it is none."""
    first = records[0]
    if len(records) > 1:
        if "value" in first and "test_case" in first:
            return OtherLayout(_pyevall(records), f"{path} was read as a file of PyEvALL")
        return None
    if isinstance(first.get("instances"), list) and first["instances"]:
        rows = [row for row in first["instances"] if isinstance(row, dict)]
        return OtherLayout(rows, f"{path} was read as a file of JUDGE-BENCH")
    values = list(first.values())
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return None
    if all("annotations" in value for value in values):
        return OtherLayout(_lewidi(path, first), f"{path} was read as a truth of LeWiDi")
    cells = [cell for value in values for cell in value.values()]
    if cells and all(isinstance(cell, str | int | float) for cell in cells):
        rows = [
            {"id": item, "annotator": annotator, "label": label}
            for annotator, labels in first.items()
            for item, label in labels.items()
        ]
        return OtherLayout(rows, f"{path} was read as labels by annotator and item")
    return None


def _lewidi(path: Path, items: Record) -> list[dict[str, Any]]:
    """Return one row per answer; 2023 writes annotations as text, 2025 as an object."""
    rows: list[dict[str, Any]] = []
    for key, item in items.items():
        annotations = item["annotations"]
        text = item.get("text")
        facts = {"id": key, "text": text if isinstance(text, str) else None}
        facts |= {name: item[name] for name in ("split", "lang") if isinstance(item.get(name), str)}
        if isinstance(annotations, dict):
            pairs = list(annotations.items())
        else:
            labels = [label.strip() for label in str(annotations).split(",")]
            names = [name.strip() for name in str(item.get("annotators", "")).split(",")]
            if len(names) != len(labels):
                raise FileError(
                    f"{path}: {key!r} has {len(labels)} annotations by {len(names)} annotators"
                )
            pairs = list(zip(names, labels, strict=True))
        for name, label in pairs:
            if isinstance(label, str) and "," in label:
                raise FileError(
                    f"{path}: {name} gave several answers about {key!r}, {label!r}: multi-label "
                    "answers are not read; write a file for each label with the answers 0 and 1"
                )
            rows.append({**facts, "annotator": name, "label": label})
    if not rows:
        raise FileError(f"{path}: holds no annotations")
    return rows


def _pyevall(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the id and the value: a number by class, a label, or a list of labels."""
    key = "probs" if isinstance(records[0]["value"], dict) else "label"
    return [{"id": record.get("id"), key: record.get("value")} for record in records]
