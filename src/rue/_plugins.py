"""Registries that other packages add to, by entry points.

A package declares what it adds in its ``pyproject.toml``::

    [project.entry-points."rue.methods"]
    swag = "my_package.swag"

    [project.entry-points."rue.datasets"]
    my-photos = "my_package.photos:ENTRY"

Its names are known at once; it is imported when one of them is asked for.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from rue.errors import PluginError

__all__ = ["Registry", "plugin_names"]

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """What rue has of a kind and what plugins add, by name, rue's own first.

    ``check`` is called with a plugin's name and what its entry point gave, and gives what is kept
    or raises :class:`ValueError`.
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
        return _beside(self._group, self._shipped)

    def _load(self, point: EntryPoint) -> T:
        try:
            return self._check(point.name, point.load())
        except (Exception, SystemExit) as error:  # a plugin's code may raise anything
            what = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise PluginError(f"{_described(point)} cannot be loaded: {what}") from error


def plugin_names(group: str, own: Collection[str]) -> tuple[str, ...]:
    """Give the names that plugins add to rue's own; none of them is imported."""
    return tuple(_beside(group, own))


def _beside(group: str, own: Collection[str]) -> dict[str, EntryPoint]:
    found = _found(group)
    for name in found.keys() & set(own):
        raise PluginError(f"{_described(found[name])} has the name of one that rue has itself")
    return found


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in found:
            raise PluginError(
                f"two plugins have one name: {_described(found[point.name])} and "
                f"{_described(point)}"
            )
        found[point.name] = point
    return found


def _described(point: EntryPoint) -> str:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return f"the plugin {point.name!r}{package} ({point.group}: {point.value})"
