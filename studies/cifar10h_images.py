"""Put tables 1, 4 and 5 of the paper beside networks of our own, for docs/cifar10h_images.md.

Tables 1 and 4 come from docs/results/cifar10h-images.json, faces from ferplus-images.json there
(:mod:`studies.results` writes both). For table 5, the rows of the runs openml-6 and
openml-156-generated are imported from their folders.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau

from rue._schema import plain
from rue.bench.store import Store
from rue.bench.tables import read_results
from rue.metrics.columns import COLUMNS, title
from rue.published import read_published
from studies import DOCS
from studies.pages import listed, spread, table
from studies.rows import Row, grouped, read_run
from studies.study import Options, Pages

PAGE = DOCS / "cifar10h_images.md"
METHODS = ("dropout", "evidential", "ensemble", "ddu")
LOSSES = {"log": "log", "zero_one": "0/1"}
TABLE_1 = ("aurec", "n_aurec", "aurc", "pareto_gap", "spearman_hat", "spearman_star")
TABLE_4 = ("near_ood", "far_ood", "auac_labels")
ORDERED = ("aurec", "n_aurec", "aurc", "pareto_gap")
ACTIVE = {"openml-6": "openml-6", "openml-156-generated": "openml-156"}
LEVEL = 0.05
REPLICATES = {
    "dirichlet_multinomial": "answers of training",
    "pairs": "answers of training",
    "deup": "answers of training",
    "snapshots": "answers of validation",
    "strength": "answers of validation",
}
NAMES = {
    "n_aurec": "n-AuReC",
    "n_aurec_total": "n-AuReC total",
    "aurec": "AuReC",
    "regret": "mean regret",
}
Values = dict[tuple[str, str, str], float]  # by method, loss and column


def compute(record: Row, options: Options) -> Iterator[Row]:
    """Import the rows of all cells of runs of active learning."""
    for folder in options.folders():
        results = read_results(Store(folder))
        rows, missing = plain(tuple(results.raw.values())), list(map(str, results.missing))
        record = record | {folder.name: {"rows": rows, "missing": missing}}
        yield record


def pages(learnt: Row) -> Pages:
    """Return the tables and sentences of the page."""
    record = read_run("cifar10h-images")
    sources = {
        "paper": paper_values(),
        "ours, as published": table_values(record["published_convention"]),
        "ours, Definition 1": table_values(record["table"]),
    }
    proxies = {row["method"]: row for row in record["table"] if not row["loss"]}
    blocks = {
        "accuracy": accuracy(record),
        "table 1": table_1(sources),
        "orders": orders(sources),
        "pairs": pairs(record, sources["paper"]),
        "table 4": table_4(proxies),
        "proxies": proxy_orders(record),
        "features": features(sources["ours, Definition 1"]),
        "table 5": table_5(learnt),
        "faces": ferplus(read_run("ferplus-images")),
    }
    return {PAGE: blocks}


def paper_values() -> Values:
    """Return tables 1 and 4 of the paper."""
    values: Values = {}
    for row in read_published("cifar10h"):
        for column in TABLE_1:
            values[row.method, row.loss, column] = getattr(row, column)
    for row in read_published("ood"):
        if row.dataset == "cifar10":
            for column in TABLE_4:
                values[row.method, "", column] = getattr(row, column)
    return values


def table_values(rows: Iterable[Row]) -> Values:
    """Return the means over seeds of a table."""
    return {
        (row["method"], row["loss"], column): row[column]
        for row in rows
        for column in (*TABLE_1, *TABLE_4)
        if row.get(column) is not None
    }


def accuracy(record: Row) -> str:
    """Return how accurate the networks are."""
    shares: dict[str, list[float]] = {}
    for row in record["rows"]:
        by_labels = row["proxies"]["details"]["selective"]["labels"][0]
        shares.setdefault(row["cell"]["method"], []).append(by_labels["accuracy"])
    epochs = record["rows"][0]["config"]["settings"]["training"]["epochs"]
    n_seeds = len(shares["single"])
    return (
        f"Each network was trained for {epochs} epochs; {n_seeds} seeds. Test accuracy: "
        + listed([f"{name} {np.mean(each):.3f}" for name, each in shares.items()])
        + "."
    )


def shown(value: float | None, column: str) -> str:
    return "" if value is None else f"{value:.{COLUMNS[column].digits}f}"


def table_1(sources: Mapping[str, Values]) -> str:
    """Return each cell of table 1 from each source."""
    rows = [
        [method, LOSSES[loss], name]
        + [shown(values.get((method, loss, column)), column) for column in TABLE_1]
        for loss in LOSSES
        for method in METHODS
        for name, values in sources.items()
    ]
    return table(["method", "loss", "source", *map(title, TABLE_1)], rows, text=3)


def order(values: Values, loss: str, column: str) -> list[str]:
    """Return the paper's methods, the best first."""
    high = COLUMNS[column].better == "high"
    return sorted(METHODS, key=lambda m: values[m, loss, column] * (-1 if high else 1))


