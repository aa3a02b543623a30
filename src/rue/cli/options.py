"""What commands share: their options, reading the files that these name, and printing."""

import functools
import glob
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rue._text import one_line, printable
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.io.matching import Matching
    from rue.io.predictions import Predictions
    from rue.io.truth import Truth
    from rue.losses import Loss
    from rue.runs import Run

Files = Annotated[
    list[str],
    typer.Argument(
        help="Prediction files (.npz, .jsonl, .csv, .parquet), one per method; or "
        "NAME=FILE,FILE,... for one method in several files.",
        show_default=False,
    ),
]
OneMethod = Annotated[
    str,
    typer.Argument(
        help="A prediction file, as rue evaluate reads it; or NAME=FILE,FILE,... for one method in "
        "several files.",
        show_default=False,
    ),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="The annotators' answers: a file (.npy, .npz, .jsonl, .csv, .parquet), or the name of "
        "a data set (rue data list).",
    ),
]
IdName = Annotated[
    str | None,
    typer.Option(
        "--id", help="The column that names the points, if not id, ids, uid, item or item_id."
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(help="The classes in the order of the columns, for files that do not name them."),
]
Common = Annotated[
    bool, typer.Option("--common", help="Keep the points whose ids are on both sides.")
]
ByPosition = Annotated[
    bool, typer.Option("--by-position", help="Match rows by position, whatever their ids are.")
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Points with the same value belong together, e.g. a document's: resample these.",
    ),
]
Corrected = Annotated[
    bool,
    typer.Option(
        "--corrected", help="Correct columns beyond the bracket for finitely many annotators."
    ),
]
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
    print(printable(one_line(text)), file=sys.stderr, flush=True)


def print_notes(notes: list[str], format: str) -> None:
    """Print notes below a table, or to stderr beside CSV, LaTeX and Markdown; JSON holds them."""
    for note in notes if format != "json" else ():
        (emit if format == "table" else warn)(f"note: {note}")


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


def matching_of(
    id_name: str | None, classes: str | None, common: bool, by_position: bool
) -> "Matching":
    """Return how rows and columns are matched, from the options of a command."""
    from rue.io.matching import Matching

    names = None if classes is None else tuple(name.strip() for name in classes.split(","))
    return Matching(id_name, names, common, by_position)


def truth_of(
    text: str | None, matching: "Matching", *, by: Sequence[str | None] = ()
) -> "Truth | None":
    """Return the truth of a file, or of a data set by its name or its TOML file."""
    if text is None:
        return None
    from rue.io.truth import read_truth

    if text.endswith(".toml") or not Path(text).is_file():
        from rue.data.registry import ENTRIES
        from rue.data.truth import data_set_truth

        if text.endswith(".toml") or text in ENTRIES:
            return data_set_truth(text)
    return read_truth(text, by=[name for name in by if name], matching=matching)


def methods_of(files: list[str]) -> list[tuple[str | None, list[Path]]]:
    """Return the files of each method, with its name where the command line gives one.

    Examples
    --------
    >>> methods_of(["a.npz", "both=b.npz,c.npz"])
    [(None, [PosixPath('a.npz')]), ('both', [PosixPath('b.npz'), PosixPath('c.npz')])]
    """
    found: list[tuple[str | None, list[Path]]] = []
    for text in files:
        name, equals, rest = text.partition("=")
        if equals and name and not Path(text).exists():
            paths = [path for part in rest.split(",") for path in _expanded(part)]
            if len(set(paths)) < len(paths):
                raise InputError(f"{text}: names a file twice")
            found.append((name, paths))
        else:
            found += [(None, [path]) for path in _expanded(text)]
    names = [name for name, _ in found if name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"every method must have a name of its own, got {twice!r} twice")
    return found


def method_of(text: str) -> tuple[str | None, list[Path]]:
    """Return the name, where it is given, and the files of the one method of a command.

    Examples
    --------
    >>> method_of("both=b.npz,c.npz")
    ('both', [PosixPath('b.npz'), PosixPath('c.npz')])
    """
    found = methods_of([text])
    if len(found) > 1:
        raise InputError(
            f"{text}: matches {len(found):,} files and this command takes one method; "
            f"NAME={text} makes one of them"
        )
    return found[0]


def read_methods(files: list[str], matching: "Matching") -> "dict[str, Predictions | Run]":
    """Read the predictions of each method, by name: the given one, the file's own, or its stem."""
    from rue.io.align import in_one_order
    from rue.io.predictions import read_method
    from rue.runs import Run

    given = methods_of(files)
    stems = shortest_names([paths[0] for _, paths in given])
    reads = in_one_order(
        [read_method(paths, name=name, matching=matching) for name, paths in given]
    )
    own = [None if isinstance(read, Run) else read.named for read in reads]
    found: dict[str, Predictions | Run] = {}
    for (name, paths), read, word in zip(given, reads, own, strict=True):
        label = name or (word if word and own.count(word) == 1 else stems[paths[0]])
        if label in found:
            raise InputError(f"every method must have a name of its own, got {label!r} twice")
        found[label] = read
    return found


def shortest_names(files: list[Path]) -> dict[Path, str]:
    """Return the stem of each file, with as much of its path as tells files of one name apart."""
    names = {}
    for file in files:
        parts = file.resolve().with_suffix("").parts
        others = [other.resolve().with_suffix("").parts for other in files if other != file]
        ends = (parts[-n:] for n in range(1, len(parts)))
        own = next((end for end in ends if end not in [o[-len(end) :] for o in others]), None)
        names[file] = str(file) if own is None else "/".join(own)
    return names


def _expanded(text: str) -> list[Path]:
    """Return the files that a pattern matches, sorted; a plain path is itself."""
    if not text.strip():
        raise InputError("a file's name must not be empty")
    if Path(text).exists() or not glob.has_magic(text):
        return [Path(text)]
    found = sorted(glob.glob(text))  # noqa: PTH207, patterns may be absolute
    if not found:
        raise InputError(f"no file matches {text!r}")
    return [Path(path) for path in found]
