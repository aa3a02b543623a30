"""Write docs/results/published.md and draw its figure, from the paper's tables.

Every number of the page is a cell of src/rue/published/*.csv or is computed from cells, except in
the last section, which is that of :mod:`studies.conventions`.
"""

from dataclasses import asdict
from decimal import Decimal
from math import sqrt
from statistics import fmean

from matplotlib.figure import Figure

from rue.cli.inversions import inversions_grid, ranks_grid, tau_grid, to_markdown
from rue.plots.comparison import plot_ranks
from rue.published import PUBLISHED_COLUMNS, TABLES, read_published
from rue.ranking.inversions import Contest
from rue.ranking.scores import CRITERIA
from studies import RESULTS
from studies.claims import ROWS, at, claims, compared, everything, value
from studies.conventions import section
from studies.pages import table, table_of
from studies.rows import Row
from studies.study import Pages, record_of

PAGE = RESULTS / "published.md"

# What section 5.3 compares: proxies on CIFAR-10 and OpenML, regret on CIFAR-10H.
SECTION = ("cifar10", "openml-6", "openml-156", "cifar10h")
USUAL = (
    *("near_ood", "far_ood", "auac_labels", "nauc_epistemic", "nauc_total"),
    *("aurec", "n_aurec", "pareto_gap", "spearman_hat"),
)
WITHIN = ("aurec", "excess_aurec", "n_aurec", "pareto_gap", "aurc", "spearman_hat")
UNITS = "units of the last place"
CLAIMS = {
    "section": "{section}",
    "what the text says": "{says}",
    "true?": "{verdict}",
    "what the tables say": "{tables}",
}
LOSS_NAMES = {"log": "log loss", "zero_one": "0/1 loss"}


def figures(_: Row) -> dict[str, Figure]:
    """Return the ranks of the methods under the criteria of section 5.3."""
    return {"published_ranks": plot_ranks([compared(SECTION, USUAL)])}


def pages(_: Row) -> Pages:
    return {PAGE: page()}


def page() -> str:
    """Return the whole page."""
    n_cells = sum(getattr(row, c) is not None for row in ROWS for c in PUBLISHED_COLUMNS)
    parts = [
        "# What the published numbers say",
        "If OOD detection or active learning could replace regret as a test, they would rank "
        "methods as regret does. In the paper's own tables they do not: near-OOD detection on "
        "CIFAR-10 and "
        f"AuReC on CIFAR-10H (log loss) have a Kendall's tau of {_near_tau():.2f}, and active "
        f"learning on OpenML 6 and AuReC under 0/1 loss have {_learning_tau():.2f}: opposite "
        "orders.",
        f"This page uses the {len(TABLES)} tables of the paper, {n_cells} cells in all, which "
        "`rue published` prints. A test compares every cell with the paper's source.",
        "Two reservations. The published numbers are means over seeds without a standard "
        "deviation, and proxies and regret are measured on different data sets, so a single "
        "inversion may be noise or due to the data. With four methods, Kendall's tau has only "
        "seven possible values. `rue inversions DIR` makes the same comparison on one data set, "
        "seed by seed.",
        *_side_by_side(),
        *_same_models(),
        "## The text against the tables",
        "CE is the paper's name for log loss.",
        table_of(map(asdict, claims()), CLAIMS, text=4),
        *_summary_table(),
        *section(record_of("conventions")),
    ]
    return "\n\n".join(parts) + "\n"


def _near_tau() -> float:
    return _tau(Contest("cifar10", "near_ood", ""), Contest("cifar10h", "aurec", "log"))


def _learning_tau() -> float:
    first = Contest("openml-6", "nauc_epistemic", "")
    return _tau(first, Contest("cifar10h", "aurec", "zero_one"))


def _tau(first: Contest, second: Contest) -> float:
    columns = everything().columns
    return float(everything().tau[columns.index(first), columns.index(second)])


def _side_by_side() -> list[str]:
    section = compared(SECTION, USUAL)
    pair = (Contest("cifar10", "near_ood", ""), Contest("cifar10h", "aurec", "log"))
    between = [x for x in section.inversions if (x.first, x.second) == pair]
    return [
        "## Criteria side by side",
        "These are the criteria that section 5.3 compares, as "
        "`rue inversions --published --dataset 'cifar10*' --dataset 'openml*'` prints them. Rank 1 "
        "is best. The rank correlation r_s is taken to be best near 0, as authors who judge by it "
        "do.",
        "![Ranks of four methods under proxies, regret and correlation]"
        "(../figures/published_ranks.png)",
        to_markdown(ranks_grid(section)),
        f"Near-OOD and AuReC (log) order {len(between)} of 6 pairs of methods differently. All of "
        "them include evidential networks, which are last under one criterion and first under the "
        "other:",
        to_markdown(inversions_grid(between)),
        "*Strength* is the smaller of the two margins, each as a share of the distance between "
        "the best and the worst method.",
        "Kendall's tau between every two of these criteria, which have the numbers of the table "
        "above:",
        to_markdown(tau_grid(section)),
    ]


