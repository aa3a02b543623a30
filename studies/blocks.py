"""The code blocks of a page, and how they are run: python in one namespace, `rue` as a command.

A block under ``<!-- not run: REASON -->`` is only checked (:func:`check`); a page may say so of all
its blocks of a language, ``<!-- sh not run: REASON -->``.
"""

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import typer

from rue.cli import app, main

RUN = ("python", "sh")
SHOWN = ("text", "toml", "pycon")
OTHER = ("cat", "pip")
_FENCE = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
_MAKEFILE = Path(__file__).parents[1] / "Makefile"


@dataclass(frozen=True)
class Block:
    """One fenced block, and why it is not run, if it is not."""

    language: str
    text: str
    reason: str


def blocks(page: str) -> list[Block]:
    """Give the blocks of a page in order."""
    whole = dict(re.findall(r"<!-- (\w+) not run: ([^>]+) -->", page))
    return [
        Block(language, text, reason or whole.get(language, ""))
        for reason, language, text in _FENCE.findall(page)
    ]


def run(block: Block, names: dict[str, Any]) -> str:
    """Run a block in this folder, and give what it prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        if block.language == "python":
            exec(compile(block.text, "block", "exec"), names)
        else:
            for words in commands(block.text):
                if words[0] != "rue":
                    raise ValueError(f"only rue is run, got {words[0]}")
                try:
                    main(words[1:])
                except SystemExit as stop:
                    if stop.code:
                        raise RuntimeError(f"{shlex.join(words)} ended with {stop.code}") from None
    return re.sub(r"\x1b\[\d*m", "", printed.getvalue())


def commands(text: str) -> Iterator[list[str]]:
    """Give the words of each line, lines that end in a backslash joined."""
    for line in re.split(r"\n|&&", text.replace("\\\n", " ")):
        words = shlex.split(line, comments=True)
        if words:
            yield words


def check(block: Block) -> list[str]:
    """Hold what is not run to what there is, and give that: names, commands, options, targets."""
    if block.language == "python":
        return _check_names(ast.parse(block.text))
    lines = list(commands(block.text))
    for words in lines:
        if words[0] == "make":
            for target in words[1:]:
                if not re.search(rf"^{target}:", _MAKEFILE.read_text(), re.M):
                    raise ValueError(f"there is no make {target}")
        elif words[0] == "rue":
            _check_options(words)
        elif words[0] not in OTHER:
            raise ValueError(f"{words[0]} is not known here")
    return [shlex.join(words) for words in lines]


def _check_options(words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    words = words[1:]
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, words)


def _check_names(tree: ast.Module) -> list[str]:
    imports: list[ast.stmt] = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names: dict[str, Any] = {"rue": importlib.import_module("rue")}
    exec(compile(ast.Module(imports, []), "imports", "exec"), names)
    found = [ast.unparse(each) for each in imports]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in names:
                eval(compile(ast.Expression(node), "name", "eval"), names)
                found.append(ast.unparse(node))
    return found
