"""The summary figure of the atlas: n-AuReC of each method on each data set."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from rue.plots.style import GREY, PALETTE, look
from studies.atlas_analysis import REPLICATES, Grid, family, family_means
from studies.pictures import keep_figure

MARKERS = "osD^v<>"
"""The data sets of one family share a colour and differ in shape."""
FLOOR = -1.3
"""The place of the floors, below the methods."""


class Panel(NamedTuple):
    """One loss: n-AuReC of the methods, and the floor of each data set."""

    name: str
    grid: Grid
    floors: Mapping[str, float]


def draw(panels: list[Panel]) -> None:
    """Draw one panel per loss: a dot for each data set, and the mean of each method.

    The lowest row has the floor of each data set, the lowest n-AuReC that any ranking could have
    with its answers, around the predictions of one network.

    Means, and with them the order of the methods, are over the families of the data sets that
    every method has: families differ more than methods do, so means over different ones could not
    be compared.
    """
    with look():
        keep_figure(figure(panels), "atlas")


def figure(panels: list[Panel]) -> Figure:
    """Return the figure, one panel for each loss."""
    whole = Figure(figsize=(3.9 * len(panels), 4.7), layout="constrained")
    axes = np.atleast_1d(whole.subplots(1, len(panels)))
    for ax, panel in zip(axes, panels, strict=True):
        grid = panel.grid
        shared = np.asarray(~np.isnan(grid.values).any(axis=1))
        names = [d for d, one in zip(grid.datasets, shared, strict=True) if one]
        means = family_means(names, grid.values[shared]).mean(axis=0)
        order = np.argsort(-means)
        places = np.arange(len(order))
        ax.plot(means[order], places, "|", ms=18, mew=2, color="black", zorder=1)
        families = sorted({family(d) for d in grid.datasets})
        for d, dataset in enumerate(grid.datasets):
            kin = [one for one in grid.datasets if family(one) == family(dataset)]
            color = PALETTE[families.index(family(dataset))]
            shift = (families.index(family(dataset)) - (len(families) - 1) / 2) * 0.11
            ax.plot(
                [panel.floors.get(dataset, np.nan), *grid.values[d, order]],
                np.array([FLOOR, *places]) + shift,
                MARKERS[kin.index(dataset)],
                ms=4,
                color=color,
                mfc=color if shared[d] else "white",
                label=dataset,
            )
        ax.axhline(FLOOR / 2, color=GREY, lw=0.6)
        ax.axvline(1.0, color=GREY, lw=1, ls=":")
        ax.set_xlim(left=0)
        ax.set_yticks([FLOOR, *places], ["floor", *(grid.methods[i] for i in order)])
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in REPLICATES else "normal")
        ax.set_xlabel("n-AuReC (0 perfect, 1 random)")
        ax.set_title(panel.name)
    handles, labels = axes[0].get_legend_handles_labels()
    ordered = sorted(zip(labels, handles, strict=True), key=lambda pair: family(pair[0]))
    whole.legend(
        [handle for _, handle in ordered],
        [label for label, _ in ordered],
        loc="outside lower center",
        ncols=4,
        fontsize=7,
        frameon=False,
    )
    return whole
