"""Options and helpers that several commands share."""

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue._text import printable
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.losses import Loss

LOSS_NAMES = "log, brier, zero_one, squared, absolute, rps, crps, pinball:Q or cost"
Losses = Annotated[
    list[str] | None,
    typer.Option(help=f"{LOSS_NAMES}; repeat for several."),
]
Scale = Annotated[
    str | None,
    typer.Option(help="Numbers that classes stand for: -1,0,1 (squared, absolute, rps, pinball)."),
]
Costs = Annotated[
    Path | None, typer.Option(help="Cost matrix C[action, class] for --loss cost: .npy or .csv.")
]
LossName = Annotated[
    str,
    typer.Option("--loss", help=f"{LOSS_NAMES}."),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        help="Memory limit for reading a file, e.g. 2GiB; "
        "default 1 GiB or 100 times its size, whichever is more."
    ),
]
Floor = Annotated[
    float | None,
    typer.Option(help="Floor on predicted probabilities, which bounds the log loss."),
]

# A problem of Theorem 1.
Maximize = Annotated[
    Literal["coverage"] | None, typer.Option(help="Accept as much as the budgets allow.")
]
Minimize = Annotated[
    Literal["risk", "regret"] | None, typer.Option(help="Minimise this at --coverage-min.")
]
CoverageMin = Annotated[float | None, typer.Option(help="Accept at least this share.")]
RiskMax = Annotated[float | None, typer.Option(help="The risk budget.")]
RegretMax = Annotated[float | None, typer.Option(help="The regret budget.")]
Normalized = Annotated[
    bool, typer.Option("--normalized", help="Divide risk and regret by the coverage.")
]
TableOrJson = Annotated[Literal["table", "json"], typer.Option("--format", help="Output format.")]


class Format(StrEnum):
    """The output formats of a table."""

    table = "table"
    json = "json"
    csv = "csv"
    latex = "latex"
    markdown = "markdown"


def emit(text: str) -> None:
    """Print to stdout; without a terminal, omit bold and underlined.

    Control characters, for example in names from files, are shown as escapes.
    """
    text = printable(text, lines=True)
    if sys.stdout is None or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        text = re.sub(r"\x1b\[\d+m", "", text)
    print(text, flush=True)


def warn(text: str) -> None:
    """Print one line to stderr, with control characters as escapes."""
    print(printable(" ".join(text.split())), file=sys.stderr, flush=True)


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--max-memory`` to a command."""

    @functools.wraps(command)
    def limited(*arguments: Any, max_memory: str | None = None, **options: Any) -> None:
        from rue.io.opening import max_memory as limit

        with limit(max_memory):
            command(*arguments, **options)

    own = inspect.signature(command)
    added = inspect.Parameter(
        "max_memory", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=MaxMemory
    )
    limited.__signature__ = own.replace(parameters=[*own.parameters.values(), added])  # type: ignore[attr-defined]
    limited.__annotations__ = {**command.__annotations__, "max_memory": MaxMemory}
    return limited


def folder(text: str) -> Path:
    """Return a folder; raise for an empty name, which would mean the current folder."""
    if not text.strip():
        raise typer.BadParameter(f"must be a folder, got {text!r}")
    return Path(text)


def align(rows: list[list[str]], *, left: Collection[str], rule: bool = False) -> str:
    """Return a table with aligned columns, the header first.

    Columns named in ``left`` are aligned to the left, others to the right. With ``rule``, a line
    of dashes follows the header.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if title in left else cell.rjust(width)
            for cell, width, title in zip(row, widths, rows[0], strict=True)
        ).rstrip()
        for row in rows
    ]
    if rule:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def is_number(text: str) -> bool:
    """Return whether an argument of the command line is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_values(text: str | None) -> list[float] | None:
    """Return the numbers in a text, separated by commas or spaces."""
    if text is None:
        return None
    try:
        return [float(number) for number in re.split(r"[,\s]+", text.strip())]
    except ValueError:
        raise InputError(f"--values must be numbers like -1,0,1, got {text!r}") from None


def chosen_loss(name: str, cost: Path | None, floor: float | None) -> "str | Loss":
    """Return the loss that --loss, --cost and --floor select."""
    from rue.io.cost import read_cost
    from rue.losses import Log, get_loss

    if (cost is not None) != (name == "cost"):
        raise InputError("--loss cost and --cost FILE need each other")
    if floor is not None and name != "log":
        raise InputError(f"--floor needs --loss log, got --loss {name}")
    if cost is not None:
        return read_cost(cost)
    if floor is not None:
        return Log(floor)
    get_loss(name)
    return name


def parse_range(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a range, separated by a comma."""
    if text is None:
        return None
    try:
        low, high = (float(number) for number in text.split(","))
    except ValueError:
        raise InputError(f"--range must be two numbers as in 0,100, got {text!r}") from None
    return low, high
