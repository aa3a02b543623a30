"""The bracket of AuReC against the number of annotators, and the true value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from rue.errors import InputError
from rue.metrics.columns import title
from rue.plots.style import GREY, PALETTE, axes_of, look


def plot_bracket(rows: Sequence[Mapping[str, Any]], *, ax: Axes | None = None) -> Axes:
    """Draw the bracket of AuReC under one loss against the number of annotators.

    Parameters
    ----------
    rows : sequence of mapping
        As in :func:`plot_brackets`, all of one loss.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If there is no row, or rows have several losses.

    Examples
    --------
    >>> from rue.plots import plot_bracket
    >>> ends = {"low": 0.1, "low_se": 0.01, "high": 0.3, "high_se": 0.01, "true": 0.2}
    >>> axes = plot_bracket([{"loss": "log", "m": m, **ends} for m in (5, 10)])
    >>> axes.get_ylabel()
    'AuReC'
    """
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    if len(losses) != 1:
        got = ", ".join(losses) or "none"
        raise InputError(f"rows must be of one loss, got {got}; plot_brackets has a panel for each")
    with look():
        axes = axes_of(ax, (3.4, 2.6))
        _draw(axes, rows)
        axes.legend()
    return axes


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
        The figure, with one panel per loss; :func:`plot_bracket` draws one.

    Examples
    --------
    >>> from rue.plots import plot_brackets
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
            _draw(axes, [row for row in rows if row["loss"] == loss])
        for axes in grid[len(losses) :]:
            axes.axis("off")
            axes.text(0.0, 0.5, "Bars: two standard errors.", color=GREY, fontsize=8)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    rows = sorted(rows, key=lambda row: row["m"])
    m, low, high = (np.array([row[key] for row in rows]) for key in ("m", "low", "high"))
    axes.fill_between(m, low, high, color=PALETTE[0], alpha=0.15, linewidth=0)
    for end, values, colour, label in (
        ("high", high, PALETTE[1], "plug-in"),
        ("low", low, PALETTE[0], "leave-one-out"),
    ):
        errors = [2 * row[f"{end}_se"] for row in rows]
        axes.errorbar(m, values, errors, color=colour, marker="o", markersize=3, label=label)
    axes.axhline(rows[0]["true"], color="black", linewidth=1.0, label="true")
    axes.set_xscale("log")
    axes.set_xticks(m, [str(n) for n in m])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_title(f"{rows[0]['loss']} loss")
    axes.set(xlabel="annotators per point", ylabel=title("aurec"))
