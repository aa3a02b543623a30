"""The atlas: import its cells, and fill its pages, its figure and the rows that come with rue.

    rue bench run atlas --out out/atlas              run what is missing (resumable)
    python -m studies atlas out/atlas ...            import cells of its suites, then fill all
    python -m studies --fill atlas                   fill from what was imported

Pages say how many cells are missing, so a part of a suite can be imported at any time.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from rue.bench import baselines
from rue.bench.store import Store
from rue.plots.style import GREY, PALETTE, look
from studies import ROOT
from studies.atlas_analysis import REPLICATES, Answer, Grid, family, family_means, grid
from studies.atlas_answers import (
    better_than_total,
    one_network,
    proxies,
    replicates,
    two_components,
    what_moves_ranks,
    which_method,
    who_knows,
)
from studies.atlas_pages import all_pages
from studies.atlas_rows import (
    PLAIN,
    SUITES,
    active_rows,
    baseline_rows,
    flat,
    import_cells,
    import_plain,
    packed_rows,
    single_rows,
)
from studies.rows import Row
from studies.study import Options, Pages


class Panel(NamedTuple):
    """One loss: n-AuReC of the methods, and the floor of each data set."""

    name: str
    grid: Grid
    floors: Mapping[str, float]


def run(options: Options) -> Pages:
    """Import cells from the folders of suites."""
    regimes = {suite: regime for regime, suite in SUITES.items()}
    for folder in options.folders():
        name = Store(folder).suite().name
        if name in PLAIN:
            import_plain(PLAIN[name], folder)
        else:
            import_cells(regimes[name], folder)
    return {}


def pages(_: Row) -> Pages:
    folder = Path(baselines.__file__).parent / "study_rows"
    lines = [f"{i}. *{a.short}* {a.line}" for i, a in enumerate(answered(), 1)]
    return {
        **all_pages(answered(), {regime: flat(regime) for regime in SUITES}),
        **{folder / f"{suite}.json": text for suite, text in packed_rows().items()},
        ROOT / "README.md": {"atlas": "\n".join(lines)},
    }


def figures(_: Row) -> dict[str, Figure]:
    with look():
        return {"atlas": figure(panels())}


def panels() -> list[Panel]:
    """Return the panels of the figure, from the tuned rows; floors are those of one network."""
    tuned, plain = flat("tuned"), baseline_rows("tuned")
    return [
        Panel(name, grid(tuned, "n_aurec", loss), grid(plain, "n_aurec_floor", loss).of("single"))
        for name, loss in (("Log loss", "log"), ("0/1 loss", "zero_one"))
    ]


@cache
def answered() -> list[Answer]:
    """Return the answers from the imported rows."""
    rows = {regime: flat(regime) for regime in SUITES}
    plain = {regime: baseline_rows(regime) for regime in SUITES}
    single = {regime: single_rows(regime) for regime in SUITES}
    return [
        which_method(rows),
        better_than_total(rows, plain),
        replicates(rows),
        proxies(rows, active_rows()),
        what_moves_ranks(rows),
        two_components(rows),
        one_network(plain, rows, single),
        who_knows(plain, rows),
    ]


MARKERS = "osD^v<>"
"""The data sets of one family share a colour and differ in shape."""
FLOOR = -1.3
"""The place of the floors, below the methods."""


def figure(panels: list[Panel]) -> Figure:
    """Draw one panel per loss: a dot for each data set, and the mean of each method.

    The lowest row has the floor of each data set, the lowest n-AuReC that any ranking could have
    with its answers, around the predictions of one network.

    Means, and with them the order of the methods, are over the families of the data sets that
    every method has: families differ more than methods do, so means over different ones could not
    be compared.
    """
    whole = Figure(figsize=(3.9 * len(panels), 4.7), layout="constrained")
    axes = np.atleast_1d(whole.subplots(1, len(panels)))
    for ax, panel in zip(axes, panels, strict=True):
        grid = panel.grid
        shared = np.asarray(~np.isnan(grid.values).any(axis=1))
        names = [d for d, one in zip(grid.datasets, shared, strict=True) if one]
        means = family_means(names, grid.values[shared]).mean(axis=0)
        order = np.argsort(-means)
        places = np.arange(len(order))
        ax.plot(means[order], places, "|", ms=18, mew=2, color="black", zorder=1)
        families = sorted({family(d) for d in grid.datasets})
        for d, dataset in enumerate(grid.datasets):
            kin = [one for one in grid.datasets if family(one) == family(dataset)]
            color = PALETTE[families.index(family(dataset))]
            shift = (families.index(family(dataset)) - (len(families) - 1) / 2) * 0.11
            ax.plot(
                [panel.floors.get(dataset, np.nan), *grid.values[d, order]],
                np.array([FLOOR, *places]) + shift,
                MARKERS[kin.index(dataset)],
                ms=4,
                color=color,
                mfc=color if shared[d] else "white",
                label=dataset,
            )
        ax.axhline(FLOOR / 2, color=GREY, lw=0.6)
        ax.axvline(1.0, color=GREY, lw=1, ls=":")
        ax.set_xlim(left=0)
        ax.set_yticks([FLOOR, *places], ["floor", *(grid.methods[i] for i in order)])
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in REPLICATES else "normal")
        ax.set_xlabel("n-AuReC (0 perfect, 1 random)")
        ax.set_title(panel.name)
    handles, labels = axes[0].get_legend_handles_labels()
    ordered = sorted(zip(labels, handles, strict=True), key=lambda pair: family(pair[0]))
    whole.legend(
        [handle for _, handle in ordered],
        [label for label, _ in ordered],
        loc="outside lower center",
        ncols=4,
        fontsize=7,
        frameon=False,
    )
    return whole
