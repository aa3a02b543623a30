"""The optimal and the achievable surface in three dimensions."""

from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.pareto.gap import igd_plus
from rue.pareto.surfaces import Surface
from rue.plots.style import GREY, PALETTE, look

OPTIMAL, ACHIEVABLE = PALETTE[0], PALETTE[1]

# Coverage is to be maximised, risk and regret are to be minimised.
WORSE = np.array([-1.0, 1.0, 1.0])


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
