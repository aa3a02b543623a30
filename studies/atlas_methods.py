"""Questions one to three of docs/findings.md: which method finds regret best, and why."""

from collections.abc import Sequence

import numpy as np

from studies.atlas_analysis import REPLICATES, Estimate, Grid, estimate, grid, mean_ranks, taus
from studies.atlas_answers import Answer, data_sets, leagues, losses_of, p_text
from studies.pages import listed, table
from studies.rows import Row


def which_method(rows: Sequence[Row]) -> Answer:
    """Answer which method's epistemic uncertainty finds regret best, and under which loss."""
    lines, firsts, parts = [], [], []
    orders: dict[str, Grid] = {}
    for loss in losses_of(rows):
        found = grid(rows, "n_aurec", loss)
        for methods in leagues(found):
            whole = found.complete(methods)
            if len(whole.datasets) < 2:
                continue
            ranks = mean_ranks(whole)
            best = ranks.order[0]
            place = whole.methods.index(best)
            close = ranks.not_separated
            lines.append(
                [
                    loss,
                    str(len(whole.datasets)),
                    str(len(whole.methods)),
                    best,
                    f"{whole.values[:, place].mean():.3f}",
                    f"{ranks.mean[place]:.1f} [{ranks.low[place]:.1f}, {ranks.high[place]:.1f}]",
                    p_text(ranks.p_value),
                    f"{ranks.critical:.1f}",
                    ", ".join(close) or "none",
                ]
            )
            if len(methods) == max(len(league) for league in leagues(found)):
                firsts.append((loss, best, len(close)))
                orders[loss] = whole
    pairs = [
        (a, b, taus(orders[a], orders[b])) for i, a in enumerate(orders) for b in list(orders)[:i]
    ]
    agreement = [
        [f"{a} and {b}", str(estimate(list(t.values()))), str(len(t))] for a, b, t in pairs if t
    ]
    head = [
        *("loss", "data sets", "methods", "lowest mean rank", "its mean n-AuReC", "mean rank"),
        *("Friedman p", "critical difference", "not separated from it (Nemenyi)"),
    ]
    parts.append(table(head, lines))
    if agreement:
        parts.append(
            "How far the losses agree on the order of the methods (Kendall's tau on each data set, "
            "mean over data sets and 95 % interval):"
        )
        parts.append(table(["losses", "tau", "data sets"], agreement))
    names = dict.fromkeys(best for _, best, _ in firsts)
    by = [f"{name} under {listed([ls for ls, b, _ in firsts if b == name])}" for name in names]
    sentence = (
        "There are too few complete data sets to say."
        if not firsts
        else (
            f"By n-AuReC, the method with the lowest mean rank is {listed(by)}"
            + (
                "; the order of the methods depends on the loss."
                if len(names) > 1
                else ", whichever loss is used."
            )
        )
    )
    question = (
        "Which method's epistemic uncertainty finds regret best, and does it depend on the loss?"
    )
    return Answer(question, sentence, "\n\n".join(parts))


