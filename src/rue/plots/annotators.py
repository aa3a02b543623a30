"""What the annotators say: their disagreement, their number, and the bracket of AuReC by it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

from rue.data import DataSet
from rue.errors import InputError
from rue.metrics.columns import title
from rue.plots.style import GREY, PALETTE, axes_of, look, put_bars_on_grid, require_one_loss


def plot_annotations(datasets: Sequence[DataSet]) -> Figure:
    """Draw the distributions of the answers' entropy (left) and of annotator counts (right).

    The entropy is that of p* = counts / row sum, in nats. A dotted line marks log K, its upper
    bound, and a triangle its mean.

    Parameters
    ----------
    datasets : sequence of DataSet
        Data sets with counts.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, of two panels per data set.

    Raises
    ------
    InputError
        If there is no data set, or one has no counts.

    Examples
    --------
    >>> from rue.plots import plot_annotations
    >>> from dataclasses import replace
    >>> import rue.data
    >>> data = rue.data.load("random-rbf", n_points=60)
    >>> answers = rue.data.simulate_annotators(data.annotations, 10)
    >>> len(plot_annotations([replace(data, annotations=answers)]).axes)
    2
    """
    if not datasets:
        raise InputError("datasets must contain at least one data set, got none")
    with look():
        figure = Figure(figsize=(7.2, 1.15 * len(datasets) + 0.6), layout="constrained")
        grid = figure.subplots(
            len(datasets), 2, squeeze=False, sharex="col", width_ratios=(1.35, 1.0)
        )
        highest = max(np.log(data.n_classes) for data in datasets)
        for row, (data, (left, right)) in enumerate(zip(datasets, grid, strict=True)):
            if data.annotations is None or data.annotations.counts is None:
                raise InputError(f"{data.name} has no counts of annotators to draw")
            colour = PALETTE[row % len(PALETTE)]
            entropy = data.annotations.entropies()
            n = data.annotations.n_annotators.astype(int)
            share = np.full(len(entropy), 1.0 / len(entropy))
            edges = np.linspace(0.0, 1.02 * highest, 61)
            left.hist(entropy, bins=edges, weights=share, color=colour, alpha=0.85)
            left.axvline(np.log(data.n_classes), color=GREY, linestyle=":", linewidth=1.1)
            left.text(
                np.log(data.n_classes) - 0.02,
                0.94,
                f"log {data.n_classes}",
                transform=left.get_xaxis_transform(),
                ha="right",
                va="top",
                color=GREY,
                fontsize=7,
            )
            left.plot(entropy.mean(), 0, "^", color="black", markersize=5, clip_on=False, zorder=5)
            left.set_title(data.name, fontweight="bold", pad=3)
            left.set_title(f"mean {entropy.mean():.2f}", loc="right", pad=3, fontsize=8)
            values, counts = np.unique(n, return_counts=True)
            right.bar(values, counts / len(n), width=0.9, color=colour, alpha=0.85)
            answers_text = f"{n.min()} to {n.max()}, mean {n.mean():.1f}"
            answers_text = f"{n.min()} each" if n.min() == n.max() else answers_text
            right.set_title(answers_text, loc="right", pad=3, fontsize=8)
            for axes in (left, right):
                axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
                axes.set_ylim(bottom=0)
                axes.margins(y=0.08)
                put_bars_on_grid(axes, "y")
                axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
        grid[-1][0].set(xlabel="entropy of the answers (nats)", xlim=(0, 1.02 * highest))
        grid[-1][1].set(xlabel="annotators per point")
        grid[-1][1].set_xlim(left=0)
        figure.supylabel("share of points", fontsize=9)
    return figure


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
    require_one_loss("rows", [row["loss"] for row in rows], "plot_brackets has a panel for each")
    with look():
        axes = axes_of(ax, (3.4, 2.6))
        _draw_bracket(axes, rows)
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
            _draw_bracket(axes, [row for row in rows if row["loss"] == loss])
        for axes in grid[len(losses) :]:
            axes.axis("off")
            axes.text(0.0, 0.5, "Bars: two standard errors.", color=GREY, fontsize=8)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw_bracket(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
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
