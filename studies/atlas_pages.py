"""Write the pages of the atlas: one for each data set, summary, answers and docs/findings.md."""

import numpy as np

from rue.bench.suite import read_suite
from rue.metrics.columns import title
from rue.metrics.table import format_rows
from studies import DOCS
from studies.atlas_analysis import LOSSES, Answer, grid, leagues, mean_ranks
from studies.atlas_baselines import baseline_rows, noise
from studies.atlas_checks import NAME as CHECKS
from studies.atlas_checks import text as checks
from studies.atlas_images import text as images
from studies.atlas_rows import (
    ACTIVE,
    FOLDER,
    N_REPLICATES,
    PLAIN,
    SUITES,
    active_rows,
    n_missing,
    names,
    plain_record,
    read,
)
from studies.atlas_snapshots import text as snapshots
from studies.pages import fill_file, listed, old_totals, table
from studies.rows import Row, read_rows
from studies.two_cells_page import checked as two_cells

FINDINGS = DOCS / "findings.md"
ANSWERS = FOLDER / "answers.md"
SHOWN = (
    *("dataset", "method", "loss", "n_seeds", "aurec", "aurec_std", "excess_aurec", "n_aurec"),
    *("n_aurec_std", "aurc", "pareto_gap", "spearman_hat", "spearman_star", "regret_calibration"),
    *("near_ood", "far_ood", "auac"),
    *("ci", "aurec_ci_low", "aurec_ci_high", "n_aurec_ci_low", "n_aurec_ci_high"),
)


def write_pages(answered: list[Answer], rows: dict[str, list[Row]]) -> None:
    """Write all pages from the records."""
    for dataset in read_suite("atlas").datasets:
        records = {regime: read(regime, dataset) for regime in SUITES}
        if any(records.values()):
            (FOLDER / f"{dataset}.md").write_text(data_page(dataset, records))
    (FOLDER / "index.md").write_text(index(rows))
    ANSWERS.write_text(answers_page(answered, rows["tuned"]))
    fill_file(FINDINGS, findings_blocks(answered))


def findings_blocks(answered: list[Answer]) -> dict[str, str]:
    """Return the blocks of docs/findings.md: answers in a sentence each, tables are elsewhere."""
    sentences = [f"**{n}. {one.question}** {one.sentence}" for n, one in enumerate(answered, 1)]
    return {
        "state": state(),
        "noise": noise(baseline_rows("tuned")),
        "answers": "\n\n".join(sentences),
    }


def answers_page(answered: list[Answer], tuned: list[Row]) -> str:
    """Return the page with the tables of all answers, and the checks."""
    checked = checks(read_rows(CHECKS).get("rows", []))
    parts = [
        "# The atlas: answers with their tables",
        "[Findings](../../findings.md) has the answers in one sentence each, and says how to read "
        "the numbers.",
        *(_answer(number, one) for number, one in enumerate(answered, 1)),
        "## Which method is first on each data set",
        "Under log loss, the method with the lowest value of each criterion, and the methods that "
        "a paired bootstrap over test points (Holm's correction, 5 % level) does not separate from "
        "it. *Regret calibration* is the mean gap between the regret that a method predicts (its "
        "epistemic uncertainty) and the realised regret.",
        firsts(),
        "## The same question on images",
        images(),
        "A larger network on more faces is on [another page](../../cifar10h_images.md).",
        "## Checks",
        checked,
        snapshots(tuned),
    ]
    return "\n\n".join(parts) + "\n"


def firsts() -> str:
    """Return the first method on each data set under log loss, and whether that is significant."""
    lines = []
    for regime in SUITES:
        for dataset in names(regime):
            record = read(regime, dataset)
            cells = [
                _first(record, criterion)
                for criterion in ("aurec", "n_aurec", "regret_calibration")
            ]
            n = len({row["method"] for row in record["table"]})
            lines.append([dataset, regime, str(n), *cells])
    head = ["data set", "regime", "methods", *map(title, ("aurec", "n_aurec"))]
    return table([*head, "regret calibration"], lines, text=6)


def _first(record: Row, criterion: str) -> str:
    """Return the method that is first under log loss, and those not separated from it."""
    rows = [r for r in record["table"] if r["loss"] == "log" and r.get(criterion) is not None]
    if not rows:
        return "-"
    best = min(rows, key=lambda row: row[criterion])
    test = next(
        (t for t in record["tests"] if (t["loss"], t["criterion"]) == ("log", criterion)), None
    )
    others = [] if test is None else [m for m in test["best"] if m != best["method"]]
    close = f"; not separated: {', '.join(others)}" if others else ""
    return f"{best['method']} ({best[criterion]:.3f}){close}"


