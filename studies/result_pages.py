"""The page of an imported benchmark run, from its rows alone (docs/results/NAME.json)."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

from rue.bench.tables import beside_published, in_paper
from rue.cli.inversions import inversions_grid, ranks_grid, tau_grid, to_markdown
from rue.metrics.columns import BY_COMPONENT, title
from rue.metrics.table import format_rows
from rue.ranking.inversions import Contest, Inversions, find_inversions
from rue.ranking.scores import CRITERIA, to_scores
from studies import FIGURES, RESULTS
from studies.pages import code, listed, old_totals, trained_again
from studies.rows import Row, read_run

COMPARED = (
    *("near_ood", "far_ood", "auac", "auac_labels", "nauc_epistemic", "nauc_total"),
    *("aurec", "n_aurec", "pareto_gap", "n_aurec_total", "spearman_hat"),
)
SHOWN = ("aurec", "n_aurec", "aurc", "pareto_gap")
PUBLISHED = (
    *("aurec", "excess_aurec", "n_aurec", "aurc"),
    *("pareto_gap", "spearman_hat", "spearman_star"),
)
TITLES = {
    "demo": "Movie reviews: the demo",
    "sentiment-movies": "Movie reviews: all criteria",
    "cifar10h-probe": "CIFAR-10H on frozen features",
    "cifar10h-images": "CIFAR-10H on images",
    "ferplus-images": "Faces: a larger network on more of them",
    "atlas-images": "Faces: the image study of the atlas",
}
LOSSES = {"log": "Log loss", "zero_one": "0/1 loss", "squared": "Squared loss"}
LOSSES |= {"absolute": "Absolute loss", "brier": "Brier loss"}
N_INVERSIONS = 15


def names() -> list[str]:
    """Return the names of all imported runs."""
    return sorted(path.stem for path in RESULTS.glob("*.json"))


def page(name: str) -> str:
    """Return the page of a run."""
    record = read_run(name)
    losses = [row for row in record["table"] if row["loss"]]
    parts = [
        f"# {TITLES.get(name, name)}",
        opening(record),
        *("\n".join(findings(record, loss)) for loss in _losses(losses)),
        *_picture("Regret and risk against coverage, seed 0", f"{name}_curves"),
        "## Regret",
        "Each cell is the mean over seeds ± the standard deviation, and a 95 % bootstrap interval "
        "over the test points in brackets. On average over the annotators' answers, the true AuReC "
        "is in the column *bracket* ([why](../uncertainty.md)). "
        + ("" if "pareto_gap_ci_low" in losses[0] else "The Pareto-gap has no interval here. ")
        + "The best method is bold, the second best underlined.",
        format_rows([_without(row, "dataset", "n_points") for row in losses], "markdown"),
        *ranked_pictures(name, _losses(losses)),
        *ranked_by(losses),
        *beside_the_paper(record),
        *proxy_tasks(record),
        *rank_inversions(record, name),
        *settings(record, name),
    ]
    return "\n\n".join(parts) + "\n"


def ranked_pictures(name: str, losses: Iterable[str]) -> list[str]:
    """Return the figures of the rankings; they need predictions, which some runs have elsewhere."""
    links = [_picture(f"Methods ranked under {loss} loss", f"{name}_{loss}") for loss in losses]
    words = (
        "The next figures show which methods can be separated: AuReC and n-AuReC of each method "
        "with its interval, at its mean rank over bootstrap samples. A grey bar joins methods that "
        "cannot be separated."
        if any(links)
        else "Curves and rankings are not drawn here, because they need the predictions of this "
        "run; `rue bench run` and `python -m studies results` draw them."
    )
    return [words, *(part for link in links for part in link)]


def _picture(text: str, name: str) -> list[str]:
    """Return the link to a figure, if it has been drawn."""
    return [f"![{text}](../figures/{name}.png)"] * (FIGURES / f"{name}.png").exists()


def opening(record: Row) -> str:
    """Return one paragraph: what was run, on what."""
    cells = record["rows"]
    row = next(row for row in record["table"] if row["loss"])
    n_methods = len({cell["cell"]["method"] for cell in cells})
    n_seeds = len({cell["cell"]["seed"] for cell in cells})
    regimes = sorted({_regime(cell["config"]) for cell in cells})
    return (
        f"This page shows the suite `{record['suite']}`: {n_methods} methods with {n_seeds} seeds "
        f"each on the data set `{row['dataset']}`, trained in the "
        f"[regime](../methods.md#two-regimes) {listed(regimes)}. The {row['n_points']:,} test "
        f"points have answers from {row['annotators_min']:.0f} to {row['annotators_max']:.0f} "
        "annotators each. *Significant* refers to a paired bootstrap over the points, with Holm's "
        "correction at the 5 % level."
    )


def _regime(config: Row) -> str:
    """Return the training regime of a cell; rows from before there were two have the network's."""
    return f"`{config['regime'] if 'network' in config else 'paper'}`"


