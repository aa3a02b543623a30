"""One reference page for each package of rue, from its docstrings (rendered by mkdocstrings)."""

import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from types import ModuleType

import griffe

import rue
from studies import ROOT
from studies.pages import table

GROUPS = {
    "Evaluate": ("metrics", "components", "losses", "beliefs", "truth", "pareto"),
    "Decide": ("selectors", "deploy"),
    "How sure": ("inference",),
    "Compare criteria": ("ranking", "proxies", "published", "sandbox"),
    "Data, methods, benchmark": ("data", "methods", "bench"),
    "Figures and pages": ("plots", "report", "leaderboard"),
    "Files, other libraries": ("io", "adapters", "errors"),
}
"""The packages in the order of the menu."""


def pages() -> dict[str, str]:
    """Return the text of each page under its file name; index.md lists the others."""
    made = {"index.md": _index()}
    for package in (name for group in GROUPS.values() for name in group):
        made[f"{package}.md"] = _page(package)
    return made


def identifiers(package: str) -> dict[str, str]:
    """Return the public path of each name of a package: short paths and functions first.

    A module among the names, such as a method's, stands for its own public names.
    """
    path_of: dict[str, str] = {}
    functions = set()
    module = importlib.import_module(f"rue.{package}")
    for name in _names(module):
        thing = attrgetter(name)(module)
        short = name.rpartition(".")[2]
        public = getattr(rue, short) if short in rue._LAZY else None
        if public is None or public is not thing:
            path_of[name] = f"rue.{package}.{name}"
        elif rue._LAZY[short].split(".")[1] == package:  # else it is at home elsewhere
            path_of[name] = f"rue.{short}"
        if inspect.isfunction(thing):
            functions.add(name)

    def place(item: tuple[str, str]) -> tuple[int, bool, str]:
        return item[1].count("."), item[0] not in functions, item[0].lower()

    return dict(sorted(path_of.items(), key=place))


def _names(module: ModuleType) -> Iterator[str]:
    """Yield the public names of a module; those of a module within it with its name.

    ``fit`` and ``predict`` of all methods are those of the learner, which has them once.
    """
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            own = (each for each in thing.__all__ if not inspect.ismethod(getattr(thing, each)))
            yield from (f"{name}.{each}" for each in own)
        else:
            yield name


def _index() -> str:
    parts = [
        "# Python",
        "After `import rue`, the names below are available as `rue.evaluate` or `rue.data.load`. "
        "`import rue` itself takes milliseconds: each part is loaded when you first use it.",
    ]
    for group, packages in GROUPS.items():
        rows = [[f"[`rue.{name}`]({name}.md)", _summary(f"rue.{name}")] for name in packages]
        parts += [f"## {group}", table(["package", "what is in it"], rows, text=2)]
    return "\n\n".join(parts) + "\n"


def _page(package: str) -> str:
    module = importlib.import_module(f"rue.{package}")
    names = identifiers(package)
    rows = [[f"[`{path}`][{path}]", _summary(path)] for path in names.values()]
    summary = table(["name", "what it is"], rows, text=2)
    parts = [f"# rue.{package}", inspect.getdoc(module) or "", summary]
    parts += [f"::: {path}" for path in names.values()]
    return "\n\n".join(parts) + "\n"


def _summary(path: str) -> str:
    """Return the first line of the docstring of what has that path."""
    thing = _source()[path.removeprefix("rue.")]
    docstring = (thing.final_target if thing.is_alias else thing).docstring
    first = docstring.value.split("\n\n")[0] if docstring else ""
    return " ".join(first.split()).replace("|", "\\|")


@cache
def _source() -> griffe.Object | griffe.Alias:
    """Return rue as its source says it is: constants have docstrings only there."""
    return griffe.load("rue", search_paths=[str(ROOT / "src")])