def state() -> str:
    """Return how much of the suites has been run."""
    lines = []
    for regime, suite in SUITES.items():
        n_cells, n_out = read_suite(suite).n_cells, n_missing(regime)
        complete = [name for name in names(regime) if not read(regime, name)["missing"]]
        whole = len(complete) == len(read_suite(suite).datasets)
        shown = f"all {len(complete)}" if whole else ", ".join(complete) or "none"
        lines.append(
            f"- `{suite}` ({regime}): {n_cells - n_out} of {n_cells} cells, {n_out} missing; "
            f"complete data sets: {shown}."
        )
    learnt = active_rows()
    there = ", ".join(dict.fromkeys(row["dataset"] for row in learnt)) or "none"
    n_cells = read_suite(ACTIVE).n_cells
    lines.append(f"- `{ACTIVE}` (paper): {len(learnt)} of {n_cells} cells; data sets: {there}.")
    for suite in (
        *("atlas-baselines", "atlas-twenty", "atlas-temperature"),
        *("atlas-baselines-paper", "atlas-twenty-paper"),
    ):
        record = plain_record(PLAIN[suite])
        done = list(dict.fromkeys(row["cell"]["dataset"] for row in record["rows"]))
        rest = [name for name in read_suite(suite).datasets if name not in done]
        there = f"{len(done)} but not {listed(rest)}" if rest else f"all {len(done)}"
        n = len(record["rows"])
        lines.append(
            f"- `{suite}`: {n} of {n + len(record.get('missing', ()))} cells; data sets: {there}."
        )
    return "\n".join(lines)


def data_page(dataset: str, records: dict[str, Row]) -> str:
    """Return the page of one data set, with both regimes."""
    parts = [f"# The atlas: {dataset}"]
    for regime, record in records.items():
        if not record:
            parts += [f"## Regime {regime}", "Not run yet."]
            continue
        first = record["rows"][0]
        losses = [_only(row) for row in record["table"] if row["loss"]]
        proxies = [_only(row) for row in record["table"] if not row["loss"]]
        parts += [
            f"## Regime {regime}",
            _opening(record, first),
            "\n".join(f"- {_winner(test)}" for test in record["tests"] if _wanted(test)),
            format_rows(losses, "markdown"),
        ]
        if proxies:
            parts += ["Proxy tasks with the same models:", format_rows(proxies, "markdown")]
            parts += filter(None, [old_totals(record["table"])])
        parts += [_calibration(record), predicted_regret(record), _pairs(record)]
        file = f"{regime}-{dataset}.json"
        parts.append(f"All rows, with settings, versions and checksums: [{file}]({file}).")
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(record: Row, first: Row) -> str:
    methods = {cell["cell"]["method"] for cell in record["rows"]}
    seconds = sum(sum(cell["seconds"].values()) for cell in record["rows"])
    versions = first["versions"]
    notes = [note for note in first["data"]["notes"] if "training points" in note]
    missing = record["missing"]
    return (
        f"Suite `{record['suite']}`: {len(methods)} methods, {len(record['rows'])} cells"
        + (f"; {len(missing)} are missing, first {missing[0]}" if missing else "")
        + f". {first['data']['n_train']:,} training points"
        + (f" ({notes[0]})" if notes else "")
        + f", {first['data']['n_test']:,} test points. Each cell of the table is the mean over "
        "seeds ± the standard deviation, under log loss with a 95 % bootstrap interval over the "
        "test points in brackets; the best method is bold, the second best underlined. "
        "*Significant* refers to a paired bootstrap over the points, with Holm's correction at the "
        f"5 % level. The run took {seconds / 60:.0f} minutes on shared cores, with rue "
        f"{versions['rue']}, torch {versions.get('torch', '-')} and numpy {versions['numpy']}."
    )


def _wanted(test: Row) -> bool:
    return test["criterion"] in ("aurec", "n_aurec", "regret_calibration")


def _winner(test: Row) -> str:
    column = f"{title(test['criterion'])}, {test['loss']} loss"
    best = test["best"]
    if len(best) == 1:
        return f"{column}: {best[0]} is significantly better than every other method."
    return f"{column}: no significant winner; {listed(best)} cannot be separated."


def _calibration(record: Row) -> str:
    """Return how far the predicted regret is from the realised one, by method and loss."""
    key = "regret_calibration"
    rows = [row for row in record["table"] if row["loss"] and row.get(key) is not None]
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    if not rows:
        return ""
    found = {(row["method"], row["loss"]): row for row in rows}
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for loss in losses:
            row = found.get((method, loss))
            if row is None:
                cells.append("-")
                continue
            ends = [row.get(f"{key}_ci_{end}") for end in ("low", "high")]
            interval = "" if None in ends else f" [{ends[0]:.3f}, {ends[1]:.3f}]"
            cells.append(f"{row[key]:.3f}{interval}")
        lines.append([method, *cells])
    return (
        "Regret calibration, the mean gap between the regret that epistemic uncertainty predicts "
        "and the realised regret, lower is better (methods that give a score instead of a regret "
        "have none):\n\n" + table(["method", *losses], lines)
    )


