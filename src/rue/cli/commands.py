"""The list of commands; each has its file."""

from types import ModuleType

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
    reads_files,
    recalibrate,
    report,
    root,
    rule,
    sandbox,
    select,
)

app = typer.Typer(
    name="rue",
    help="Does a model's epistemic uncertainty find the errors that could have been avoided?",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(invoke_without_command=True)(root)


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
