"""The command line. One file per command, each thin: parse, call the library, print."""

import os
import sys
from types import ModuleType
from typing import Annotated

import typer

from rue.cli import (
    bench,
    compare,
    data,
    demo,
    evaluate,
    inversions,
    leaderboard,
    plan,
    proxies,
    published,
    recalibrate,
    report,
    rule,
    sandbox,
    select,
)
from rue.cli.options import is_number, reads_files, warn
from rue.errors import InfeasibleError, RueError

app = typer.Typer(
    name="rue",
    help="Does a model's epistemic uncertainty find the errors that could have been avoided?",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
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


def _command(module: ModuleType, *, reads: bool = False) -> None:
    name = module.__name__.rpartition(".")[2]
    function = getattr(module, name)
    command = reads_files(function) if reads else function
    app.command(name, epilog=f"Example:  {module.EXAMPLE}")(command)


_command(evaluate, reads=True)
_command(compare, reads=True)
_command(plan, reads=True)
_command(select, reads=True)
_command(proxies, reads=True)
_command(report, reads=True)
_command(sandbox)
_command(published)
_command(inversions, reads=True)
_command(demo)
app.add_typer(rule.app, name="rule")
app.add_typer(recalibrate.app, name="recalibrate")
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")
app.add_typer(leaderboard.app, name="leaderboard")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line on stderr.

    Exit codes: 0 for a positive outcome, 1 if no selector meets the budgets or a command's answer
    is no (its help says which), 2 for invalid input.
    """
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console that has no arrows still gets a table
    try:
        code = app(
            _repeat_option(_join_numbers(sys.argv[1:] if arguments is None else arguments)),
            standalone_mode=False,
        )
    except typer.TyperException as error:
        _fail(error.format_message())
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except InfeasibleError as error:
        _fail(str(error), code=1)
    except (RueError, OSError) as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


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
