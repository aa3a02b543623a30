"""Registries to which other packages add entries by entry points.

A package declares its entries in its ``pyproject.toml``::

    [project.entry-points."rue.methods"]
    swag = "my_package.swag"

    [project.entry-points."rue.datasets"]
    my-photos = "my_package.photos:ENTRY"

The names are known without importing the package; it is imported when one of them is used.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar

from rue._text import one_line
from rue.errors import PluginError

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """A mapping from name to entry: those of rue first, then those of plugins.

    Parameters
    ----------
    group : str
        Name of the group of entry points.
    own : mapping
        The entries of rue.
    check : callable
        Called with the name of a plugin and the object that its entry point loads; returns the
        entry to keep, or raises :class:`ValueError`.
    """

    def __init__(self, group: str, own: Mapping[str, T], check: Callable[[str, object], T]) -> None:
        self._group, self._own, self._check = group, dict(own), check
        self._shipped = frozenset(own)

    def __getitem__(self, name: str) -> T:
        if name not in self._own:
            self._own[name] = self._load(self._plugins()[name])
        return self._own[name]

    def __setitem__(self, name: str, value: T) -> None:
        self._own[name] = value

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._plugins()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._own, *self._plugins())))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Registry({', '.join(self)})"

    def _plugins(self) -> dict[str, EntryPoint]:
        return _plugins_besides(self._group, self._shipped)

    def _load(self, point: EntryPoint) -> T:
        try:
            return self._check(point.name, point.load())
        except (Exception, SystemExit) as error:  # the code of a plugin may raise anything
            what = f"{type(error).__name__}: {one_line(error)}"
            raise PluginError(f"{_described(point)} cannot be loaded: {what}") from error


def plugin_names(group: str, own: Collection[str]) -> tuple[str, ...]:
    """Return the names that plugins add to those of rue, without importing any plugin."""
    return tuple(_plugins_besides(group, own))


def plugin_package(group: str, name: str) -> str | None:
    """Return the package and version that an entry comes from, without importing it."""
    point = _plugins_of(group).get(name)
    if point is None or point.dist is None:
        return None
    return f"{point.dist.name} {point.dist.version}"


def plugin_source(group: str, name: str) -> Path | None:
    """Return the file of a plugin's module, which is imported; None if there is none."""
    point = _plugins_of(group).get(name)
    if point is None:
        return None
    file = getattr(import_module(point.module), "__file__", None)
    return None if file is None else Path(file)


def _plugins_besides(group: str, own: Collection[str]) -> dict[str, EntryPoint]:
    points = _plugins_of(group)
    for name in points.keys() & set(own):
        raise PluginError(f"{_described(points[name])} has a name that rue itself uses")
    return points


@cache
def _plugins_of(group: str) -> dict[str, EntryPoint]:
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in points:
            raise PluginError(
                f"two plugins have the same name: {_described(points[point.name])} and "
                f"{_described(point)}"
            )
        points[point.name] = point
    return points


def _described(point: EntryPoint) -> str:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return f"the plugin {point.name!r}{package} ({point.group}: {point.value})"
