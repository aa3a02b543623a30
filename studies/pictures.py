"""The pictures of docs/figures: small enough for a page, each with a stamp of what it shows.

A stamp is a hash of the rows that a picture is drawn from and of the texts in it. The file
stamps.json holds one for each picture, and a test computes them again: a picture whose rows or
labels have changed since fails it.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

import rue
from rue.metrics.columns import COLUMNS
from rue.plots import plot_curves, plot_rankings, save
from rue.report.page import asset
from studies import FIGURES

STAMPS = FIGURES / "stamps.json"
MOST_BYTES = 300_000
WIDTHS = (1_600, 1_300, 1_000, 800)
_SMOOTH = Image.Resampling.LANCZOS


def keep_figure(figure: Figure | Axes, name: str) -> None:
    """Save a figure as docs/figures/NAME.png, stamped by its lines and texts."""
    with tempfile.TemporaryDirectory() as folder:
        path, source = Path(folder, "figure.png"), shown_in(figure)
        save(figure, path)  # which adds the texts of ticks
        keep_file(path, name, source)


def keep_file(path: Path, name: str, source: Any) -> None:
    """Copy a picture to docs/figures/NAME.png, stamped by what it is drawn from."""
    with Image.open(path) as image:
        keep_image(image.convert("RGB"), name, source)


def keep_image(image: Image.Image, name: str, source: Any) -> None:
    """Write docs/figures/NAME.png: as wide as fits, with all its colours if possible."""
    path = FIGURES / f"{name}.png"
    for width in WIDTHS:
        height = round(image.height * width / image.width)
        small = image if image.width <= width else image.resize((width, height), _SMOOTH)
        small.save(path, optimize=True)
        if path.stat().st_size <= MOST_BYTES:
            break
        small.quantize(256, Image.Quantize.FASTOCTREE).save(path, optimize=True)
        if path.stat().st_size <= MOST_BYTES:
            break
    stamps = json.loads(STAMPS.read_text()) if STAMPS.exists() else {}
    stamps[name] = stamp_of(source)
    STAMPS.write_text(json.dumps(dict(sorted(stamps.items())), indent=1) + "\n")


def stamp_of(source: Any) -> str:
    """Return the hash of what a picture is drawn from."""
    text = json.dumps(source, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shown_in(figure: Figure | Axes) -> dict[str, Any]:
    """Return the texts of a figure, and the numbers of its lines and bars to three digits."""
    whole: Any = figure if isinstance(figure, Figure) else figure.figure
    texts = sorted({t.get_text() for t in whole.findobj(Text) if t.get_text().strip()})
    lines = [np.asarray(line.get_xydata(), float) for axes in whole.axes for line in axes.lines]
    numbers = [[f"{x:.3g}" for x in line.ravel().tolist()] for line in lines]
    bars = [[f"{bar.get_height():.3g}" for bar in axes.patches] for axes in whole.axes]
    return {"texts": texts, "lines": numbers, "bars": bars}


def run_source(record: dict[str, Any]) -> dict[str, Any]:
    """Return what the curves and rankings of a benchmark are drawn from: its rows, and labels."""
    star = rue.Components([0.5, 0.5, 0.2], [0.0, 0.5, 0.1], [0.5, 0.0, 0.1])
    runs = [rue.Run(star, star, method=name, loss="log") for name in "ab"]
    ranking = rue.compare(runs, criteria=["aurec"], n_replicates=9)["aurec"]
    figures = plot_curves(runs, gain=True), plot_rankings([("title", ranking)])
    texts = [shown_in(figure)["texts"] for figure in figures]
    return {"table": record["table"], "texts": texts}


def page_source(package: str = "rue.report") -> dict[str, Any]:
    """Return what a screenshot of a page shows: its template and the titles of its columns."""
    titles = [column.title for column in COLUMNS.values() if column.explanation]
    return {"page": asset("page.html", package), "titles": titles}
