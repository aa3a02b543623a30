"""Names and other text from files: sorted, and safe to print and to open in a spreadsheet."""

import re
from collections.abc import Collection

__all__ = [
    "are_numbers",
    "one_line",
    "printable",
    "protected",
    "sorted_names",
    "unprotected",
]

# Control characters, line separators, marks that turn the direction of text, lone surrogates.
_UNSAFE = "\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE_NAME = re.compile(f"[{_UNSAFE}]")
# Lines may break, and a table's own marks for bold and underlined stay.
_UNSAFE_LINES = re.compile(f"\x1b\\[[014]m|\n|[{_UNSAFE}]")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return text with what a terminal would obey instead of show written as escapes.

    Parameters
    ----------
    text
        Any text.
    lines
        Keep line breaks, and the codes for bold and underlined that tables are marked with.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\nc"))
    a\u001b[31mb\nc
    """
    if lines:
        own = "\x1b[0m", "\x1b[1m", "\x1b[4m", "\n"
        return _UNSAFE_LINES.sub(lambda m: m[0] if m[0] in own else _escape(m), text)
    return _UNSAFE_NAME.sub(_escape, text)


def are_numbers(names: Collection[str]) -> bool:
    """Return whether all names of classes are whole numbers."""
    return all(_WHOLE_NUMBER.fullmatch(name) for name in names)


def sorted_names(names: Collection[str]) -> list[str]:
    """Return names of classes sorted, whole numbers by their value.

    Examples
    --------
    >>> sorted_names(["10", "2", "-1"]), sorted_names(["10", "2", "x"])
    (['-1', '2', '10'], ['10', '2', 'x'])
    """
    return sorted(names, key=int) if are_numbers(names) else sorted(names)


def one_line(text: object) -> str:
    r"""Return text with line breaks and repeated blanks as one blank each.

    Examples
    --------
    >>> one_line("not a tar file:\n  - truncated")
    'not a tar file: - truncated'
    """
    return " ".join(str(text).split())


def protected(cell: str) -> str:
    """Return text for a cell of a .csv, with an apostrophe before what would run as a formula.

    Examples
    --------
    >>> protected("=1+2"), protected("-0.5"), protected("ensemble")
    ("'=1+2", '-0.5', 'ensemble')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unprotected(cell: str) -> str:
    """Return the text that :func:`protected` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"
