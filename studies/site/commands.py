"""One page for each command, from the same source as its --help."""

from collections.abc import Iterator
from typing import Any

import typer

from rue.cli import Command, make_app
from studies.pages import code, table


def pages() -> dict[str, str]:
    """Return the text of each page under its file name; index.md lists the others."""
    root: Any = typer.main.get_command(make_app())
    context = _context(root, "rue", None)
    made = {"index.md": _index(root)}
    for name, command in root.commands.items():
        made[f"{name}.md"] = _page(command, context)
    return made


def _index(root: Any) -> str:
    rows = [
        [f"[`rue {name}`]({name}.md)", _first_sentence(command.help)]
        for name, command in root.commands.items()
    ]
    summary = table(["command", "what it does"], rows, text=2)
    return "\n\n".join(["# Command line", root.help, summary]) + "\n"


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def _page(command: Any, parent: Any) -> str:
    """Return the page of a command, with a section for each of its own commands."""
    context = _context(command, command.name, parent)
    parts = [f"# rue {command.name}", *_described(command, context)]
    for child in getattr(command, "commands", {}).values():
        below = _context(child, child.name, context)
        parts += [f"## {below.command_path}", *_described(child, below)]
    return "\n\n".join(parts) + "\n"


def _described(command: Any, context: Any) -> Iterator[str]:
    """Yield the description, the usage, the arguments and options, and the example."""
    yield (command.help or "").strip()
    if command.epilog:
        title, _, example = command.epilog.partition(":")
        yield f"{title}:"
        yield code(example, "sh")
    yield "Usage:"
    yield code(" ".join([context.command_path, *command.collect_usage_pieces(context)]))
    panels = command.panels(context) if isinstance(command, Command) else {}
    for title, records in panels.items():
        yield f"**{title}**"
        yield "\n\n".join(f"`{name}`\n:   {_escaped(text)}" for name, text in records)


def _escaped(text: str) -> str:
    """Return help as Markdown in which no character has a meaning."""
    text = " ".join(text.split()) or "."
    for character in "\\*_<>`":
        text = text.replace(character, f"\\{character}")
    return text


def _context(command: Any, name: str, parent: Any) -> Any:
    return command.context_class(command, info_name=name, parent=parent)
