"""Approximation and estimation, stacked, beside the regret that each method predicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rue.errors import InputError
from rue.plots.style import GREY, PALETTE, axes_of, look

__all__ = ["plot_regret_parts"]


def plot_regret_parts(rows: Sequence[Mapping[str, Any]], *, ax: Axes | None = None) -> Axes:
    """Draw the mean regret of each row as a bar of approximation and estimation.

    A diamond is the regret that the method predicts, its mean epistemic uncertainty. Where the
    mean estimation is negative, its bar goes down from the top of the approximation.

    Parameters
    ----------
    rows : sequence of mapping
        Rows with ``name``, ``approximation`` and ``estimation``, and ``predicted_regret`` if it
        has the unit of the loss.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If there is no row.

    Examples
    --------
    >>> from rue.plots import plot_regret_parts
    >>> axes = plot_regret_parts([{"name": "a", "approximation": 0.1, "estimation": 0.2}])
    >>> [text.get_text() for text in axes.get_xticklabels()]
    ['a']
    """
    if not rows:
        raise InputError("rows must have at least one row, got none")
    with look():
        axes = axes_of(ax, (0.5 * len(rows) + 2.0, 3.0))
        places = np.arange(len(rows))
        first, more = (
            np.array([row[key] for row in rows]) for key in ("approximation", "estimation")
        )
        axes.bar(places, first, color=GREY, width=0.65, label="approximation")
        axes.bar(places, more, bottom=first, color=PALETTE[0], width=0.65, label="estimation")
        predicted = [
            np.nan if row.get("predicted_regret") is None else row["predicted_regret"]
            for row in rows
        ]
        axes.plot(places, predicted, "D", color=PALETTE[1], markersize=5, label="predicted")
        axes.set_xticks(places, [row["name"] for row in rows])
        axes.grid(visible=False, axis="x")
        axes.set_axisbelow(True)
        axes.set_ylim(bottom=0)
    return axes
