"""Make docs/results/published.md and its figure from the paper's tables.

    python studies/published.py

Every number of the page is a cell of src/rue/published/*.csv or is computed from cells.
"""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from statistics import fmean

from rue.cli.inversions import inversions_grid, ranks_grid, tau_grid, to_markdown
from rue.metrics.columns import COLUMNS
from rue.plots.inversions import plot_ranks
from rue.plots.style import save
from rue.published import PUBLISHED_COLUMNS, TABLES, read_published
from rue.ranking.inversions import Contest, Inversion, Inversions, find_inversions
from rue.ranking.scores import CRITERIA, to_scores
from studies import DOCS

PAGE = DOCS / "results" / "published.md"
FIGURE = DOCS / "figures" / "published_ranks.png"

ROWS = read_published()
# What section 5.3 compares: proxies on CIFAR-10 and OpenML, regret on CIFAR-10H.
SECTION = ("cifar10", "openml-6", "openml-156", "cifar10h")
USUAL = (
    *("near_ood", "far_ood", "auac", "nauc_epistemic", "nauc_total"),
    *("aurec", "n_aurec", "pareto_gap", "spearman_hat"),
)
LOSS_NAMES = {"log": "log loss", "zero_one": "0/1 loss"}


@dataclass(frozen=True)
class Claim:
    """What the text says, whether the tables bear it out, and what they say."""

    section: str
    says: str
    verdict: str
    tables: str


def compared(datasets: tuple[str, ...] | None, criteria: tuple[str, ...] | None) -> Inversions:
    rows = (row.to_dict() for row in ROWS if datasets is None or row.dataset in datasets)
    return find_inversions(
        score for score in to_scores(rows) if criteria is None or score.criterion in criteria
    )


ALL = compared(None, None)


def value(dataset: str, criterion: str, method: str, loss: str = "") -> str:
    """A cell as the paper prints it."""
    row = next(r for r in ROWS if (r.dataset, r.method, r.loss) == (dataset, method, loss))
    digits = COLUMNS[criterion].digits
    return f"{getattr(row, criterion):.{digits}f}"


def place(dataset: str, criterion: str, method: str, loss: str = "") -> int:
    rank = ALL.ranks_of(dataset, criterion, loss)[method]
    assert rank == int(rank), "a tie has no place"
    return int(rank)


def at(dataset: str, criterion: str, rank: int, loss: str = "") -> str:
    """The one method of that rank."""
    (method,) = (m for m, r in ALL.ranks_of(dataset, criterion, loss).items() if r == rank)
    return method


def worst_and_best(criterion: str) -> tuple[int, Counter[str], Counter[str], list[Contest]]:
    """Over the ten data sets and two losses each: how often each method is best, and worst."""
    columns = [c for c in ALL.columns if c.criterion == criterion and c.dataset != "dcic"]
    best = Counter(at(c.dataset, criterion, 1, c.loss) for c in columns)
    worst = Counter(at(c.dataset, criterion, 4, c.loss) for c in columns)
    return len(columns), best, worst, columns


