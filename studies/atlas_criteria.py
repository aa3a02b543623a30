"""Questions four to six of docs/findings.md: proxies, what moves a ranking, deployed rules."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from studies.atlas_analysis import Grid, estimate, grid, permutation_tau, taus, unresolved
from studies.atlas_answers import Answer, data_sets, losses_of, p_text
from studies.pages import listed, percent, table
from studies.rows import Row

PROXIES = {"near_ood": "near-OOD", "far_ood": "far-OOD", "auac": "AuAC"}


def proxies(rows: Sequence[Row]) -> Answer:
    """Answer whether OOD detection and AuAC pick the same methods as regret."""
    lines, means = [], {}
    for key, name in PROXIES.items():
        proxy = grid(rows, key, "log")
        for column in ("aurec", "n_aurec"):
            regret = grid(rows, column, "log")
            found = taus(proxy, regret)
            one = estimate(list(found.values()))
            means[key, column] = one
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
    near, auac = means["near_ood", "n_aurec"], means["auac", "aurec"]
    far = means["far_ood", "n_aurec"]
    words = [
        f"{name} one of {one.text(digits=2)} to {column} ({data_sets(one.n)})"
        for name, one, column in (
            ("near-OOD detection", near, "n-AuReC"),
            ("far-OOD detection", far, "n-AuReC"),
            ("AuAC", auac, "AuReC"),
        )
        if one.n
    ]
    sentence = (
        "On the same models and under log loss, Kendall's tau between the order of the methods by "
        f"a proxy and by regret is: {'; '.join(words)}."
    )
    body = "\n\n".join(
        [
            "Kendall's tau between the order of the methods by a proxy and by regret under log "
            "loss, on each data set that has both: the mean over data sets with a 95 % interval "
            "that resamples them. The p-value shuffles the methods within each data set, a check "
            "that does not depend on the interval. The last column counts the data sets on which "
            "both pick the same best method. Active learning was not run in this suite; "
            "[the page of the movie reviews](results/sentiment-movies.md) and [that of "
            "CIFAR-10H](results/cifar10h-probe.md) have it for five methods.",
            table(
                ["proxy", "regret by", "tau", "permutation p", "same best method"], lines, text=2
            ),
        ]
    )
    return Answer(
        "Do OOD detection, AuAC and active learning pick the same methods as regret?",
        sentence,
        body,
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
    for loss in ("log",):
        for one in ("total", "epistemic"):
            gain = grid(rows, "gain", loss, partial(_gain_of_rule, one=one))
            found = estimate(np.nanmean(gain.values, axis=1)) if gain.values.size else estimate([])
            means[loss, one] = found
            lines.append(
                [loss, one, found.text(digits=1, scale=100), p_text(found.p_value), str(found.n)]
            )
    kept = {
        name: [row["rules"][name]["kept"] for row in rows if row.get("rules")]
        for name in ("learned", "total", "epistemic")
    }
    shares = [f"{percent(np.mean(k))} of the cells with {n}" for n, k in kept.items() if k]
    log = means["log", "total"]
    sentence = (
        "Under the same budgets of risk and regret, a rule by both components accepts "
        f"{log.text(digits=1, scale=100)} percentage points more than a rule by total uncertainty "
        f"(log loss, mean over {data_sets(log.n)})."
    )
    body = "\n\n".join(
        [
            "On half of the test points we fit the rule of [deploy](deploy.md) that maximises "
            "coverage under two budgets, 60 % of the risk and 50 % of the regret of accepting "
            "every point; on the other half we measure it. The gain is the coverage of the rule "
            "that learns how to weigh aleatoric and epistemic uncertainty minus that of a rule by "
            "one score, in percentage points, averaged over methods and seeds of each data set. "
            "No budget is promised here; both are kept on the new points in "
            f"{listed(shares) if shares else 'no cell'} (*learned* is the rule of two components).",
            table(["loss", "rule of one score", "gain", "p", "data sets"], lines, text=2),
        ]
    )
    return Answer("What does a deployed rule gain from two components over one?", sentence, body)


def _of(row: Row, *, part: str) -> float | None:
    return (row.get(part) or {}).get("n_aurec")


def _gain_of_rule(row: Row, *, one: str) -> float | None:
    rules = row.get("rules")
    return None if not rules else rules["learned"]["coverage"] - rules[one]["coverage"]


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
