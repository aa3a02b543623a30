"""Baselines of the atlas: what is noise, what beats one network, and who knows agreement.

The rows are those of the suites ``atlas-baselines``, ``atlas-twenty`` and ``atlas-temperature``,
with settings tuned on each of three seeds, and of the first two with the paper's. Their columns
are free of the noise of finitely many answers where that can be done: corrected n-AuReC under log
and 0/1 loss, unbiased r-AuReC under Brier loss.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from studies.atlas_analysis import (
    LOSS_NAMES,
    Answer,
    Estimate,
    Ranks,
    Regimes,
    estimate,
    grid,
    in_regimes,
    mean_ranks,
)
from studies.atlas_rows import plain_record
from studies.pages import listed, table
from studies.rows import Row

TWENTY = {"ensemble": "ensemble of twenty"}
LABELS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "tuned": {
        "baselines": {},
        "twenty": TWENTY,
        "temperature": {"single": "single, tempered", "ensemble": "ensemble, tempered"},
    },
    "paper": {"baselines-paper": {}, "twenty-paper": TWENTY},
}
"""The records of each regime, and what their methods are called beside those of the first."""
SPREAD = ("dropout", "ensemble", "evidential")
"""Methods with an epistemic part in the unit of the loss that all data sets have."""
SHOWN = (
    *("regret", "regret_unbiased", "aurec", "aurec_low", "annotators_mean"),
    *("n_aurec_floor", "n_aurec_total"),
)
MOVIES = "sentiment-movies"
LOSSES = {"log": "log", "brier": "Brier", "zero_one": "0/1"}


def baseline_rows(regime: str) -> list[Row]:
    """Return one row for each cell and loss of the baselines."""
    rows = []
    for name, labels in LABELS[regime].items():
        for cell in plain_record(name)["rows"]:
            method = cell["cell"]["method"]
            where = {"dataset": cell["cell"]["dataset"], "seed": cell["cell"]["seed"]}
            label = labels.get(method, method)
            rows += [{**row, **where, "method": label} for row in cell["rows"]]
    return rows


def fair(by: str) -> Callable[[Row], float | None]:
    """Return the column of a ranking that is free of annotator noise; ``by`` is "" or "_total"."""

    def value(row: Row) -> float | None:
        if row["annotators_min"] is None:  # p* is known
            if row["loss"] != "brier":
                return _number(row, f"n_aurec{by}")
            area = _number(row, f"aurec{by}")
            return None if area is None else area / (row["regret"] / 2)
        return _number(row, f"r_aurec{by}" if row["loss"] == "brier" else f"n_aurec{by}_corrected")

    return value


def _number(row: Row, key: str) -> float | None:
    value = row.get(key)
    return None if value is None else float(value)


def differences(rows: Sequence[Row], loss: str, method: str, by: str) -> dict[str, float]:
    """Return a ranking's number minus that of one network's total uncertainty, by data set."""
    base = grid(rows, "fair", loss, fair("_total")).of("single")
    values = grid(rows, "fair", loss, fair(by)).of(method)
    return {d: x - base[d] for d, x in values.items() if d in base}


def epistemic_against_total(rows: Sequence[Row], loss: str) -> Estimate:
    """Return by how much epistemic is worse than total, mean over the methods of SPREAD."""
    first, second = (grid(rows, "fair", loss, fair(by)) for by in ("", "_total"))
    gaps: dict[str, list[float]] = {}
    for method in SPREAD:
        total = second.of(method)
        for d, x in first.of(method).items():
            if d in total:
                gaps.setdefault(d, []).append(x - total[d])
    return estimate({d: float(np.mean(values)) for d, values in gaps.items()})


def without_noise(rows: Regimes) -> str:
    """Return by how much epistemic is worse than total without annotator noise, in words."""
    words = []
    for loss, name in LOSS_NAMES.items():
        numbers = {regime: epistemic_against_total(group, loss) for regime, group in rows.items()}
        words.append(f"{in_regimes(numbers)} under {name}")
    return f"{' and '.join(words)} for {listed(SPREAD)}"


def noise(rows: Sequence[Row]) -> str:
    """Return the share of the measured regret that is annotator noise, for each data set."""
    single = [row for row in rows if row["method"] == "single"]
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in single):
        cells = {
            loss: [r for r in single if (r["dataset"], r["loss"]) == (dataset, loss)]
            for loss in ("log", "brier")
        }
        log, brier = (
            {key: _mean(group, key) for key in SHOWN} | {"fair": _mean(group, fair("_total"))}
            for group in cells.values()
        )
        exact = cells["log"][0]["annotators_min"] is None
        share = 0.0 if exact else 1 - brier["regret_unbiased"] / brier["regret"]
        most = 1 - log["aurec_low"] / log["aurec"]
        numbers = [log[key] for key in ("n_aurec_floor", "n_aurec_total", "fair")]
        lines.append(
            [
                *(dataset, "exact" if exact else f"{log['annotators_mean']:.0f}"),
                *(f"{brier['regret']:.3f}", f"{100 * share:.0f} %"),
                *(f"{log['regret']:.3f}", f"{100 * most:.0f} %"),
                *("-" if np.isnan(x) else f"{x:.3f}" for x in numbers),
            ]
        )
    head = ["data set", "answers", "regret, Brier", "of it noise", "regret, log", "noise at most"]
    marked = [row["dataset"] for row in rows if row["loss"] == "log" and _is_unreliable(row)]
    names = listed(list(dict.fromkeys(marked))) if marked else "no data set"
    return (
        table([*head, "floor", "n-AuReC total", "corrected"], lines)
        + "\n\nThe correction divides by what is left of the span between a random and a perfect "
        f"ranking. Under log loss rue marks it as unreliable for some methods on {names}."
    )


def _is_unreliable(row: Row) -> bool:
    return any("unreliable" in note for note in row["notes"])


def _mean(rows: Sequence[Row], value: str | Callable[[Row], float | None]) -> float:
    """Return the mean of a column over seeds; NaN if it is empty."""
    numbers = [row.get(value) if isinstance(value, str) else value(row) for row in rows]
    return float(np.mean([np.nan if x is None else x for x in numbers]))


def one_network(rows: Regimes, first: Answer) -> Answer:
    """Answer whether anything beats one network, without annotator noise; keep the first tables."""
    lines, sentences = [], []
    estimates: dict[tuple[str, str, str], Estimate] = {}
    for regime, group in rows.items():
        clear: dict[str, list[str]] = {}
        for loss, name in LOSSES.items():
            for method in dict.fromkeys(row["method"] for row in group):
                for by in ("", "_total"):
                    if method == "single" or (method.startswith("single") and not by):
                        continue
                    one = estimate(differences(group, loss, method, by))
                    if not one.n_families:
                        continue
                    ranking = "total" if by else "epistemic"
                    lines.append([name, regime, method, ranking, str(one), one.families])
                    if loss == "log":
                        estimates[regime, method, by] = one
                        if one.is_clear and one.mean < 0:
                            clear.setdefault(method, []).append(ranking)
        names = [m if len(by) == 2 else f"{m} (by {by[0]} alone)" for m, by in clear.items()]
        sentences.append(f"in the {regime} regime {listed(names) if names else 'nothing'}")

    def words(method: str, by: str, *, families: bool = False) -> str:
        return in_regimes({r: estimates[r, method, by] for r in rows}, families=families)

    sentence = (
        f"Clearly better than one network's entropy: {'; '.join(sentences)}. The difference in "
        f"corrected n-AuReC by epistemic uncertainty is {words('ensemble', '')} with five networks "
        f"and {words('ensemble of twenty', '', families=True)} with twenty (log loss)."
    )
    body = "\n\n".join(
        [
            "Each number is that of a ranking minus that of one network's total uncertainty on the "
            "same data set; negative is better. Log and 0/1 loss: corrected n-AuReC. Brier loss: "
            "r-AuReC, AuReC over that of a random ranking, unbiased from two answers. `strength` "
            "is the ensemble's mean with one Dirichlet strength, `confidence` one minus the "
            "largest probability, `knn` the distance to training points.",
            table(
                ["loss", "regime", "method", "ranked by", "difference", "families"], lines, text=4
            ),
            f"With all data sets, both regimes and plug-in regret: {first.sentence}",
            first.body,
        ]
    )
    return Answer(first.question, first.short, sentence, body)


def who_knows(rows: Regimes, first: Answer) -> Answer:
    """Answer who knows how often two annotators agree, before whose regret is of the right size."""
    rank_lines, lines = [], []
    firsts: list[str] = []
    words: list[str] = []
    for regime, group in rows.items():
        scores = grid(group, "pair_log_loss", "log")
        everywhere = [m for m in scores.methods if len(scores.of(m)) == len(scores.datasets)]
        for methods in (everywhere, list(scores.methods)):
            whole = scores.complete(methods)
            ranks = mean_ranks(whole)
            n, families = str(len(whole.methods)), _families(ranks)
            if methods is everywhere:
                firsts.append(f"{listed(ranks.first)} ({regime}, {n} methods, {families})")
            means = dict(zip(whole.methods, ranks.mean, strict=True))
            rank_lines += [
                [regime, n, families, method, f"{means[method]:.1f}"] for method in ranks.order
            ]
        gain = {m: grid(group, "pair_gain", "log").of(m) for m in scores.methods}
        agreement = {m: grid(group, "agreement_hat", "log").of(m) for m in scores.methods}
        star = grid(group, "agreement_star", "log").of("single")
        lines += [
            [
                *(d, regime, m, f"{scores.of(m)[d]:.3f}", f"{gain[m][d]:+.3f}"),
                *(f"{agreement[m][d]:.3f}", f"{star[d]:.3f}"),
            ]
            for d in scores.datasets
            for m in sorted(scores.methods, key=lambda m: scores.of(m).get(d, np.inf))
            if d in scores.of(m)
        ]
        if not words:
            words = [f"{star[MOVIES]:.3f}"] + [
                f"{agreement[m][MOVIES]:.3f}" for m in ("ensemble", "dirichlet_multinomial")
            ]
    sentence = (
        "By pair log loss the best of the methods that all data sets have are "
        f"{' and '.join(firsts)}. Annotators of movie reviews agree with probability "
        f"{words[0]}; the tuned sentence-encoder ensemble predicts "
        f"{words[1]}, dirichlet_multinomial {words[2]}."
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
            f"Is the regret that they predict of the right size? {first.sentence}",
            first.body,
        ]
    )
    return Answer(first.question, first.short, sentence, body)


def _families(ranks: Ranks) -> str:
    number = f"{ranks.n_families} families"
    return number if ranks.is_tested else f"{number}: cannot be tested"
