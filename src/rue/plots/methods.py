"""One colour, dash and marker for each method, the same in every figure and on every page."""

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

COLOURS = ("#005f9e", "#b8400a", "#00875f", "#c4609f", "#cb8700", "#3c9cd8", "#14181c")
"""Hues of Okabe and Ito, of which colour-blind readers tell any two apart, on white."""
COLOURS_ON_DARK = ("#3f8fe0", "#f2662b", "#1fb585", "#f0a3d3", "#f7c648", "#a8e0ff", "#ffffff")

_DASHES = ((), (7, 3), (2, 2))
_MARKERS = "osD^vPX<>phd*8"

# The place of each method of rue: seven with solid lines, then seven dashed, then dotted.
_METHODS = (
    *("ensemble", "dropout", "evidential", "ddu", "dirichlet_multinomial", "laplace", "single"),
    *("snapshots", "pairs", "swag", "sngp", "deup", "forest", "strength"),
    *("knn", "confidence"),
)


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn: the number of its colour, its dashes in points, and its marker."""

    place: int

    @property
    def colour(self) -> int:
        """Return the index of the colour in ``COLOURS`` and ``COLOURS_ON_DARK``."""
        return self.place % len(COLOURS)

    @property
    def dash(self) -> tuple[int, ...]:
        """Return the lengths of dashes and gaps; empty for a solid line."""
        return _DASHES[self.place // len(COLOURS) % len(_DASHES)]

    @property
    def marker(self) -> str:
        """Return the marker, as matplotlib names it."""
        return _MARKERS[self.place % len(_MARKERS)]


def method_styles(names: Iterable[str]) -> dict[str, MethodStyle]:
    """Return the style of each method: fixed for those of rue, by the name for others."""
    methods = set(names)
    places = {name: place for place, name in enumerate(_METHODS) if name in methods}
    n_colours, n_places = len(COLOURS), len(COLOURS) * len(_DASHES)
    for name in sorted(methods - places.keys()):
        first = crc32(name.encode("utf-8", "replace")) % n_colours
        candidates = [
            row * n_colours + (first + step) % n_colours
            for row in range(len(_DASHES))
            for step in range(n_colours)
        ]
        taken = {place % n_places for place in places.values()}
        places[name] = next((c for c in candidates if c not in taken), first)
    return {name: MethodStyle(place) for name, place in places.items()}
