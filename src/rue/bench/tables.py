"""Compute the paper's tables from finished cells.

A row of a table is a mean over seeds, with the standard deviation. A ratio such as n-AuReC is
averaged itself, not recomputed from means.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev
from typing import Any, TypedDict

from rue._text import JsonObject
from rue.bench.cells import Cell, CellRow, cells, has_settings
from rue.bench.store import Store, convention_of
from rue.bench.tasks import PROXY_KEYS
from rue.errors import FileError, InputError
from rue.metrics.columns import EVALUATED
from rue.metrics.table import notes


@dataclass(frozen=True)
class Results:
    """What a folder holds.

    Attributes
    ----------
    rows
        One for each cell and loss: the evaluation's columns, ``dataset`` and ``seed``; and, with
        an empty loss, one for each cell that has proxies.
    missing, damaged, stale
        Cells of the suite that are not there, those whose row cannot be read, and those of other
        settings than the suite has now; none of them is in the rows.
    raw
        What is stored about each cell.
    """

    suite: str
    rows: tuple[JsonObject, ...]
    missing: tuple[Cell, ...]
    damaged: tuple[Cell, ...]
    stale: tuple[Cell, ...]
    raw: Mapping[Cell, CellRow]

    @property
    def regimes(self) -> dict[str, str]:
        """The training regimes of each data set."""
        return {cell.dataset: row.config["regime"] for cell, row in self.raw.items()}

    def notes(self, shown: Collection[str] | None = None) -> list[str]:
        """Return sentences that a reader of the tables, or of these columns, must know."""
        sentences = []
        if self.missing:
            sentences.append(f"{len(self.missing)} cells are missing, first {self.missing[0]}")
        if self.damaged:
            sentences.append(f"{len(self.damaged)} cells are damaged, first {self.damaged[0]}")
        if self.stale:
            sentences.append(
                f"{len(self.stale)} cells are of other settings and left out, first {self.stale[0]}"
            )
        for name in ("rue", "torch", "numpy"):
            kinds = sorted({str(row.versions.get(name)) for row in self.raw.values()})
            if len(kinds) > 1:
                sentences.append(f"cells were made with different versions of {name}: {kinds}")
        return sentences + list(dict.fromkeys(notes(self.rows, shown)))


class SummaryRow(TypedDict):
    """The means of a method over data sets, as :func:`summarize` returns them.

    Attributes
    ----------
    method, loss : str
        The names of the method and of the loss.
    n_datasets : int
        The number of data sets.
    best : int
        The number of data sets on which the method has the lowest n-AuReC.
    n_aurec, pareto_gap, spearman_hat, spearman_star : float or None
        The means; None if the column is undefined on any data set.
    """

    method: str
    loss: str
    n_datasets: int
    best: int
    n_aurec: float | None
    pareto_gap: float | None
    spearman_hat: float | None
    spearman_star: float | None


def read_results(store: Store) -> Results:
    """Return the rows of every finished cell of a folder's suite.

    Parameters
    ----------
    store : Store
        The folder that ``rue bench run`` wrote.

    Returns
    -------
    Results
        The rows, and the cells that are missing, damaged or of other settings.

    Raises
    ------
    InputError
        If no cell is finished.
    """
    suite = store.suite()
    rows, missing, damaged, stale, raw = [], [], [], [], {}
    for cell in cells(suite):
        if not (store.path(cell) / "row.json").exists():
            missing.append(cell)
            continue
        try:
            row = store.row(cell)
        except FileError:
            damaged.append(cell)
            continue
        if not has_settings(suite, cell, row.config):
            stale.append(cell)
            continue
        raw[cell] = row
        where = {"dataset": cell.dataset, "seed": cell.seed}
        rows += [{**where, **evaluated} for evaluated in row.rows]
        proxies = row.proxies
        if any(proxies.get(key) is not None for key in PROXY_KEYS):
            numbers = {key: proxies.get(key) for key in PROXY_KEYS}
            rows.append({**where, "method": cell.method, "loss": "", **numbers})
    if not rows:
        why = f": {len(stale)} are of other settings than suite.toml" if stale else ""
        raise InputError(f"{store.folder} holds no finished cell{why}")
    return Results(suite.name, tuple(rows), tuple(missing), tuple(damaged), tuple(stale), raw)


def table_rows(rows: Iterable[Mapping[str, Any]]) -> list[JsonObject]:
    """Return means over seeds: one row per data set, loss and method, in the given order.

    A column is None if it is undefined for any seed; ``<column>_std`` is None for one seed.

    Parameters
    ----------
    rows : iterable of mapping
        One row for each data set, loss, method and seed, as :attr:`Results.rows` has them.

    Returns
    -------
    list of dict
        The means, with ``dataset``, ``method``, ``loss``, ``n_seeds``, and each column with its
        standard deviation over seeds. Rows of one data set and loss follow each other.

    Raises
    ------
    InputError
        If rows of one mean follow different conventions.

    Examples
    --------
    >>> from rue.bench import table_rows
    >>> same = {"dataset": "letter", "loss": "log", "method": "ddu"}
    >>> row, = table_rows([{**same, "aurec": 0.25}, {**same, "aurec": 0.75}])
    >>> row["n_seeds"], row["aurec"]
    (2, 0.5)
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["loss"], row["method"]), []).append(row)
    averages = []
    for (dataset, loss, method), group in groups.items():
        conventions = {convention_of(row) for row in group}
        if len(conventions) > 1:
            raise InputError(
                f"rows of {dataset}, {method} and {loss} loss follow different conventions "
                f"({', '.join(sorted(conventions))}), which have no common mean",
                advice={"--convention": "computes all of them by one"},
            )
        averaged: JsonObject = {
            "dataset": dataset,
            "method": method,
            "loss": loss,
            "n_seeds": len(group),
        }
        if "n_points" in group[0]:
            averaged["n_points"] = group[0]["n_points"]
        if loss:
            averaged["convention"] = conventions.pop()
        for key in (*EVALUATED, *PROXY_KEYS):
            if any(row.get(key) is not None for row in group) or (key in group[0] and loss):
                averaged |= _mean_and_std(key, [row.get(key) for row in group])
        averages.append(averaged)
    order = list(dict.fromkeys((row["dataset"], row["loss"]) for row in averages))
    averages.sort(key=lambda row: order.index((row["dataset"], row["loss"])))
    return averages


