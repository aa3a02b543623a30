"""The eight answers of the atlas: one line each for README and findings, and the tables behind.

A line has one number per regime, with its interval over families. The rows of the baselines are
free of the noise of finitely many answers where that can be done (:func:`fair`): corrected n-AuReC
under log and 0/1 loss, unbiased r-AuReC under Brier loss.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from rue.metrics.columns import title
from studies.atlas_analysis import (
    REPLICATES,
    Answer,
    Estimate,
    Grid,
    Ranks,
    Regimes,
    clear_in,
    clear_where,
    estimate,
    fewest,
    grid,
    in_first,
    in_regimes,
    in_which,
    leagues,
    losses_of,
    mean_ranks,
    p_text,
    permutation_tau,
    same_best,
    taus,
    unresolved,
)
from studies.pages import listed, old_totals, percent, table
from studies.rows import Row, grouped, where

CRITERIA = ("n_aurec", "aurec")
CORRECTED = "n_aurec_corrected"
LOSS_NAMES = {"log": "log loss", "zero_one": "0/1 loss"}
FAIR_LOSSES = {"log": "log", "brier": "Brier", "zero_one": "0/1"}
SPREAD = ("dropout", "ensemble", "evidential")
"""Methods with an epistemic part in the unit of the loss that all data sets have."""
PROXIES = {"near_ood": "near-OOD", "far_ood": "far-OOD", "auac": "AuAC"}
ACTIVE = {
    "nauc_epistemic": "active learning, asking by epistemic",
    "nauc_total": "active learning, asking by total",
}
BRACKET = ("predicted_regret", "regret_low", "regret_high")
RANKINGS = {"": "epistemic", "_total": "total"}


def fair(by: str) -> Callable[[Row], float | None]:
    """Return the column of a ranking that is free of annotator noise; ``by`` is "" or "_total"."""

    def value(row: Row) -> float | None:
        if row["annotators_min"] is not None:
            column = f"r_aurec{by}" if row["loss"] == "brier" else f"n_aurec{by}_corrected"
            number: float | None = row.get(column)
            return number
        if row["loss"] != "brier":  # p* is known
            return row.get(f"n_aurec{by}")
        area = row.get(f"aurec{by}")
        return None if area is None else area / (row["regret"] / 2)

    return value


def corrected(row: Row) -> float | None:
    """Return corrected n-AuReC of a row of the atlas: of the extras, or as it is if p* is known."""
    return row.get("n_aurec") if row["annotators_min"] is None else _of(row, part="corrected")


def which_method(rows: Regimes) -> Answer:
    """Answer which method's epistemic uncertainty finds regret best, and what that depends on."""
    lines: list[list[str]] = []
    firsts: dict[tuple[str, str], dict[str, Ranks]] = {}
    grids: dict[tuple[str, str], dict[str, Grid]] = {}
    for regime, group in rows.items():
        for loss, column in product(losses_of(group), (CORRECTED, *CRITERIA)):
            if column == CORRECTED and loss != "log":  # which the records have under log loss only
                continue
            value = corrected if column == CORRECTED else None
            values = grid(group, column, loss, value)
            grids.setdefault((loss, column), {})[regime] = values
            for methods in leagues(values):
                whole = values.complete(methods)
                if len(whole.datasets) < 2:
                    continue
                ranks = mean_ranks(whole)
                tested = (p_text(ranks.p_value), ", ".join(ranks.not_separated) or "none")
                lines.append(
                    [
                        *(loss, regime, title(column), str(len(methods)), str(ranks.n_families)),
                        *(listed(ranks.first), ranks.text(ranks.first[0])),
                        *(tested if ranks.is_tested else ("cannot be tested", "-")),
                    ]
                )
                if ranks.is_tested:
                    firsts.setdefault((loss, column), {}).setdefault(regime, ranks)

    def compared(*pair: tuple[str, str]) -> dict[str, Estimate]:
        first, second = (grids.get(key, {}) for key in pair)
        return {r: estimate(taus(first[r], second[r])) for r in first if r in second}

    by_criterion = compared(("log", "n_aurec"), ("log", "aurec"))
    by_loss = compared(("log", "n_aurec"), ("zero_one", "n_aurec"))
    line = sentence = "There are too few families to test which method is first."
    if firsts:
        main = firsts["log", CORRECTED]
        others = [
            f"{words}: {_names(firsts[key])}"
            for key, words in (
                (("log", "aurec"), "first by AuReC"),
                (("zero_one", "n_aurec"), "first by n-AuReC under 0/1 loss"),
            )
            if key in firsts
        ]
        ranks = next(iter(main.values()))
        line = f"Lowest mean rank by n-AuReC: {_first_ranks(main)}."
        sentence = (
            f"Lowest mean rank by corrected n-AuReC under log loss: {_ranked(main)} (of "
            f"{len(ranks.mean)} methods, {ranks.n_families} families), a lead that is clear "
            f"{_where_clear(main)}; {'; '.join(others)}."
        )
    between = ""
    if by_loss:
        taus_by_loss = in_regimes(by_loss, digits=2)
        between = f", between those under log and 0/1 loss (n-AuReC) {taus_by_loss}"
    head = [
        *("loss", "regime", "criterion", "methods", "families", "lowest mean rank", "its rank"),
        *("Friedman p", "not separated from it (Nemenyi)"),
    ]
    body = (
        "Kendall's tau between the orders by n-AuReC and by AuReC (log loss) is "
        f"{in_regimes(by_criterion, digits=2)}{between}. Ranks are averaged "
        "within each family, then over families. Methods with the same mean rank are named "
        "together. n-AuReC asks how well a method ranks its own regret, AuReC also how much regret "
        "it has. Only n-AuReC under log loss is there corrected for the noise of finitely many "
        "annotators; the other columns are as measured.\n\n" + table(head, lines, text=3)
    )
    return Answer(
        "Which method's epistemic uncertainty finds regret best, and does it depend on the loss?",
        "Which method finds regret best?",
        line,
        sentence,
        body,
    )


