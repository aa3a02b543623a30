"""Questions about methods: which one finds regret, better than what, and does it know how much."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from rue.metrics.columns import title
from studies.atlas_analysis import (
    LOSS_NAMES,
    REPLICATES,
    Answer,
    Estimate,
    Grid,
    Ranks,
    Regimes,
    clear_in,
    estimate,
    grid,
    in_regimes,
    leagues,
    least_families,
    losses_of,
    mean_ranks,
    p_text,
    taus,
)
from studies.pages import listed, table
from studies.rows import Row

CRITERIA = ("n_aurec", "aurec")


def which_method(rows: Regimes) -> Answer:
    """Answer which method's epistemic uncertainty finds regret best, and what that depends on."""
    lines: list[list[str]] = []
    firsts: dict[tuple[str, str, str], Ranks] = {}
    wholes: dict[tuple[str, str, str], Grid] = {}
    for regime, group in rows.items():
        for loss in losses_of(group):
            for column in CRITERIA:
                values = grid(group, column, loss)
                for methods in leagues(values):
                    whole = values.complete(methods)
                    if len(whole.datasets) < 2:
                        continue
                    ranks = mean_ranks(whole)
                    place = whole.methods.index(ranks.first[0])
                    interval = f" [{ranks.low[place]:.1f}, {ranks.high[place]:.1f}]"
                    lines.append(
                        [
                            loss,
                            regime,
                            title(column),
                            str(len(methods)),
                            str(ranks.n_families),
                            listed(ranks.first),
                            f"{ranks.mean[place]:.1f}{interval if ranks.is_tested else ''}",
                            p_text(ranks.p_value) if ranks.is_tested else "cannot be tested",
                            (", ".join(ranks.not_separated) or "none") if ranks.is_tested else "-",
                        ]
                    )
                    if ranks.is_tested:
                        firsts.setdefault((loss, regime, column), ranks)
                wholes[loss, regime, column] = values
    by_criterion = {
        regime: estimate(taus(wholes["log", regime, "n_aurec"], wholes["log", regime, "aurec"]))
        for regime in rows
    }
    by_loss = {
        regime: estimate(
            taus(wholes["log", regime, "n_aurec"], wholes["zero_one", regime, "n_aurec"])
        )
        for regime in rows
        if ("zero_one", regime, "n_aurec") in wholes
    }
    losses = [loss for loss in LOSS_NAMES if any(key[0] == loss for key in firsts)]
    words = [f"under {LOSS_NAMES[loss]} {_first_words(firsts, loss, rows)}" for loss in losses]
    sentence = (
        "It depends on the criterion. Among the methods that all data sets have, "
        f"{'; '.join(words)} ({least_families(by_criterion)})."
        if firsts
        else "There are too few families to test which method is first."
    )
    head = [
        *("loss", "regime", "criterion", "methods", "families", "lowest mean rank", "its rank"),
        *("Friedman p", "not separated from it (Nemenyi)"),
    ]
    body = (
        "Kendall's tau between the orders by n-AuReC and by AuReC (log loss) is "
        f"{in_regimes(by_criterion, digits=2)}"
        + (
            f", between those under log and 0/1 loss (n-AuReC) {in_regimes(by_loss, digits=2)}. "
            if by_loss
            else ". "
        )
        + "Ranks are averaged within each family, then over families. Methods with the same mean "
        "rank are named together. n-AuReC asks how well a method ranks its own regret, AuReC also "
        "how much regret it has.\n\n" + table(head, lines, text=3)
    )
    question = (
        "Which method's epistemic uncertainty finds regret best, and does it depend on the loss?"
    )
    return Answer(question, "Which method finds regret best?", sentence, body)


def _first_words(
    firsts: Mapping[tuple[str, str, str], Ranks], loss: str, regimes: Iterable[str]
) -> str:
    """Return the first methods under a loss: one name where criteria and regimes agree."""
    cells = {
        (column, regime): listed(firsts[loss, regime, column].first)
        for column in CRITERIA
        for regime in regimes
        if (loss, regime, column) in firsts
    }
    if len(set(cells.values())) == 1:
        name = next(iter(cells.values()))
        return f"{name} has the lowest mean rank by both criteria in both regimes"
    parts = []
    for column in CRITERIA:
        names = {regime: name for (c, regime), name in cells.items() if c == column}
        one = len(set(names.values())) == 1
        word = (
            next(iter(names.values()))
            if one
            else " and ".join(f"{name} ({regime})" for regime, name in names.items())
        )
        parts.append(f"by {title(column)} that of {word}")
    return f"the lowest mean rank is {' and '.join(parts)}"


