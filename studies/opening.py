"""Draw the two figures of the home page, from the paper's tables and from rows of our own run."""

from matplotlib.figure import Figure

from rue.plots.style import GREY, line_styles, look
from rue.ranking.inversions import Contest
from studies.claims import everything
from studies.rows import Row, read_run

NAMES = {
    "dropout": "MC dropout",
    "evidential": "evidential",
    "ensemble": "ensemble",
    "ddu": "DDU",
    "laplace": "Laplace",
}
COLOURS = {name: style["color"] for name, style in line_styles(NAMES).items()}
USUAL = (
    ("near OOD", Contest("cifar10", "near_ood", "")),
    ("far OOD", Contest("cifar10", "far_ood", "")),
    ("active\nlearning", Contest("openml-6", "nauc_epistemic", "")),
)
REGRET = (
    ("AuReC\nlog loss", Contest("cifar10h", "aurec", "log")),
    ("AuReC\n0/1 loss", Contest("cifar10h", "aurec", "zero_one")),
    ("Pareto-gap\nlog loss", Contest("cifar10h", "pareto_gap", "log")),
    ("Pareto-gap\n0/1 loss", Contest("cifar10h", "pareto_gap", "zero_one")),
)
TICKS = ["0\nperfect", "0.25", "0.5", "0.75", "1\nrandom"]
LOSSES = {"log": "log loss", "zero_one": "0/1 loss"}


def figures(_: Row) -> dict[str, Figure]:
    return {"opening_ranks": plot_ranks(), "opening_regret": plot_found(run_rows())}


def run_rows() -> list[Row]:
    """Return the rows of CIFAR-10H on frozen features."""
    return [row for row in read_run("cifar10h-probe")["table"] if row["loss"]]


def ranks(method: str) -> list[int]:
    """Return the published rank of a method under each criterion of the figure."""
    return [
        int(everything().ranks_of(c.dataset, c.criterion, c.loss)[method])
        for _, c in (*USUAL, *REGRET)
    ]


def plot_ranks() -> Figure:
    """Draw the published ranks of the four methods: the usual tests left, regret right."""
    methods = everything().methods
    labels = [label for label, _ in (*USUAL, *REGRET)]
    with look():
        figure = Figure(figsize=(6.4, 2.9), layout="constrained")
        axes = figure.subplots()
        for method in methods:
            places, colour = ranks(method), COLOURS[method]
            thick = 4 if method == "evidential" else 2
            axes.plot(places, color=colour, linewidth=thick, marker="o", markersize=8, zorder=thick)
            for x, side, offset in ((0, "right", -0.22), (len(places) - 1, "left", 0.22)):
                name = NAMES[method]
                axes.text(x + offset, places[x], name, color=colour, ha=side, va="center")
        axes.axvline(len(USUAL) - 0.5, color=GREY, linestyle=":", linewidth=1)
        for middle, text in ((1, "the usual tests"), (4.5, "regret")):
            axes.text(middle, 0.55, text, color=GREY, ha="center", fontsize=10)
        axes.set_xticks(range(len(labels)), labels)
        axes.set_yticks(range(1, len(methods) + 1))
        axes.set_ylim(len(methods) + 0.4, 0.4)
        axes.set_xlim(-1.5, len(labels) + 0.5)
        axes.set_ylabel("rank (1 is best)")
        axes.grid(axis="x", visible=False)
    return figure


def plot_found(rows: list[Row]) -> Figure:
    """Draw n-AuReC of each method with its interval, on the scale from perfect to random."""
    with look():
        figure = Figure(figsize=(6.4, 2.5), layout="constrained")
        panels = figure.subplots(1, len(LOSSES), sharey=True)
        first = [row for row in rows if row["loss"] == next(iter(LOSSES))]
        order = [row["method"] for row in sorted(first, key=lambda row: float(row["n_aurec"]))]
        for axes, (loss, title) in zip(panels, LOSSES.items(), strict=True):
            for row in (row for row in rows if row["loss"] == loss):
                y, colour = order.index(row["method"]), COLOURS[row["method"]]
                axes.plot([row["n_aurec"], 1], [y, y], color=colour, linewidth=1)
                ends = [row["n_aurec_ci_low"], row["n_aurec_ci_high"]]
                axes.plot(ends, [y, y], color=colour, linewidth=8, solid_capstyle="butt")
            for x in (0, 1):
                axes.axvline(x, color=GREY, linestyle=":", linewidth=1)
            axes.set_yticks(range(len(order)), [NAMES[name] for name in order])
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], TICKS)
            axes.set_xlim(-0.05, 1.05)
            axes.set_title(f"n-AuReC, {title}")
            axes.grid(axis="y", visible=False)
        panels[0].set_ylim(len(order) - 0.5, -0.5)
    return figure