def _ranked(firsts: Mapping[str, Ranks]) -> str:
    """Return the first methods and their mean rank in each regime: names once if the same."""
    words: list[str] = []
    shown: list[str] = []
    for regime, ranks in firsts.items():
        name = "" if ranks.first == shown else f"{listed(ranks.first)}, "
        words.append(f"{name}{ranks.text(ranks.first[0])} {regime}")
        shown = ranks.first
    return " and ".join(words)


def _first_ranks(firsts: Mapping[str, Ranks]) -> str:
    """Return the first methods of the first regime, and in which regimes the lead is clear."""
    regime, ranks = next(iter(firsts.items()))
    return (
        f"{listed(ranks.first)}, {ranks.text(ranks.first[0])} of {len(ranks.mean)} methods "
        f"({regime}, {ranks.families}); the lead is clear {_where_clear(firsts)}"
    )


def _where_clear(firsts: Mapping[str, Ranks]) -> str:
    """Return in which regimes one method is separated from all others."""
    return in_which({r: len(one.first) == 1 and not one.not_separated for r, one in firsts.items()})


def _names(firsts: Mapping[str, Ranks]) -> str:
    """Return the first methods of each regime: once if they are the same."""
    names = {regime: listed(ranks.first) for regime, ranks in firsts.items()}
    if len(set(names.values())) == 1:
        return next(iter(names.values()))
    return " and ".join(f"{name} ({regime})" for regime, name in names.items())


