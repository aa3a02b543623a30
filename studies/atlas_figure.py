"""The summary figure of the atlas: n-AuReC of each method on each data set."""

import numpy as np
from matplotlib.figure import Figure

from rue.plots.style import GREY, PALETTE, look
from studies.atlas_analysis import REPLICATES, Grid, family, family_means
from studies.pictures import keep_figure

MARKERS = "osD^v<>"
"""The data sets of one family share a colour and differ in shape."""


def draw(panels: list[tuple[str, Grid]]) -> None:
    """Draw one panel per loss: a dot for each data set, and the mean of each method.

    Means, and with them the order of the methods, are over the families of the data sets that
    every method has: families differ more than methods do, so means over different ones could not
    be compared.
    """
    with look():
        keep_figure(figure(panels), "atlas")


def figure(panels: list[tuple[str, Grid]]) -> Figure:
    """Return the figure, one panel for each loss."""
    whole = Figure(figsize=(3.9 * len(panels), 4.4), layout="constrained")
    axes = np.atleast_1d(whole.subplots(1, len(panels)))
    for ax, (name, grid) in zip(axes, panels, strict=True):
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
            place = places + (families.index(family(dataset)) - (len(families) - 1) / 2) * 0.11
            ax.plot(
                grid.values[d, order],
                place,
                MARKERS[kin.index(dataset)],
                ms=4,
                color=color,
                mfc=color if shared[d] else "white",
                label=dataset,
            )
        ax.axvline(1.0, color=GREY, lw=1, ls=":")
        ax.set_xlim(left=0)
        ax.set_yticks(places, [grid.methods[i] for i in order])
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in REPLICATES else "normal")
        ax.set_xlabel("n-AuReC (0 perfect, 1 random)")
        ax.set_title(name)
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
