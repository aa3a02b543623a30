"""The command line. One file per command, each thin: parse, call the library, print.

Here is what they share: running a command, its help, and printing. The options that they share
are in :mod:`rue.cli.inputs`.
"""

import functools
import importlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from rue._text import ESCAPES, one_line
from rue.errors import InfeasibleError, RueError
from rue.io.atomic import ON_LINK

# In the order of the help, with the first line of each, which needs no file of a command.
COMMANDS = {
    "evaluate": "Test how well epistemic uncertainty finds avoidable errors.",
    "compare": "Compare methods on the same points by paired tests.",
    "plan": "Plan a study: how many points and annotators it needs.",
    "select": "Find the best accept/reject rule if the truth is known.",
    "proxies": "Evaluate OOD detection and selective prediction.",
    "report": "Write one self-contained HTML page about your results.",
    "sandbox": "Draw figure 1: five optimal scores reject different inputs.",
    "published": "Print tables 1 to 13 of the paper.",
    "inversions": "Compare how different criteria rank the methods.",
    "demo": "Train six methods on real ratings, and evaluate them.",
    "rule": "Rules to deploy: learn one, apply it to new points, show it.",
    "recalibrate": "Recalibration: make uncertainty as large as the regret.",
    "data": "Data sets: list, describe, download, and check your own.",
    "bench": "Benchmarks: list suites, run one, print its tables.",
    "leaderboard": "Leaderboards: build a page, check or make a submission.",
}


