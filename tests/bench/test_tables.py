"""Means over seeds, the summary over data sets, and the paper's rows beside ours."""

import math
import statistics

import pytest

from rue.bench.tables import CRITERION_KEYS, beside_published, summarize, table_rows
from rue.published import read_published


def row(dataset="a", method="m", loss="log", seed=0, **values):
    blank = dict.fromkeys(CRITERION_KEYS, 0.5)
    return {"dataset": dataset, "method": method, "loss": loss, "seed": seed, "n_points": 9} | (
        blank | values
    )


def test_a_row_is_the_mean_over_seeds_with_its_standard_deviation():
    (made,) = table_rows([row(seed=s, n_aurec=x) for s, x in enumerate((0.1, 0.2, 0.6))])
    assert made["n_aurec"] == pytest.approx(0.3)
    assert made["n_aurec_std"] == pytest.approx(math.sqrt((0.04 + 0.01 + 0.09) / 2))
    assert made["n_seeds"] == 3


def test_ratios_are_averaged_not_recomputed():
    """Seeds with excess 1 of 2 and 9 of 10: the mean of the ratios is 0.7, not 10/12."""
    rows = [row(seed=0, excess_aurec=1.0, n_aurec=0.5), row(seed=1, excess_aurec=9.0, n_aurec=0.9)]
    assert table_rows(rows)[0]["n_aurec"] == pytest.approx(0.7)


def test_what_is_undefined_for_a_seed_is_undefined_in_the_mean():
    (made,) = table_rows([row(seed=0, spearman_hat=None), row(seed=1)])
    assert made["spearman_hat"] is None
    assert made["spearman_hat_std"] is None
    assert table_rows([row()])[0]["aurec_std"] is None


def test_rivals_stand_together_in_the_order_they_came():
    rows = [
        row(dataset, method, loss)
        for dataset in "ba"
        for method in ("y", "x")
        for loss in ("zero_one", "log")
    ]
    made = [(r["dataset"], r["loss"], r["method"]) for r in table_rows(rows)]
    assert made[:4] == [
        ("b", "zero_one", "y"),
        ("b", "zero_one", "x"),
        ("b", "log", "y"),
        ("b", "log", "x"),
    ]


def test_the_summary_by_hand():
    rows = [
        row("a", "x", n_aurec=0.2, pareto_gap=0.1),
        row("a", "y", n_aurec=0.4, pareto_gap=0.3),
        row("b", "x", n_aurec=0.9, pareto_gap=0.5),
        row("b", "y", n_aurec=0.3, pareto_gap=0.1),
        row("c", "x", n_aurec=0.5, pareto_gap=0.0),
        row("c", "y", n_aurec=0.5, pareto_gap=0.2),
    ]
    x, y = summarize(table_rows(rows))
    assert (x["best"], y["best"]) == (2, 2)  # a tie counts for both
    assert x["n_aurec"] == pytest.approx(1.6 / 3)
    assert y["pareto_gap"] == pytest.approx(0.2)
    assert (x["n_datasets"], x["method"], x["loss"]) == (3, "x", "log")


def test_the_summary_of_the_papers_own_tables_is_its_summary():
    """Tables 6 to 13 through our code against Table 3, to half a unit and the seeds' rounding."""
    appendix = [
        published.to_dict()
        for published in read_published()
        if published.dataset.startswith("dcic-")
    ]
    ours = {(r["method"], r["loss"]): r for r in summarize(appendix)}
    for theirs in (p.to_dict() for p in read_published("dcic")):
        mine = ours[theirs["method"], theirs["loss"]]
        assert mine["best"] == theirs["best"]
        assert mine["n_datasets"] == 8
        for key, unit in (("n_aurec", 1e-3), ("pareto_gap", 1e-4)):
            assert mine[key] == pytest.approx(theirs[key], abs=unit)


def test_the_papers_rows_stand_behind_ours():
    ours = table_rows([row("cifar10h", "ensemble"), row("elsewhere", "ensemble")])
    made = beside_published(ours)
    groups = [(r["dataset"], r["group"], r["method"]) for r in made]
    assert groups[0] == ("cifar10h", "ours", "ensemble")
    assert groups[1:5] == [
        ("cifar10h", "paper", m) for m in ("dropout", "evidential", "ensemble", "ddu")
    ]
    assert groups[5:] == [("elsewhere", "ours", "ensemble")]
    assert made[3]["aurec"] == 0.0752
    features = beside_published(table_rows([row("cifar10h-features", "ddu")]))
    assert [r["group"] for r in features] == ["ours"] + ["paper"] * 4
    assert {r["dataset"] for r in features} == {"cifar10h-features"}


def test_means_do_not_depend_on_the_order_of_seeds():
    values = [0.1, 0.7, 0.2, 0.9, 1e-9]
    one = table_rows([row(seed=s, aurec=v) for s, v in enumerate(values)])[0]
    other = table_rows([row(seed=s, aurec=v) for s, v in enumerate(reversed(values))])[0]
    assert one["aurec"] == other["aurec"] == statistics.fmean(values)
