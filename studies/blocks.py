"""The code blocks of a page: Python runs in one namespace, and `rue` as a command.

A block under ``<!-- not run: REASON -->`` is only checked (:func:`check`). A page may say the same
of all its blocks of a language: ``<!-- sh not run: REASON -->``.
"""

import ast
import importlib
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import typer

from rue.cli import main, make_app
from studies import ROOT

RUN = ("python", "sh")
SHOWN = ("text", "toml", "pycon")
OTHER = ("cat", "pip")
_FENCE = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
OUTPUT = re.compile(r"```sh\n((?:(?!```).)*)```\n\n```text\n(.*?)```\n", re.DOTALL)
"""A block of commands, and the block of what they print below it."""


@dataclass(frozen=True)
class Block:
    """One fenced block, and the reason if it is not run."""

    language: str
    text: str
    reason: str


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in order."""
    whole = dict(re.findall(r"<!-- (\w+) not run: ([^>]+) -->", page))
    return [
        Block(language, text, reason or whole.get(language, ""))
        for reason, language, text in _FENCE.findall(page)
    ]


def run(block: Block, names: dict[str, Any]) -> str:
    """Run a block in this folder, and return what it prints.

    Raises
    ------
    RuntimeError
        If a command fails.
    """
    printed = StringIO()
    with redirect_stdout(printed):
        if block.language == "python":
            exec(compile(block.text, "block", "exec"), names)
        else:
            for words in commands(block.text):
                code = _run_command(words)
                if code:
                    raise RuntimeError(f"{shlex.join(words)} ended with {code}")
    return _plain(printed)


def with_output(page: str) -> str:
    """Return a page whose blocks of output are what the block of commands above each prints.

    Commands run in this folder. One that fails is no error here: the page shows its message.
    """

    def answer(match: re.Match[str]) -> str:
        printed = StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            for words in commands(match[1]):
                _run_command(words)
        return f"```sh\n{match[1]}```\n\n```text\n{_plain(printed)}```\n"

    return OUTPUT.sub(answer, page)


def _run_command(words: list[str]) -> object:
    """Run `rue` or `cat`, and return the exit code."""
    if words[0] == "cat":
        print(Path(words[1]).read_text(), end="")
    elif words[0] == "rue":
        os.environ["COLUMNS"] = "100"  # pages do not depend on the terminal
        try:
            main(words[1:])
        except SystemExit as stop:
            return stop.code
    else:
        raise ValueError(f"only rue and cat are run, got {words[0]}")
    return 0


def _plain(printed: StringIO) -> str:
    return re.sub(r"\x1b\[\d*m", "", printed.getvalue())


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each line, with lines that end in a backslash joined."""
    for line in re.split(r"\n|&&", text.replace("\\\n", " ")):
        words = shlex.split(line, comments=True)
        if words:
            yield words


def check(block: Block) -> list[str]:
    """Check that the names, commands, options and targets of a block exist, and return them."""
    if block.language == "python":
        return _check_names(ast.parse(block.text))
    lines = list(commands(block.text))
    for words in lines:
        if words[0] == "make":
            for target in words[1:]:
                if not re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M):
                    raise ValueError(f"there is no make {target}")
        elif words[0] == "rue":
            _check_options(words)
        elif words[0] not in OTHER:
            raise ValueError(f"{words[0]} is not known here")
    return [shlex.join(words) for words in lines]


def _check_options(words: list[str]) -> None:
    command: Any = typer.main.get_command(make_app())
    words = words[1:]
    while hasattr(command, "commands"):
        default = getattr(command, "default_name", "")
        if default and words[0] not in command.commands:
            words = [default, *words]
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, words)


def _check_names(tree: ast.Module) -> list[str]:
    imports: list[ast.stmt] = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names: dict[str, Any] = {"rue": importlib.import_module("rue")}
    exec(compile(ast.Module(imports, []), "imports", "exec"), names)
    checked_names = [ast.unparse(each) for each in imports]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in names:
                eval(compile(ast.Expression(node), "name", "eval"), names)
                checked_names.append(ast.unparse(node))
    return checked_names
