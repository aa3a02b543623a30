"""Write the pages of the atlas: one for each data set, summary, answers and docs/findings.md."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rue.bench.suite import read_suite
from rue.metrics.columns import title
from rue.metrics.table import format_rows
from studies import DOCS, RESULTS
from studies.atlas_analysis import LOSSES, Answer, estimate, grid, leagues, mean_ranks, tau
from studies.atlas_answers import BRACKET, fair, is_unreliable
from studies.atlas_checks import text as checks
from studies.atlas_rows import (
    FOLDER,
    N_REPLICATES,
    PLAIN,
    SUITES,
    baseline_rows,
    n_missing,
    names,
    plain_record,
    read,
)
from studies.pages import listed, old_totals, table, trained_again
from studies.rows import Row, grouped, read_rows, where
from studies.two_cells_page import checked as two_cells

FINDINGS = DOCS / "findings.md"
ANSWERS = FOLDER / "answers.md"
SHOWN = (
    *("method", "loss", "n_seeds", "aurec", "aurec_std", "excess_aurec", "n_aurec"),
    *("n_aurec_std", "aurc", "pareto_gap", "spearman_hat", "spearman_star", "regret_calibration"),
    *("near_ood", "far_ood", "auac"),
    *("ci", "aurec_ci_low", "aurec_ci_high", "n_aurec_ci_low", "n_aurec_ci_high"),
)
TESTED = ("aurec", "n_aurec", "regret_calibration")


def all_pages(
    answered: list[Answer], rows: dict[str, list[Row]]
) -> dict[Path, str | Mapping[str, str]]:
    """Return all pages, and the blocks of docs/findings.md, from the records."""
    pages: dict[Path, str | Mapping[str, str]] = {
        FOLDER / "index.md": index(rows),
        ANSWERS: answers_page(answered, rows["tuned"]),
        FINDINGS: findings_blocks(answered),
    }
    for dataset in read_suite("atlas").datasets:
        records = {regime: read(regime, dataset) for regime in SUITES}
        if any(records.values()):
            pages[FOLDER / f"{dataset}.md"] = data_page(dataset, records)
    return pages


def findings_blocks(answered: list[Answer]) -> dict[str, str]:
    """Return the blocks of docs/findings.md: answers in a line each, tables are elsewhere."""
    lines = [f"**{n}. {one.question}** {one.sentence}" for n, one in enumerate(answered, 1)]
    return {
        "state": state(),
        "tuning": tuning(),
        "noise": noise(baseline_rows("tuned")),
        "answers": "\n\n".join(lines),
    }


def answers_page(answered: list[Answer], tuned: list[Row]) -> str:
    """Return the page with the tables of all answers, and the checks."""
    answers = [
        f"## {number}. {one.question}\n\n**{one.sentence}**\n\n{one.body}"
        for number, one in enumerate(answered, 1)
    ]
    parts = [
        "# The atlas: answers with their tables",
        "[Findings](../../findings.md) has the answers in one sentence each, and says how to read "
        "the numbers.",
        *answers,
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
        checks(read_rows("atlas-checks").get("rows", [])),
        snapshots(tuned),
    ]
    return "\n\n".join(parts) + "\n"


def firsts() -> str:
    """Return the first method on each data set under log loss, and whether that is significant."""
    lines = []
    for regime in SUITES:
        for dataset in names(regime):
            record = read(regime, dataset)
            n = len({row["method"] for row in record["table"]})
            cells = [_first(record, criterion) for criterion in TESTED]
            lines.append([dataset, regime, str(n), *cells])
    head = ["data set", "regime", "methods", *map(title, ("aurec", "n_aurec"))]
    return table([*head, "regret calibration"], lines, text=6)


def _of_log(record: Row, criterion: str) -> tuple[dict[str, float], Row | None]:
    """Return a criterion of each method under log loss, and its paired tests."""
    rows = [r for r in record["table"] if r["loss"] == "log" and r.get(criterion) is not None]
    tests = [t for t in record["tests"] if (t["loss"], t["criterion"]) == ("log", criterion)]
    return {row["method"]: row[criterion] for row in rows}, tests[0] if tests else None


def _first(record: Row, criterion: str) -> str:
    """Return the method that is first under log loss, and those not separated from it."""
    means, test = _of_log(record, criterion)
    if not means:
        return "-"
    best = min(means, key=lambda method: means[method])
    others = [] if test is None else [m for m in test["best"] if m != best]
    close = f"; not separated: {', '.join(others)}" if others else ""
    return f"{best} ({means[best]:.3f}){close}"


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
    for suite in (name for name in PLAIN if "single" not in name):
        record, plan = plain_record(PLAIN[suite]), read_suite(suite)
        partial = {cell.partition("/")[0] for cell in record.get("missing", ())}
        rest = [name for name in plan.datasets if name in partial]
        done = len(plan.datasets) - len(rest)
        there = f"{done}, without {listed(rest)}" if rest else f"all {done}"
        n = len(record["rows"])
        lines.append(f"- `{suite}`: {n} of {plan.n_cells} cells; complete data sets: {there}.")
    return "\n".join(lines)


def tuning() -> str:
    """Return on which seeds the tuned settings of the atlas were chosen."""
    whole: list[str] = []
    of_methods: set[str] = set()
    for name in names("tuned"):
        rows = read("tuned", name)["rows"]
        on_three = [
            row["cell"]["method"]
            for row in rows
            if row["config"]["settings"]["training"]["tuned_on"] == "three_seeds"
        ]
        whole += [name] if len(on_three) == len(rows) else []
        of_methods |= set(on_three) if len(on_three) < len(rows) else set()
    cases = [f"on {listed(whole)}"] if whole else []
    cases += [f"for {listed(sorted(of_methods))}"] if of_methods else []
    three = f"; {' and '.join(cases)} that of the least mean loss over three seeds"
    return (
        "- Tuned settings: answers 2, 7 and 8 use the baselines (`atlas-baselines`, "
        "`atlas-twenty`, `atlas-temperature`), tuned on each of their three seeds; answers 1 and 3 "
        f"to 6 use `atlas`, whose five seeds share that of the first{three * bool(cases)}."
    )


def data_page(dataset: str, records: dict[str, Row]) -> str:
    """Return the page of one data set, with both regimes."""
    parts = [f"# The atlas: {dataset}"]
    for regime, record in records.items():
        parts.append(f"## Regime {regime}")
        if not record:
            parts.append("Not run yet.")
            continue
        lines = [{key: row[key] for key in SHOWN if key in row} for row in record["table"]]
        proxies = [line for line in lines if not line["loss"]]
        parts += [
            _opening(record, record["rows"][0]),
            "\n".join(f"- {_winner(t)}" for t in record["tests"] if t["criterion"] in TESTED),
            format_rows([line for line in lines if line["loss"]], "markdown"),
        ]
        if proxies:
            parts += ["Proxy tasks with the same models:", format_rows(proxies, "markdown")]
            parts += [old_totals(record["table"]), trained_again(record)]
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
        + (f" ({'; '.join(notes)})" if notes else "")
        + f", {first['data']['n_test']:,} test points. Each cell of the table is the mean over "
        "seeds ± the standard deviation, under log loss with a 95 % bootstrap interval over the "
        "test points in brackets; the best method is bold, the second best underlined. "
        "*Significant* refers to a paired bootstrap over the points, with Holm's correction at the "
        f"5 % level. The run took {seconds / 60:.0f} minutes on shared cores, with rue "
        f"{versions['rue']}, torch {versions.get('torch', '-')} and numpy {versions['numpy']}."
    )


def _winner(test: Row) -> str:
    column = f"{title(test['criterion'])}, {test['loss']} loss"
    best = test["best"]
    if len(best) == 1:
        return f"{column}: {best[0]} is significantly better than every other method."
    return f"{column}: no significant winner; {listed(best)} cannot be separated."


def _calibration(record: Row) -> str:
    """Return how far the predicted regret is from the realised one, by method and loss."""
    key = "regret_calibration"
    cells: dict[str, dict[str, str]] = {}
    for row in record["table"]:
        if row["loss"] and row.get(key) is not None:
            ends = [row.get(f"{key}_ci_{end}") for end in ("low", "high")]
            interval = "" if None in ends else f" [{ends[0]:.3f}, {ends[1]:.3f}]"
            cells.setdefault(row["method"], {})[row["loss"]] = f"{row[key]:.3f}{interval}"
    if not cells:
        return ""
    losses = list(dict.fromkeys(loss for row in cells.values() for loss in row))
    return (
        "Regret calibration, the mean gap between the regret that epistemic uncertainty predicts "
        "and the realised regret, lower is better (methods that give a score instead of a regret "
        "have none):\n\n"
        + table(
            ["method", *losses],
            [[method, *(row.get(loss, "-") for loss in losses)] for method, row in cells.items()],
        )
    )


def predicted_regret(record: Row) -> str:
    """Return the regret that each method predicts beside what the true one can be."""
    known = [each for each in record["extras"] if each["predicted_regret"] is not None]
    lines = []
    for method, group in grouped(known, "method").items():
        said, low, high = (float(np.mean([each[key] for each in group])) for key in BRACKET)
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
        means, test = _of_log(record, criterion)
        if test is None:
            continue
        first = min(means, key=lambda method: means[method])
        others = {
            next(m for m in pair["methods"] if m != first): pair["p_holm"]
            for pair in test["pairs"]
            if first in pair["methods"]
        }
        lines = [
            [m, f"{means[m]:.3f}", f"{means[m] - means[first]:+.3f}", f"{p:.3f}"]
            for m, p in others.items()
        ]
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
        "how often a method has the lowest mean n-AuReC, and means over data sets. Mean ranks "
        "over five families or more have a 95 % interval that resamples families; two methods "
        "whose mean ranks differ by less than Nemenyi's critical difference are not separated. "
        "Only data sets on which all methods of a table have finished count. "
        "[Findings](../../findings.md) answers questions from "
        "these rows.",
        "![Mean n-AuReC of each method on each data set](../../figures/atlas.png)",
        "One colour is one family, a bar the mean over the families of the data sets that all "
        "methods have (filled dots), and bold methods learned from several answers per input. The "
        "*floor* is the lowest n-AuReC that any ranking could have with a data set's answers.",
        "How much has been run:\n\n" + state(),
    ]
    for regime in SUITES:
        for loss in LOSSES:
            whole = grid(rows[regime], "n_aurec", loss)
            groups = leagues(whole) if whole.methods else []
            parts += [_summary(rows[regime], regime, loss, methods) for methods in groups]
    pages = [f"- [{name}]({name}.md)" for name in dict.fromkeys(names("tuned") + names("paper"))]
    parts += [two_cells(read_rows("two-cells")), "## Pages", "\n".join(pages)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(rows: list[Row], regime: str, loss: str, methods: list[str]) -> str:
    columns = ("n_aurec", "aurec", "pareto_gap", "spearman_hat", "spearman_star")
    whole = grid(rows, "n_aurec", loss).complete(methods)
    if len(whole.datasets) < 2:
        return ""
    ranks = mean_ranks(whole)
    best = (whole.values == whole.values.min(axis=1, keepdims=True)).sum(axis=0)
    mine = [row for row in rows if row["dataset"] in whole.datasets]
    grids = [grid(mine, column, loss) for column in columns]
    lines = []
    for method in ranks.order:
        m = whole.methods.index(method)
        values = [one.of(method) for one in grids]
        numbers = [
            f"{np.mean(list(v.values())):.3f}" if len(v) == len(one.datasets) > 0 else "-"
            for v, one in zip(values, grids, strict=True)
        ]
        lines.append([method, str(int(best[m])), *numbers, ranks.text(method)])
    tested = f"Friedman's p is {ranks.p_value:.2g}, the critical difference {ranks.critical:.1f}."
    return "\n\n".join(
        [
            f"## {loss} loss, regime {regime}, {len(whole.methods)} methods",
            f"{len(whole.datasets)} data sets ({ranks.families}): {', '.join(whole.datasets)}."
            + (f" {tested}" if ranks.is_tested else ""),
            table(["method", "best", *map(title, columns), "mean rank"], lines),
        ]
    )


def noise(rows: Sequence[Row]) -> str:
    """Return the share of the measured regret that is annotator noise, for each data set."""
    lines = []
    for dataset, group in grouped(where(rows, method="single"), "dataset").items():
        log, brier = (where(group, loss=loss) for loss in ("log", "brier"))
        regret = _mean(brier, "regret")
        if log[0]["annotators_min"] is None:
            answers, share = "exact", 0.0
        else:
            answers = f"{_mean(log, 'annotators_mean'):.0f}"
            share = 1 - _mean(brier, "regret_unbiased") / regret
        most = 1 - _mean(log, "aurec_low") / _mean(log, "aurec")
        numbers = [_mean(log, key) for key in ("n_aurec_floor", "n_aurec_total", fair("_total"))]
        lines.append(
            [
                *(dataset, answers, f"{regret:.3f}", f"{100 * share:.0f} %"),
                *(f"{_mean(log, 'regret'):.3f}", f"{100 * most:.0f} %"),
                *("-" if np.isnan(x) else f"{x:.3f}" for x in numbers),
            ]
        )
    head = ["data set", "answers", "regret, Brier", "of it noise", "regret, log", "noise at most"]
    marked = [row["dataset"] for row in where(rows, loss="log") if is_unreliable(row)]
    marked_names = listed(list(dict.fromkeys(marked))) if marked else "no data set"
    return (
        table([*head, "floor", "n-AuReC total", "corrected"], lines)
        + "\n\nThe correction divides by what is left of the span between a random and a perfect "
        f"ranking. Under log loss rue marks it as unreliable for some methods on {marked_names}."
    )


def _mean(rows: Sequence[Row], value: str | Callable[[Row], float | None]) -> float:
    """Return the mean of a column over seeds; NaN if it is empty."""
    numbers = [row.get(value) if isinstance(value, str) else value(row) for row in rows]
    return float(np.mean([np.nan if x is None else x for x in numbers]))


def images() -> str:
    """Return n-AuReC on images beside that on frozen features of the same data set."""
    file = RESULTS / "atlas-images.json"
    features = read("paper", "ferplus-features")
    if not file.exists() or not features:
        return "Not run yet."
    record = json.loads(file.read_text())
    keys, sources = ("aurec", "n_aurec"), {"images": record, "features": features}
    first = record["rows"][0]
    parts = [
        "A small convolutional network, trained from scratch on "
        f"{first['data']['n_train']:,} faces of FER+ for "
        f"{first['config']['settings']['training']['epochs']} epochs and tested on "
        f"{first['data']['n_test']:,}, {len({c['cell']['seed'] for c in record['rows']})} seeds "
        "([all numbers](../atlas-images.md)). Beside it are the rows of the same methods on frozen "
        "features, in the paper's regime "
        f"({features['rows'][0]['data']['n_train']:,} training points)."
    ]
    for loss in ("log", "zero_one"):
        columns: dict[str, Mapping[str, float]] = {
            f"{title(key)}, {name}": {
                row["method"]: row[key]
                for row in source["table"]
                if row["loss"] == loss and row.get("n_aurec") is not None
            }
            for key in keys
            for name, source in sources.items()
        }
        *_, on_images, on_features = columns.values()
        methods = sorted((m for m in on_images if m in on_features), key=lambda m: on_images[m])
        order = [np.array([one[m] for m in methods]) for one in (on_images, on_features)]
        lines = [[m, *(f"{one[m]:.3f}" for one in columns.values())] for m in methods]
        parts.append(
            f"Under {loss} loss, Kendall's tau between the two orders by n-AuReC is "
            f"{tau(*order):+.2f}:\n\n" + table(["method", *columns], lines)
        )
    return "\n\n".join(parts)


def snapshots(rows: Sequence[Row]) -> str:
    """Return why snapshots rank regret well, from the tuned rows: they trust their total."""
    shown = {
        ("snapshots", "n_aurec"): "snapshots, by epistemic",
        ("snapshots", "n_aurec_total"): "by total",
        ("ensemble", "n_aurec"): "ensemble, by epistemic",
        ("ensemble", "n_aurec_total"): "by total",
        ("snapshots", "spearman_hat"): "r_s hat of snapshots",
    }
    columns = {key: grid(rows, key[1], "log").of(key[0]) for key in shown}
    ours = columns["snapshots", "n_aurec"]
    datasets = [name for name in ours if all(name in one for one in columns.values())]
    if not datasets:
        return "Not run yet."
    lines = [[name, *(f"{one[name]:.3f}" for one in columns.values())] for name in datasets]
    to_total, to_disagreement = (
        estimate({name: columns["ensemble", key][name] - ours[name] for name in datasets})
        for key in ("n_aurec_total", "n_aurec")
    )
    return (
        "Snapshots take the mean of an ensemble and learn on validation answers how strong it is, "
        "as a function of the ensemble's total and epistemic uncertainty. Why do they find regret "
        "better than the ensemble does? The ensemble's own total uncertainty finds it about as "
        "well as they do. Its n-AuReC minus theirs is "
        f"{to_total} (mean over {to_total.families}; positive where snapshots are better); "
        f"for the ensemble's epistemic uncertainty, the disagreement of its members, the "
        f"difference is {to_disagreement}. So what snapshots learn is how far to trust the total: "
        "members disagree in other places than where their mean is wrong.\n\n"
        + table(["data set", *shown.values()], lines)
    )