def better_than_total(rows: Regimes, corrected: str) -> Answer:
    """Answer whether epistemic uncertainty beats total; ``corrected`` says it without noise."""
    lines, overall = [], {}
    for loss in losses_of(rows["tuned"]):
        for regime, group in rows.items():
            worse = grid(group, "difference", loss, _worse_than_total)
            one = overall[loss, regime] = estimate(worse.means)
            share = f"{int((worse.values < 0).sum())} of {int(np.isfinite(worse.values).sum())}"
            lines.append([loss, regime, str(one), p_text(one.p_value), one.families, share])
    by_method, better = _by_method(rows, _worse_than_total)
    words = []
    for loss, name in LOSS_NAMES.items():
        numbers = {regime: overall[loss, regime] for regime in rows if (loss, regime) in overall}
        if numbers:
            words.append(f"under {name} {in_regimes(numbers)}, {clear_in(numbers)}")
    sentence = (
        "No. Corrected for finitely many annotators, n-AuReC by epistemic minus that by total "
        f"uncertainty (positive: epistemic is worse) is {corrected}."
    )
    body = "\n\n".join(
        [
            "The difference is n-AuReC when ranking by epistemic uncertainty minus n-AuReC when "
            "ranking by total uncertainty, of the same models. Intervals resample families; the "
            "p-value flips signs of families; *clear* needs both. The last column counts the pairs "
            "of method and data set for which epistemic uncertainty is better.",
            f"Uncorrected, of all methods: {'; '.join(words)}.",
            table(["loss", "regime", "difference", "p", "families", "better"], lines, text=2),
            "By method, under log loss. Epistemic uncertainty is clearly better in both regimes "
            f"for {listed(better) if better else 'no method'}:",
            by_method,
        ]
    )
    return Answer(
        "Does it find regret better than plain total uncertainty, and where not?",
        "Is it better than total uncertainty?",
        sentence,
        body,
    )


def _by_method(rows: Regimes, value: Callable[[Row], float | None]) -> tuple[str, list[str]]:
    """Return a table of a number by method and regime, and the methods clearly below 0."""
    grids = {regime: grid(group, "difference", "log", value) for regime, group in rows.items()}
    lines, better = [], []
    for method in grids["tuned"].methods:
        numbers = {regime: estimate(one.of(method)) for regime, one in grids.items()}
        cells = [cell for one in numbers.values() for cell in (str(one), p_text(one.p_value))]
        lines.append([method, *cells, least_families(numbers)])
        if all(one.is_clear and one.mean < 0 for one in numbers.values()):
            better.append(method)
    head = ["method", *(cell for regime in grids for cell in (regime, "p")), "families"]
    return table(head, lines), better


def replicates(rows: Regimes) -> Answer:
    """Answer whether methods that learned from replicates beat those that did not."""
    compared = {
        "ranking, epistemic against epistemic": ("n_aurec", "n_aurec"),
        "ranking, epistemic against the others' total": ("n_aurec", "n_aurec_total"),
        "calibration gap": ("regret_calibration", "regret_calibration"),
    }
    lines, numbers = [], {}
    for loss in losses_of(rows["tuned"]):
        for name, (ours, theirs) in compared.items():
            for regime, group in rows.items():
                differences = _against_labels(grid(group, ours, loss), grid(group, theirs, loss))
                one = numbers[loss, name, regime] = estimate(differences)
                better = f"{sum(d < 0 for d in differences.values())} of {len(differences)}"
                value = f"{one.text(digits=1, scale=100)} %"
                lines.append([loss, name, regime, value, one.families, better])
    words = [
        " and ".join(f"{_relative(numbers['log', name, regime])} ({regime})" for regime in rows)
        for name in compared
    ]
    sentence = (
        "Under log loss, methods that learn from several answers have an n-AuReC that is "
        f"{words[0]} than that of the others, and {words[1]} than that of their *total* "
        f"uncertainty; the calibration gap of regret is {words[2]} "
        f"({numbers['log', next(iter(compared)), 'tuned'].families})."
    )
    body = "\n\n".join(
        [
            f"Methods that learned from replicates are {listed(REPLICATES)}; the others learned "
            "from the distribution of the answers of each point or from one label. Each number is "
            "the relative difference of the two groups' means on a data set, (replicates - others) "
            "/ others, negative where replicates are better.",
            table(
                ["loss", "compared", "regime", "relative difference", "families", "better on"],
                lines,
                text=3,
            ),
        ]
    )
    return Answer(
        "Do methods that learned from replicates beat those that did not? Does it matter more for "
        "ranking or for calibration?",
        "Does it help to learn from several answers?",
        sentence,
        body,
    )


def _relative(one: Estimate) -> str:
    """Return a relative difference as words: "13.6 % [9.1, 17.0] lower"."""
    if not one.n_families:
        return "-"
    sign, word = (-1, "lower") if one.mean < 0 else (1, "higher")
    mean, low, high = (f"{100 * sign * x:.1f}" for x in (one.mean, one.low, one.high))
    interval = f" [{', '.join([low, high][::sign])}]" if one.is_tested else ""
    return f"{mean} %{interval} {word}"