def better_than_total(rows: Regimes, plain: Regimes) -> Answer:
    """Answer whether epistemic uncertainty beats total, without noise and as measured."""
    lines, measured = [], dict[str, dict[str, Estimate]]()
    for loss in losses_of(rows["tuned"]):
        for regime, group in rows.items():
            worse = grid(group, "difference", loss, _worse_than_total)
            one = measured.setdefault(loss, {})[regime] = estimate(worse.means)
            share = f"{int((worse.values < 0).sum())} of {int(np.isfinite(worse.values).sum())}"
            lines.append([loss, regime, str(one), p_text(one.p_value), one.families, share])
    grids = {r: grid(group, "difference", "log", _worse_than_total) for r, group in rows.items()}
    by_method, better = [], []
    for method in grids["tuned"].methods:
        numbers = {regime: estimate(one.of(method)) for regime, one in grids.items()}
        cells = [cell for one in numbers.values() for cell in (str(one), p_text(one.p_value))]
        by_method.append([method, *cells, fewest(numbers).families])
        if all(one.is_clear and one.mean < 0 for one in numbers.values()):
            better.append(method)
    corrected = {
        loss: {regime: epistemic_against_total(group, loss) for regime, group in plain.items()}
        for loss in FAIR_LOSSES
    }
    sure = {r: epistemic_against_total(reliable(group), "log") for r, group in plain.items()}
    log = corrected["log"]
    sentence = (
        f"It is clearly better {clear_where(log, -1)}. Averaged over the methods, corrected "
        "n-AuReC by epistemic uncertainty minus that by total uncertainty (positive is worse) is "
        f"{in_regimes(log)} under log loss; this is clearly worse {clear_where(log, 1)}. Under "
        f"0/1 loss it is clearly worse {clear_where(corrected['zero_one'], 1)}."
    )
    lost = [regime for regime, one in log.items() if one.is_clear and not sure[regime].is_clear]
    line = (
        f"It is clearly better {clear_where(log, -1)} and clearly worse {clear_where(log, 1)}: "
        f"n-AuReC by epistemic minus that by total uncertainty is {in_first(log)}."
    )
    if lost:
        without = " Without the data sets whose correction is unreliable, "
        sentence += f"{without}the result under log loss ({listed(lost)}) is not clear."
        line += f"{without}this is not clear ({listed(lost)})."
    both = "; ".join(
        f"under {name} loss {in_regimes(corrected[loss])}, {clear_in(corrected[loss])}"
        for loss, name in FAIR_LOSSES.items()
        if fewest(corrected[loss]).n_families
    )
    uncorrected = "; ".join(
        f"under {name} {in_regimes(measured[loss])}, {clear_in(measured[loss])}"
        for loss, name in LOSS_NAMES.items()
        if loss in measured
    )
    body = "\n\n".join(
        [
            "The difference is n-AuReC when ranking by epistemic uncertainty minus n-AuReC when "
            "ranking by total uncertainty, of the same models (positive: epistemic is worse). "
            "Intervals resample families; the p-value flips signs of families; *clear* needs both. "
            "The last column counts the pairs of method and data set for which epistemic "
            "uncertainty is better.",
            f"Free of the noise of finitely many annotators, of {listed(SPREAD)} (corrected "
            f"n-AuReC, under Brier loss unbiased r-AuReC): {both}. Without the data sets of which "
            f"rue marks a corrected number as unreliable, under log loss {in_regimes(sure)}, "
            f"{clear_in(sure)}.",
            f"Uncorrected, of all methods: {uncorrected}.",
            table(["loss", "regime", "difference", "p", "families", "better"], lines, text=2),
            "By method, under log loss. Epistemic uncertainty is clearly better in both regimes "
            f"for {listed(better) if better else 'no method'}:",
            table(["method", *(c for r in grids for c in (r, "p")), "families"], by_method),
        ]
    )
    return Answer(
        "Does it find regret better than plain total uncertainty, and where not?",
        "Is it better than total uncertainty?",
        line,
        sentence,
        body,
    )


def epistemic_against_total(rows: Sequence[Row], loss: str) -> Estimate:
    """Return by how much epistemic is worse than total, mean over the methods of SPREAD."""
    first, second = (grid(rows, "fair", loss, fair(by)) for by in RANKINGS)
    gaps: dict[str, list[float]] = {}
    for method in SPREAD:
        for d, gap in _minus(first.of(method), second.of(method)).items():
            gaps.setdefault(d, []).append(gap)
    return estimate({d: float(np.mean(values)) for d, values in gaps.items()})