def tau(first: Sequence[str], second: Sequence[str]) -> float:
    """Return Kendall's tau of two orders."""
    return float(kendalltau([first.index(m) for m in second], range(len(second))).statistic)


def orders(sources: Mapping[str, Values]) -> str:
    """Return the order of the methods by each criterion, and how far ours is the paper's."""
    paper, published, own = sources.values()
    rows = []
    for column in ORDERED:
        for loss in LOSSES:
            theirs, *ours = (order(values, loss, column) for values in (paper, published, own))
            taus = [f"{tau(theirs, each):+.2f}" for each in ours]
            rows.append([title(column), LOSSES[loss], *map(", ".join, [theirs, *ours]), *taus])
    head = ["criterion", "loss", *sources, "tau, as published", "tau, Definition 1"]
    return table(head, rows, text=5)


def pairs(record: Row, paper: Values) -> str:
    """Return how many of the paper's six pairs repeat, in every seed and by the paired tests."""
    rows = []
    for column in ORDERED:
        for loss in LOSSES:
            p_values = next(
                {frozenset(pair["methods"]): pair["p_holm"] for pair in test["pairs"]}
                for test in record["tests"]
                if (test["loss"], test["criterion"]) == (loss, column)
            )
            counts = {"as in the paper": 0, "reversed": 0, "seeds differ": 0}
            clear = dict.fromkeys(counts, 0)
            for first, second in combinations(METHODS, 2):
                direction = np.sign(paper[first, loss, column] - paper[second, loss, column])
                signs = {
                    float(np.sign(a[first] - a[second]))
                    for a in seed_values(record, loss, column).values()
                }
                kind = "seeds differ"
                if len(signs) == 1:
                    kind = "as in the paper" if signs == {float(direction)} else "reversed"
                counts[kind] += 1
                clear[kind] += p_values[frozenset((first, second))] < LEVEL
            rows.append(
                [title(column), LOSSES[loss]]
                + [f"{counts[kind]} ({clear[kind]} significant)" for kind in counts]
                + [f"{min(p_values.values()):.3f}"]
            )
    return table(["criterion", "loss", *counts, "smallest p"], rows, text=2)


def seed_values(record: Row, loss: str, column: str) -> dict[int, dict[str, float]]:
    """Return a column of each method, by seed."""
    values: dict[int, dict[str, float]] = {}
    for cell in record["rows"]:
        source = cell["proxies"] if not loss else None
        for row in cell["rows"]:
            source = row if row["loss"] == loss else source
        if source is not None and source.get(column) is not None:
            values.setdefault(cell["cell"]["seed"], {})[cell["cell"]["method"]] = source[column]
    return values


def table_4(proxies: Mapping[str, Row]) -> str:
    """Return table 4 of the paper beside ours, for all methods."""
    paper = paper_values()
    rows = []
    for method, row in proxies.items():
        cells = [method]
        for column in TABLE_4:
            cells += [
                shown(paper.get((method, "", column)), column),
                f"{row[column]:.3f} ± {row[f'{column}_std']:.3f}",
            ]
        rows.append(cells)
    head = [f"{title(column)}, {who}" for column in TABLE_4 for who in ("paper", "ours")]
    return table(["method", *head], rows)


def proxy_orders(record: Row) -> str:
    """Return the order of the methods by each column of table 4, and in how many seeds it holds."""
    paper, own = paper_values(), table_values(record["table"])
    rows = []
    for column in TABLE_4:
        theirs, ours = order(paper, "", column), order(own, "", column)
        by_seed = seed_values(record, "", column).values()
        n_alike = sum(sorted(METHODS, key=lambda m: -seed[m]) == ours for seed in by_seed)
        cells = [", ".join(theirs), ", ".join(ours), f"{tau(theirs, ours):+.2f}"]
        rows.append([title(column), *cells, f"{n_alike} of {len(by_seed)}"])
    return table(["criterion", "paper", "ours", "tau", "seeds with our order"], rows, text=3)


