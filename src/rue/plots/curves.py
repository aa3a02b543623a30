"""Regret and risk against coverage: curves of methods, and the surfaces of all selectors."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rue._arrays import FloatArray
from rue.components import Run
from rue.errors import InputError
from rue.metrics.curves import risk_coverage_curve
from rue.pareto.gap import igd_plus
from rue.pareto.surfaces import Surface
from rue.plots.style import (
    GREY,
    PALETTE,
    WIDTH,
    axes_of,
    line_styles,
    look,
    loss_title,
    require_one_loss,
)

OPTIMAL, ACHIEVABLE = PALETTE[0], PALETTE[1]

# Coverage is to be maximised, risk and regret are to be minimised.
WORSE = np.array([-1.0, 1.0, 1.0])


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


def plot_surfaces(optimal: Surface, achievable: Surface, *, ax: Axes | None = None) -> Axes:
    """Draw both surfaces in three dimensions: coverage, regret and risk.

    Each surface is a ribbon: at a given coverage it runs from the least risk to the least
    regret. Grey lines connect points of the optimal surface to the achievable one, along the
    coordinates that are worse. Their mean length, over all points, is the Pareto-gap.

    Parameters
    ----------
    optimal, achievable : Surface
        The surfaces (:func:`rue.optimal_surface`, :func:`rue.achievable_surface`).
    ax : mpl_toolkits.mplot3d.Axes3D, optional
        The axes to draw on, with ``projection="3d"``; by default those of a new figure.

    Returns
    -------
    mpl_toolkits.mplot3d.Axes3D
        The axes.

    Raises
    ------
    InputError
        If ``ax`` has two dimensions.

    Examples
    --------
    >>> from rue.plots import plot_surfaces
    >>> import rue
    >>> star = rue.Components([0.5, 0.5, 0.2], [0.0, 0.5, 0.1], [0.5, 0.0, 0.1])
    >>> axes = plot_surfaces(rue.optimal_surface(star), rue.achievable_surface(star, star))
    >>> axes.get_zlabel()
    'risk'
    """
    if ax is not None and ax.name != "3d":
        raise InputError(f'ax must have projection="3d", got {ax.name}')
    gap = igd_plus(optimal.points, *np.ascontiguousarray(achievable.points.T))
    with look():
        axes: Any = ax
        if axes is None:
            place = (0.0, 0.08, 0.97, 0.92)
            axes = Figure(figsize=(5.6, 4.6)).add_axes(place, projection="3d")
        axes.computed_zorder = False  # by depth, as below
        for surface, colour, depth in ((achievable, ACHIEVABLE, 1), (optimal, OPTIMAL, 4)):
            c, risk, regret = np.moveaxis(_ribbon(surface), 2, 0)
            axes.plot_surface(
                c, regret, risk, color=colour, alpha=0.5, linewidth=0, shade=False, zorder=depth
            )
            for edge in (0, -1):
                line = c[:, edge], regret[:, edge], risk[:, edge]
                axes.plot(*line, color=colour, linewidth=1.6, zorder=depth + 1)
        for short in _shortfalls(optimal, achievable):
            axes.plot(short[:, 0], short[:, 2], short[:, 1], color=GREY, linewidth=0.9, zorder=3)
        _, risk, regret = optimal.points[-1]
        axes.plot(
            [0, 1], [0, regret], [0, risk], color=GREY, linewidth=1.0, linestyle=":", zorder=1
        )
        axes.set(xlabel="coverage", ylabel="regret", zlabel="risk", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.set_zlim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_major_locator(MaxNLocator(5))
        axes.set_box_aspect((1, 1, 0.8), zoom=1.1)
        axes.view_init(elev=18, azim=-125)
        handles = [
            Line2D([], [], color=OPTIMAL, linewidth=3, label="optimal"),
            Line2D([], [], color=ACHIEVABLE, linewidth=3, label="achievable"),
            Line2D([], [], color=GREY, linewidth=0.9, label=f"gap (mean {gap:.3g})"),
            Line2D([], [], color=GREY, linewidth=1.0, linestyle=":", label="random ranking"),
        ]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4)
    return cast(Axes, axes)


def _level(surface: Surface, coverage: float) -> FloatArray:
    """Return the points at the coverage closest to the given one, sorted by regret."""
    nearest = surface.coverage[np.abs(surface.coverage - coverage).argmin()]
    points: FloatArray = surface.points[surface.coverage == nearest]
    return points[np.lexsort((points[:, 1], points[:, 2]))]


def _ribbon(surface: Surface, n_levels: int = 61, n_across: int = 25) -> FloatArray:
    """Return the fronts at some coverages, with equally many points, shape (levels, across, 3)."""
    rows = []
    for coverage in np.linspace(0, 1, n_levels):
        level = _level(surface, coverage)
        along = np.linspace(0, len(level) - 1, n_across)
        rows.append([np.interp(along, np.arange(len(level)), column) for column in level.T])
    return np.moveaxis(np.array(rows), 1, 2)


def _shortfalls(optimal: Surface, achievable: Surface) -> list[FloatArray]:
    """Return lines from some optimal points along the coordinates that are worse in the other."""
    lines = []
    for coverage in np.linspace(0.1, 0.9, 9):
        level = _level(optimal, coverage)
        point = level[len(level) // 2]
        lacking = np.maximum(0.0, (achievable.points - point) * WORSE)
        least = lacking[(lacking**2).sum(axis=1).argmin()]
        lines.append(np.array([point, point + least * WORSE]))
    return lines