def better_than_total(rows: Sequence[Row]) -> Answer:
    """Answer whether epistemic uncertainty finds regret better than total uncertainty does."""
    lines, where, overall = [], [], {}
    by_method: dict[str, Estimate] = {}
    for loss in losses_of(rows):
        gain = grid(rows, "gain", loss, _gain_over_total)
        per_set = np.nanmean(gain.values, axis=1)
        overall[loss] = estimate(per_set)
        n_better = int((gain.values > 0).sum())
        lines.append(
            [
                loss,
                str(overall[loss]),
                p_text(overall[loss].p_value),
                f"{n_better} of {int(np.isfinite(gain.values).sum())}",
                ", ".join(d for d, g in zip(gain.datasets, per_set, strict=True) if g < 0)
                or "none",
            ]
        )
    log = grid(rows, "gain", "log", _gain_over_total)
    for m, method in enumerate(log.methods):
        found = estimate(log.values[:, m])
        by_method[method] = found
        where.append([method, str(found), p_text(found.p_value), str(found.n)])
    where.sort(key=lambda line: -by_method[line[0]].mean)
    better = [
        line[0] for line in where if by_method[line[0]].is_clear and by_method[line[0]].mean > 0
    ]
    log_gain = overall["log"]
    how, side = ("better", "lower") if log_gain.mean > 0 else ("worse", "higher")
    sentence = (
        f"Under log loss, epistemic uncertainty finds regret {how} than total uncertainty does: "
        f"its n-AuReC is {abs(log_gain.mean):.3f} {side} (gain {log_gain}, mean over "
        f"{data_sets(log_gain.n)} and all methods). Epistemic uncertainty is clearly better for "
        f"{listed(better) if better else 'no method'}."
    )
    body = "\n\n".join(
        [
            "The gain is n-AuReC when ranking by total uncertainty minus n-AuReC when ranking by "
            "epistemic uncertainty, of the same models: positive where epistemic uncertainty is "
            "better. Intervals resample the data sets; the p-value flips signs of data sets.",
            table(
                ["loss", "mean gain", "p", "method and data set pairs", "data sets with a loss"],
                lines,
            ),
            "By method, under log loss:",
            table(["method", "mean gain", "p", "data sets"], where),
        ]
    )
    return Answer(
        "Does it find regret better than plain total uncertainty, and where not?", sentence, body
    )


def replicates(rows: Sequence[Row]) -> Answer:
    """Answer whether methods that learned from replicates beat those that did not."""
    lines, found = [], {}
    for loss in losses_of(rows):
        for column, name in (("n_aurec", "ranking"), ("regret_calibration", "calibration")):
            for how in ("mean", "best"):
                differences = _against_labels(grid(rows, column, loss), how)
                one = estimate(list(differences.values()))
                found[loss, name, how] = one
                lines.append(
                    [
                        loss,
                        f"{name} ({column})",
                        how,
                        str(one),
                        p_text(one.p_value),
                        f"{sum(d < 0 for d in differences.values())} of {len(differences)}",
                    ]
                )
    rank, calibrated = found["log", "ranking", "mean"], found["log", "calibration", "mean"]
    more = "calibration" if abs(calibrated.mean) > abs(rank.mean) else "ranking"
    sentence = (
        "Under log loss, learning from replicates (several answers per input) changes n-AuReC by "
        f"{rank.text(digits=0, scale=100)} % and the calibration gap of regret by "
        f"{calibrated.text(digits=0, scale=100)} % of the other methods' mean over "
        f"{data_sets(rank.n)}, so it matters more for {more}."
    )
    body = "\n\n".join(
        [
            "Replicates are several answers about the same input. "
            f"Methods that learned from them are {listed(REPLICATES)}; the others learned "
            "from the distribution of the answers of each point or from one label. Each number is "
            "the relative difference on a data set, (replicates - others) / others, negative where "
            "replicates are better: *mean* compares the means of the two groups, *best* their best "
            "methods.",
            table(
                ["loss", "criterion", "compared", "relative difference", "p", "replicates better"],
                lines,
                text=3,
            ),
        ]
    )
    return Answer(
        "Do methods that learned from replicates beat those that did not? Does it matter more for "
        "ranking or for calibration?",
        sentence,
        body,
    )


def _gain_over_total(row: Row) -> float | None:
    both = row.get("n_aurec_total"), row.get("n_aurec")
    return None if None in both else both[0] - both[1]  # type: ignore[operator]


def _against_labels(found: Grid, how: str) -> dict[str, float]:
    """Return the relative difference of the two groups on each data set that has both."""
    ours = [i for i, m in enumerate(found.methods) if m in REPLICATES]
    theirs = [i for i, m in enumerate(found.methods) if m not in REPLICATES]
    pick = np.nanmean if how == "mean" else np.nanmin
    differences = {}
    for d, values in zip(found.datasets, np.abs(found.values), strict=True):
        a, b = values[ours], values[theirs]
        if np.isfinite(a).any() and np.isfinite(b).any():
            differences[d] = float((pick(a) - pick(b)) / pick(b))
    return differences
