"""Names and other text: sorted, safe to print and to open in a spreadsheet, and short."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any

JsonObject = dict[str, Any]
"""An object of JSON, as it is read or about to be written; inside, objects are dataclasses."""

# Control characters, line separators, marks that turn the direction of text, lone surrogates.
_UNSAFE = (
    *(range(0x20), range(0x7F, 0xA0), (0x2028, 0x2029), (0x061C, 0x200E, 0x200F)),
    *(range(0x202A, 0x202F), range(0x2066, 0x206A), range(0xD800, 0xE000)),
)
ESCAPES = {code: f"\\u{code:04x}" for codes in _UNSAFE for code in codes}
ESCAPES |= {ord("\n"): r"\n", ord("\t"): r"\t", ord("\r"): r"\r"}
"""For ``text.translate``: what a terminal would obey instead of show, as escapes."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def are_numbers(names: Collection[str]) -> bool:
    """Return whether all names of classes are whole numbers."""
    return all(_WHOLE_NUMBER.fullmatch(name) for name in names)


def sorted_names(names: Collection[str]) -> list[str]:
    """Return names of classes sorted, whole numbers by their value."""
    return sorted(names, key=int) if are_numbers(names) else sorted(names)


def one_line(text: object) -> str:
    """Return text with line breaks and repeated blanks as one blank each."""
    return " ".join(str(text).split())


def protected(cell: str) -> str:
    """Return text for a cell of a .csv, with an apostrophe before what would run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unprotected(cell: str) -> str:
    """Return the text that :func:`protected` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def marked(name: str, cells: Iterable[str]) -> str:
    """Return the name of a column with an apostrophe in front if a cell of it is protected."""
    return f"'{name}" if any(unprotected(cell.strip()) != cell.strip() for cell in cells) else name


def short_repr(self: Any) -> str:
    """Return a dataclass as one line, with the shapes of arrays instead of their numbers."""
    parts = []
    for field in fields(self):
        value = getattr(self, field.name)
        empty = value is None or (isinstance(value, str | tuple | dict) and not value)
        if field.repr and not empty:
            parts.append(f"{field.name}={_short(value)}")
    return f"{type(self).__name__}({', '.join(parts)})"


def _short(value: Any) -> str:
    if hasattr(value, "shape") and value.size > 4:
        return f"<array of shape {value.shape}>"
    if isinstance(value, Mapping):
        return f"<{', '.join(map(str, value))}>"
    if isinstance(value, tuple | list):
        many = len(value) > 4 or any(map(is_dataclass, value))
        return f"<{len(value)} items>" if many else repr(value)
    if is_dataclass(type(value)) and hasattr(value, "__len__"):
        return f"<{type(value).__name__} of {len(value)} points>"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{value:.6g}"
    if " object at 0x" in repr(value):
        return str(getattr(value, "name", type(value).__name__))
    return " ".join(repr(value).split())