def reliable(rows: Sequence[Row]) -> list[Row]:
    """Return the rows under log loss of data sets with no mark that a correction is unreliable."""
    log = where(rows, loss="log")
    marked = {row["dataset"] for row in log if is_unreliable(row)}
    return [row for row in log if row["dataset"] not in marked]


def is_unreliable(row: Row) -> bool:
    """Return whether rue marks the corrected n-AuReC of a row as unreliable."""
    return any("unreliable" in note for note in row["notes"])


def replicates(rows: Regimes) -> Answer:
    """Answer whether methods that learned from replicates beat those that did not."""
    compared = {
        "ranking, epistemic against epistemic": ("n_aurec", "n_aurec"),
        "ranking, epistemic against the others' total": ("n_aurec", "n_aurec_total"),
        "calibration gap": ("regret_calibration", "regret_calibration"),
    }
    lines, numbers = [], dict[tuple[str, str], dict[str, Estimate]]()
    for loss, (name, columns) in product(losses_of(rows["tuned"]), compared.items()):
        for regime, group in rows.items():
            ours, theirs = (grid(group, column, loss) for column in columns)
            differences = _against_labels(ours, theirs)
            one = numbers.setdefault((loss, name), {})[regime] = estimate(differences)
            better = f"{sum(d < 0 for d in differences.values())} of {len(differences)}"
            value = f"{one.text(digits=1, scale=100)} %"
            lines.append([loss, name, regime, value, one.families, better])
    _, ranking, gap = (numbers["log", name] for name in compared)
    words = partial(in_regimes, digits=0, scale=100, unit=" %", families=False)
    sentence = (
        "Replicates are several answers about one training input. Learning from them changes the "
        f"calibration gap by {words(gap)} against the methods that did not, and n-AuReC by "
        f"{words(ranking)} against the *total* uncertainty of those methods (log loss, "
        f"{fewest(gap).families})."
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
        "It changes the calibration gap (predicted against measured regret) by "
        f"{in_first(gap, digits=0, scale=100, unit=' %')}.",
        sentence,
        body,
    )


def proxies(rows: Regimes, active: Sequence[Row]) -> Answer:
    """Answer whether OOD detection, AuAC and active learning pick the same methods as regret."""
    learnt = [{**row, "loss": "log"} for row in active]
    sources = [(key, name, r, rows[r], rows[r]) for key, name in PROXIES.items() for r in rows]
    sources += [(key, name, "paper", learnt, rows["paper"]) for key, name in ACTIVE.items()]
    lines = []
    numbers: dict[tuple[str, str], dict[str, Estimate]] = {}
    for key, name, regime, theirs, ours in sources:
        proxy = grid(theirs, key, "log")
        for column in CRITERIA:
            regret = grid(ours, column, "log")
            one = estimate(taus(proxy, regret))
            if not one.n_families:
                continue
            numbers.setdefault((key, column), {})[regime] = one
            same = same_best(proxy, regret)
            lines.append(
                [
                    *(name, regime, title(column), one.text(digits=2), one.families),
                    p_text(permutation_tau(proxy, regret)),
                    f"{sum(same)} of {len(same)}",
                ]
            )
    main, other = (numbers.get(("auac", column), {}) for column in ("aurec", "n_aurec"))
    groups = {"OOD detection": ("near_ood", "far_ood"), "active learning": (*ACTIVE,)}
    untested = {}
    for name, keys in groups.items():
        found = [fewest(group) for (key, _), group in numbers.items() if key in keys]
        if not any(one.is_tested for one in found):
            n = max((one.n_families for one in found), default=0)
            untested[name] = f"{name} ({n} {'family' if n == 1 else 'families'})"
    sentence = (
        "Kendall's tau between the orders of the methods by AuAC and by AuReC is "
        f"{in_regimes(main, digits=2)}, by n-AuReC "
        f"{' and '.join(f'{one.mean:+.2f}' for one in other.values())} (log loss)"
        + (f"; {listed([*untested.values()])} cannot be tested." if untested else ".")
    )
    line = (
        f"Kendall's tau between the orders by AuAC and by AuReC is {in_first(main, digits=2)}, "
        f"{clear_in(main)}" + (f"; {listed([*untested])} cannot be tested." if untested else ".")
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
        line,
        sentence,
        body,
    )


