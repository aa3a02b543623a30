"""The disagreement of annotators and their number, with one row of panels per data set."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from rue.data import DataSet
from rue.errors import InputError
from rue.plots.style import GREY, PALETTE, look


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
            p, n = data.annotations.probs, data.annotations.n_annotators.astype(int)
            entropy = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=1)
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
                axes.grid(axis="x", visible=False)
                axes.set_axisbelow(True)
                axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
        grid[-1][0].set(xlabel="entropy of the answers (nats)", xlim=(0, 1.02 * highest))
        grid[-1][1].set(xlabel="annotators per point")
        grid[-1][1].set_xlim(left=0)
        figure.supylabel("share of points", fontsize=9)
    return figure
