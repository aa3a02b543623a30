"""What commands share: how to print, how to read numbers."""

import os
import re
import sys
from enum import StrEnum

from rue.errors import InputError


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    latex = "latex"
    markdown = "markdown"


def emit(text: str) -> None:
    """Print to stdout, bold and underlined only where a terminal shows it."""
    if sys.stdout is None or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        text = re.sub(r"\x1b\[\d+m", "", text)
    print(text, flush=True)


def is_number(text: str) -> bool:
    """Whether a word of the command line is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_values(text: str | None) -> list[float] | None:
    """Read numbers parted by commas or spaces."""
    if text is None:
        return None
    try:
        return [float(number) for number in re.split(r"[,\s]+", text.strip())]
    except ValueError:
        raise InputError(f"--values must be numbers as in -1,0,1, got {text!r}") from None
