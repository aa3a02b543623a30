"""The bracket of AuReC against the number of annotators, and the true value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from rue.plots.style import GREY, PALETTE, look

__all__ = ["plot_brackets"]


def plot_brackets(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the bracket of AuReC against the number of annotators, with one panel per loss.

    The upper end is the plug-in estimate, the lower the leave-one-out estimate. Error bars are
    two standard errors.

    Parameters
    ----------
    rows : sequence of mapping
        Rows with ``loss``, ``m`` (the number of annotators), ``low``, ``low_se``, ``high``,
        ``high_se`` and ``true``.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> ends = {"low": 0.1, "low_se": 0.01, "high": 0.3, "high_se": 0.01, "true": 0.2}
    >>> figure = plot_brackets([{"loss": "log", "m": m, **ends} for m in (5, 10)])
    >>> figure.axes[0].get_title("left")
    'log loss'
    """
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    with look():
        n_columns = min(3, len(losses))
        n_rows = -(-len(losses) // n_columns)
        figure = Figure(figsize=(7.2, 2.3 * n_rows + 0.3), layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axes, loss in zip(grid, losses, strict=False):
            part = sorted((row for row in rows if row["loss"] == loss), key=lambda row: row["m"])
            m, low, high = (np.array([row[key] for row in part]) for key in ("m", "low", "high"))
            axes.fill_between(m, low, high, color=PALETTE[0], alpha=0.15, linewidth=0)
            for end, colour, label in (
                ("high", PALETTE[1], "plug-in"),
                ("low", PALETTE[0], "leave-one-out"),
            ):
                errors = [2 * row[f"{end}_se"] for row in part]
                values = high if end == "high" else low
                axes.errorbar(
                    m, values, errors, color=colour, marker="o", markersize=3, label=label
                )
            axes.axhline(part[0]["true"], color="black", linewidth=1.0, label="true")
            axes.set_xscale("log")
            axes.set_xticks(m, [str(n) for n in m])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_title(f"{loss} loss")
            axes.set(xlabel="annotators per point", ylabel="AuReC")
        for axes in grid[len(losses) :]:
            axes.axis("off")
            axes.text(0.0, 0.5, "Bars: two standard errors.", color=GREY, fontsize=8)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