def claims() -> list[Claim]:
    log = ("cifar10h", "aurec", "log")
    n, best, worst, columns = worst_and_best("aurec")
    elsewhere = [c for c in columns if at(c.dataset, "aurec", 4, c.loss) != "ddu"]
    swaps, n_inversions = full_swaps()
    on_cifar = {
        (x.method, x.rival, x.first.dataset) for x in swaps if x.second.dataset == "cifar10h"
    }
    ((top, bottom, proxy),) = on_cifar
    highest = max(
        (r for r in read_published("cifar10h") if r.loss == "log"), key=lambda r: r.spearman_star
    )
    return [
        Claim(
            "5.3",
            "At OOD detection ensembles and DDU are the dominant methods.",
            verdict(
                all(
                    {at(d, c, 1), at(d, c, 2)} == {"ensemble", "ddu"}
                    for d in ("cifar10", "imagenet")
                    for c in ("near_ood", "far_ood")
                ),
                partly=all(
                    {at("cifar10", c, 1), at("cifar10", c, 2)} == {"ensemble", "ddu"}
                    for c in ("near_ood", "far_ood")
                ),
            ),
            f"On CIFAR-10 they are the first two, near and far. On ImageNet DDU is place "
            f"{place('imagenet', 'near_ood', 'ddu')} of 4 at near-OOD "
            f"({value('imagenet', 'near_ood', 'ddu')}), behind evidential networks "
            f"({value('imagenet', 'near_ood', 'evidential')}).",
        ),
        Claim(
            "5.3",
            "Evidential networks do poorly at both OOD splits of CIFAR-10.",
            verdict(
                place("cifar10", "near_ood", "evidential")
                == place("cifar10", "far_ood", "evidential")
                == 4
            ),
            f"They are last: near {value('cifar10', 'near_ood', 'evidential')}, far "
            f"{value('cifar10', 'far_ood', 'evidential')}.",
        ),
        Claim(
            "5.3",
            "On CIFAR-10H under CE evidential networks have the lowest AuReC and ex-AuReC.",
            verdict(
                place("cifar10h", "aurec", "evidential", "log")
                == place("cifar10h", "excess_aurec", "evidential", "log")
                == 1
            ),
            f"AuReC {value('cifar10h', 'aurec', 'evidential', 'log')}, ex-AuReC "
            f"{value('cifar10h', 'excess_aurec', 'evidential', 'log')}.",
        ),
        Claim(
            "5.3",
            "On CIFAR-10H under CE DDU has the worst AuReC.",
            verdict(at("cifar10h", "aurec", 4, "log") == "ddu"),
            f"{at('cifar10h', 'aurec', 4, 'log').capitalize()} has: "
            f"{value(*log[:2], at('cifar10h', 'aurec', 4, 'log'), 'log')} against DDU's "
            f"{value(*log[:2], 'ddu', 'log')}, place {place(*log[:2], 'ddu', 'log')} of 4. Under "
            f"0/1 loss DDU is place {place('cifar10h', 'aurec', 'ddu', 'zero_one')}. Elsewhere it "
            f"would be true: of {n} pairs of data set and loss DDU has the worst AuReC in "
            f"{worst['ddu']}; the exceptions are "
            + ", ".join(f"{c.dataset} {c.loss}" for c in elsewhere)
            + ".",
        ),
        Claim(
            "5.3",
            "Who selects by OOD detection selects another model than who selects by regret.",
            verdict(
                at("cifar10", "near_ood", 1) not in best
                and at("cifar10", "far_ood", 1) not in best,
                partly=at("cifar10", "near_ood", 1) != at("cifar10h", "aurec", 1, "log"),
            ),
            f"On CIFAR-10H, yes. Over all {n} pairs the AuReC is best for the ensemble in "
            f"{best['ensemble']} and for evidential networks in {best['evidential']}, and the "
            f"ensemble is also best at near-OOD on CIFAR-10 and on ImageNet. DDU, best at far-OOD "
            f"on CIFAR-10, is best in {best['ddu']}.",
        ),
        Claim(
            "5.3",
            "In active learning MC dropout and ensembles are reliable.",
            verdict(
                all(
                    {at(d, c, 1), at(d, c, 2)} == {"dropout", "ensemble"}
                    for d in ("openml-6", "openml-156")
                    for c in ("nauc_epistemic", "nauc_total")
                ),
                partly=all(
                    place(d, c, "ensemble") <= 2
                    for d in ("openml-6", "openml-156")
                    for c in ("nauc_epistemic", "nauc_total")
                ),
            ),
            f"The ensemble is first or second each time. Dropout is place "
            f"{place('openml-6', 'nauc_epistemic', 'dropout')} on OpenML 6, but on OpenML 156 "
            f"place {place('openml-156', 'nauc_epistemic', 'dropout')} by epistemic "
            f"({value('openml-156', 'nauc_epistemic', 'dropout')}, DDU "
            f"{value('openml-156', 'nauc_epistemic', 'ddu')}) and place "
            f"{place('openml-156', 'nauc_total', 'dropout')} by total.",
        ),
        Claim(
            "5.3",
            "In active learning evidential networks struggle.",
            verdict(
                all(
                    place(d, c, "evidential") == 4
                    for d in ("openml-6", "openml-156")
                    for c in ("nauc_epistemic", "nauc_total")
                )
            ),
            f"Last each time; {value('openml-6', 'nauc_epistemic', 'evidential')} on OpenML 6.",
        ),
        Claim(
            "abstract",
            "Methods are on top under one criterion and at the bottom under another, in pairs.",
            verdict(bool(swaps)),
            f"In {len(swaps)} of the {n_inversions:,} inversions between a proxy and a regret "
            f"criterion the two methods are best and worst, and the other way round. With regret "
            f"on CIFAR-10H it is {top} over {bottom} on {proxy}, {bottom} over {top} by regret.",
        ),
        Claim(
            "5.4",
            "On CIFAR-10H under CE the realised components correlate up to 0.882.",
            verdict(highest.spearman_star == 0.882),
            f"That is {highest.method}. For evidential networks, whose estimates correlate "
            f"{value('cifar10h', 'spearman_hat', 'evidential', 'log')}, the realised ones do by "
            f"{value('cifar10h', 'spearman_star', 'evidential', 'log')}: theirs is not the "
            "correlation of the truth.",
        ),
        Claim(
            "5.4",
            "Evidential networks have r_s hat 0.999 and yet the lowest P-gap and AuReC (CE).",
            verdict(
                value("cifar10h", "spearman_hat", "evidential", "log") == "0.999"
                and place("cifar10h", "pareto_gap", "evidential", "log")
                == place("cifar10h", "aurec", "evidential", "log")
                == 1
            ),
            f"P-gap {value('cifar10h', 'pareto_gap', 'evidential', 'log')}. Under 0/1 loss the "
            f"P-gap of the {at('cifar10h', 'pareto_gap', 1, 'zero_one')} is lower, "
            f"{value('cifar10h', 'pareto_gap', 'ensemble', 'zero_one')} against "
            f"{value('cifar10h', 'pareto_gap', 'evidential', 'zero_one')}.",
        ),
    ]


