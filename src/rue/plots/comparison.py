"""Methods beside each other: their ranks under criteria, and which differ; rules beside budgets.

A critical-difference diagram has methods by mean rank, with bars over those that do not differ.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rue.deploy import Outcome
from rue.errors import InputError
from rue.inference.method_ranking import Ranking
from rue.plots.style import (
    GREY,
    PALETTE,
    WIDTH,
    axes_of,
    line_styles,
    look,
    loss_title,
    put_bars_on_grid,
    white_box,
)
from rue.ranking.inversions import Inversions
from rue.ranking.scores import CRITERIA
from rue.selectors.selector import Problem

_TITLES = {"proxy": "proxies", "regret": "regret", "other": "others"}
_MARGIN = 1.4
_MOST = 8
_FIRST = ("n_aurec", "pareto_gap", "aurec", "aurc")  # of those of regret


def plot_ranking(ranking: Ranking, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw a critical-difference diagram.

    Methods are placed at their mean rank over the bootstrap samples, and labelled with their
    value and its interval. A thick bar connects methods of which no two differ significantly.

    Parameters
    ----------
    ranking : Ranking
        The ranking (``rue.compare(runs)["aurec"]``).
    title : str
        The title of the panel.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rue.plots import plot_ranking
    >>> import numpy as np
    >>> from rue.inference.method_ranking import compare_column
    >>> drawn = np.random.default_rng(0).normal(size=(2, 100))
    >>> ranking = compare_column("aurec", {"a": 0.0, "b": 9.0}, {"a": drawn[0], "b": drawn[1] + 9})
    >>> plot_ranking(ranking, title="AuReC").get_title("left")
    'AuReC'
    """
    with look():
        axes = axes_of(ax, (WIDTH, _height(ranking)))
        _draw_ranking(axes, title, ranking)
    return axes


def plot_rankings(rankings: Sequence[tuple[str, Ranking]], *, width: float = WIDTH) -> Figure:
    """Draw critical-difference diagrams as :func:`plot_ranking` does, one panel per ranking.

    Parameters
    ----------
    rankings : sequence of (str, Ranking)
        Titles and rankings (:func:`rue.compare`).
    width : float
        The width in inches, for example 5.5 for a page of one column.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with one panel per ranking; :func:`plot_ranking` draws one.

    Examples
    --------
    >>> from rue.plots import plot_rankings
    >>> import numpy as np
    >>> from rue.inference.method_ranking import compare_column
    >>> drawn = np.random.default_rng(0).normal(size=(2, 100))
    >>> ranking = compare_column("aurec", {"a": 0.0, "b": 9.0}, {"a": drawn[0], "b": drawn[1] + 9})
    >>> len(plot_rankings([("AuReC", ranking)]).axes)
    1
    """
    heights = [_height(ranking) for _, ranking in rankings]
    with look():
        figure = Figure(figsize=(width, sum(heights)), layout="constrained")
        grid = figure.subplots(len(rankings), 1, squeeze=False, height_ratios=heights)
        for axes, (title, ranking) in zip(grid[:, 0], rankings, strict=True):
            _draw_ranking(axes, title, ranking)
    return figure


def _height(ranking: Ranking) -> float:
    return 0.9 + 0.22 * len(ranking.order) + 0.12 * len(_cliques(ranking))


def _draw_ranking(axes: Axes, title: str, ranking: Ranking) -> None:
    methods = sorted(ranking.order, key=lambda m: ranking.expected_rank[m])
    cliques = _cliques(ranking)
    n = max(len(methods), 2)
    left = (len(methods) + 1) // 2
    bars = 0.5 * len(cliques) + 0.6
    styles = line_styles(ranking.methods)
    for i, method in enumerate(methods):
        colour = styles[method]["color"]
        rank = ranking.expected_rank[method]
        on_left = i < left
        depth = bars + (i if on_left else len(methods) - 1 - i)
        edge = 1 - 0.06 * (n - 1) if on_left else n + 0.06 * (n - 1)
        axes.plot([rank, rank, edge], [0, -depth, -depth], color=colour, linewidth=1.0)
        axes.plot(
            [rank], [0], styles[method]["marker"], color=colour, ms=4.5, clip_on=False, zorder=3
        )
        numbers = (ranking.estimate[method], ranking.low[method], ranking.high[method])
        axes.text(
            edge,
            -depth,
            f"{method}  " + "{:#.3g} [{:#.3g}, {:#.3g}]".format(*numbers),
            ha="right" if on_left else "left",
            va="center",
            fontsize=8,
            bbox=white_box(1.5),
        )
    for j, clique in enumerate(cliques):
        ranks = [ranking.expected_rank[m] for m in clique]
        y = -0.45 - 0.5 * j
        axes.plot([min(ranks) - 0.03, max(ranks) + 0.03], [y, y], color=GREY, linewidth=3.2)
    axes.set(xlim=(1 - 0.06 * (n - 1), n + 0.06 * (n - 1)), ylim=(-bars - left + 0.4, 0))
    axes.set_title(title, pad=4)
    axes.set_yticks([])
    axes.set_xticks(range(1, n + 1))
    axes.xaxis.tick_top()
    axes.set_xlabel("mean rank", loc="left")
    axes.xaxis.set_label_position("top")
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.spines["top"].set_visible(True)


