"""The ranks of methods under several criteria."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rue.errors import InputError
from rue.plots.style import GREY, WIDTH, line_styles, look, loss_title
from rue.ranking.inversions import Inversions
from rue.ranking.scores import CRITERIA

_TITLES = {"proxy": "proxies", "regret": "regret", "other": "others"}
_MARGIN = 1.4
_MOST = 8
_FIRST = ("n_aurec", "pareto_gap", "aurec", "aurc")  # of those of regret


def plot_ranks(results: Sequence[Inversions], *, width: float | None = None) -> Figure:
    """Draw the ranks of methods under several criteria, with one panel per set of rankings.

    Lines that cross are inversions between neighbouring criteria. Lines of tied methods meet,
    and a line is interrupted where a method has no number. At most eight criteria are drawn: the
    proxies first, then one of each kind of regret under each loss, as many as fit.

    Parameters
    ----------
    results : sequence of Inversions
        The rankings (:func:`rue.find_inversions`), one panel each.
    width : float, optional
        The width in inches; by default as wide as the criteria need.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If there is no ranking.

    Examples
    --------
    >>> from rue.plots import plot_ranks
    >>> import rue
    >>> scores = [
    ...     rue.Score("cifar10h", "ensemble", None, "near_ood", "", 0.907),
    ...     rue.Score("cifar10h", "evidential", None, "near_ood", "", 0.711),
    ...     rue.Score("cifar10h", "ensemble", None, "aurec", "log", 0.0752),
    ...     rue.Score("cifar10h", "evidential", None, "aurec", "log", 0.0673),
    ... ]
    >>> len(plot_ranks([rue.find_inversions(scores)]).axes)
    1
    """
    if not results:
        raise InputError("results must contain at least one ranking, got none")
    methods = list(dict.fromkeys(method for result in results for method in result.methods))
    with look():
        figure = Figure(figsize=_size(results, width), layout="constrained")
        panels = figure.subplots(len(results), 1, squeeze=False)[:, 0]
        for axes, result in zip(panels, results, strict=True):
            _draw(axes, result, methods)
    return figure


def _columns(result: Inversions) -> list[int]:
    """Return the criteria to draw, at most eight, in their order."""
    by_kind: dict[str, list[int]] = {"proxy": [], "regret": [], "other": []}
    for i, column in enumerate(result.columns):
        by_kind[CRITERIA[column.criterion].kind].append(i)
    place = {criterion: k for k, criterion in enumerate(_FIRST)}
    criterion = [column.criterion for column in result.columns]
    regret = sorted(by_kind["regret"], key=lambda i: place.get(criterion[i], len(_FIRST)))
    proxies, others = by_kind["proxy"], by_kind["other"]
    return sorted([*proxies[:3], *regret, *proxies[3:], *others][:_MOST])


def _size(results: Sequence[Inversions], width: float | None) -> tuple[float, float]:
    widest = max(len(_columns(result)) for result in results)
    tallest = max(len(result.methods) for result in results)
    names = 2 * (max(map(_margin, results)) - _MARGIN)
    natural = min(max(4.5, 1.8 + 0.62 * (widest + names)), max(WIDTH, 1.8 + 0.62 * names + 3))
    return width or natural, (1.4 + 0.3 * tallest) * len(results)


def _margin(result: Inversions) -> float:
    """Return the room for the names at either end, in steps between criteria."""
    return max(_MARGIN, 0.4 + 0.115 * max(map(len, result.methods)))


def _draw(axes: Axes, result: Inversions, methods: list[str]) -> None:
    shown = _columns(result)
    columns, table = [result.columns[i] for i in shown], result.ranks[shown]
    x = np.arange(len(shown))
    styles = line_styles(methods)
    for method, ranks in zip(result.methods, table.T, strict=True):
        axes.plot(x, ranks, **styles[method], linewidth=1.8, markersize=6, zorder=3)
        there = np.flatnonzero(~np.isnan(ranks))
        if not len(there):
            continue
        ends = {int(there[0]): (-9, "right")} | {int(there[-1]): (9, "left")}
        for place, (offset, side) in ends.items():
            equals = np.flatnonzero(table[place] == ranks[place]).tolist()
            below = equals.index(result.methods.index(method)) - (len(equals) - 1) / 2
            axes.annotate(
                method,
                (float(x[place]), float(ranks[place])),
                (offset, -10 * below),  # names of tied methods are stacked
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=8,
            )
    _draw_kinds(axes, [CRITERIA[column.criterion].kind for column in columns])
    several = len({column.dataset for column in columns}) > 1
    labels = [
        "\n".join(
            filter(None, (CRITERIA[c.criterion].title, loss_title(c.loss), c.dataset * several))
        )
        for c in columns
    ]
    axes.set_xticks(x, labels, rotation=90 if several and len(labels) > 6 else 0)
    axes.set_yticks(range(1, len(result.methods) + 1))
    axes.set_ylim(len(result.methods) + 0.4, 0.6)
    axes.set_xlim(-_margin(result), len(x) - 1 + _margin(result))
    axes.set_ylabel("rank")
    axes.grid(axis="x", visible=False)
    if not several:
        axes.set_title(columns[0].dataset, pad=16)


def _draw_kinds(axes: Axes, kinds: list[str]) -> None:
    """Separate the kinds of criteria by dotted lines, with a name above each."""
    for i in range(1, len(kinds)):
        if kinds[i] != kinds[i - 1]:
            axes.axvline(i - 0.5, color=GREY, linestyle=":", linewidth=1)
    for kind in dict.fromkeys(kinds):
        places = [i for i, other in enumerate(kinds) if other == kind]
        axes.text(
            float(np.mean(places)),
            1.02,
            _TITLES[kind],
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            color=GREY,
            fontsize=8,
        )
