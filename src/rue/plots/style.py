"""The style that all figures share."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypedDict

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rue.errors import FileError, InputError
from rue.io.atomic import replacing
from rue.plots.methods import COLOURS, method_styles

PALETTE = COLOURS
GREY = "#6e6e6e"
WIDTH = 7.3
"""The width of figures in inches: that of two columns; one column of NeurIPS or ICML is 5.5."""

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
    "pdf.fonttype": 42,  # TrueType: camera-ready checks reject Type 3
    "ps.fonttype": 42,
    "savefig.dpi": 300,
    "svg.fonttype": "none",
    "text.parse_math": False,  # names of methods may contain $
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@contextmanager
def look() -> Iterator[None]:
    """Use rue's style within a ``with`` block, independent of the user's settings.

    Returns
    -------
    context manager
        Sets and restores matplotlib's settings.

    Examples
    --------
    >>> from rue.plots import look
    >>> import matplotlib as mpl
    >>> before = mpl.rcParams["axes.grid"]
    >>> with look():
    ...     inside = mpl.rcParams["axes.grid"]
    >>> inside, mpl.rcParams["axes.grid"] == before
    (True, True)
    """
    with mpl.rc_context(_LOOK):
        yield


class LineStyle(TypedDict):
    """Colour, linestyle and marker of a method, as keywords of matplotlib."""

    color: str
    linestyle: Literal["-"] | tuple[int, tuple[int, ...]]
    marker: str


def line_styles(methods: Iterable[str]) -> dict[str, LineStyle]:
    """Return how the lines of each method are drawn."""
    return {
        name: {
            "color": PALETTE[style.colour],
            "linestyle": (0, style.dash) if style.dash else "-",
            "marker": style.marker,
        }
        for name, style in method_styles(methods).items()
    }


def loss_title(loss: str) -> str:
    """Return the name of a loss as a paper writes it."""
    return {"zero_one": "0/1", "brier": "Brier", "rps": "RPS", "crps": "CRPS"}.get(loss, loss)


def require_one_loss(what: str, losses: Sequence[str], other: str) -> None:
    """Raise unless all losses are the same; ``other`` names the function that takes several."""
    if len(set(losses)) != 1:
        got = ", ".join(dict.fromkeys(losses)) or "none"
        raise InputError(f"{what} must be of one loss, got {got}; {other}")


def put_bars_on_grid(axes: Axes, values: Literal["x", "y"]) -> None:
    """Draw the grid of the axis of values alone, behind the bars."""
    axes.grid(visible=False, axis="y" if values == "x" else "x")
    axes.set_axisbelow(True)


def white_box(pad: float) -> dict[str, str | float]:
    """Return a background that keeps a text legible on lines, as ``bbox``."""
    return {"facecolor": "white", "edgecolor": "none", "pad": pad}


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw on: those given, or the only ones of a new figure of this size."""
    if ax is not None:
        return ax
    axes: Axes = Figure(figsize=size, layout="constrained").subplots()
    return axes


def save(figure: Figure | Axes, path: str | Path) -> None:
    """Write a figure to a .png, .pdf or .svg file, completely or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure or matplotlib.axes.Axes
        The figure, or one of its panels, as functions with ``ax=`` return it.
    path : path
        The file; its suffix decides the format.

    Returns
    -------
    None

    Raises
    ------
    FileError
        If the suffix is unknown, or the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from rue.plots import save
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(Figure(), Path(folder, "empty.svg"))
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("png", "pdf", "svg"):
        raise FileError(f"{path}: a figure must be .png, .pdf or .svg, got {path.suffix!r}")
    whole: Any = figure
    while not isinstance(whole, Figure):  # a panel of a figure, or of a part of one
        whole = whole.figure
    with replacing(path) as file, look(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # missing letters are drawn as boxes
        whole.savefig(file, format=kind)
