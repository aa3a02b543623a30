"""Measure what the conventions of the authors' code do to the numbers, on predictions of our own.

    rue bench run studies/conventions.toml --out out/conventions
    rue bench run studies/conventions_short.toml --out out/conventions-short
    python -m studies conventions out/conventions out/conventions-short

:mod:`studies.published` writes the section into docs/results/published.md. The second run trains
for three epochs, because what a convention does depends on how long a network was trained.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.bench.cells import Cell
from rue.bench.store import Store, with_convention
from rue.bench.tables import beside_published, in_paper, read_results, table_rows
from rue.components import Components, Run
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.columns import BY_COMPONENT, COLUMNS, title
from rue.metrics.measures import aurec
from rue.metrics.table import format_rows
from rue.pareto.surfaces import published_achievable, published_gap, published_optimal
from rue.published import read_published
from studies.pages import Columns, listed, percent, table, table_of
from studies.result_pages import PUBLISHED
from studies.rows import Row
from studies.study import Options

SEED = 0
EPOCHS = ("50 epochs", "3 epochs")
N_ORDERS = 100
N_SURFACE = 2_000  # points of the surfaces; all 10,000 take an hour
N_SAMPLED = 20_000  # points of each surface that an early version of the authors' code samples
FINE = 8 * 91  # contains the 91 angles


def compute(_: Row, options: Options) -> Iterator[Row]:
    store, short = map(Store, options.folders())
    results, brief = read_results(store), read_results(short)
    cells = list(results.raw.values())
    both = [
        (name, run) for name, each in zip(EPOCHS, (store, short), strict=True) for run in runs(each)
    ]
    suite = store.suite().text
    yield {
        "checksums": dict(cells[0].data.checksums),
        "settings": {"suite": suite, "n_orders": N_ORDERS, "n_surface": N_SURFACE},
        "missing": [str(cell) for cell in results.missing],
        "definition": table_rows(results.rows),
        "published": table_rows(with_convention(store, results.rows, "published", progress=True)),
        "short": {
            "suite": short.suite().text,
            "definition": table_rows(brief.rows),
            "published": table_rows(with_convention(short, brief.rows, "published")),
        },
        "order": [
            {"run": name, **row_order(run)} for name, run in both if run.loss_name == "zero_one"
        ],
        "surfaces": [{"run": name, **surfaces(run)} for name, run in both],
        "two_classes": two_classes(),
    }


def runs(store: Store) -> Iterator[Run]:
    """Yield the runs of one seed under the published convention, by method and loss."""
    suite = store.suite()
    for method in suite.methods:
        cell = Cell(suite.name, suite.datasets[0], method, SEED)
        if store.state(cell) != "done":
            continue
        read = read_predictions(store.predictions(cell))
        for loss in suite.losses:
            run = make_run(read, None, loss, convention="published")
            yield replace(run, method=method)


def row_order(run: Run) -> Row:
    """Return how far the order of the rows moves AuReC: over random orders, and at most."""
    regret, score = run.star.epistemic, run.hat.epistemic
    rng = np.random.default_rng(SEED)

    def area(order: NDArray[np.int64]) -> float:
        return aurec(regret[order], score[order], rule="row_order")

    random = [area(rng.permutation(len(run))) for _ in range(N_ORDERS)]
    values, counts = np.unique(score, return_counts=True)
    return {
        "method": run.method,
        "n_points": len(run),
        "n_lowest": int(counts[0]),
        "n_distinct": len(values),
        "given": aurec(regret, score, rule="row_order"),
        "exact": aurec(regret, score),
        "random_low": min(random),
        "random_high": max(random),
        "least": area(np.argsort(regret)),
        "most": area(np.argsort(-regret)),
    }


def surfaces(run: Run) -> Row:
    """Return the Pareto-gap of 91 raw angles against more angles, other units and a sample."""
    part = run[np.arange(min(N_SURFACE, len(run)))]
    star, hat = part.star, part.hat
    optimal = published_optimal(star)

    def gap(scores: Components, angles: int = 91) -> float:
        return published_gap(optimal, published_achievable(star, scores, angles=angles))

    unit = float(np.ptp(hat.aleatoric)) / (float(np.ptp(hat.epistemic)) or 1.0)
    sampled = [
        _sampled(optimal, published_achievable(star, hat), np.random.default_rng(seed))
        for seed in range(5)
    ]
    return {
        "method": run.method,
        "loss": run.loss_name,
        "n_points": len(part),
        "raw_91": gap(hat),
        "fine": gap(_scaled(hat, unit), FINE),
        "times_10": gap(_scaled(hat, 10.0)),
        "by_10": gap(_scaled(hat, 0.1)),
        "sampled": sampled,
    }


def _scaled(hat: Components, factor: float) -> Components:
    """Return the components with the epistemic score in another unit."""
    return replace(hat, epistemic=hat.epistemic * factor, outside_score=True)


def _sampled(optimal: FloatArray, achievable: FloatArray, rng: np.random.Generator) -> float:
    """Return the gap between samples of the two surfaces."""
    points = [surface.reshape(-1, 3) for surface in (optimal, achievable)]
    samples = [
        each[rng.choice(len(each), min(N_SAMPLED, len(each)), replace=False)] for each in points
    ]
    return published_gap(*samples)


def two_classes() -> list[Row]:
    """Return r_s hat of each method under both losses on the published data set with K = 2.

    With two classes, entropy and 1 - max rank distributions alike. So r_s is the same under both
    losses exactly if the epistemic score is, too.
    """
    published = read_published("dcic-quality-mri")
    methods = dict.fromkeys(row.method for row in published)
    return [
        {"method": method}
        | {row.loss: row.spearman_hat for row in published if row.method == method}
        for method in methods
    ]


SHOWN = ("aurec", "n_aurec", "pareto_gap")
LOSSES = {"log": "log loss", "zero_one": "0/1 loss"}


def section(record: Row) -> list[str]:
    """Return the parts of the section."""
    return [
        "## What the conventions do",
        "The numbers in the paper's tables come from the authors' own code, which departs from the "
        "paper's text in places. The main departure concerns evidential networks under log and 0/1 "
        "loss: the epistemic score is the vacuity $K/\\alpha_0$, whatever the loss, and not the "
        'expected regret of Definition 1. `convention="published"` computes what the code '
        "computes ([list](../paper_settings.md#conventions-of-the-tables)). This section measures "
        f"on predictions of our own how much that matters: {_what(record)}. "
        "`python -m studies conventions` makes the numbers again.",
        *_two_classes(record),
        *_who_is_best(record),
        *_beside(record),
        *_row_order(record),
        *_surfaces(record),
        *_ranked_by(record),
    ]


def _what(record: Row) -> str:
    methods = list(dict.fromkeys(row["method"] for row in record["definition"]))
    n_seeds = max(row["n_seeds"] for row in record["definition"])
    n_points = next(row["n_points"] for row in record["definition"] if row["loss"])
    return (
        f"{listed(methods)} as probes on features of CIFAR-10 ({n_seeds} seeds), with the answers "
        f"of CIFAR-10H about {n_points:,} test images"
    )


def _two_classes(record: Row) -> list[str]:
    rows = record["two_classes"]
    same = [row["method"] for row in rows if row["log"] == row["zero_one"]]
    other = [row["method"] for row in rows if row["log"] != row["zero_one"]]
    return [
        "### The evidence with two classes",
        "Table 10 of the paper, QualityMRI, has two classes. Entropy and 1 - max then rank the "
        "points alike, so r_s hat is the same under both losses exactly if the epistemic score "
        f"ranks them alike, too. It is for {listed(same)}, and not for {listed(other)}. DDU's "
        "score is a density and never depends on the loss. The expected regret of a Dirichlet "
        "distribution does, so the published evidential rows cannot be by Definition 1:",
        table_of(
            rows,
            {
                "method": "{method}",
                "r_s hat, log loss": "{log:.3f}",
                "r_s hat, 0/1 loss": "{zero_one:.3f}",
            },
        ),
    ]


def _who_is_best(record: Row) -> list[str]:
    lines, changed = [], 0
    for loss, words in LOSSES.items():
        for key in SHOWN:
            best = [_best(record[kind], loss, key) for kind in ("definition", "published")]
            changed += best[0][0] != best[1][0]
            cells = [f"{method} ({value:.{COLUMNS[key].digits}f})" for method, value in best]
            lines.append([words, title(key), *cells])
    long, short = (listed(_moved(each)) for each in (record, record["short"]))
    return [
        "### Who is best",
        f"The convention changes the best method in {changed} of {len(lines)} cases. Under 0/1 "
        f"loss it moves the evidential network's {long}, on the same predictions. The effect "
        f"depends on the training: after three epochs instead of fifty it moves {short}"
        f"{_then_best(record['short'])}.",
        table(
            ["loss", "criterion", "best by Definition 1", "best under the published convention"],
            lines,
            text=4,
        ),
    ]


def _then_best(record: Row) -> str:
    """Return what the convention does to the order of the two methods of the short run."""
    best = [_best(record[kind], "zero_one", "aurec")[0] for kind in ("definition", "published")]
    if best[0] == best[1]:
        return f", and {best[0]} has the lower AuReC of the two methods under both"
    return (
        f", so that {best[0]} has the lower AuReC of the two methods by Definition 1, and "
        f"{best[1]} under the published convention"
    )


def _moved(record: Row) -> list[str]:
    """Return how the convention moves the evidential network under 0/1 loss."""
    return [
        f"{title(key)} from {_number(record['definition'], 'zero_one', key)} to "
        f"{_number(record['published'], 'zero_one', key)}"
        for key in ("aurec", "n_aurec")
    ]


def _best(rows: list[Row], loss: str, key: str) -> tuple[str, float]:
    value, method = min((row[key], row["method"]) for row in rows if row["loss"] == loss)
    return method, value


def _number(rows: list[Row], loss: str, key: str) -> str:
    row = next(r for r in rows if (r["method"], r["loss"]) == ("evidential", loss))
    return f"{row[key]:.{COLUMNS[key].digits}f}"


def _beside(record: Row) -> list[str]:
    ours = in_paper([row for row in record["definition"] if row["loss"]])
    theirs = in_paper([row for row in record["published"] if row["loss"]])
    rows = [
        {key: value for key, value in row.items() if key in ("method", "loss", "group", *PUBLISHED)}
        for row in beside_published(ours, theirs)
    ]
    return [
        "### Beside the paper",
        "The paper trains a ResNet-18 on the images, and these are probes on features of another "
        "network, so columns with a unit need not agree.",
        format_rows(rows, "markdown"),
    ]


def _row_order(record: Row) -> list[str]:
    n_orders = record["settings"]["n_orders"]
    columns: Columns = {
        "method": "{method}, {run}",
        "points with the lowest score": "{n_lowest:,}",
        "AuReC, given order": "{given:.4f}",
        f"{n_orders} random orders": "{random_low:.4f} to {random_high:.4f}",
        "any order": "{least:.4f} to {most:.4f}",
        "exact ties": "{exact:.4f}",
    }
    return [
        "### The order of the rows",
        "The authors' code ranks points with equal scores in the order of the rows. Under 0/1 loss "
        "most epistemic values are exactly 0 for some methods, so AuReC depends on an order that "
        f"means nothing. One seed; {n_orders} random orders, and the two extremes:",
        table_of(record["order"], columns),
    ]


def _surfaces(record: Row) -> list[str]:
    def relative(key: str) -> Callable[[Row], str]:
        return lambda row: _signed(row[key] / row["fine"] - 1)

    def sampled(row: Row) -> str:
        shares = [value / row["raw_91"] - 1 for value in row["sampled"]]
        return f"{_signed(min(shares))} to {_signed(max(shares))}"

    columns: Columns = {
        "method": "{method}, {run}",
        "loss": lambda row: LOSSES[row["loss"]],
        "P-gap, 728 directions": "{fine:.4f}",
        "91 raw angles": relative("raw_91"),
        "score / 10": relative("by_10"),
        "score x 10": relative("times_10"),
        "sampled": sampled,
    }
    n_points = record["surfaces"][0]["n_points"]
    return [
        "### Raw angles and sampled surfaces",
        "The authors' achievable surface has 91 directions in the raw units of the two components. "
        "The Pareto-gap then depends on the unit of the score, and is too large where a good "
        "direction lies between two of the 91. The table compares it with 728 directions after "
        "both components were brought to the same range, for the score as it is and in units of "
        "10 and of 1/10. An early version of the code also sampled 20,000 points of each surface; "
        "the last column says what that does to the gap of the 91 directions, over five samples. "
        f"One seed, the first {n_points:,} points.",
        table_of(record["surfaces"], columns, text=2),
    ]


def _signed(share: float) -> str:
    return f"{'+' if share >= 0 else ''}{percent(share)}"


def _ranked_by(record: Row) -> list[str]:
    rows = [
        {key: value for key, value in row.items() if key not in ("dataset", "group")}
        for row in record["definition"]
        if row["loss"]
    ]
    better = [row for row in rows if row["n_aurec_total"] < row["n_aurec"]]
    long, short = (
        next(r for r in each if (r["method"], r["loss"]) == ("ensemble", "zero_one"))
        for each in (rows, record["short"]["definition"])
    )
    return [
        "### Ranked by what",
        "AuReC ranks by epistemic uncertainty. On these predictions plain total uncertainty finds "
        f"regret better in {len(better)} of {len(rows)} rows. For the ensemble under 0/1 loss, "
        f"n-AuReC is {long['n_aurec']:.2f} by epistemic and {long['n_aurec_total']:.2f} by total "
        f"uncertainty after fifty epochs, and {short['n_aurec']:.2f} and "
        f"{short['n_aurec_total']:.2f} after three.",
        format_rows(rows, "markdown", columns=BY_COMPONENT),
    ]
