"""Write the pages, figure and baselines of the atlas from its rows.

    rue bench run atlas --out out/atlas              run what is missing (resumable)
    rue bench run atlas-paper --out out/atlas-paper  the same in the other regime
    rue bench run atlas-active --out out/atlas-active   active learning on a part
    python -m studies.atlas out/atlas out/atlas-paper out/atlas-active
                                                     import their cells, then write all pages
    python -m studies.atlas                          write the pages from what was imported

Pages say how many cells are missing, so a part of the suite can be imported at any time.
"""

import sys
from functools import cache
from pathlib import Path

from rue.bench import baselines
from rue.bench.store import Store
from studies import ROOT
from studies.atlas_analysis import grid
from studies.atlas_answers import Answer
from studies.atlas_baselines import baseline_rows, without_noise
from studies.atlas_baselines import one_network as beyond_one_network
from studies.atlas_baselines import who_knows as agreement
from studies.atlas_criteria import proxies, two_components, what_moves_ranks
from studies.atlas_figure import Panel, draw
from studies.atlas_methods import (
    better_than_total,
    one_network,
    replicates,
    which_method,
    who_knows,
)
from studies.atlas_pages import write_pages
from studies.atlas_rows import (
    PLAIN,
    SUITES,
    active_rows,
    flat,
    import_cells,
    import_plain,
    single_rows,
    write_baselines,
)
from studies.pages import fill_file

README = ROOT / "README.md"


def main() -> None:
    regimes = {suite: regime for regime, suite in SUITES.items()}
    for folder in map(Path, sys.argv[1:]):
        name = Store(folder).suite().name
        if name in PLAIN:
            import_plain(PLAIN[name], folder)
        else:
            import_cells(regimes[name], folder)
    rows = {regime: flat(regime) for regime in SUITES}
    write_pages(answered(), rows)
    draw(panels())
    write_baselines(Path(baselines.__file__).parent / "study_rows")
    fill_file(README, readme_blocks())


def panels() -> list[Panel]:
    """Return the panels of the figure, from the tuned rows; floors are those of one network."""
    tuned, plain = flat("tuned"), baseline_rows()
    return [
        Panel(name, grid(tuned, "n_aurec", loss), grid(plain, "n_aurec_floor", loss).of("single"))
        for name, loss in (("Log loss", "log"), ("0/1 loss", "zero_one"))
    ]


@cache
def answered() -> list[Answer]:
    """Return the answers from the imported rows."""
    rows = {regime: flat(regime) for regime in SUITES}
    baselines = baseline_rows()
    single = {regime: single_rows(regime) for regime in SUITES}
    return [
        which_method(rows),
        better_than_total(rows, without_noise(baselines)),
        replicates(rows),
        proxies(rows, active_rows()),
        what_moves_ranks(rows),
        two_components(rows),
        beyond_one_network(baselines, one_network(rows, single)),
        agreement(baselines, who_knows(rows)),
    ]


def readme_blocks() -> dict[str, str]:
    """Return the eight sentences of README."""
    return {
        "atlas": "\n".join(f"{i}. *{a.short}* {a.sentence}" for i, a in enumerate(answered(), 1))
    }


if __name__ == "__main__":
    main()
