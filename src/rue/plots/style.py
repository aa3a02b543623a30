"""The look that all figures share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from rue.errors import FileError
from rue.io.atomic import replacing

# Okabe and Ito's palette, which colour-blind readers can tell apart.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6e6e6e"

_LOOK: dict[Any, Any] = {
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.dpi": 120,
    "font.size": 9,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.dpi": 300,
    "svg.fonttype": "none",
    "text.parse_math": False,  # a method may be called a$b
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@contextmanager
def look() -> Iterator[None]:
    """Draw in rue's look, whatever the user's settings are."""
    with mpl.rc_context(_LOOK):
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as .png, .pdf or .svg, whole or not at all."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("png", "pdf", "svg"):
        raise FileError(f"{path}: a figure must be .png, .pdf or .svg, got {path.suffix!r}")
    with replacing(path) as file, look(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a box stands in for a letter it lacks
        figure.savefig(file, format=kind)
