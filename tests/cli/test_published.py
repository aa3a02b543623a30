"""rue published: the columns it promises, every format, one table or all."""

import csv
import io
import json

import pytest

from rue.published import TABLES, read_published

COLUMNS = (
    "table,dataset,method,loss,aurec,excess_aurec,n_aurec,aurc,pareto_gap,spearman_hat,"
    "spearman_star,best,near_ood,far_ood,auac_labels,nauc_epistemic,nauc_total"
)


def test_csv_has_the_columns_and_every_cell(run):
    result = run("published", "--format", "csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == COLUMNS
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert len(rows) == 104
    cells = [row[key] for row in rows for key in COLUMNS.split(",")[4:]]
    assert sum(cell != "" for cell in cells) == 640
    for row, known in zip(rows, read_published(), strict=True):
        for key, value in known.to_dict().items():
            assert row[key] == ("" if value is None else str(value))


def test_json_is_the_same(run):
    rows = json.loads(run("published", "--format", "json").out)
    assert rows == [row.to_dict() for row in read_published()]


@pytest.mark.parametrize("table", ["ood", "4"])
def test_one_table(run, table):
    rows = json.loads(run("published", "--table", table, "--format", "json").out)
    assert {row["table"] for row in rows} == {"ood"}
    assert len(rows) == 8


def test_the_table_shows_what_a_table_has(run):
    lines = run("published", "--table", "ood").out.splitlines()
    assert lines[0] == "Table 4 (ood): OOD detection and selective classification"
    assert lines[1].split() == [
        "dataset",
        "method",
        "↑",
        "near-OOD",
        "↑",
        "far-OOD",
        "↑",
        "AuAC",
        "labels",
    ]
    assert [line.split() for line in lines[3:5]] == [
        ["cifar10", "ddu", "0.899", "0.935", "0.995"],
        ["cifar10", "dropout", "0.839", "0.895", "0.990"],
    ]
    lines = run("published", "--table", "dcic").out.splitlines()
    assert lines[1].split() == (
        ["method", "loss", "↑", "best", "↓", "n-AuReC", "↓", "P-gap", "r_s", "hat", "r_s", "star"]
    )
    # The rivals of a loss stand together, whatever the order in the paper.
    assert [line.split()[:2] for line in lines[3:7]] == [
        [method, "log"] for method in ("dropout", "evidential", "ensemble", "ddu")
    ]


@pytest.mark.parametrize("format_", ["table", "markdown", "latex"])
def test_all_tables_one_after_another(run, format_):
    result = run("published", "--format", format_)
    assert result.code == 0
    for table in TABLES:
        assert f"Table {table.number} ({table.name}): {table.title}" in result.out
    if format_ == "latex":
        assert result.out.count(r"\begin{tabular}") == result.out.count(r"\end{tabular}") == 13
        assert r"$\uparrow$ Best" in result.out
        # Highest is best here: bold 0.907, underlined 0.899.
        assert r"cifar10 & ensemble & \textbf{0.907}" in result.out
        assert r"cifar10 & ddu & \underline{0.899}" in result.out
    if format_ == "markdown":
        assert "| ensemble | log | **5** |" in result.out


def test_an_unknown_table_is_one_line(run):
    result = run("published", "--table", "table-1")
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert "table must be 1 to 13 or one of cifar10h" in result.err
