"""Figure 1 and a second figure: the rejected regions, curves and regret split of the sandbox."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rue.metrics.curves import regret_coverage_curve, risk_coverage_curve
from rue.plots.style import GREY, look, loss_title
from rue.sandbox import REGIONS, SCORERS, Sandbox

# Label, colour, hatch and dashes of each scorer. The colours are those of Okabe and Ito; hatches
# and dashes distinguish the scorers in grey print.
_LOOKS: dict[str, tuple[str, str, str, Any]] = {
    "ood": ("OOD", "#E69F00", "", (0, (1, 1))),
    "eer": ("EER", "#56B4E9", "//////", (0, (4, 1, 1, 1))),
    "bald": ("BALD", "#009E73", "", (0, (3, 1.5))),
    "total": ("Total", "#D55E00", "......", (0, (7, 1.5))),
    "epistemic": ("Epistemic", "#0072B2", "", "-"),
}
_PLAIN: Any = {"axes.grid": False, "axes.titlesize": 8, "hatch.linewidth": 0.5}
_GRID = {
    "left": 0.105, "right": 0.835, "bottom": 0.08, "top": 0.95, "wspace": 1.1, "hspace": 0.4,
}  # fmt: skip
_NOTES = {"A": "fast, low noise", "B": "sparse data", "C": "high noise, slow"}


def plot_sandbox(sandbox: Sandbox) -> Figure:
    """Draw figure 1: the world, its density, and the inputs that each scorer rejects.

    Parameters
    ----------
    sandbox : Sandbox
        The result of :func:`rue.sandbox.run_sandbox`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, of three panels.

    Examples
    --------
    >>> from rue.plots import plot_sandbox
    >>> from rue.sandbox import run_sandbox
    >>> len(plot_sandbox(run_sandbox()).axes)
    3
    """
    with look(), mpl.rc_context(_PLAIN):
        # Margins are fixed, here and below: a layout engine would double the drawing time.
        figure = Figure(figsize=(7.3, 3.1))
        grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1), height_ratios=(1, 1.9))
        grid.update(left=0.07, right=0.99, bottom=0.13, top=0.93, wspace=0.3, hspace=0.3)
        left = figure.add_subplot(grid[:, 0])
        top = figure.add_subplot(grid[0, 1])
        bottom = figure.add_subplot(grid[1, 1], sharex=top)
        _draw_world(left, sandbox)
        _draw_density(top, sandbox)
        _draw_rejections(bottom, sandbox)
        for axes in (left, top, bottom):
            _mark_regions(axes, named=axes is not bottom)  # its title is there
            axes.set_xlim(0, 1)
    return figure


def plot_sandbox_curves(sandbox: Sandbox) -> Figure:
    """Draw the coverage curves of the five scorers, and the regret by size of the model class.

    The upper panels show expected regret and risk, each of which a different scorer minimises.
    The lower panels show the regret realised under f*, and the regret that a too-small model
    class adds.

    Parameters
    ----------
    sandbox : Sandbox
        The result of :func:`rue.sandbox.run_sandbox`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, of four panels.

    Examples
    --------
    >>> from rue.plots import plot_sandbox_curves
    >>> from rue.sandbox import run_sandbox
    >>> len(plot_sandbox_curves(run_sandbox()).axes)
    4
    """
    with look():
        figure = Figure(figsize=(7.3, 5.4))
        axes = figure.subplots(2, 2, gridspec_kw=_GRID)
        _draw_curves(axes[0, 0], sandbox, "aurec", "Expected regret", "AuReC")
        _draw_curves(axes[0, 1], sandbox, "aurc", "Expected risk", "AuRC")
        _draw_curves(axes[1, 0], sandbox, "aurec_star", "Realised regret under f*", "AuReC*")
        _draw_split(axes[1, 1], sandbox)
    return figure


def _draw_world(axes: Axes, sandbox: Sandbox) -> None:
    world = sandbox.world
    low, high = world.f_star - world.sigma, world.f_star + world.sigma
    band = "±\N{GREEK SMALL LETTER SIGMA}(x)"
    axes.fill_between(world.x, low, high, color="#56B4E9", alpha=0.45, lw=0, label=band)
    axes.plot(world.x, world.f_star, color="#0072B2", lw=0.9, label="f*(x)")
    axes.plot(world.x_train, world.y_train, "k.", ms=2.2, mew=0, label="training samples")
    axes.set_xlabel("x", style="italic")
    axes.set_ylabel("y", style="italic")
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top + 0.2 * (top - bottom))  # space for the annotations
    axes.legend(loc="lower left", bbox_to_anchor=(0.24, 0.0), handlelength=1.4)
    for name, (start, end) in REGIONS.items():
        place = axes.get_xaxis_transform()
        note = _NOTES[name].replace(", ", ",\n")
        axes.text((start + end) / 2, 0.985, note, transform=place, ha="center", va="top", size=7)


def _draw_density(axes: Axes, sandbox: Sandbox) -> None:
    axes.fill_between(sandbox.world.x, sandbox.world.density, color="0.6", lw=0)
    axes.plot(sandbox.world.x, sandbox.world.density, color="0.25", lw=0.8)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("p(x)", style="italic")
    axes.tick_params(labelbottom=False)


def _draw_rejections(axes: Axes, sandbox: Sandbox) -> None:
    for row, name in enumerate(reversed(SCORERS)):
        _, colour, hatch, _ = _LOOKS[name]
        bars = [(start, end - start) for start, end in _runs(sandbox.rejected[name] > 0.5)]
        axes.broken_barh(
            bars, (row - 0.36, 0.72), facecolor=colour, hatch=hatch, edgecolor="white", lw=0
        )
    labels = {name: _LOOKS[name][0] for name in SCORERS}
    if np.allclose(sandbox.scores["bald"], sandbox.scores["epistemic"], rtol=1e-9, atol=0):
        labels["epistemic"] += "\n= BALD"
    axes.set_yticks(range(len(SCORERS)), [labels[name] for name in reversed(SCORERS)])
    axes.tick_params(axis="y", length=0)
    title = f"Rejected at {100 * sandbox.coverage:g}% coverage, {loss_title(sandbox.loss)} loss"
    axes.set_ylim(-0.6, len(SCORERS) - 0.4)
    axes.set_xlabel("x", style="italic")
    axes.set_title(title, pad=3)


def _mark_regions(axes: Axes, *, named: bool) -> None:
    for name, (low, high) in REGIONS.items():
        axes.axvspan(low, high, color="0.92", lw=0, zorder=-1)
        if named:
            place = axes.get_xaxis_transform()
            axes.text((low + high) / 2, 1.01, name, transform=place, ha="center", weight="bold")


def _runs(mask: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return the start and end, on [0, 1], of each run of true cells."""
    padded = np.concatenate(([False], mask, [False]))
    edges = np.flatnonzero(padded[1:] != padded[:-1]) / len(mask)
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _draw_curves(axes: Axes, sandbox: Sandbox, area: str, title: str, name: str) -> None:
    components = sandbox.star if area.endswith("_star") else sandbox.hat
    make, value = (
        (risk_coverage_curve, components.total)
        if area.startswith("aurc")
        else (regret_coverage_curve, components.epistemic)
    )
    areas = {scorer: sandbox.areas[scorer][area] for scorer in SCORERS}
    coverage = np.linspace(0, 1, 401)  # fine enough to see; dashing all 2,000 corners takes long
    for scorer in sorted(SCORERS, key=areas.__getitem__):  # the order of the legend is the ranking
        curve = make(value, sandbox.scores[scorer], sample_weight=sandbox.world.mass)
        text, colour, _, dashes = _LOOKS[scorer]
        axes.plot(
            coverage,
            np.interp(coverage, curve.coverage, curve.value),
            color=colour,
            ls=dashes,
            lw=1.2,
            label=f"{text}\n{areas[scorer]:#.3g}",
            zorder=3 - 0.1 * SCORERS.index(scorer),  # dashed lines on top
        )
    axes.axvline(sandbox.coverage, color=GREY, lw=0.8, ls=":", zorder=1)
    what = "risk" if area.startswith("aurc") else "regret"
    axes.set(xlim=(0, 1), xlabel="coverage", ylabel=f"{what} of accepted")
    axes.set_title(f"{title}, {loss_title(sandbox.loss)} loss")
    _put_legend(axes, name)


