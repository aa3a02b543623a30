"""The command line. One file per command, each thin: parse, call the library, print."""

import sys

import typer

from rue.errors import RueError

app = typer.Typer(
    name="rue",
    help="Does a model's epistemic uncertainty find the errors that could have been avoided?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=False)
def _root() -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: an error is one line on stderr and exit code 2."""
    try:
        code = app(arguments, standalone_mode=False)
    except typer.TyperException as error:
        _fail(error.format_message())
    except (RueError, OSError) as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print("rue: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