def predicted_regret(record: Row) -> str:
    """Return the regret that each method predicts beside what the true one can be."""
    found: dict[str, list[Row]] = {}
    for each in record["extras"]:
        if each["predicted_regret"] is not None:
            found.setdefault(each["method"], []).append(each)
    lines = []
    for method, group in found.items():
        said, low, high = (
            float(np.mean([each[key] for each in group]))
            for key in ("predicted_regret", "regret_low", "regret_high")
        )
        inside = "yes" if low <= said <= high else "no"
        lines.append([method, f"{said:.3f}", f"{low:.3f}", f"{high:.3f}", inside])
    if not lines:
        return ""
    return (
        "The realised regret is itself too high with finitely many annotators, so a gap to it is "
        "not all a method's fault. Under log loss, the mean regret that each method predicts, and "
        "the bracket of the mean true regret (leave-one-out and plug-in Bayes risks):\n\n"
        + table(["method", "predicted", "low", "high", "in the bracket"], lines)
    )


def _pairs(record: Row) -> str:
    """Return the paired tests of the first method under log loss against each other one."""
    parts = []
    for criterion, name in (("n_aurec", "n-AuReC"), ("regret_calibration", "Regret calibration")):
        tests = [t for t in record["tests"] if (t["loss"], t["criterion"]) == ("log", criterion)]
        if not tests:
            continue
        rows = [r for r in record["table"] if r["loss"] == "log" and r.get(criterion) is not None]
        means = {row["method"]: row[criterion] for row in rows}
        first = min(means, key=lambda method: means[method])
        lines = []
        for pair in tests[0]["pairs"]:
            if first in pair["methods"]:
                other = next(m for m in pair["methods"] if m != first)
                difference = f"{means[other] - means[first]:+.3f}"
                lines.append([other, f"{means[other]:.3f}", difference, f"{pair['p_holm']:.3f}"])
        lines.sort(key=lambda line: float(line[1]))
        parts.append(
            f"{name} under log loss: {first} ({means[first]:.3f}) against each other method, with "
            f"Holm's p-value of the paired test ({N_REPLICATES} bootstrap samples):\n\n"
            + table(["method", name, "difference", "p"], lines)
        )
    return "\n\n".join(parts)


def index(rows: dict[str, list[Row]]) -> str:
    """Return the summary over data sets, in the layout of the paper's table 3."""
    parts = [
        "# The atlas: summary",
        "Eleven data sets, twelve methods, two regimes. The layout is that of the paper's table 3: "
        "how often a method has the lowest mean n-AuReC, and means over data sets. Mean ranks have "
        "a 95 % interval that resamples families; two methods whose mean ranks differ by less "
        "than Nemenyi's critical difference are not separated. Only data sets on which all methods "
        "of a table have finished count. [Findings](../../findings.md) answers questions from "
        "these rows.",
        "![Mean n-AuReC of each method on each data set](../../figures/atlas.png)",
        "One colour is one family, a bar the mean over the families of the data sets that all "
        "methods have (filled dots), and bold methods learned from several answers per input. The "
        "*floor* is the lowest n-AuReC that any ranking could have with a data set's answers.",
        "How much has been run:\n\n" + state(),
    ]
    for regime in SUITES:
        for loss in LOSSES:
            found = grid(rows[regime], "n_aurec", loss)
            for methods in leagues(found) if found.methods else []:
                text = _summary(rows[regime], regime, loss, methods)
                if text:
                    parts.append(text)
    pages = [f"- [{name}]({name}.md)" for name in dict.fromkeys(names("tuned") + names("paper"))]
    parts += [two_cells(read_rows("two-cells")), "## Pages", "\n".join(pages)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(rows: list[Row], regime: str, loss: str, methods: list[str]) -> str:
    columns = ("n_aurec", "pareto_gap", "spearman_hat", "spearman_star")
    whole = grid(rows, "n_aurec", loss).complete(methods)
    if len(whole.datasets) < 2:
        return ""
    ranks = mean_ranks(whole)
    best = (whole.values == whole.values.min(axis=1, keepdims=True)).sum(axis=0)
    lines = []
    for method in ranks.order:
        m = whole.methods.index(method)
        numbers = []
        for column in columns:
            one = grid([r for r in rows if r["dataset"] in whole.datasets], column, loss)
            there = method in one.methods
            values = one.values[:, one.methods.index(method)] if there else np.array([np.nan])
            numbers.append(f"{np.mean(values):.3f}" if np.isfinite(values).all() else "-")
        interval = f"{ranks.mean[m]:.1f} [{ranks.low[m]:.1f}, {ranks.high[m]:.1f}]"
        lines.append([method, str(int(best[m])), *numbers, interval])
    head = ["method", "best", *(title(c) for c in columns), "mean rank"]
    return "\n\n".join(
        [
            f"## {loss} loss, regime {regime}, {len(whole.methods)} methods",
            f"{len(whole.datasets)} data sets: {', '.join(whole.datasets)}. Friedman's p is "
            f"{ranks.p_value:.2g}, the critical difference {ranks.critical:.1f}.",
            table(head, lines),
        ]
    )


def _only(row: Row) -> Row:
    return {key: row[key] for key in SHOWN if key in row and key != "dataset"}


def _answer(number: int, answer: Answer) -> str:
    return f"## {number}. {answer.question}\n\n**{answer.sentence}**\n\n{answer.body}"