def verdict(holds: bool, *, partly: bool = False) -> str:
    return "yes" if holds else "in part" if partly else "**no**"


def full_swaps() -> tuple[list[Inversion], int]:
    """Inversions of strength 1, and how many in all, between a proxy and a regret criterion."""
    kinds = {name: criterion.kind for name, criterion in CRITERIA.items()}
    pairs = [
        x
        for x in ALL.inversions
        if (kinds[x.first.criterion], kinds[x.second.criterion]) == ("proxy", "regret")
    ]
    return [x for x in pairs if x.strength == 1], len(pairs)


def means_off() -> list[tuple[str, Decimal, Decimal, Decimal]]:
    """Cells of the DCIC summary that are not the rounded mean: how far, in the last place."""
    found = []
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
                found.append((where, printed, mean, units))
    return sorted(found, key=lambda line: line[3], reverse=True)


WITHIN = ("aurec", "excess_aurec", "n_aurec", "pareto_gap", "aurc", "spearman_hat")


def within() -> tuple[list[tuple[str, str]], dict[tuple[str, str], float], dict[str, int]]:
    """Compare criteria on the same data and models: for each data set and loss, then averaged.

    Gives the data sets and losses, the mean tau of every two criteria, and in how many the best
    method is that of AuReC.
    """
    places = [(c.dataset, c.loss) for c in ALL.columns if c.criterion == "aurec"]
    row = {column: i for i, column in enumerate(ALL.columns)}
    taus = {
        (a, b): fmean(
            float(ALL.tau[row[Contest(d, a, x)], row[Contest(d, b, x)]]) for d, x in places
        )
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
    grid = [["criterion", *titles, "same best as AuReC"]]
    for name, title in zip(WITHIN, titles, strict=True):
        cells = [f"{taus[name, other]:.2f}" for other in WITHIN]
        grid.append([title, *cells, f"{same[name]} of {len(places)}"])
    return grid


def page() -> str:
    section = compared(SECTION, USUAL)
    n_cells = sum(getattr(row, c) is not None for row in ROWS for c in PUBLISHED_COLUMNS)
    claimed = claims()
    near, aurec = Contest("cifar10", "near_ood", ""), Contest("cifar10h", "aurec", "log")
    between = [x for x in section.inversions if (x.first, x.second) == (near, aurec)]
    tau = ALL.tau[ALL.columns.index(near), ALL.columns.index(aurec)]
    taus = ALL.tau[
        ALL.columns.index(Contest("openml-6", "nauc_epistemic", "")),
        ALL.columns.index(Contest("cifar10h", "aurec", "zero_one")),
    ]
    places, taus_within, same = within()
    r_s, gap = taus_within["aurec", "spearman_hat"], taus_within["aurec", "pareto_gap"]
    off = means_off()
    spread = sqrt(1 / 12 / 8)  # of the mean of eight that are uniform over a unit
    needed = [(float(units) - 0.5) / spread for *_, units in off]
    lines = [
        "# What the published numbers say",
        "",
        "Made by `studies/published.py`; no result here is typed. The numbers are the paper's",
        f"own: {len(TABLES)} tables, {n_cells} cells, in `src/rue/published/` (`rue published`). A "
        "cell is a number",
        "in the body of a table: 8 rows of 7 in tables 1, 2 and 6 to 13, 8 of 5 in table 3, 4 of 6",
        "in table 4 and 4 of 4 in table 5. `tests/published/test_paper.py` compares each with the",
        "paper's source.",
        "",
        "They are means over seeds, without their spread, and the proxies are measured on other",
        "data sets than the regret. So an inversion below may be noise, or the data's; with four",
        "methods, Kendall's tau has seven values. `rue inversions DIR` does the same on one data",
        "set, seed by seed.",
        "",
        "## Criteria side by side",
        "",
        "`rue inversions --published --dataset 'cifar10*' --dataset 'openml*'`: what section 5.3",
        "compares. Rank 1 is best; r_s is taken to be best near 0, as those who judge by it do.",
        "",
        "![Ranks of four methods under proxies, regret and correlation]"
        "(../figures/published_ranks.png)",
        "",
        to_markdown(ranks_grid(section)),
        "",
        f"Near-OOD against AuReC (log): tau {tau:.2f}, and {len(between)} of 6 pairs of methods "
        "are inverted, each with",
        "evidential networks, last under the one and first under the other:",
        "",
        to_markdown(inversions_grid(between)),
        "",
        "Strength is the smaller of the two margins, each as a share of the distance from the best",
        f"to the worst method. Active learning on OpenML 6 and AuReC under 0/1 loss have tau "
        f"{taus:.2f}: the",
        "orders are opposite.",
        "",
        "Kendall's tau between every two of these criteria, by the numbers of the table above:",
        "",
        to_markdown(tau_grid(section, 0, len(section.columns))),
        "",
        "## The same data, the same models",
        "",
        "Tables 1, 2 and 6 to 13 have all regret criteria and the rank correlation of the same",
        "models on the same data. Kendall's tau, averaged over "
        f"{len(places)} pairs of data set and loss:",
        "",
        to_markdown(within_grid()),
        "",
        "Here section 5.4 has a stronger case than the one that it makes: to prefer components",
        f"that do not correlate orders the methods rather against AuReC (tau {r_s:.2f}) than with "
        "it, and picks",
        f"AuReC's best method in {same['spearman_hat']} of {len(places)}. The Pareto-gap agrees "
        f"with AuReC more often than not (tau {gap:.2f}), and",
        f"picks the same best in {same['pareto_gap']}.",
        "",
        "## The text against the tables",
        "",
        "| where | what the text says | so it is | what the tables say |",
        "| --- | --- | --- | --- |",
        *(f"| {c.section} | {c.says} | {c.verdict} | {c.tables} |" for c in claimed),
        "",
        "## Tables that do not fit each other",
        "",
        "The DCIC summary (table 3) should be the means of tables 6 to 13. Of its 32 means "
        f"{32 - len(off)} are the rounded",
        f"mean of the printed cells; {len(off)} are not:",
        "",
        "| cell | printed | mean of the printed | off, in units of the last place |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {where} | {printed} | {mean} | {units:.3f} |" for where, printed, mean, units in off),
        "",
        "The printed parts are rounded too, so up to 1 unit could be rounding alone. The mean of",
        f"eight roundings has a standard deviation of {spread:.2f} units. Beyond the summary's own "
        "half unit the first",
        f"cell needs {needed[0]:.1f} of them, which rounding hardly explains; the second "
        f"needs {needed[1]:.1f}, which",
        "happens. The counts of the lowest n-AuReC are right, all eight.",
        "",
        "In table 1 the second-lowest n-AuReC under 0/1 loss, "
        f"{value('cifar10h', 'n_aurec', 'ddu', 'zero_one')} of DDU, is not underlined. All other",
        "marks of the paper are where its numbers say.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    save(plot_ranks([compared(SECTION, USUAL)]), FIGURE)


if __name__ == "__main__":
    main()
