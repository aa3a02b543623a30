"""Critical-difference diagrams: methods by mean rank, with bars over those that do not differ."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rue.inference.method_ranking import Ranking
from rue.plots.style import GREY, WIDTH, axes_of, line_styles, look, white_box


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
        _draw(axes, title, ranking)
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
            _draw(axes, title, ranking)
    return figure


def _height(ranking: Ranking) -> float:
    return 0.9 + 0.22 * len(ranking.order) + 0.12 * len(_cliques(ranking))


def _draw(axes: Axes, title: str, ranking: Ranking) -> None:
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