def _same_models() -> list[str]:
    places, taus, same = within()
    correlation, gap = taus["aurec", "spearman_hat"], taus["aurec", "pareto_gap"]
    return [
        "## The same data, the same models",
        "Tables 1, 2 and 6 to 13 have all regret criteria and the rank correlation for the same "
        "models on the same data. This is Kendall's tau, averaged over "
        f"{len(places)} pairs of data set and loss:",
        to_markdown(within_grid()),
        "This supports section 5.4 more strongly than the section itself does. Preferring "
        "components that do not correlate tends to reverse the order of AuReC "
        f"(tau {correlation:.2f}), and it selects AuReC's best method in {same['spearman_hat']} of "
        f"{len(places)} cases. The Pareto-gap tends to agree with AuReC (tau {gap:.2f}) and "
        f"selects the same best method in {same['pareto_gap']}.",
    ]


def _summary_table() -> list[str]:
    off = means_off()
    spread = sqrt(1 / 12 / 8)  # of the mean of eight uniform rounding errors
    needed = [(float(units) - 0.5) / spread for *_, units in off]
    rows = [[where, f"{printed}", f"{mean}", f"{units:.3f}"] for where, printed, mean, units in off]
    return [
        "## Tables that disagree",
        "The DCIC summary (table 3) should hold the means of tables 6 to 13. Of its 32 means, "
        f"{32 - len(off)} are the rounded mean of the printed cells, and {len(off)} are not:",
        table(["cell", "printed", "mean of the printed", f"difference in {UNITS}"], rows),
        "The cells of tables 6 to 13 are rounded too, which could explain a difference of up to 1 "
        f"unit. The mean of eight rounding errors has a standard deviation of {spread:.2f} units. "
        "Beyond the half unit of the summary's own rounding, the first cell needs "
        f"{needed[0]:.1f} standard deviations, which is unlikely, and the second {needed[1]:.1f}, "
        "which is not. The eight counts of the lowest n-AuReC are right.",
        "In table 1 the second-lowest n-AuReC under 0/1 loss, DDU's "
        f"{value('cifar10h', 'n_aurec', 'ddu', 'zero_one')}, is not underlined. All other marks of "
        "the paper agree with its numbers.",
    ]


def means_off() -> list[tuple[str, Decimal, Decimal, Decimal]]:
    """Return the cells of the DCIC summary that are not the rounded mean, the farthest first.

    The last entry is how far a cell is off, in units of its last place.
    """
    differences = []
    sets = [t.name for t in TABLES if t.name.startswith("dcic-")]
    for row in read_published("dcic"):
        for column in ("n_aurec", "pareto_gap", "spearman_hat", "spearman_star"):
            digits = 4 if column == "pareto_gap" else 3
            parts = [
                Decimal(f"{getattr(r, column):.{digits}f}")
                for name in sets
                for r in read_published(name)
                if (r.method, r.loss) == (row.method, row.loss)
            ]
            mean = sum(parts, Decimal(0)) / len(parts)
            printed = Decimal(f"{getattr(row, column):.{digits}f}")
            units = abs(mean - printed).scaleb(digits)
            if units > Decimal("0.5"):
                where = f"{row.method}, {LOSS_NAMES[row.loss]}, {column}"
                differences.append((where, printed, mean, units))
    return sorted(differences, key=lambda line: line[3], reverse=True)


def within() -> tuple[list[tuple[str, str]], dict[tuple[str, str], float], dict[str, int]]:
    """Compare criteria on the same data and models, for each data set and loss.

    Returns
    -------
    tuple
        The data sets and losses; the mean tau of every two criteria; and in how many data sets
        and losses each criterion selects the best method of AuReC.
    """
    places = [(c.dataset, c.loss) for c in everything().columns if c.criterion == "aurec"]
    taus = {
        (a, b): fmean(_tau(Contest(d, a, loss), Contest(d, b, loss)) for d, loss in places)
        for a in WITHIN
        for b in WITHIN
    }
    same = {
        name: sum(at(d, name, 1, loss) == at(d, "aurec", 1, loss) for d, loss in places)
        for name in WITHIN
    }
    return places, taus, same


def within_grid() -> list[list[str]]:
    places, taus, same = within()
    titles = [CRITERIA[name].title for name in WITHIN]
    grid = [["criterion", *titles, "same best method as AuReC"]]
    for name, title in zip(WITHIN, titles, strict=True):
        cells = [f"{taus[name, other]:.2f}" for other in WITHIN]
        grid.append([title, *cells, f"{same[name]} of {len(places)}"])
    return grid
