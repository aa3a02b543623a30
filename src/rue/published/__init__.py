"""Tables 1 to 13 as printed in the paper: one CSV file each in this folder, with 640 numbers.

A number is a cell of a table's body that is neither a method nor a loss: 8 rows of 7 in tables 1,
2 and 6 to 13 (560), 8 of 5 in table 3 (40), 4 of 6 in table 4 (24) and 4 of 4 in table 5 (16).
A row of table 4 or 5 covers two data sets and becomes two rows here.
"""

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from importlib.resources import files

from rue._text import JsonObject
from rue.errors import InputError
from rue.metrics.columns import COLUMNS

__all__ = ["PUBLISHED_COLUMNS", "TABLES", "Published", "PublishedTable", "read_published"]


@dataclass(frozen=True)
class Published:
    """The row of one method, data set and loss in one table; None if a table lacks a column.

    Attributes
    ----------
    table, dataset : str
        The name of the table, and rue's name of the data set; ``dcic`` is the mean over its
        eight sets.
    method, loss : str
        The names in rue; the proxies have no loss.
    aurec, excess_aurec, n_aurec, aurc, pareto_gap, spearman_hat, spearman_star : float or None
        The columns of :class:`rue.Evaluation`, means over 5 seeds.
    best : int or None
        The number of the eight DCIC sets on which the method has the lowest n-AuReC.
    near_ood, far_ood : float or None
        AUROC of the epistemic component under log loss, mean over 3 runs.
    auac_labels : float or None
        The area under the accuracy-coverage curve, ranked by the total under log loss; accuracy
        against the labels of the data set.
    nauc_epistemic, nauc_total : float or None
        The area under the active learning curve with queries by either component, mean over 10
        runs.
    """

    table: str
    dataset: str
    method: str
    loss: str
    aurec: float | None = None
    excess_aurec: float | None = None
    n_aurec: float | None = None
    aurc: float | None = None
    pareto_gap: float | None = None
    spearman_hat: float | None = None
    spearman_star: float | None = None
    best: int | None = None
    near_ood: float | None = None
    far_ood: float | None = None
    auac_labels: float | None = None
    nauc_epistemic: float | None = None
    nauc_total: float | None = None

    def to_dict(self) -> JsonObject:
        """Return all columns by name."""
        return asdict(self)


PUBLISHED_COLUMNS = tuple(f.name for f in fields(Published) if f.name in COLUMNS)
"""The keys of the result columns that some table has."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper: its number, its name in rue, and its title."""

    number: int
    name: str
    title: str


def _csv(name: str) -> Iterator[dict[str, str]]:
    text = files("rue.published").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


TABLES = tuple(
    PublishedTable(int(row["number"]), row["name"], row["title"]) for row in _csv("tables")
)


def read_published(table: str | int | None = None) -> tuple[Published, ...]:
    """Return the rows of one table of the paper, or of all tables.

    Parameters
    ----------
    table : str or int, optional
        The name of the table, or its number in the paper; None means all tables.

    Returns
    -------
    tuple of Published
        The rows.

    Raises
    ------
    InputError
        If there is no such table.

    Examples
    --------
    >>> from rue import read_published
    >>> row = read_published("cifar10h")[2]
    >>> row.method, row.loss, row.aurec, row.near_ood
    ('evidential', 'log', 0.0673, None)
    >>> len(read_published())
    104
    """
    if table is None:
        return tuple(row for published in TABLES for row in _read(published.name))
    for published in TABLES:
        if str(table) in (published.name, str(published.number)):
            return tuple(_read(published.name))
    names = ", ".join(published.name for published in TABLES)
    raise InputError(f"table must be 1 to {len(TABLES)} or one of {names}, got {table!r}")


def _read(name: str) -> Iterator[Published]:
    for row in _csv(name):
        values: JsonObject = {key: _parse(key, value) for key, value in row.items()}
        yield Published(table=name, **values)


def _parse(key: str, value: str) -> str | int | float:
    if key in ("dataset", "method", "loss"):
        return value
    return int(value) if key == "best" else float(value)
