"""Hooks of mkdocs: the reference pages are written from the code, the results from what is there.

docs/api.md and docs/commands.md exist only in the site.
"""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File

import rue
from rue.cli import app

DOCS = Path(__file__).parents[1] / "docs"
MODULES = {
    "rue.adapters.sklearn": ("draws",),
    "rue.adapters.torch": ("draws",),
    "rue.adapters.pandas": ("annotations", "Answered"),
    "rue.data": ("load", "fetch", "info", "featurize", "DataSet", "Entry"),
    "rue.losses": ("Loss",),
    "rue.methods": ("Training",),
}


def on_config(config: Any) -> Any:
    pages = sorted((DOCS / "results").glob("*.md"))
    results: list[Any] = [{title(page): f"results/{page.name}"} for page in pages]
    for part in config.nav:
        if "Results" in part:
            part["Results"] = results
    return config


def on_files(files: Any, config: Any) -> Any:
    for name, text in (("api.md", api()), ("commands.md", commands())):
        files.append(File.generated(config, name, content=text))
    return files


def title(page: Path) -> str:
    """The first heading of a page."""
    return next(line for line in page.read_text().splitlines() if line.startswith("# "))[2:]


def api() -> str:
    """Give the public names, each with its signature and its docstring."""
    parts = [
        "# Python",
        "`import rue` itself loads nothing else; names are loaded when first used.",
    ]
    for name in sorted(rue._PUBLIC, key=str.lower):
        parts += entry(f"rue.{name}", getattr(rue, name))
    for module, names in MODULES.items():
        for name in names:
            parts += entry(f"{module}.{name}", getattr(importlib.import_module(module), name))
    return "\n\n".join(parts) + "\n"


def entry(name: str, thing: Any) -> list[str]:
    parts = [f"## {name}", *described(name, thing)]
    for key, value in vars(thing).items() if inspect.isclass(thing) else ():
        method = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not key.startswith("_") and inspect.isfunction(method) and method.__doc__:
            parts += described(f"{thing.__name__}.{key}", method, bare=isinstance(value, property))
    return parts


def described(name: str, thing: Any, *, bare: bool = False) -> list[str]:
    return [
        f"```text\n{name if bare else signed(name, thing)}\n```",
        markdown(inspect.getdoc(thing)),
    ]


def signed(name: str, thing: Any) -> str:
    """A name and its arguments as the source has them, one a line where they are long."""
    node: Any = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if isinstance(node, ast.ClassDef):
        inits = [n for n in node.body if getattr(n, "name", "") == "__init__"]
        fields = [n for n in node.body if isinstance(n, ast.AnnAssign)]
        arguments: Any = (
            getattr(inits[0], "args", None) if inits else ", ".join(map(ast.unparse, fields))
        )
        if not arguments and inspect.isfunction(thing.__init__):  # its parent's
            source = textwrap.dedent(inspect.getsource(thing.__init__))
            parent: Any = ast.parse(source).body[0]
            arguments = parent.args
        result = ""
    else:
        arguments, result = node.args, f" -> {ast.unparse(node.returns)}"
    text = arguments if isinstance(arguments, str) else ast.unparse(arguments)
    text = re.sub(r"^(self|cls)(, |$)", "", text)
    if len(name) + len(text) + len(result) < 90:
        return f"{name}({text}){result}"
    depth, lines = 0, "\n    "
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        lines += ",\n   " if char == "," and depth == 0 else char
    return f"{name}({lines}\n){result}"


def markdown(doc: str | None) -> str:
    """A numpy docstring as Markdown: sections bold, parameters as definitions."""
    doc = re.sub(r":\w+:`~?(?:rue\.)?([^`]+)`", r"`\1`", doc or "")
    doc = re.sub(r"``([^`]+)``", r"`\1`", doc)
    pieces = re.split(r"^(\w+)\n-+\n", doc, flags=re.M)
    out = [pieces[0].strip()]
    for head, body in zip(pieces[1::2], pieces[2::2], strict=True):
        out.append(f"**{head}**")
        if head == "Examples":
            out.append(f"```pycon\n{body.strip()}\n```")
        else:
            out.append(definitions(body))
    return "\n\n".join(out)


def definitions(body: str) -> str:
    lines: list[str] = []
    for line in body.strip().splitlines():
        if line.startswith("    ") or not line:
            before = lines and not lines[-1].startswith((":", " "))
            lines.append((":   " if before else "    ") + line.strip() if line else "")
        else:
            lines += ["", f"`{line}`"]
    return "\n".join(lines).strip()


def commands() -> str:
    """Give the help of every command."""
    parts = ["# Command line", "Every command prints this with `--help`."]
    for name, text in helps():
        parts += [f"## {name}", f"```text\n{text}\n```"]
    return "\n\n".join(parts) + "\n"


def helps() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def walk(command: Any, name: str, parent: Any) -> None:
        settings = {"terminal_width": 100, "max_content_width": 100}
        context = command.context_class(command, info_name=name, parent=parent, **settings)
        found.append((context.command_path, command.get_help(context).strip()))
        for child in getattr(command, "commands", {}).values():
            walk(child, child.name, context)

    walk(typer.main.get_command(app), "rue", None)
    return found