def one_network(rows: Regimes, single: Mapping[str, Sequence[Row]]) -> Answer:
    """Answer whether anything finds regret better than the entropy of one network."""
    lines = []
    better: dict[tuple[str, str, str], list[str]] = {}
    for loss in ("log", "zero_one"):
        for regime, group in rows.items():
            base = {c: grid(single[regime], f"{c}_total", loss).of("single") for c in CRITERIA}
            for method in grid(group, "aurec", loss).methods:
                cells, numbers = [], {}
                for column in CRITERIA:
                    for by in ("", "_total"):
                        theirs = grid(group, column + by, loss).of(method)
                        shared = [d for d in theirs if d in base[column]]
                        one = estimate({d: theirs[d] / base[column][d] - 1 for d in shared})
                        numbers[column, by] = one
                        cells.append(one.text(digits=0, scale=100))
                lines.append([loss, regime, method, *cells, numbers["aurec", ""].families])
                for column in CRITERIA:
                    if numbers[column, ""].is_clear and numbers[column, ""].mean < 0:
                        better.setdefault((regime, loss, column), []).append(method)
    words = []
    for regime in rows:
        parts = [
            f"{listed(names)} ({LOSS_NAMES[loss]}, by {title(column)})"
            for (of, loss, column), names in better.items()
            if of == regime
        ]
        words.append(f"in the {regime} regime {' and '.join(parts) or 'no method'}")
    n = len(grid(single["tuned"], "aurec_total", "log").datasets)
    sentence = (
        "The epistemic uncertainty of these methods is clearly better than the total uncertainty "
        "of one network (entropy under log loss, 1 - max under 0/1 loss): "
        f"{'; '.join(words)} ({n} data sets in 6 families)."
    )
    body = (
        "One network, trained and tuned as the others. Each number is the relative difference in "
        "percent to the network's own number by total uncertainty, mean over families; negative "
        "is better than one network. AuReC counts a method's better predictions too, n-AuReC its "
        "ranking alone.\n\n"
        + table(
            [
                *("loss", "regime", "method", "n-AuReC, epistemic", "n-AuReC, total"),
                *("AuReC, epistemic", "AuReC, total", "families"),
            ],
            lines,
            text=3,
        )
    )
    question = "Is there anything better than the entropy of one network?"
    return Answer(question, "Is anything better than one network?", sentence, body)


def who_knows(rows: Regimes) -> Answer:
    """Answer whose epistemic uncertainty is as large as its regret."""
    counts = {regime: in_bracket(group) for regime, group in rows.items()}
    methods = sorted(counts["tuned"], key=lambda m: (-np.mean(counts["tuned"][m]), m))
    cells = {
        regime: {m: f"{sum(one[m])} of {len(one[m])}" for m in one}
        for regime, one in counts.items()
    }
    always = {
        regime: [m for m in methods if m in one and all(one[m])] for regime, one in counts.items()
    }
    words = [f"{listed(names or ['no method'])} ({regime})" for regime, names in always.items()]
    ensemble = [f"{one.get('ensemble', '-')} ({regime})" for regime, one in cells.items()]
    sentence = (
        "Under log loss the mean predicted regret is inside the bracket of the mean true regret on "
        f"every data set for {' and '.join(words)}; that of the ensemble is on "
        f"{' and '.join(ensemble)}."
    )
    body = (
        "With finitely many annotators the measured regret is too high, which favours a method "
        "that predicts too much. The bracket goes from leave-one-out to plug-in Bayes risks. This "
        "is the number of data sets on which the mean regret that a method predicts is inside:\n\n"
        + table(
            ["method", *cells], [[m, *(one.get(m, "-") for one in cells.values())] for m in methods]
        )
    )
    question = "Who knows how large its own epistemic uncertainty is?"
    return Answer(question, "Who knows how large its regret is?", sentence, body)


def in_bracket(rows: Sequence[Row]) -> dict[str, list[bool]]:
    """Return for each method and data set whether the predicted regret can be the true one."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.get("predicted_regret") is not None and row["regret_low"] < row["regret_high"]:
            groups.setdefault((row["method"], row["dataset"]), []).append(row)
    counts: dict[str, list[bool]] = {}
    for (method, _), group in groups.items():
        predicted, low, high = (
            np.mean([row[key] for row in group])
            for key in ("predicted_regret", "regret_low", "regret_high")
        )
        counts.setdefault(method, []).append(bool(low <= predicted <= high))
    return counts


def _worse_than_total(row: Row) -> float | None:
    both = row.get("n_aurec"), row.get("n_aurec_total")
    return None if None in both else both[0] - both[1]  # type: ignore[operator]


def _against_labels(ours: Grid, theirs: Grid) -> dict[str, float]:
    """Return the relative difference of the two groups' means on each data set that has both."""
    differences = {}
    for d in ours.datasets:
        if d not in theirs.datasets:
            continue
        a = [abs(ours.of(m)[d]) for m in ours.methods if m in REPLICATES and d in ours.of(m)]
        b = [
            abs(theirs.of(m)[d])
            for m in theirs.methods
            if m not in REPLICATES and d in theirs.of(m)
        ]
        if a and b:
            differences[d] = float((np.mean(a) - np.mean(b)) / np.mean(b))
    return differences
