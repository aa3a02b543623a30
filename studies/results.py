"""Make the pages of docs/results/ from runs of the benchmark.

    python studies/results.py DIR...   # take up finished runs: their rows, intervals, figures
    python studies/results.py          # write the pages anew from what was taken up

What was taken up is docs/results/<name>.json: every cell's row.json, and intervals and paired
tests that need the predictions. The pages hold no number that is not in it.
"""

import json
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from rue.bench.resampling import compare_methods, draw, with_intervals
from rue.bench.store import Store
from rue.bench.tables import beside_published, read_results, table_rows
from rue.cli._demo import curves
from rue.cli.inversions import inversions_grid, ranks_grid, tau_grid, to_markdown
from rue.inference.comparison import COMPARABLE
from rue.metrics.columns import title
from rue.metrics.table import format_rows
from rue.plots.comparison import plot_rankings
from rue.plots.inversions import plot_ranks
from rue.plots.style import save
from rue.ranking.inversions import Inversions, find_inversions
from rue.ranking.scores import CRITERIA, to_scores
from studies import DOCS

FOLDER = DOCS / "results"
FIGURES = DOCS / "figures"
COMPARED = ("near_ood", "far_ood", "auac", "nauc_epistemic", "nauc_total", "aurec", "n_aurec")
COMPARED += ("pareto_gap", "spearman_hat")
LEVEL = 0.95


