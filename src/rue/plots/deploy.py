"""The coverage, risk and regret that rules attain on new points, against their budgets."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from rue.deploy import Outcome
from rue.plots.style import GREY, PALETTE, look, put_bars_on_grid, white_box
from rue.selectors.selector import Problem


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
