"""Reading the paper's tables; and whether its summary is the mean of its parts."""

from decimal import Decimal
from importlib.resources import files
from math import sqrt

import pytest

import rue.data
from rue.errors import InputError
from rue.losses import LOSSES
from rue.methods import METHODS
from rue.published import PUBLISHED_COLUMNS, TABLES, read_published

OTHERS = {"dcic", "cifar10", "imagenet", "openml-6", "openml-156"}


def test_640_cells():
    rows = read_published()
    cells = [getattr(row, column) for row in rows for column in PUBLISHED_COLUMNS]
    assert sum(cell is not None for cell in cells) == 640
    assert len(rows) == 13 * 8
    assert len({(row.table, row.dataset, row.method, row.loss) for row in rows}) == len(rows)


def test_names_are_ours():
    for row in read_published():
        assert row.dataset in OTHERS or row.dataset in rue.data.ENTRIES
        assert row.method in METHODS
        assert row.loss in LOSSES or (row.loss == "" and row.table in ("ood", "active-learning"))
    assert {row.dataset for row in read_published() if row.dataset.startswith("dcic-")} == {
        name for name in rue.data.ENTRIES if name.startswith("dcic-")
    }


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_by_name_by_number_and_all(table):
    rows = read_published(table.name)
    assert rows == read_published(table.number) == read_published(str(table.number))
    assert rows == tuple(row for row in read_published() if row.table == table.name)
    assert len(rows) == 8


@pytest.mark.parametrize("table", ["", "cifar", 0, 14, "CIFAR10H"])
def test_unknown_tables_are_refused(table):
    with pytest.raises(InputError, match="table must be 1 to 13 or one of cifar10h, appa-real"):
        read_published(table)


def printed(name):
    """(method, loss) -> column -> the text of the cell."""
    head, *lines = files("rue.published").joinpath(f"{name}.csv").read_text().splitlines()
    keys = head.split(",")
    rows = [dict(zip(keys, line.split(","), strict=True)) for line in lines]
    return {(row["method"], row["loss"]): row for row in rows}


SETS = [printed(table.name) for table in TABLES if table.name.startswith("dcic-")]


def test_the_dcic_summary_is_the_mean_of_the_appendix_but_for_one_cell():
    off = {}
    for key, row in printed("dcic").items():
        for column in ("n_aurec", "pareto_gap", "spearman_hat", "spearman_star"):
            unit = Decimal(1).scaleb(Decimal(row[column]).as_tuple().exponent)
            mean = sum(Decimal(each[key][column]) for each in SETS) / len(SETS)
            off[(*key, column)] = abs(mean - Decimal(row[column])) / unit
    assert len(off) == 32
    # Both the parts (at most half a unit each, so half a unit in their mean) and the summary are
    # rounded: no cell is further off than one unit of its last place, so none is proven wrong.
    assert max(off.values()) < 1
    # Thirty equal the rounded mean of what is printed, two do not.
    assert {key: value for key, value in off.items() if value > Decimal("0.5")} == {
        ("evidential", "zero_one", "spearman_star"): Decimal("0.75"),  # 0.277, mean 0.27625
        ("ddu", "log", "spearman_hat"): Decimal("0.625"),  # -0.219, mean -0.219625
    }
    # A rounding is uniform over a unit, variance 1/12; the mean of eight has deviation
    # 1/sqrt(96) = 0.102. Half a unit and two deviations leave one cell out.
    likely = Decimal(0.5 + 2 / sqrt(96))
    assert [key for key, value in off.items() if value > likely] == [
        ("evidential", "zero_one", "spearman_star")
    ]


def test_best_counts_the_lowest_n_aurec():
    counts = dict.fromkeys(printed("dcic"), 0)
    for each in SETS:
        for loss in ("log", "zero_one"):
            rivals = {key: float(row["n_aurec"]) for key, row in each.items() if key[1] == loss}
            winner = min(rivals, key=rivals.get)
            assert list(rivals.values()).count(rivals[winner]) == 1
            counts[winner] += 1
    assert counts == {key: int(row["best"]) for key, row in printed("dcic").items()}