def features(images: Values) -> str:
    """Return the orders on frozen features beside those on images."""
    frozen = table_values(read_run("cifar10h-probe")["table"])
    rows = []
    for column in (*ORDERED, *TABLE_4):
        for loss in [""] if column in TABLE_4 else LOSSES:
            first, second = order(frozen, loss, column), order(images, loss, column)
            cells = [", ".join(first), ", ".join(second), f"{tau(first, second):+.2f}"]
            rows.append([title(column), LOSSES.get(loss, "-"), *cells])
    return table(["criterion", "loss", "features", "images", "tau"], rows, text=4)


def table_5(record: Row) -> str:
    """Return table 5 of the paper beside ours."""
    columns = ("nauc_epistemic", "nauc_total")
    paper = {
        (row.dataset, row.method, column): getattr(row, column)
        for row in read_published("active-learning")
        for column in columns
    }
    rows = []
    for suite, dataset in ACTIVE.items():
        for method in METHODS:
            rows_of = record[suite]["rows"]
            cells = [row["proxies"] for row in rows_of if row["cell"]["method"] == method]
            line = [dataset + (", our generator" if suite != dataset else ""), method]
            for column in columns:
                values = [cell[column] for cell in cells]
                line += [f"{paper[dataset, method, column]:.3f}"]
                line += [spread(values) if len(values) > 1 else "not finished"]
            rows.append([*line, str(len(cells))])
    head = [f"{title(column)}, {who}" for column in columns for who in ("paper", "ours")]
    return table(["data set", "method", *head, "runs"], rows, text=2)


def ferplus(record: Row) -> str:
    """Return the finished cells of FER+ from images beside those on features."""
    rows = [row for row in record["table"] if row["loss"]]
    frozen = {
        (row["method"], row["loss"]): row
        for row in read_run("atlas/paper-ferplus-features")["table"]
        if row["loss"]
    }
    lines = []
    for loss, part in grouped(rows, "loss").items():
        for row in sorted(part, key=lambda row: float(row["n_aurec_total"])):
            other = frozen.get((row["method"], loss), {})
            cells = [row["method"], REPLICATES.get(row["method"], "shares of answers")]
            cells += [LOSSES.get(loss, "Brier"), f"{row['n_seeds']}", shown(row["regret"], "aurec")]
            for key in ("n_aurec", "n_aurec_total"):
                cells.append(f"{row[key]:.3f} ± {row.get(f'{key}_std') or 0:.3f}")
            gap = row.get("regret_calibration")
            cells.append("" if gap is None else f"{gap:.3f}")
            cells += [shown(other.get(key), key) for key in ("n_aurec", "n_aurec_total")]
            lines.append(cells)
    head = ["method", "learns from", "loss", "seeds", "mean regret", "n-AuReC", "n-AuReC total"]
    head += ["calibration", "n-AuReC, features", "n-AuReC total, features"]
    text = f"{table(head, lines, text=3)}\n\n{same_order(rows, frozen)}"
    if record["missing"]:
        missing = dict.fromkeys(cell.split("/")[1] for cell in record["missing"])
        text += f"\n\nNot finished: {listed(list(missing))}."
    return text


def same_order(rows: Sequence[Row], frozen: Mapping[tuple[str, str], Row]) -> str:
    """Return Kendall's tau between the orders of the methods on images and on features."""
    words, methods = [], []
    for loss in LOSSES:
        shared = [r for r in rows if r["loss"] == loss and (r["method"], loss) in frozen]
        methods = [row["method"] for row in shared]
        taus = []
        for key in ("n_aurec", "n_aurec_total", "aurec", "regret"):
            ours = [row[key] for row in shared]
            theirs = [frozen[method, loss][key] for method in methods]
            taus.append(f"{kendalltau(ours, theirs).statistic:+.2f} by {NAMES[key]}")
        words.append(f"under {LOSSES[loss]} loss {listed(taus)}")
    return (
        f"Is the order of the {len(methods)} methods that both have the same on images and on "
        f"features? Kendall's tau (1: the same, 0: unrelated) is {'; '.join(words)}."
    )
