"""Regret- and risk-coverage curves of several methods, with their oracle and random rankings."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rue._arrays import FloatArray
from rue.components import Run
from rue.errors import InputError
from rue.metrics.curves import risk_coverage_curve
from rue.plots.style import (
    GREY,
    WIDTH,
    axes_of,
    line_styles,
    look,
    loss_title,
    require_one_loss,
)


def plot_curve(
    runs: Sequence[Run],
    *,
    value: Literal["regret", "risk"] = "regret",
    gain: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw regret or risk against coverage, ranked by the estimated epistemic uncertainty.

    For each method, the oracle ranking is dotted and the random ranking thin.

    Parameters
    ----------
    runs : sequence of Run
        The runs of one or more methods, all of one loss.
    value : {"regret", "risk"}
        The realised epistemic component, or the realised total.
    gain : bool
        Whether to draw how far the curve is below that of a random ranking: higher is better,
        and the lines of similar methods are further apart.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If there is no run, runs have several losses, or ``value`` is neither of the two.

    Examples
    --------
    >>> from rue.plots import plot_curve
    >>> import rue
    >>> truth = rue.Annotations([[3, 1], [2, 2], [4, 0]])
    >>> belief = rue.Dirichlet([[3, 1], [1, 3], [9, 1]])
    >>> axes = plot_curve([rue.Run.from_belief(truth, belief, method="a")], value="risk")
    >>> axes.get_title("left")
    'Risk-coverage (log loss)'
    """
    require_one_loss("runs", [run.loss_name for run in runs], "plot_curves has a row for each")
    if value not in ("regret", "risk"):
        raise InputError(f"value must be regret or risk, got {value!r}")
    methods = list(dict.fromkeys(run.method for run in runs))
    with look():
        axes = axes_of(ax, (4.2, 3.2))
        _draw(axes, runs, methods, value, gain)
        axes.legend(handles=_handles(methods, gain))
    return axes


def plot_curves(runs: Sequence[Run], *, gain: bool = False, width: float = WIDTH) -> Figure:
    """Draw regret and risk against coverage, ranked by the estimated epistemic uncertainty.

    There is one row of panels per loss, with regret on the left and risk on the right. Oracle and
    random rankings differ between methods, because the methods act differently.

    Parameters
    ----------
    runs : sequence of Run
        The runs of one or more methods and losses.
    gain : bool
        As in :func:`plot_curve`.
    width : float
        The width in inches, for example 5.5 for a page of one column.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, of two panels per loss; :func:`plot_curve` draws one.

    Examples
    --------
    >>> from rue.plots import plot_curves
    >>> import rue
    >>> truth = rue.Annotations([[3, 1], [2, 2], [4, 0]])
    >>> belief = rue.Dirichlet([[3, 1], [1, 3], [9, 1]])
    >>> figure = plot_curves([rue.Run.from_belief(truth, belief, method="a")])
    >>> figure.axes[0].get_title("left")
    'Regret-coverage (log loss)'
    """
    losses = list(dict.fromkeys(run.loss_name for run in runs))
    methods = list(dict.fromkeys(run.method for run in runs))
    with look():
        figure = Figure(figsize=(width, 0.4 * width * len(losses)), layout="constrained")
        grid = figure.subplots(len(losses), 2, squeeze=False)
        for row, loss in zip(grid, losses, strict=True):
            part = [run for run in runs if run.loss_name == loss]
            for axes, what in zip(row, ("regret", "risk"), strict=True):
                _draw(axes, part, methods, what, gain)
        handles = _handles(methods, gain)
        widest = max(len(str(handle.get_label())) for handle in handles)
        n_columns = max(1, min(len(handles), int(width / (0.5 + 0.07 * widest))))
        figure.legend(handles=handles, loc="outside lower center", ncols=n_columns)
    return figure


def _draw(axes: Axes, runs: Sequence[Run], methods: list[str], what: str, gain: bool) -> None:
    """Draw a line for each run; with gain, all random rankings are the line at 0."""
    styles = line_styles(methods)
    for i, run in enumerate(runs):
        style, every = styles[run.method], (0.02 + 0.04 * (i % 5), 0.2)
        colour = style["color"]
        value = run.star.epistemic if what == "regret" else run.star.total
        coverage, curve = _corners(value, run.hat.epistemic)
        if gain:
            curve = coverage * float(value.mean()) - curve
        axes.plot(coverage, curve, **style, linewidth=1.4, markersize=4, markevery=every)
        if not gain:
            axes.plot(*_corners(value, value), color=colour, linewidth=0.9, linestyle=":")
            axes.plot([0, 1], [0, float(value.mean())], color=colour, linewidth=0.6, alpha=0.6)
    loss = runs[0].loss_name
    axes.set(xlim=(0, 1), xlabel="coverage")
    if gain:
        axes.axhline(0, color=GREY, linewidth=0.9)
        axes.set_ylabel(f"{what} saved")
    else:
        axes.set_ylabel(f"{what} of accepted points")
        axes.set_ylim(bottom=0)
    title = f"{what.capitalize()} below random" if gain else f"{what.capitalize()}-coverage"
    axes.set_title(title + f" ({loss_title(loss)} loss)" * bool(loss))


def _handles(methods: list[str], gain: bool) -> list[Line2D]:
    styles = line_styles(methods)
    named = [Line2D([], [], **styles[name], markersize=4, label=name) for name in methods]
    if gain:
        return [*named, Line2D([], [], color=GREY, linewidth=0.9, label="random ranking")]
    return [
        *named,
        Line2D([], [], color=GREY, linestyle=":", label="its oracle"),
        Line2D([], [], color=GREY, linewidth=0.6, label="its random"),
    ]


def _corners(value: FloatArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the curve, or 1,000 points on it if there are more corners."""
    curve = risk_coverage_curve(value, score)
    if len(curve.coverage) <= 1000:
        return curve.coverage, curve.value
    coverage = np.linspace(0, 1, 1001)
    return coverage, np.interp(coverage, curve.coverage, curve.value)
