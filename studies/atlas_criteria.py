"""Questions about criteria: proxies, what moves a ranking, deployed rules."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from rue.metrics.columns import title
from studies.atlas_analysis import (
    Answer,
    Estimate,
    Grid,
    Regimes,
    clear_in,
    estimate,
    grid,
    in_regimes,
    losses_of,
    p_text,
    permutation_tau,
    taus,
    unresolved,
)
from studies.pages import listed, old_totals, percent, table
from studies.rows import Row

PROXIES = {"near_ood": "near-OOD", "far_ood": "far-OOD", "auac": "AuAC"}
ACTIVE = {
    "nauc_epistemic": "active learning, asking by epistemic",
    "nauc_total": "active learning, asking by total",
}


def proxies(rows: Regimes, active: Sequence[Row]) -> Answer:
    """Answer whether OOD detection, AuAC and active learning pick the same methods as regret."""
    learnt = [{**row, "loss": "log"} for row in active]
    sources = [
        (key, name, regime, group, group)
        for key, name in PROXIES.items()
        for regime, group in rows.items()
    ]
    sources += [(key, name, "paper", learnt, rows["paper"]) for key, name in ACTIVE.items()]
    lines = []
    numbers: dict[tuple[str, str], dict[str, Estimate]] = {}
    for key, name, regime, theirs, ours in sources:
        proxy = grid(theirs, key, "log")
        for column in ("n_aurec", "aurec"):
            regret = grid(ours, column, "log")
            one = estimate(taus(proxy, regret))
            if one.n_families:
                numbers.setdefault((key, column), {})[regime] = one
                same = _same_best(proxy, regret)
                lines.append(
                    [
                        name,
                        regime,
                        title(column),
                        one.text(digits=2),
                        one.families,
                        p_text(permutation_tau(proxy, regret)),
                        f"{sum(same.values())} of {len(same)}",
                    ]
                )
    words = []
    for key, name in (*PROXIES.items(), ("nauc_epistemic", "active learning")):
        if (key, "aurec") in numbers:
            other = [f"{one.mean:+.2f}" for one in numbers[key, "n_aurec"].values()]
            by_area = in_regimes(numbers[key, "aurec"], digits=2)
            words.append(f"{name} {by_area}, n-AuReC {' and '.join(other)}")
    sentence = (
        "Not always. Under log loss, Kendall's tau between the orders of the methods by a proxy "
        f"and by AuReC is: {'; '.join(words)}."
    )
    body = "\n\n".join(
        [
            "Kendall's tau between the order of the methods by a proxy and by regret under log "
            "loss, on each data set that has both: the mean over families with a 95 % interval "
            "that resamples them. The p-value shuffles the methods within each data set: it tests "
            "these data sets, not the next family. The last column counts the data sets on which "
            "both pick the same best method, where all methods have both numbers. Active learning "
            "trains new models in every round, in the paper's regime (suite `atlas-active`), so it "
            "is compared with regret in that regime.",
            table(
                [
                    *("proxy", "regime", "regret by", "tau", "families", "permutation p"),
                    "same best method",
                ],
                lines,
                text=3,
            ),
            _active_table(learnt),
            old_totals(row for group in rows.values() for row in group),
        ]
    ).rstrip()
    return Answer(
        "Do OOD detection, AuAC and active learning pick the same methods as regret?",
        "Do the usual tests pick the same methods?",
        sentence,
        body,
    )


def _active_table(rows: Sequence[Row]) -> str:
    """Return the area under accuracy of each method and data set, mean over seeds."""
    areas = [grid(rows, key, "log") for key in ACTIVE]
    if not areas[0].methods:
        return ""
    head = ["method", *(f"{d}, {by}" for d in areas[0].datasets for by in ("epistemic", "total"))]
    lines = [
        [
            method,
            *(
                f"{value:.3f}" if np.isfinite(value) else "-"
                for d in range(len(areas[0].datasets))
                for value in (area.values[d, m] for area in areas)
            ),
        ]
        for m, method in enumerate(areas[0].methods)
    ]
    return (
        "The normalised area under the accuracy (NAUC) of active learning, asking for the points "
        "with the highest epistemic or total uncertainty:\n\n" + table(head, lines)
    )


def what_moves_ranks(rows: Regimes) -> Answer:
    """Answer how much of a ranking is tuning, convention, and finitely many annotators."""
    lines, numbers = [], {}
    changes = {
        "paper's settings instead of tuned": "when the paper's settings replace tuned ones",
        "AuReC instead of n-AuReC": "when AuReC replaces n-AuReC",
        "published convention instead of Definition 1": "under the published convention",
        "corrected for finitely many annotators": "after correcting for finitely many annotators",
        "other seeds (even against odd)": "between halves of the seeds",
    }
    tuned = rows["tuned"]
    for loss in losses_of(tuned):
        whole = grid(tuned, "n_aurec", loss)
        others = [
            grid(rows["paper"], "n_aurec", loss),
            grid(tuned, "aurec", loss),
            grid(tuned, "n_aurec", loss, partial(_of, part="published")),
            grid(tuned, "n_aurec", loss, partial(_of, part="corrected")),
        ]
        halves = [
            grid([row for row in tuned if row["seed"] % 2 == half], "n_aurec", loss)
            for half in (0, 1)
        ]
        pairs = [*((whole, other) for other in others), halves]
        for name, (one, other) in zip(changes, pairs, strict=True):
            number = numbers[name, loss] = estimate(taus(one, other))
            if number.n_families:
                lines.append([name, loss, number.text(digits=2, sign=""), number.families])
    low, high = (grid(tuned, key, "log") for key in ("aurec_low", "aurec_high"))
    overlaps = [unresolved(low.values[i], high.values[i]) for i in range(len(low.datasets))]
    n_open, n_all = (sum(each) for each in zip(*overlaps, strict=True)) if overlaps else (0, 0)
    words = [
        f"{numbers[name, 'log'].text(digits=2, sign='')} {when} ({numbers[name, 'log'].families})"
        for name, when in list(changes.items())[:2]
        if numbers[name, "log"].n_families
    ]
    sentence = (
        "Under log loss, Kendall's tau between two orders of the methods (n-AuReC, tuned) is "
        f"{listed(words)}."
    )
    body = "\n\n".join(
        [
            "Kendall's tau between two orders of the methods by n-AuReC on the same data set, mean "
            "over families and 95 % interval. A tau of 1 means that nothing changes.",
            table(["what changes", "loss", "tau", "families"], lines, text=2),
            f"Under log loss, the brackets of AuReC that hold for any finite number of annotators "
            f"overlap for {n_open} of {n_all} pairs of methods on the same data set.",
        ]
    )
    return Answer(
        "How much of any ranking is tuning, convention and finitely many annotators?",
        "What moves a ranking?",
        sentence,
        body,
    )


def two_components(rows: Regimes) -> Answer:
    """Answer what a deployed rule gains from two components over one."""
    lines, numbers = [], {}
    for one in ("total", "epistemic"):
        for regime, group in rows.items():
            cells = []
            for how in ("matched", "coverage"):
                gain = grid(group, "gain", "log", partial(_gain_of_rule, one=one, how=how))
                number = numbers[one, how, regime] = estimate(gain.means)
                cells += [number.text(digits=1, scale=100), p_text(number.p_value)]
            lines.append([one, regime, *cells, number.families])
    kept = {
        name: [row["rules"][name]["kept"] for row in rows["tuned"] if _has_regret(row)]
        for name in ("learned", "total", "epistemic")
    }
    shares = [f"{percent(np.mean(k))} of the cells with {n}" for n, k in kept.items() if k]
    matched = {regime: numbers["total", "matched", regime] for regime in rows}
    sentence = (
        "At equal risk and regret, a rule by both components accepts "
        f"{in_regimes(matched, digits=2, scale=100)} percentage points more inputs than one by "
        f"total uncertainty (log loss), {clear_in(matched)}."
    )
    body = "\n\n".join(
        [
            "On half of the test points we fit the rule of [deploy](../../deploy.md) that "
            "maximises coverage under two budgets, 60 % of the risk and 50 % of the regret of "
            "accepting "
            "every point; on the other half we measure it. The gain is the coverage of the rule "
            "that learns how to weigh aleatoric and epistemic uncertainty minus that of a rule by "
            "one score, in percentage points, averaged over methods and seeds of each data set. "
            "Methods with a score of their own (ddu, deup) are left out: their score has no unit, "
            "and the sum of a risk and such a score is no total. "
            "No budget is promised here; both are kept on the new points in "
            f"{listed(shares) if shares else 'no cell'} (*learned* is the rule of two components; "
            "tuned). A rule that breaks a budget accepts more points for it. So the fair "
            "comparison is *same budgets*: the threshold of each rule is moved until the budgets "
            "are used up on the new points, and only the order in which a rule accepts points "
            "counts.",
            table(
                [
                    *("rule of one score", "regime", "gain, same budgets", "p", "gain as fitted"),
                    *("p", "families"),
                ],
                lines,
                text=2,
            ),
        ]
    )
    question = "What does a deployed rule gain from two components over one?"
    return Answer(question, "Do two components make better rules?", sentence, body)


def _has_regret(row: Row) -> bool:
    """Whether a row has rules, and its epistemic uncertainty is a regret, not a score."""
    return bool(row.get("rules")) and row.get("predicted_regret") is not None


def _of(row: Row, *, part: str) -> float | None:
    return (row.get(part) or {}).get("n_aurec")


def _gain_of_rule(row: Row, *, one: str, how: str) -> float | None:
    rules = row["rules"] if _has_regret(row) else None
    return None if rules is None else rules["learned"][how] - rules[one][how]


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