def findings(record: Row, loss: str) -> list[str]:
    """Return what the table says under one loss, as a list."""
    rows = [row for row in record["table"] if row["loss"] == loss]
    least: dict[str, list[str]] = {}
    for key in SHOWN:
        value, method = min((float(row[key]), row["method"]) for row in rows)
        least.setdefault(method, []).append(f"{title(key)} ({value:.4f})")
    lowest = [f"{method} has the lowest {listed(columns)}" for method, columns in least.items()]
    # A single network has no epistemic part, so nothing is correlated with it.
    correlated = [row for row in rows if row["spearman_hat"] is not None]
    by_regret = sorted(correlated, key=lambda row: float(row["aurec"]))
    by_correlation = sorted(correlated, key=lambda row: abs(row["spearman_hat"]))
    gaps = sorted(rows, key=lambda row: float(row["pareto_gap"]))
    highest = by_correlation[-1]
    return [
        f"**{LOSSES.get(loss, loss)}**",
        "",
        f"- Lowest values: {'; '.join(lowest)}.",
        *(
            f"- {_winner(test)}"
            for test in record["tests"]
            if test["loss"] == loss and test["criterion"] in ("aurec", "n_aurec")
        ),
        f"- AuReC ranks the methods {_methods(by_regret)}. The rank correlation of the estimated "
        f"components, nearest to 0 first, ranks them {_methods(by_correlation)}. The two rankings "
        f"agree on {_agreement(by_regret, by_correlation)} of "
        f"{len(list(combinations(correlated, 2)))} pairs.",
        f"- The strongest rank correlation is that of {highest['method']} "
        f"({highest['spearman_hat']:.3f}); by its Pareto-gap it is number "
        f"{gaps.index(highest) + 1} of {len(rows)}, counted from the lowest.",
    ]


def _winner(test: Row) -> str:
    column, best = title(test["criterion"]), test["best"]
    if len(best) == 1:
        return f"{column}: {best[0]} is significantly lower than every other method."
    return f"{column}: no significant winner; {listed(best)} cannot be separated."


def beside_the_paper(record: Row) -> list[str]:
    """Return the section that puts the paper's rows beside ours, where it has some.

    A run that was imported without the published convention refers to one that was.
    """
    losses = [row for row in record["table"] if row["loss"]]
    if not in_paper(losses):
        return []
    if "published_convention" not in record:
        return [
            "## Beside the paper",
            "The paper's numbers follow the conventions of its authors' code, and the numbers here "
            "follow Definition 1. [What the published numbers say]"
            "(published.md#what-the-conventions-do) has both, for a run with the paper's four "
            "methods on the same features.",
        ]
    rows = [
        {key: value for key, value in row.items() if key in ("method", "loss", "group", *PUBLISHED)}
        for row in beside_published(in_paper(losses), record["published_convention"])
    ]
    return [
        "## Beside the paper",
        f"The paper trains a ResNet-18 on the images. {_network(record)} "
        "Columns that have a unit therefore need not "
        "agree. The paper's numbers follow the conventions of its authors' code; ours are here "
        "under the same conventions, and by Definition 1, which the rest of this page uses "
        "([what the conventions do](published.md#what-the-conventions-do)).",
        format_rows(rows, "markdown"),
    ]


def _network(record: Row) -> str:
    """Return what was trained, if not the paper's ResNet-18."""
    network = record["rows"][0]["config"]["network"]
    if network == "probe":
        return "The methods here are probes, small networks on features of a frozen network."
    return f"The methods here train another network, {network}, for fewer epochs."


def ranked_by(losses: list[Row]) -> list[str]:
    """Return the section that says which component finds regret best."""
    rows = [row for row in losses if row.get("n_aurec_total") is not None]
    if not rows:
        return []
    better = [row for row in rows if row["n_aurec_total"] < row["n_aurec"]]
    return [
        "## Ranked by what",
        "AuReC and n-AuReC reject the points of highest *epistemic* uncertainty first. This is how "
        "total and aleatoric uncertainty find the same regret. In "
        f"{len(better)} of {len(rows)} rows total uncertainty finds it better than epistemic "
        "uncertainty does.",
        format_rows([_without(row, "dataset") for row in rows], "markdown", columns=BY_COMPONENT),
    ]


def proxy_tasks(record: Row) -> list[str]:
    """Return the section of proxy tasks, if the suite ran some."""
    proxies = [_without(row, "dataset", "loss") for row in record["table"] if not row["loss"]]
    if not proxies:
        return []
    return [
        "## Proxy tasks",
        "OOD detection, selective prediction and active learning with the same data, models and "
        "seeds ([definitions](../proxies.md)).",
        format_rows(proxies, "markdown"),
        *filter(None, [old_totals(record["table"]), trained_again(record)]),
    ]