def take_up(folder: Path) -> None:
    """Keep a run's rows, and what only its predictions can tell."""
    store = Store(folder)
    results = read_results(store)
    rows = table_rows(results.rows)
    drawn = draw(store, rows, progress=True)
    ranking = compare_methods(rows, drawn, level=LEVEL)
    tests = []
    for dataset, loss in dict.fromkeys((r["dataset"], r["loss"]) for r in rows if r["loss"]):
        for criterion in COMPARABLE:
            found = ranking(dataset, loss, criterion)
            if found is not None:
                tests.append(
                    {
                        "dataset": dataset,
                        "loss": loss,
                        "criterion": criterion,
                        "best": list(found.best),
                        "pairs": [
                            {"methods": [d.first, d.second], "p_holm": d.p_holm}
                            for d in found.differences
                        ],
                    }
                )
    name = folder.name
    for loss in dict.fromkeys(r["loss"] for r in rows if r["loss"]):
        found = [(key, ranking(rows[0]["dataset"], loss, key)) for key in ("aurec", "n_aurec")]
        titled = [(f"{title(key)} ({loss} loss)", one) for key, one in found if one is not None]
        save(plot_rankings(titled), FIGURES / f"{name}_{loss}.png")
    record = {
        "suite": results.suite,
        "text": store.suite().text,
        "rows": list(results.raw.values()),
        "table": with_intervals(rows, drawn, level=LEVEL),
        "tests": tests,
        "missing": list(map(str, results.missing)),
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    curves(store, FIGURES / f"{name}_curves.png")
    for number, found in enumerate(inverted(record)):
        save(plot_ranks([found]), FIGURES / f"{name}_ranks{number or ''}.png")


def scored(record: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each cell and loss, proxies with an empty loss."""
    rows = []
    for cell in record["rows"]:
        where = {"dataset": cell["cell"]["dataset"], "seed": cell["cell"]["seed"]}
        rows += [{**where, **row} for row in cell["rows"]]
        numbers = {key: value for key, value in cell["proxies"].items() if key != "details"}
        if any(value is not None for value in numbers.values()):
            rows.append({**where, "method": cell["cell"]["method"], "loss": "", **numbers})
    return rows


def inverted(record: dict[str, Any]) -> list[Inversions]:
    """The inversions of each data set, with the p-values that were taken up."""
    known = {
        (test["dataset"], test["loss"], test["criterion"], *sorted(pair["methods"])): pair["p_holm"]
        for test in record["tests"]
        for pair in test["pairs"]
    }

    def p_value(dataset, column, better, worse):
        key = (dataset, column.loss, column.criterion, *sorted((better, worse)))
        return known.get(key)

    scores = [score for score in to_scores(scored(record)) if score.criterion in COMPARED]
    names = dict.fromkeys(score.dataset for score in scores)
    # On a page about one data set its name need not be said again.
    return [
        find_inversions(
            [replace(s, dataset="") for s in scores if s.dataset == name],
            p_value=lambda column, better, worse, name=name: p_value(name, column, better, worse),
        )
        for name in names
    ]


def page(name: str) -> str:
    record = json.loads((FOLDER / f"{name}.json").read_text())
    cells, table = record["rows"], record["table"]
    seconds = sum(sum(cell["seconds"].values()) for cell in cells)
    versions = cells[0]["versions"]
    losses = [row for row in table if row["loss"]]
    proxies = [row for row in table if not row["loss"]]
    dataset = losses[0]["dataset"]
    lines = [
        f"# {name}",
        "",
        "Made by `studies/results.py` from the rows in "
        f"[{name}.json]({name}.json); no number here is typed.",
        "",
        f"The suite `{record['suite']}` on `{dataset}`: "
        f"{len({c['cell']['method'] for c in cells})} methods, "
        f"{len({c['cell']['seed'] for c in cells})} seeds, {len(cells)} cells, "
        f"{losses[0]['n_points']:,} test points, answered by "
        f"{losses[0]['annotators_min']:.0f} to {losses[0]['annotators_max']:.0f} people each. "
        f"{seconds / 60:.0f} minutes of one core on a machine shared with other work; rue "
        f"{versions['rue']}, torch {versions['torch']}, numpy {versions['numpy']}, "
        f"Python {versions['python']}.",
        "",
        "```toml",
        record["text"].strip(),
        "```",
        "",
        "## Regret",
        "",
        "Means over seeds ± their standard deviation, and 95 % bootstrap intervals over the test "
        "points; the bracket holds the true AuReC, on average, whatever the finitely many answers "
        "([how](../uncertainty.md)). The Pareto-gap has no interval here.",
        "",
        format_rows([_without(row, "dataset", "n_points") for row in losses], "markdown"),
        "",
        f"![Regret and risk against coverage, seed 0](../figures/{name}_curves.png)",
        "",
        *said(record),
        "",
        *(
            f"![Who is best under {loss} loss, and how surely](../figures/{name}_{loss}.png)"
            for loss in dict.fromkeys(row["loss"] for row in losses)
        ),
    ]
    published = [
        row for row in beside_published(losses) if row["group"] == "paper" or _matched(losses, row)
    ]
    if any(row["group"] == "paper" for row in published):
        lines += [
            "",
            "## Beside the paper",
            "",
            "The paper trains a ResNet-18 on the images; these are probes on the features of "
            "another, frozen network, so the columns that have a unit need not agree.",
            "",
            format_rows(
                [
                    {
                        key: value
                        for key, value in row.items()
                        if key in ("method", "loss", "group", *_PAPER)
                    }
                    for row in published
                ],
                "markdown",
            ),
        ]
    if proxies:
        lines += [
            "",
            "## Proxy tasks, on the same data and the same models",
            "",
            format_rows([_without(row, "dataset", "loss") for row in proxies], "markdown"),
        ]
    for number, found in enumerate(inverted(record)):
        lines += [
            "",
            "## Do the criteria pick the same method?",
            "",
            f"![Ranks under each criterion](../figures/{name}_ranks{number or ''}.png)",
            "",
            to_markdown([[line[0], line[1], *line[3:]] for line in ranks_grid(found)]),
            "",
            *proxies_against_regret(found),
            "",
            "Kendall's tau between the criteria, by their numbers:",
            "",
            to_markdown(tau_grid(found, 0, len(found.columns))),
            "",
            f"The strongest 15 of {len(found.inversions)} pairwise inversions; in how many seeds "
            "each occurs, and the larger of its two p-values (Holm) where both criteria are of "
            "regret:",
            "",
            to_markdown(inversions_grid(found.inversions[:15])),
        ]
    return "\n".join(lines) + "\n"


_PAPER = ("aurec", "excess_aurec", "n_aurec", "aurc", "pareto_gap", "spearman_hat", "spearman_star")


def said(record: dict[str, Any]) -> list[str]:
    """What the table says about the paper's claims, computed."""
    table = [row for row in record["table"] if row["loss"]]
    lines = ["What it says:", ""]
    for loss in dict.fromkeys(row["loss"] for row in table):
        rows = [row for row in table if row["loss"] == loss]
        best = {
            key: min(rows, key=lambda row, key=key: row[key])
            for key in ("aurec", "n_aurec", "aurc", "pareto_gap")
        }
        parts = [f"{title(key)} {row['method']} ({row[key]:.4f})" for key, row in best.items()]
        lines.append(f"- **{loss}**: lowest {', '.join(parts)}.")
        for test in record["tests"]:
            if test["loss"] == loss and test["criterion"] in ("aurec", "n_aurec"):
                alone = len(test["best"]) == 1
                told = (
                    f"{test['best'][0]} is lower than every other"
                    if alone
                    else f"{' and '.join(test['best'])} cannot be told apart"
                )
                lines.append(
                    f"  By {title(test['criterion'])}, {told} (paired bootstrap over points, "
                    "Holm, 5 %)."
                )
        by_regret = sorted(rows, key=lambda row: row["aurec"])
        by_correlation = sorted(rows, key=lambda row: abs(row["spearman_hat"]))
        lines.append(
            "  Ranked by AuReC: "
            + ", ".join(row["method"] for row in by_regret)
            + "; by rank correlation, nearest 0 first: "
            + ", ".join(row["method"] for row in by_correlation)
            + f". {_agreement(by_regret, by_correlation)} of "
            f"{len(list(combinations(rows, 2)))} pairs are in the same order."
        )
        evidential = next((row for row in rows if row["method"] == "evidential"), None)
        if evidential is not None:
            gaps = sorted(row["pareto_gap"] for row in rows)
            lines.append(
                f"  Evidential: r_s {evidential['spearman_hat']:.3f} (the highest is "
                f"{max(row['spearman_hat'] for row in rows):.3f}), Pareto-gap "
                f"{evidential['pareto_gap']:.4f}, number "
                f"{gaps.index(evidential['pareto_gap']) + 1} of {len(rows)} from the lowest."
            )
    return lines


def proxies_against_regret(found: Inversions) -> list[str]:
    """Say how far each proxy orders the methods as the criteria of regret do."""
    kinds = [CRITERIA[column.criterion].kind for column in found.columns]
    if "proxy" not in kinds:
        return ["The suite has no proxies."]
    lines = []
    for i, column in enumerate(found.columns):
        taus = [found.tau[i, j] for j, kind in enumerate(kinds) if kind == "regret"]
        if kinds[i] != "proxy":
            continue
        between = [
            each
            for each in found.inversions
            if column in (each.first, each.second)
            and {CRITERIA[c.criterion].kind for c in (each.first, each.second)}
            == {"proxy", "regret"}
        ]
        always = sum(each.n_inverted == each.n_seeds for each in between)
        lines.append(
            f"- {CRITERIA[column.criterion].title}: tau with the {len(taus)} criteria of regret "
            f"from {min(taus):.2f} to {max(taus):.2f}, mean {sum(taus) / len(taus):.2f}; "
            f"{len(between)} pairwise inversions with them in the mean over seeds, {always} of "
            "which occur in every seed."
        )
    return ["The proxies against regret, on the same models:", "", *lines]


def _agreement(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> int:
    places = [{row["method"]: i for i, row in enumerate(rows)} for rows in (first, second)]
    return sum(
        (places[0][a] < places[0][b]) == (places[1][a] < places[1][b])
        for a, b in combinations(places[0], 2)
    )


def _matched(rows: list[dict[str, Any]], row: dict[str, Any]) -> bool:
    return row["group"] == "ours" and any(
        other["group"] == "paper" and other["loss"] == row["loss"]
        for other in beside_published(rows)
    )


def _without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


def main() -> None:
    for folder in sys.argv[1:]:
        take_up(Path(folder))
    for path in sorted(FOLDER.glob("*.json")):
        (FOLDER / f"{path.stem}.md").write_text(page(path.stem))


if __name__ == "__main__":
    main()