def _active_table(rows: Sequence[Row]) -> str:
    """Return the area under accuracy of each method and data set, mean over seeds."""
    areas = [grid(rows, key, "log") for key in ACTIVE]
    if not areas[0].methods:
        return ""
    places = list(
        product(range(len(areas[0].datasets)), zip(areas, RANKINGS.values(), strict=True))
    )
    head = ["method", *(f"{areas[0].datasets[d]}, {by}" for d, (_, by) in places)]
    lines = [
        [method, *(_cell(area.values[d, m]) for d, (area, _) in places)]
        for m, method in enumerate(areas[0].methods)
    ]
    return (
        "The normalised area under the accuracy (NAUC) of active learning, asking for the points "
        "with the highest epistemic or total uncertainty (the total of ddu and deup is the Bayes "
        "risk on ferplus-features, and on the others the former sum):\n\n" + table(head, lines)
    )


def _cell(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "-"


def what_moves_ranks(rows: Regimes) -> Answer:
    """Answer how much of a ranking is tuning, convention, and finitely many annotators."""
    lines, numbers = [], {}
    tuned = rows["tuned"]
    for loss in losses_of(tuned):
        whole = grid(tuned, "n_aurec", loss)
        halves = [
            grid([row for row in tuned if row["seed"] % 2 == half], "n_aurec", loss)
            for half in (0, 1)
        ]
        parts = {
            part: grid(tuned, "n_aurec", loss, partial(_of, part=part))
            for part in ("published", "corrected")
        }
        pairs = {
            "paper's settings instead of tuned": (whole, grid(rows["paper"], "n_aurec", loss)),
            "AuReC instead of n-AuReC": (whole, grid(tuned, "aurec", loss)),
            "published convention instead of Definition 1": (whole, parts["published"]),
            "corrected for finitely many annotators": (whole, parts["corrected"]),
            "other seeds (even against odd)": halves,
        }
        for name, (one, other) in pairs.items():
            number = numbers[name, loss] = estimate(taus(one, other))
            if number.n_families:
                lines.append([name, loss, number.text(digits=2, sign=""), number.families])
    low, high = (grid(tuned, key, "log") for key in ("aurec_low", "aurec_high"))
    overlaps = [unresolved(low.values[i], high.values[i]) for i in range(len(low.datasets))]
    n_open, n_all = (sum(each) for each in zip(*overlaps, strict=True)) if overlaps else (0, 0)
    regimes, criteria = (numbers[name, "log"] for name in list(pairs)[:2])
    shown = {
        name: one
        for name, one in (("of the paper's settings", regimes), ("by AuReC", criteria))
        if one.n_families
    }
    words = [f"{one.text(digits=2)} with the order {name}" for name, one in shown.items()]
    families = fewest(shown).families if shown else "no family"
    sentence = (
        "Kendall's tau of the order of the methods by n-AuReC, tuned, under log loss is "
        f"{listed(words)} ({families})."
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
        "Kendall's tau between the orders by n-AuReC with tuned settings and with the paper's is "
        f"{regimes.text(digits=2)} ({regimes.families}).",
        sentence,
        body,
    )


def two_components(rows: Regimes) -> Answer:
    """Answer what a deployed rule gains from two components over one."""
    lines, numbers = [], {}
    for one, (regime, group) in product(("total", "epistemic"), rows.items()):
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
        "At equal risk and regret, a rule by both accepts "
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
            "Methods with a score of their own (ddu, deup) are left out: their score has no unit. "
            "No budget is promised here; both are kept on the new points in "
            f"{listed(shares) if shares else 'no cell'} (*learned* is the rule of two components; "
            "tuned). A rule that breaks a budget accepts more points. So the fair comparison is "
            "*same budgets*: the threshold of each rule is moved until the budgets are used up on "
            "the new points, and only the order in which a rule accepts points counts.",
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
    line = (
        "At equal risk and regret they accept more inputs than total uncertainty alone, by "
        f"{in_first(matched, digits=2, scale=100, unit=' percentage points')}, {clear_in(matched)}."
    )
    return Answer(question, "Do two components make better rules?", line, sentence, body)


def one_network(plain: Regimes, rows: Regimes, single: Regimes) -> Answer:
    """Answer whether anything beats one network: without annotator noise, then as measured."""
    lines = []
    estimates: dict[str, dict[str, Estimate]] = {}
    clear: dict[str, dict[str, list[str]]] = {regime: {} for regime in plain}
    for regime, group in plain.items():
        for loss, name in FAIR_LOSSES.items():
            for method, by in product(dict.fromkeys(row["method"] for row in group), RANKINGS):
                if method == "single" or (method.startswith("single") and not by):
                    continue
                one = estimate(differences(group, loss, method, by))
                if not one.n_families:
                    continue
                lines.append([name, regime, method, RANKINGS[by], str(one), one.families])
                if loss == "log":
                    estimates.setdefault(method + by, {})[regime] = one
                    if one.is_clear and one.mean < 0:
                        clear[regime].setdefault(method, []).append(RANKINGS[by])
    words = []
    for regime, rankings in clear.items():
        names = [m if len(by) == 2 else f"{m} (by {by[0]} alone)" for m, by in rankings.items()]
        words.append(f"{listed(names or ['nothing'])} ({regime})")
    sure = {
        regime: estimate(differences(reliable(group), "log", "ensemble", ""))
        for regime, group in plain.items()
    }
    sentence = (
        f"Clearly better: {' and '.join(words)}. Corrected n-AuReC of the ensemble minus that of "
        f"one network's entropy is {in_regimes(estimates['ensemble'])} under log loss."
    )
    body = "\n\n".join(
        [
            "Each number is that of a ranking minus that of one network's total uncertainty on the "
            "same data set; negative is better. Log and 0/1 loss: corrected n-AuReC. Brier loss: "
            "r-AuReC, AuReC over that of a random ranking, unbiased from two answers. `strength` "
            "is the ensemble's mean with one Dirichlet strength, `confidence` one minus the "
            "largest probability, `knn` the distance to training points. Twenty networks: "
            f"{in_regimes(estimates['ensemble of twenty'])}. Without the data sets of which rue "
            "marks a corrected number as unreliable, the ensemble's difference is "
            f"{in_regimes(sure)}. No number is adjusted for the number of methods.",
            table(
                ["loss", "regime", "method", "ranked by", "difference", "families"], lines, text=4
            ),
            _relative_to_one_network(rows, single),
        ]
    )
    return Answer(
        "Is there anything better than the entropy of one network?",
        "Is anything better than one network?",
        f"Some method clearly is {in_which({r: bool(x) for r, x in clear.items()})}; n-AuReC of "
        "the ensemble minus that of one network's entropy is "
        f"{in_first(estimates['ensemble'])}.",
        sentence,
        body,
    )


def differences(rows: Sequence[Row], loss: str, method: str, by: str) -> dict[str, float]:
    """Return a ranking's number minus that of one network's total uncertainty, by data set."""
    base = grid(rows, "fair", loss, fair("_total")).of("single")
    return _minus(grid(rows, "fair", loss, fair(by)).of(method), base)


def _relative_to_one_network(rows: Regimes, single: Regimes) -> str:
    """Return the same comparison for all data sets and methods, with the plug-in regret."""
    lines = []
    better: dict[str, dict[tuple[str, str], list[str]]] = {regime: {} for regime in rows}
    for loss, (regime, group) in product(LOSS_NAMES, rows.items()):
        base = {c: grid(single[regime], f"{c}_total", loss).of("single") for c in CRITERIA}
        theirs = {key: grid(group, "".join(key), loss) for key in product(CRITERIA, RANKINGS)}
        for method in theirs["aurec", ""].methods:
            numbers = {}
            for (column, by), values in theirs.items():
                ours = {d: x for d, x in values.of(method).items() if d in base[column]}
                relative = {d: x / base[column][d] - 1 for d, x in ours.items()}
                one = numbers[column, by] = estimate(relative)
                if not by and one.is_clear and one.mean < 0:
                    better[regime].setdefault((loss, column), []).append(method)
            cells = [one.text(digits=0, scale=100) for one in numbers.values()]
            lines.append([loss, regime, method, *cells, numbers["aurec", ""].families])
    words = []
    for regime, groups in better.items():
        parts = [
            f"{listed(names)} ({LOSS_NAMES[loss]}, by {title(column)})"
            for (loss, column), names in groups.items()
        ]
        words.append(f"in the {regime} regime {' and '.join(parts) or 'no method'}")
    n = len(grid(single["tuned"], "aurec_total", "log").datasets)
    return (
        "With all data sets, both regimes and plug-in regret: The epistemic uncertainty of these "
        "methods is clearly better than the total uncertainty of one network (entropy under log "
        f"loss, 1 - max under 0/1 loss): {'; '.join(words)} ({n} data sets in 6 families).\n\n"
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


def who_knows(plain: Regimes, rows: Regimes) -> Answer:
    """Answer who knows how often two annotators agree, and whose regret is of the right size."""
    rank_lines, lines = [], []
    losses = {regime: grid(group, "pair_log_loss", "log") for regime, group in plain.items()}
    everywhere = {
        regime: [m for m in one.methods if len(one.of(m)) == len(one.datasets)]
        for regime, one in losses.items()
    }
    shared = set.intersection(*map(set, everywhere.values()))
    firsts = {regime: mean_ranks(one.complete([*shared])) for regime, one in losses.items()}
    errors: dict[str, Estimate] = {}
    for regime, group in plain.items():
        scores = losses[regime]
        gain, agreement, observed = (
            grid(group, key, "log") for key in ("pair_gain", "agreement_hat", "agreement_star")
        )
        star = observed.of("single")
        for methods in (everywhere[regime], list(scores.methods)):
            ranks = mean_ranks(scores.complete(methods))
            n, families = str(len(ranks.mean)), ranks.families
            means = dict(zip(ranks.grid.methods, ranks.mean, strict=True))
            rank_lines += [[regime, n, families, m, f"{means[m]:.1f}"] for m in ranks.order]
        for i, d in enumerate(scores.datasets):
            values = {m: x for m, x in zip(scores.methods, scores.values[i], strict=True) if x == x}
            lines += [
                [
                    *(d, regime, m, f"{values[m]:.3f}", f"{gain.of(m)[d]:+.3f}"),
                    *(f"{agreement.of(m)[d]:.3f}", f"{star[d]:.3f}"),
                ]
                for m in sorted(values, key=lambda m: values[m])
            ]
        gaps = _minus(agreement.of("ensemble"), star)
        errors[regime] = estimate({d: abs(gap) for d, gap in gaps.items()})
    sentence = (
        f"Lowest mean rank by pair log loss, a proper score of what a method says about two "
        f"annotators: {_ranked(firsts)} (of {len(shared)} methods). The probability that two "
        "annotators agree, as the ensemble predicts it, is off by "
        f"{in_regimes(errors, sign='')}."
    )
    body = "\n\n".join(
        [
            "`pair_log_loss` is a proper score of what a belief says about two answers; mean ranks "
            "by it order the methods. `pair_gain` and the predicted agreement explain the "
            "order: what the spread of a belief adds over independent answers, and how often two "
            "annotators agree, predicted and observed.",
            table(["regime", "methods", "families", "method", "mean rank"], rank_lines, text=4),
            table(
                [
                    *("data set", "regime", "method", "pair log loss", "gain"),
                    *("agreement, predicted", "observed"),
                ],
                lines,
                text=3,
            ),
            _size_of_regret(rows),
        ]
    )
    return Answer(
        "Who knows how large its own epistemic uncertainty is?",
        "Who knows how large its regret is?",
        f"Lowest mean rank by pair log loss: {_first_ranks(firsts)}.",
        sentence,
        body,
    )


def _size_of_regret(rows: Regimes) -> str:
    """Return on how many data sets the mean predicted regret can be the true one."""
    counts = {regime: in_bracket(group) for regime, group in rows.items()}
    methods = sorted(counts["tuned"], key=lambda m: (-np.mean(counts["tuned"][m]), m))
    cells = {
        regime: {m: f"{sum(one[m])} of {len(one[m])}" for m in one}
        for regime, one in counts.items()
    }
    words = []
    for regime, one in counts.items():
        always = [m for m in methods if m in one and all(one[m])]
        words.append(f"{listed(always or ['no method'])} ({regime})")
    ensemble = [f"{one.get('ensemble', '-')} ({regime})" for regime, one in cells.items()]
    return (
        "Is the regret that they predict of the right size? Under log loss the mean predicted "
        "regret is inside the bracket of the mean true regret on every data set for "
        f"{' and '.join(words)}; that of the ensemble is on {' and '.join(ensemble)}.\n\n"
        "With finitely many annotators the measured regret is too high, which favours a method "
        "that predicts too much. The bracket goes from leave-one-out to plug-in Bayes risks. This "
        "is the number of data sets on which the mean regret that a method predicts is inside:\n\n"
        + table(
            ["method", *cells], [[m, *(one.get(m, "-") for one in cells.values())] for m in methods]
        )
    )


def in_bracket(rows: Sequence[Row]) -> dict[str, list[bool]]:
    """Return for each method and data set whether the predicted regret can be the true one."""
    known = [
        row
        for row in rows
        if row.get("predicted_regret") is not None and row["regret_low"] < row["regret_high"]
    ]
    counts: dict[str, list[bool]] = {}
    for (method, _), group in grouped(known, "method", "dataset").items():
        predicted, low, high = (np.mean([row[key] for row in group]) for key in BRACKET)
        counts.setdefault(method, []).append(bool(low <= predicted <= high))
    return counts


def _minus(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Return the difference of two numbers on each data set that has both."""
    return {d: x - second[d] for d, x in first.items() if d in second}


def _worse_than_total(row: Row) -> float | None:
    both = row.get("n_aurec"), row.get("n_aurec_total")
    return None if None in both else both[0] - both[1]  # type: ignore[operator]


def _against_labels(ours: Grid, theirs: Grid) -> dict[str, float]:
    """Return the relative difference of the two groups' means on each data set that has both."""
    means = [
        {
            d: float(np.nanmean(np.abs(one.values[i, chosen])))
            for i, d in enumerate(one.datasets)
            if np.isfinite(one.values[i, chosen]).any()
        }
        for one, learns in ((ours, True), (theirs, False))
        for chosen in [np.array([(m in REPLICATES) == learns for m in one.methods])]
    ]
    first, second = means
    return {d: (x - second[d]) / second[d] for d, x in first.items() if d in second}


def _has_regret(row: Row) -> bool:
    """Whether a row has rules, and its epistemic uncertainty is a regret, not a score."""
    return bool(row.get("rules")) and row.get("predicted_regret") is not None


def _of(row: Row, *, part: str) -> float | None:
    return (row.get(part) or {}).get("n_aurec")


def _gain_of_rule(row: Row, *, one: str, how: str) -> float | None:
    rules = row["rules"] if _has_regret(row) else None
    return None if rules is None else rules["learned"][how] - rules[one][how]
