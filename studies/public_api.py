"""List what is public: names with their parameters, commands with their options, keys of results.

    python -m studies.public_api     # write tests/public_api.txt anew

docs/stability.md says what is promised about these lines; tests/test_public_api.py compares them.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import typer.main

import rue
from rue.cli import make_app
from rue.methods import METHODS
from rue.metrics.columns import COLUMNS

SNAPSHOT = Path(__file__).parents[1] / "tests" / "public_api.txt"


def lines() -> list[str]:
    """Return the public API, one line for each name, sorted."""
    public = {f"column {key}" for key in COLUMNS}
    public |= {f"method {name}" for name in METHODS}
    for name in rue.__all__:
        thing = getattr(rue, name)
        if not isinstance(thing, ModuleType):
            public |= set(_named(f"rue.{name}", thing))
        else:
            for inner in getattr(thing, "__all__", ()):
                member = getattr(thing, inner)
                if not isinstance(member, ModuleType):
                    public |= set(_named(f"rue.{name}.{inner}", member))
    public |= set(_commands(typer.main.get_command(make_app()), "rue"))
    return sorted(public)


def _named(name: str, thing: Any) -> Iterator[str]:
    """Yield the line of a name, and those of the public members of a class."""
    if not inspect.isclass(thing):
        yield f"{name}{_parameters(thing)}" if callable(thing) else name
        return
    yield f"class {name}{_parameters(thing)}"
    fields = [f.name for f in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
    yield from (f"class {name}.{field}" for field in fields if not field.startswith("_"))
    for key, member in vars(thing).items():
        if key.startswith("_") or key in fields:
            continue
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        yield f"class {name}.{key}{_parameters(inner) if callable(inner) else ''}"


def _parameters(function: Any) -> str:
    """Return the names, kinds and defaults of parameters, without their types."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    bare = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return re.sub(r"<function .*? at 0x[0-9a-f]+>", "<function>", str(inspect.Signature(bare)))


def _commands(command: Any, path: str) -> Iterator[str]:
    """Yield a line for each command and each of its options."""
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _commands(inner, f"{path} {name}")
        return
    yield f"$ {path}"
    for parameter in command.params:
        shown = (
            parameter.opts[0] if parameter.param_type_name == "option" else parameter.name.upper()
        )
        yield f"$ {path} {shown}"


def main() -> None:
    """Write the snapshot."""
    SNAPSHOT.write_text("\n".join(lines()) + "\n")


if __name__ == "__main__":
    main()
