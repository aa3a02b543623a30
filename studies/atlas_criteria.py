"""Questions four to six of docs/findings.md: proxies, what moves a ranking, deployed rules."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from studies.atlas_analysis import Grid, estimate, grid, permutation_tau, taus, unresolved
from studies.atlas_answers import Answer, data_sets, losses_of, p_text
from studies.pages import listed, percent, table
from studies.rows import Row

PROXIES = {"near_ood": "near-OOD", "far_ood": "far-OOD", "auac": "AuAC"}
ACTIVE = {
    "nauc_epistemic": "active learning, asking by epistemic",
    "nauc_total": "active learning, asking by total",
}


def proxies(tuned: Sequence[Row], paper: Sequence[Row], active: Sequence[Row]) -> Answer:
    """Answer whether OOD detection, AuAC and active learning pick the same methods as regret."""
    learnt = [{**row, "loss": "log"} for row in active]
    sources = [(key, name, tuned, tuned) for key, name in PROXIES.items()]
    sources += [(key, name, learnt, paper) for key, name in ACTIVE.items()]
    lines, means = [], {}
    for key, name, theirs, ours in sources:
        proxy = grid(theirs, key, "log")
        for column in ("aurec", "n_aurec"):
            regret = grid(ours, column, "log")
            one = estimate(list(taus(proxy, regret).values()))
            means[key, column] = one
            if one.n:
                same = _same_best(proxy, regret)
                lines.append(
                    [
                        name,
                        column,
                        str(one),
                        p_text(permutation_tau(proxy, regret)),
                        f"{sum(same.values())} of {len(same)}",
                    ]
                )
    words = [
        f"{name} {means[key, 'n_aurec'].text(digits=2)} ({data_sets(means[key, 'n_aurec'].n)})"
        for key, name in (
            ("near_ood", "near-OOD detection"),
            ("far_ood", "far-OOD detection"),
            ("auac", "AuAC"),
            ("nauc_epistemic", "active learning"),
        )
        if means[key, "n_aurec"].n
    ]
    sentence = (
        "On the same data and under log loss, Kendall's tau between the order of the methods by a "
        f"proxy and by n-AuReC is: {'; '.join(words)}."
    )
    body = "\n\n".join(
        [
            "Kendall's tau between the order of the methods by a proxy and by regret under log "
            "loss, on each data set that has both: the mean over data sets with a 95 % interval "
            "that resamples them. The p-value shuffles the methods within each data set, a check "
            "that does not depend on the interval. The last column counts the data sets on which "
            "both pick the same best method, where all methods have both numbers. OOD detection "
            "and AuAC are of the same tuned models as regret. Active learning trains new models "
            "in every round, in the paper's regime (suite `atlas-active`), so it is compared with "
            "regret in that regime.",
            table(
                ["proxy", "regret by", "tau", "permutation p", "same best method"], lines, text=2
            ),
            _active_table(learnt),
        ]
    ).rstrip()
    return Answer(
        "Do OOD detection, AuAC and active learning pick the same methods as regret?",
        sentence,
        body,
    )


def _active_table(rows: Sequence[Row]) -> str:
    """Return the area under accuracy of each method and data set, mean over seeds."""
    found = [grid(rows, key, "log") for key in ACTIVE]
    if not found[0].methods:
        return ""
    head = ["method", *(f"{d}, {by}" for d in found[0].datasets for by in ("epistemic", "total"))]
    lines = [
        [
            method,
            *(
                f"{value:.3f}" if np.isfinite(value) else "-"
                for d in range(len(found[0].datasets))
                for value in (each.values[d, m] for each in found)
            ),
        ]
        for m, method in enumerate(found[0].methods)
    ]
    return (
        "The normalised area under the accuracy (NAUC) of active learning, asking for the points "
        "with the highest epistemic or total uncertainty:\n\n" + table(head, lines)
    )


def what_moves_ranks(tuned: Sequence[Row], paper: Sequence[Row]) -> Answer:
    """Answer how much of a ranking is tuning, convention, and finitely many annotators."""
    lines, means = [], {}

    def add(name: str, loss: str, found: dict[str, float]) -> None:
        one = estimate(list(found.values()))
        means[name, loss] = one
        if one.n:
            lines.append([name, loss, one.text(digits=2, sign=""), str(one.n)])

    for loss in losses_of(tuned):
        whole = grid(tuned, "n_aurec", loss)
        halves = [
            grid([row for row in tuned if row["seed"] % 2 == half], "n_aurec", loss)
            for half in (0, 1)
        ]
        add("other seeds (even against odd)", loss, taus(*halves))
        add("paper's settings instead of tuned", loss, taus(whole, grid(paper, "n_aurec", loss)))
        published = grid(tuned, "n_aurec", loss, partial(_of, part="published"))
        add("published convention instead of Definition 1", loss, taus(whole, published))
        corrected = grid(tuned, "n_aurec", loss, partial(_of, part="corrected"))
        add("corrected for finitely many annotators", loss, taus(whole, corrected))
    low, high = (grid(tuned, key, "log") for key in ("aurec_low", "aurec_high"))
    pairs = [unresolved(low.values[i], high.values[i]) for i in range(len(low.datasets))]
    n_open, n_all = (sum(each) for each in zip(*pairs, strict=True)) if pairs else (0, 0)
    tuning, convention, annotators, seeds = (
        means[name, "log"]
        for name in (
            "paper's settings instead of tuned",
            "published convention instead of Definition 1",
            "corrected for finitely many annotators",
            "other seeds (even against odd)",
        )
    )
    words = [
        f"{one.text(digits=2, sign='')} {when} ({data_sets(one.n)})"
        for one, when in (
            (tuning, "when the paper's settings replace tuned ones"),
            (convention, "under the published convention"),
            (annotators, "after correcting for finitely many annotators"),
            (seeds, "between halves of the seeds"),
        )
        if one.n
    ]
    sentence = (
        "Under log loss, Kendall's tau between two orders of the methods by n-AuReC is "
        f"{listed(words)}."
    )
    body = "\n\n".join(
        [
            "Kendall's tau between two orders of the methods by n-AuReC on the same data set, mean "
            "over data sets and 95 % interval. A tau of 1 means that nothing changes.",
            table(["what changes", "loss", "tau", "data sets"], lines, text=2),
            f"Under log loss, the brackets of AuReC that hold for any finite number of annotators "
            f"overlap for {n_open} of {n_all} pairs of methods on the same data set.",
        ]
    )
    return Answer(
        "How much of any ranking is tuning, convention and finitely many annotators?",
        sentence,
        body,
    )


def two_components(rows: Sequence[Row]) -> Answer:
    """Answer what a deployed rule gains from two components over one."""
    lines, means = [], {}
    for one in ("total", "epistemic"):
        cells = []
        for how in ("matched", "coverage"):
            gain = grid(rows, "gain", "log", partial(_gain_of_rule, one=one, how=how))
            found = estimate(np.nanmean(gain.values, axis=1)) if gain.values.size else estimate([])
            means[one, how] = found
            cells += [found.text(digits=1, scale=100), p_text(found.p_value)]
        lines.append([one, *cells, str(found.n)])
    kept = {
        name: [row["rules"][name]["kept"] for row in rows if row.get("rules")]
        for name in ("learned", "total", "epistemic")
    }
    shares = [f"{percent(np.mean(k))} of the cells with {n}" for n, k in kept.items() if k]
    matched = means["total", "matched"]
    more = matched.text(digits=1, scale=100)
    sentence = (
        "With the same budgets of risk and regret used up, a rule by both components accepts "
        f"{more} percentage points more than a rule by total uncertainty (log loss, mean over "
        f"{data_sets(matched.n)})."
    )
    body = "\n\n".join(
        [
            "On half of the test points we fit the rule of [deploy](deploy.md) that maximises "
            "coverage under two budgets, 60 % of the risk and 50 % of the regret of accepting "
            "every point; on the other half we measure it. The gain is the coverage of the rule "
            "that learns how to weigh aleatoric and epistemic uncertainty minus that of a rule by "
            "one score, in percentage points, averaged over methods and seeds of each data set. "
            "No budget is promised here; both are kept on the new points in "
            f"{listed(shares) if shares else 'no cell'} (*learned* is the rule of two components). "
            "A rule that breaks a budget accepts more points for it. So the fair comparison is "
            "*same budgets*: the threshold of each rule is moved until the budgets are used up on "
            "the new points, and only the order in which a rule accepts points counts.",
            table(
                [
                    "rule of one score",
                    "gain, same budgets",
                    "p",
                    "gain as fitted",
                    "p",
                    "data sets",
                ],
                lines,
            ),
        ]
    )
    return Answer("What does a deployed rule gain from two components over one?", sentence, body)


def _of(row: Row, *, part: str) -> float | None:
    return (row.get(part) or {}).get("n_aurec")


def _gain_of_rule(row: Row, *, one: str, how: str) -> float | None:
    rules = row.get("rules")
    return None if not rules else rules["learned"][how] - rules[one][how]


def _same_best(first: Grid, second: Grid) -> dict[str, bool]:
    methods = [m for m in first.methods if m in second.methods]
    a, b = (g.complete(methods) for g in (first, second))
    return {
        d: bool(
            a.methods[np.argmin(a.ranks[a.datasets.index(d)])]
            == b.methods[np.argmin(b.ranks[b.datasets.index(d)])]
        )
        for d in a.datasets
        if d in b.datasets
    }