def _cliques(ranking: Ranking) -> list[tuple[str, ...]]:
    """Return the longest groups of neighbours by mean rank of which no two differ significantly."""
    methods = sorted(ranking.order, key=lambda m: ranking.expected_rank[m])
    groups: list[tuple[str, ...]] = []
    for i in range(len(methods)):
        j = i
        while j + 1 < len(methods) and not any(
            ranking.significant(methods[j + 1], m) for m in methods[i : j + 1]
        ):
            j += 1
        run = tuple(methods[i : j + 1])
        if len(run) > 1 and not any(set(run) <= set(other) for other in groups):
            groups.append(run)
    return groups


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
            _draw_ranks(axes, result, methods)
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


def _draw_ranks(axes: Axes, result: Inversions, methods: list[str]) -> None:
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


def plot_outcomes(outcomes: Sequence[Outcome], problem: Problem) -> Figure:
    """Draw coverage, risk and regret of each rule on new points, with the budgets as lines.

    A bar that crosses its line breaks the budget. Rules with a promise are blue, those without
    are orange, and the optimum that needs the truth is grey.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The rules and what they attain (:func:`rue.compare_rules`).
    problem : Problem
        The objective and the budgets.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, of three panels.

    Examples
    --------
    >>> from rue.plots import plot_outcomes
    >>> import numpy as np
    >>> import rue
    >>> regret, noise = np.random.default_rng(0).gamma(1, 0.1, (2, 200))
    >>> star = rue.Components(regret, np.zeros(200), regret)
    >>> hat = rue.Components(regret + noise, np.zeros(200), regret + noise)
    >>> problem = rue.Problem(maximize="coverage", risk_max=0.02)
    >>> outcomes = rue.compare_rules(star, hat, star, hat, problem)
    >>> len(plot_outcomes(outcomes, problem).axes)
    3
    """
    rows = outcomes[::-1]
    colours = [
        GREY if o.name == "possible" else PALETTE[0] if o.promised else PALETTE[1] for o in rows
    ]
    labels = [f"{o.name}, promised" if o.promised else o.name for o in rows]
    per = " per accepted point" if problem.normalized else ""
    limits = {"coverage": problem.coverage_min, **problem.budgets}
    with look():
        figure = Figure(figsize=(7.8, 0.9 + 0.3 * len(rows)), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        for axes, name in zip(panels, ("coverage", "risk", "regret"), strict=True):
            values = np.nan_to_num([getattr(o, name) for o in rows])
            axes.barh(range(len(rows)), values, color=colours, height=0.62)
            limit = limits.get(name)
            top = max(float(values.max()), limit or 0.0)
            for i, (outcome, value) in enumerate(zip(rows, values, strict=True)):
                text = f"{value:.3f}" if outcome.coverage else "accepts nothing"
                if outcome.coverage or name == "coverage":
                    axes.text(
                        value + 0.02 * (top or 1),
                        i,
                        text,
                        va="center",
                        fontsize=7,
                        bbox=white_box(0.6),
                    )
            if limit is not None:
                axes.axvline(limit, color="black", linewidth=1.0)
                word = "floor" if name == "coverage" else "budget"
                place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
                axes.annotate(
                    f"{word} {limit:g}", (limit, 1.0), (2, 2), fontsize=7, ha="center", **place
                )
            axes.set(xlim=(0, 1.22 * (top or 1)), xlabel=name + per * (name != "coverage"))
            put_bars_on_grid(axes, "x")
            axes.set_yticks(range(len(rows)), labels)
    return figure
