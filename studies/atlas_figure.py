"""The summary figure of the atlas: n-AuReC of each method on each data set."""

from pathlib import Path

import numpy as np

from rue.plots.style import save
from studies.atlas_analysis import REPLICATES, Grid

MARKERS = {"sentiment": "o", "emobank": "^", "random": "D"}
"""Texts, emotions in texts and simulated points; images are squares."""


def marker(dataset: str) -> str:
    """Return the shape of a data set's dots: there are more data sets than colours."""
    return MARKERS.get(dataset.partition("-")[0], "s")


def draw(panels: list[tuple[str, Grid]], path: Path) -> None:
    """Draw one panel per loss: a dot for each data set, and the mean of each method.

    Means, and with them the order of the methods, are over the data sets that every method has:
    data sets differ more than methods do, so means over different ones could not be compared.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(panels), 4.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    for ax, (name, grid) in zip(axes, panels, strict=True):
        shared = np.asarray(~np.isnan(grid.values).any(axis=1))
        means = grid.values[shared].mean(axis=0)
        order = np.argsort(-means)
        places = range(len(order))
        for d, dataset in enumerate(grid.datasets):
            color = f"C{d % 10}"
            face = color if shared[d] else "white"
            dots = grid.values[d, order]
            ax.plot(dots, places, marker(dataset), ms=4, color=color, mfc=face, label=dataset)
        ax.plot(means[order], places, "|", ms=16, color="black")
        ax.axvline(1.0, color="0.6", lw=0.8, ls=":")
        ax.set_yticks(places, [grid.methods[i] for i in order])
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in REPLICATES else "normal")
        ax.set_xlabel("n-AuReC (0 perfect, 1 random)")
        ax.set_title(name)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7, frameon=False)
    save(figure, path)