_WORDS: ContextVar[Sequence[str]] = ContextVar("_WORDS", default=())
"""The words of the command that runs."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line on stderr.

    Exit codes: 0 for a positive outcome, 1 if no selector meets the budgets or a command's answer
    is no (its help says which), 2 for invalid input.
    """
    words = _spread_values(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed; bars and print() would fail or write to stdout
        sys.stderr = io.StringIO()
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console that has no arrows still gets a table
    given = _WORDS.set(words)
    links = ON_LINK.set(functools.cache(lambda link: warn(f"note: {link}")))
    try:
        # Only the file of the given command is loaded, if it is one; none for the help of all.
        brief = (
            words in ([], ["-h"], ["--help"], ["--version"]) and "_RUE_COMPLETE" not in os.environ
        )
        app = make_app(*(name for name in words[:1] if name in COMMANDS), brief=brief)
        code = app(words, standalone_mode=False, prog_name="rue")
    except typer.TyperException as error:
        _fail(error.format_message().replace("Value error, ", ""))
    except InfeasibleError as error:
        _fail(str(error), code=1)
    except (RueError, OSError) as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    finally:
        ON_LINK.reset(links)
        _WORDS.reset(given)
    sys.exit(code if isinstance(code, int) else 0)


def make_app(*names: str, brief: bool = False) -> typer.Typer:
    """Return the command line with these commands, by default with all of ``COMMANDS``.

    The file of a command has a function of its name, or an ``app`` with commands of its own. With
    ``brief``, commands have their names and first lines only.
    """
    app = App(
        name="rue",
        add_completion=True,
        help="Does a model's epistemic uncertainty find the errors that could have been avoided?",
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": shutil.get_terminal_size().columns,
        },
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names or COMMANDS:
        if brief:
            app.command(name, help=COMMANDS[name])(lambda: None)
            continue
        module = importlib.import_module(f"rue.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, epilog=f"Example:  {module.EXAMPLE}")(getattr(module, name))
    return app


class _Spared:
    """A command that loads what Typer converts values with, pydantic, only for those to convert."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of the command, as Typer does."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            convert = type(param).process_value.__get__(param)
            param.process_value = functools.partial(_processed, param, convert)
        return params


class Command(_Spared, TyperCommand):
    """A command whose help groups its options, and whose errors advise with its own options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of options."""
        for title, records in self.panels(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def panels(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Return the arguments and each group of options, the options without a group last."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            title = getattr(param, "rich_help_panel", None) or "Options"
            if param.param_type_name == "argument" and record is not None:
                title, record = "Arguments", (self._argument(param), record[1])
            if record is not None:
                panels.setdefault(title, []).append(record)
        panels["Options"] = panels.pop("Options")  # last
        return panels

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line."""
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        words = [self._argument(p) if p.required else f"[{self._argument(p)}]" for p in arguments]
        return ["[OPTIONS]", *words]

    @staticmethod
    def _argument(param: Any) -> str:
        return f"{param.metavar or param.name.upper()}{'...' * (param.nargs != 1)}"

    def invoke(self, ctx: Any) -> Any:
        """Run the command; let an error know the options that it may advise."""
        try:
            return super().invoke(ctx)
        except RueError as error:
            error.options = {
                name or "": option
                for param in self.params
                for option in (*param.opts, *param.secondary_opts)
                for name in [param.name if option == param.opts[0] else option]
            }
            raise


class Group(_Spared, TyperGroup):
    """A command with commands of its own; alone, it prints its help."""

    default_name = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help if there are no arguments, and add the default command's name."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            print(ctx.get_help())
            ctx.exit()
        if self.default_name and args and args[0] not in (*self.commands, "-h", "--help"):
            args = [self.default_name, *args]
        return super().parse_args(ctx, args)


class App(typer.Typer):
    """A Typer whose commands may take groups of options."""

    def __init__(self, **settings: Any) -> None:
        own: dict[str, Any] = {"cls": Group, "add_completion": False, "no_args_is_help": True}
        super().__init__(rich_markup_mode=None, pretty_exceptions_enable=False, **own | settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Register a command, as Typer does."""
        register = super().command(name, cls=Command, **settings)
        return lambda function: register(with_options(function))


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters of a dataclass's type are that dataclass's options."""
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        name: p.annotation for name, p in signature.parameters.items() if is_dataclass(p.annotation)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name not in groups:
            parameters.append(_declared(name, parameter.annotation, parameter.default))
            continue
        for field in fields(groups[name]):
            parameters.append(_declared(field.name, field.type, field.default))
            parameters[-1].annotation.__metadata__[0].rich_help_panel = groups[name].panel
    parameters.sort(key=lambda parameter: parameter.default is not parameter.empty)

    @functools.wraps(command)
    def call(**options: Any) -> None:
        for name, group in groups.items():
            own = {field.name: options.pop(field.name) for field in fields(group)}
            options[name] = group(**own)
        command(**options)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def command_line() -> str:
    """Return the command that runs, to be run again."""
    return shlex.join(["rue", *_WORDS.get()])


def given_options() -> list[str]:
    """Return the options of the command that runs, without their values."""
    return [word.partition("=")[0] for word in _WORDS.get() if word.startswith("--")]


def emit(text: str) -> None:
    """Print to stdout; without a terminal, omit bold and underlined.

    Control characters, for example in names from files, are shown as escapes.
    """
    marked = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    try:
        print(escape_lines(text, marked=marked), flush=True)
    except BrokenPipeError:  # whoever read the output has had enough; the exit code stays
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(value: Any) -> None:
    """Print a value as JSON."""
    emit(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def emit_either(format: str, facts: Any, text: str, notes: Sequence[str] = ()) -> None:
    """Print facts as JSON, or what they say as text, with notes below."""
    if format == "json":
        emit_json(facts)
    else:
        emit("\n".join([text, *(f"note: {note}" for note in notes)]))


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


def print_notes(notes: Sequence[str], format: str = "table") -> None:
    """Print notes below a table, or to stderr beside CSV, LaTeX and Markdown; JSON holds them."""
    if notes and format == "table":
        emit("")
    for note in dict.fromkeys(notes) if format != "json" else ():
        (emit if format == "table" else warn)(f"note: {note}")


def terminal_width(wide: bool = False) -> int | None:
    """Return the width of the terminal, 100 without one; None means any, which is ``--wide``."""
    return None if wide else shutil.get_terminal_size((100, 24)).columns


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that names the next step, on stderr if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, delay=2, disable=None, leave=False) as bar:

        def step(word: str) -> None:
            # Drawn before its delay is over, a bar would never be cleared.
            bar.set_description(word, refresh=False)
            bar.update()

        yield step


def is_number(text: str) -> bool:
    """Return whether an argument of the command line is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _declared(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """Return the parameter of a command, whose help says what to put there: FILE, N, table|json."""
    info = copy(default)
    default, info.default = info.default, ...
    words = {bool: None, Path: "FILE", int: "N", float: "X", str: "TEXT"}
    for inner in (kind, *get_args(kind)):
        if get_origin(inner) is Literal:
            info.metavar = info.metavar or "|".join(get_args(inner))
        elif info.metavar is None and info.parser is None and inner in words:
            info.metavar = words[inner]
    if kind is bool and default is False and not info.param_decls:
        info.param_decls = (f"--{name.replace('_', '-')}",)  # without --no-...
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _processed(param: Any, convert: Callable[..., Any], ctx: Any, value: Any) -> Any:
    """Return the value of a parameter as it is, if it is as declared; otherwise convert it."""
    described = param.type_descriptor
    kind, is_several = described.annotation, param.multiple or param.nargs == -1
    if (param.required and not value) or described.parameter_info.parser is not None:
        return convert(ctx, value)
    if value is None:
        value = () if is_several else None
    elif kind == list[str] and is_several and not isinstance(value, str):
        value = list(value)
    elif type(value) is not kind and not (get_origin(kind) is Literal and value in get_args(kind)):
        return convert(ctx, value)
    return param.callback(ctx, param, value) if param.callback else value


def _spread_values(arguments: list[str]) -> list[str]:
    """Let two options take several words: --values -1 0 1 and --ood a.npz b.npz."""
    words: list[str] = []
    option = ""
    for word in arguments:
        if option == "--values" and is_number(word):
            if words[-1] == option:
                words.append(word)
            else:
                words[-1] += f",{word}"
        elif option == "--ood" and not word.startswith("-"):
            if words[-1] != option:
                words.append(option)
            words.append(word)
        else:
            option = word
            words.append(word)
    return words


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