def _draw_split(axes: Axes, sandbox: Sandbox) -> None:
    rows = sandbox.to_dict()["split"]
    sizes = [row["n_features"] for row in rows]
    looks = {
        "regret": ("regret", "black", "-", "o"),
        "approximation": ("approximation", "#E69F00", (0, (1, 1)), "s"),
        "estimation": ("estimation", "#0072B2", (0, (3, 1.5)), "^"),
        "epistemic": ("regret the\nmodel expects", "#D55E00", (0, (7, 1.5)), "D"),
    }
    for part, (label, colour, dashes, marker) in looks.items():
        values = [row[part] for row in rows]
        if part == "approximation":  # 0 where f* is in the class
            values[-1] = np.nan
        axes.plot(
            sizes, values, color=colour, ls=dashes, marker=marker, ms=3.5, lw=1.2, label=label
        )
    axes.set(yscale="log", xticks=sizes, xlabel="number of features", ylabel="mean regret")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.text(
        sizes[-1], 0.02, "0", transform=axes.get_xaxis_transform(), ha="center", color="#A06E00"
    )
    axes.set_title("Regret by class size, squared loss")
    _put_legend(axes, None)


def _put_legend(axes: Axes, title: str | None) -> None:
    axes.legend(
        title=title,
        fontsize=7.5,
        title_fontsize=7.5,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        handlelength=2.2,
        labelspacing=0.6,
        alignment="left",
    )
