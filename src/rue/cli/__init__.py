"""The command line. One file per command, each thin: parse, call the library, print.

Here is what they share: running a command, reading the files that its options name, and printing.
"""

import functools
import glob
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rue._text import ESCAPES, one_line, without_options
from rue.cli.options import MaxMemory
from rue.errors import InfeasibleError, InputError, RueError

if TYPE_CHECKING:
    from rue.components import Run
    from rue.io.names import Matching
    from rue.io.predictions import Predictions
    from rue.io.truth import Truth
    from rue.losses import Loss


_MAX_MEMORY: ContextVar[int | None] = ContextVar("max_memory", default=None)  # of one command

# In the order of the help.
COMMANDS = (
    *("evaluate", "compare", "plan", "select", "proxies", "report", "sandbox", "published"),
    *("inversions", "demo", "rule", "recalibrate", "data", "bench", "leaderboard"),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line on stderr.

    Exit codes: 0 for a positive outcome, 1 if no selector meets the budgets or a command's answer
    is no (its help says which), 2 for invalid input.
    """
    given = _repeat_option(_join_numbers(sys.argv[1:] if arguments is None else arguments))
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console that has no arrows still gets a table
    try:
        # Only the files of the given command are loaded, if it is one.
        app = make_app(*(name for name in given[:1] if name in COMMANDS))
        code = app(given, standalone_mode=False)
    except typer.TyperException as error:
        _fail(error.format_message())
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except InfeasibleError as error:
        _fail(str(error), code=1)
    except (RueError, OSError) as error:
        _fail(without_options(str(error), options_of(app, given)))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def make_app(*names: str) -> typer.Typer:
    """Return the command line with these commands, by default with all of ``COMMANDS``.

    The file of a command has a function of its name, or an ``app`` with commands of its own.
    """
    app = typer.Typer(
        name="rue",
        help="Does a model's epistemic uncertainty find the errors that could have been avoided?",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names or COMMANDS:
        module = importlib.import_module(f"rue.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, epilog=f"Example:  {module.EXAMPLE}")(getattr(module, name))
    return app


def options_of(app: typer.Typer, arguments: Sequence[str]) -> set[str]:
    """Return the options of the command that these arguments call."""
    command: Any = typer.main.get_command(app)
    words = list(arguments)
    while hasattr(command, "commands"):
        names = [words.pop(0)] if words and words[0] in command.commands else []
        names += [command.default_name] if hasattr(command, "default_name") else []
        if not names:
            break
        command = command.commands[names[0]]
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def emit(text: str) -> None:
    """Print to stdout; without a terminal, omit bold and underlined.

    Control characters, for example in names from files, are shown as escapes.
    """
    marked = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(escape_lines(text, marked=marked), flush=True)


def escape_lines(text: str, *, marked: bool = True) -> str:
    r"""Return text with control characters as escapes, except line breaks and a table's own marks.

    These marks, for bold and underlined, are kept or, unless ``marked``, left out.

    Examples
    --------
    >>> print(escape_lines("a\x1b[31mb\n\x1b[1mc\x1b[0m", marked=False))
    a\u001b[31mb
    c
    """
    parts = re.split(r"(\n|\x1b\[[014]m)", text)
    parts[::2] = [part.translate(ESCAPES) for part in parts[::2]]
    parts[1::2] = [part if marked or part == "\n" else "" for part in parts[1::2]]
    return "".join(parts)


def warn(text: str) -> None:
    """Print one line to stderr, with control characters as escapes."""
    print(one_line(text).translate(ESCAPES), file=sys.stderr, flush=True)


def print_notes(notes: list[str], format: str) -> None:
    """Print notes below a table, or to stderr beside CSV, LaTeX and Markdown; JSON holds them."""
    for note in notes if format != "json" else ():
        (emit if format == "table" else warn)(f"note: {note}")


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--max-memory`` to a command."""

    @functools.wraps(command)
    def limited(*arguments: Any, max_memory: str | None = None, **options: Any) -> None:
        from rue.io.memory import parse_size

        token = _MAX_MEMORY.set(None if max_memory is None else parse_size(max_memory))
        try:
            command(*arguments, **options)
        finally:
            _MAX_MEMORY.reset(token)

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


def require_other_file(option: str, path: Path | None, read: Collection[str | Path | None]) -> None:
    """Raise if a command would write over a file that it reads."""
    known = [Path(each) for each in read if each is not None and Path(each).exists()]
    if path is not None and path.exists() and any(map(path.samefile, known)):
        raise InputError(f"{option} must be another file than those that are read, got {path}")


def align(rows: list[list[str]], *, left: Collection[str], rule: bool = False) -> str:
    """Return a table with aligned columns, the header first.

    Columns named in ``left`` are aligned to the left, others to the right. With ``rule``, a line
    of dashes follows the header.
    """
    rows = [[cell.translate(ESCAPES) for cell in row] for row in rows]
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


def chosen_loss(name: str, cost: Path | None, floor: float | None = None) -> "str | Loss":
    """Return the loss that --loss, --cost and --floor select."""
    (loss,) = chosen_losses([name], cost, floor).values()
    return loss


def chosen_losses(
    names: Sequence[str] | None, cost: Path | None, floor: float | None = None
) -> "dict[str, str | Loss]":
    """Return the losses that --loss, --cost and --floor select, by name; by default log loss.

    Most are names again, because their values are known only when files have been read.
    """
    from rue.io.cost import read_cost
    from rue.losses import Log, get_loss

    names = names or ["log"]
    if (cost is not None) != ("cost" in names):
        raise InputError("--loss cost and --cost FILE need each other")
    if floor is not None and any(name != "log" for name in names):
        raise InputError(f"--floor needs --loss log, got --loss {names[0]}")
    if floor is not None:
        return {"log": Log(floor)}
    losses: dict[str, str | Loss] = {}
    for name in names:
        if name == "cost" and cost is not None:
            losses[name] = read_cost(cost)
        else:
            losses[get_loss(name).name] = name
    return losses


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
    from rue.io.names import Matching

    names = None if classes is None else tuple(name.strip() for name in classes.split(","))
    return Matching(id_name, names, common, by_position, max_memory=_MAX_MEMORY.get())


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
    from rue.components import Run
    from rue.io.align import in_one_order
    from rue.io.predictions import read_method

    given = methods_of(files)
    stems = shortest_names([paths[0] for _, paths in given])
    reads = in_one_order(
        [read_method(paths, name=name, matching=matching) for name, paths in given]
    )
    own = [read.method if isinstance(read, Run) else read.named for read in reads]
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


def _join_numbers(arguments: list[str]) -> list[str]:
    """Let --values take its numbers one by one: --values -1 0 1."""
    joined: list[str] = []
    taking = False
    for argument in arguments:
        if taking and is_number(argument):
            joined[-1] = argument if joined[-1] == "" else f"{joined[-1]},{argument}"
            continue
        if taking and joined[-1] == "":
            joined.pop()
        joined.append(argument)
        taking = argument == "--values"
        if taking:
            joined.append("")
    return joined[:-1] if taking and joined[-1] == "" else joined


def _repeat_option(arguments: list[str]) -> list[str]:
    """Let --ood take several files: --ood a.npz b.npz is --ood a.npz --ood b.npz."""
    repeated: list[str] = []
    taking = False
    for argument in arguments:
        if argument.startswith("-"):
            taking = argument == "--ood"
        elif taking and repeated[-1] != "--ood":
            repeated.append("--ood")
        repeated.append(argument)
    return repeated


def _fail(message: str, *, code: int = 2) -> None:
    warn(f"rue: {message}")
    sys.exit(code)


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from rue import __version__

        print(f"rue {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


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