def summarize(rows: Sequence[Mapping[str, Any]]) -> list[SummaryRow]:
    """Return means over data sets: one row per loss and method.

    ``best`` is the number of data sets on which the method has the lowest mean n-AuReC; a tie
    counts for each method.

    Parameters
    ----------
    rows : sequence of mapping
        Means over seeds (:func:`table_rows`). Rows without a loss are left out.

    Returns
    -------
    list of SummaryRow
        The means, dictionaries with ``method``, ``loss``, ``n_datasets``, ``best`` and four
        columns; a column is None if it is undefined on any data set.

    Examples
    --------
    >>> from rue.bench import summarize
    >>> rows = [{"dataset": "letter", "loss": "log", "method": "ddu", "n_aurec": 0.5}]
    >>> summarize(rows)[0]["best"]
    1
    """
    lowest: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.get("n_aurec") is not None:
            race = row["dataset"], row["loss"]
            lowest[race] = min(row["n_aurec"], lowest.get(race, math.inf))
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["loss"]:
            groups.setdefault((row["loss"], row["method"]), []).append(row)
    return [
        {
            "method": method,
            "loss": loss,
            "n_datasets": len(group),
            "best": sum(
                row.get("n_aurec") is not None
                and row["n_aurec"] == lowest[row["dataset"], row["loss"]]
                for row in group
            ),
            "n_aurec": _mean([row.get("n_aurec") for row in group]),
            "pareto_gap": _mean([row.get("pareto_gap") for row in group]),
            "spearman_hat": _mean([row.get("spearman_hat") for row in group]),
            "spearman_star": _mean([row.get("spearman_star") for row in group]),
        }
        for (loss, method), group in groups.items()
    ]


OURS, OURS_PUBLISHED, PAPER = "ours, Definition 1", "ours, published convention", "paper"
"""What ``group`` says about the source of a row beside the paper's."""


def in_paper(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows whose data set and loss the paper has; features match their data set."""
    theirs = _papers()
    return [row for row in rows if _paper_key(row) in theirs]


def beside_published(
    rows: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]]
) -> list[JsonObject]:
    """Return our rows under both conventions, followed by the paper's for the same data and loss.

    Parameters
    ----------
    rows, published : sequence of mapping
        Means over seeds (:func:`table_rows`) by Definition 1, and under the published convention;
        the latter at least for the rows of :func:`in_paper`.

    Returns
    -------
    list of dict
        The rows; ``group`` states the source. Data sets and losses that the paper does not have
        exist for Definition 1 alone.

    Raises
    ------
    InputError
        If the rows follow other conventions, or a row beside the paper's is missing.
    """
    for group, convention in ((rows, "definition"), (published, "published")):
        other = next((r for r in group if r["loss"] and convention_of(r) != convention), None)
        if other is not None:
            raise InputError(
                f"rows must follow the convention {convention}, got {convention_of(other)} for "
                f"{other['method']}"
            )
    theirs = _papers()
    table: list[JsonObject] = []
    for race in dict.fromkeys((row["dataset"], row["loss"]) for row in rows):
        ours = [row for row in rows if (row["dataset"], row["loss"]) == race]
        beside = theirs.get(_paper_key(ours[0]), [])
        same = [row for row in published if (row["dataset"], row["loss"]) == race]
        if beside and {row["method"] for row in same} != {row["method"] for row in ours}:
            raise InputError(f"{race[0]} ({race[1]} loss) lacks rows of the published convention")
        table += [{**row, "group": OURS} if race[1] else dict(row) for row in ours]
        if beside:
            table += [{**row, "group": OURS_PUBLISHED} for row in same]
        for row in beside:
            numbers = {key: row[key] for key in EVALUATED if row.get(key) is not None}
            table.append({"dataset": race[0], "method": row["method"], "loss": race[1]} | numbers)
            table[-1]["group"] = PAPER
    return table


def _paper_key(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["dataset"]).removesuffix("-features"), str(row["loss"])


@cache
def _papers() -> dict[tuple[str, str], list[JsonObject]]:
    """Return the paper's rows of regret by data set and loss."""
    from rue.published import read_published

    rows_by_name: dict[tuple[str, str], list[JsonObject]] = {}
    for published in read_published():
        row = published.to_dict()
        if row["aurec"] is not None:
            rows_by_name.setdefault((row["dataset"], row["loss"]), []).append(row)
    return rows_by_name


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if len(numbers) == len(values) else None


def _mean_and_std(key: str, values: Sequence[float | None]) -> dict[str, float | None]:
    mean = _mean(values)
    several = mean is not None and len(values) > 1
    return {key: mean, f"{key}_std": stdev(v for v in values if v is not None) if several else None}