def rank_inversions(record: Row, name: str) -> list[str]:
    """Return the section that compares how the criteria rank the methods."""
    parts = []
    for number, ranking in enumerate(inverted(record)):
        parts += [
            "## Do the criteria select the same method?",
            "Rank 1 is best, in parentheses behind each value.",
            f"![Ranks under each criterion](../figures/{name}_ranks{number or ''}.png)",
            to_markdown([[line[0], line[1], *line[3:]] for line in ranks_grid(ranking)]),
            *proxies_against_regret(ranking),
            "Kendall's tau between the criteria, which have the numbers of the table above:",
            to_markdown(tau_grid(ranking)),
            f"A pair of methods is *inverted* if two criteria order it differently. These are the "
            f"{N_INVERSIONS} strongest of {len(ranking.inversions)} inversions, with the number of "
            "seeds in which each occurs. Where both criteria measure regret, the last column is "
            "the larger of the two p-values (Holm-corrected).",
            to_markdown(inversions_grid(ranking.inversions[:N_INVERSIONS])),
        ]
    return parts


def settings(record: Row, name: str) -> list[str]:
    """Return the section that says what computed the numbers."""
    cells = record["rows"]
    versions = cells[0]["versions"]
    seconds = sum(sum(cell["seconds"].values()) for cell in cells)
    return [
        "## Settings",
        f"All numbers come from the rows in [{name}.json]({name}.json), which also have the "
        f"settings, seeds and checksums of each of the {len(cells)} cells. The run took "
        f"{seconds / 60:.0f} minutes of one core on a machine shared with other work, with rue "
        f"{versions['rue']}, torch {versions['torch']}, numpy {versions['numpy']} and Python "
        f"{versions['python']}. This is the suite:",
        code(record["text"], "toml"),
    ]


def inverted(record: Row) -> list[Inversions]:
    """Return the inversions of each data set, with the p-values of the imported tests."""
    p_values = {
        (test["dataset"], test["loss"], test["criterion"], *sorted(pair["methods"])): pair["p_holm"]
        for test in record["tests"]
        for pair in test["pairs"]
    }
    scores = [score for score in to_scores(scored(record["rows"])) if score.criterion in COMPARED]

    def of(dataset: str) -> Inversions:
        def p_value(column: Contest, better: str, worse: str) -> float | None:
            key = (dataset, column.loss, column.criterion, *sorted((better, worse)))
            return p_values.get(key)

        # On a page about one data set its name need not be repeated.
        mine = [replace(score, dataset="") for score in scores if score.dataset == dataset]
        return find_inversions(mine, p_value=p_value)

    return [of(dataset) for dataset in dict.fromkeys(score.dataset for score in scores)]


def scored(cells: Iterable[Row]) -> list[Row]:
    """Return a row for each cell and loss, and one with an empty loss for the proxies."""
    rows = []
    for cell in cells:
        where = {"dataset": cell["cell"]["dataset"], "seed": cell["cell"]["seed"]}
        rows += [{**where, **row} for row in cell["rows"]]
        numbers = {key: value for key, value in cell["proxies"].items() if key != "details"}
        if any(value is not None for value in numbers.values()):
            rows.append({**where, "method": cell["cell"]["method"], "loss": "", **numbers})
    return rows


def proxies_against_regret(inversions: Inversions) -> list[str]:
    """Return how far each proxy orders the methods as the regret criteria do."""
    kinds = {column: CRITERIA[column.criterion].kind for column in inversions.columns}
    lines = []
    for i, column in enumerate(inversions.columns):
        if kinds[column] != "proxy":
            continue
        taus = [
            inversions.tau[i, j] for j, c in enumerate(inversions.columns) if kinds[c] == "regret"
        ]
        between = [
            each
            for each in inversions.inversions
            if column in (each.first, each.second)
            and {kinds[each.first], kinds[each.second]} == {"proxy", "regret"}
        ]
        always = sum(each.n_inverted == each.n_seeds for each in between)
        lines.append(
            f"- {CRITERIA[column.criterion].title}: tau with the {len(taus)} regret criteria is "
            f"between {min(taus):.2f} and {max(taus):.2f}, {sum(taus) / len(taus):.2f} on average; "
            f"{len(between)} pairs are inverted in the mean over seeds, {always} of them in every "
            "seed."
        )
    if not lines:
        return []
    return ["How the proxies agree with regret, on the same models:", "\n".join(lines)]


def _losses(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["loss"] for row in rows))


def _methods(rows: list[Row]) -> str:
    return ", ".join(row["method"] for row in rows)


def _agreement(first: list[Row], second: list[Row]) -> int:
    places = [{row["method"]: i for i, row in enumerate(rows)} for rows in (first, second)]
    return sum(
        (places[0][a] < places[0][b]) == (places[1][a] < places[1][b])
        for a, b in combinations(places[0], 2)
    )


def _without(row: Row, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}
