"""Means over seeds, the summary over data sets, and the paper's rows beside ours."""

import math
import statistics

import pytest

from rue.bench.tables import (
    OURS,
    OURS_PUBLISHED,
    PAPER,
    beside_published,
    in_paper,
    summarize,
    table_rows,
)
from rue.errors import InputError
from rue.metrics.columns import EVALUATED
from rue.published import read_published


def row(dataset="a", method="m", loss="log", seed=0, **values):
    blank = dict.fromkeys(EVALUATED, 0.5)
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
    appendix = [each.to_dict() for each in read_published() if each.dataset.startswith("dcic-")]
    ours = {(r["method"], r["loss"]): r for r in summarize(appendix)}
    for theirs in (p.to_dict() for p in read_published("dcic")):
        mine = ours[theirs["method"], theirs["loss"]]
        assert mine["best"] == theirs["best"]
        assert mine["n_datasets"] == 8
        for key, unit in (("n_aurec", 1e-3), ("pareto_gap", 1e-4)):
            assert mine[key] == pytest.approx(theirs[key], abs=unit)


def published(*rows):
    return table_rows([{**each, "convention": "published"} for each in rows])


def test_the_papers_rows_stand_behind_ours_under_both_conventions():
    ours = table_rows([row("cifar10h", "ensemble"), row("elsewhere", "ensemble")])
    assert [r["dataset"] for r in in_paper(ours)] == ["cifar10h"]
    made = beside_published(ours, published(row("cifar10h", "ensemble", aurec=0.7)))
    groups = [(r["dataset"], r["group"], r["method"]) for r in made]
    assert groups[:2] == [("cifar10h", OURS, "ensemble"), ("cifar10h", OURS_PUBLISHED, "ensemble")]
    assert groups[2:6] == [
        ("cifar10h", PAPER, m) for m in ("dropout", "evidential", "ensemble", "ddu")
    ]
    assert groups[6:] == [("elsewhere", OURS, "ensemble")]
    assert [made[i]["aurec"] for i in (0, 1, 4)] == [0.5, 0.7, 0.0752]
    ddu = row("cifar10h-features", "ddu")
    features = beside_published(table_rows([ddu]), published(ddu))
    assert [r["group"] for r in features] == [OURS, OURS_PUBLISHED] + [PAPER] * 4
    assert {r["dataset"] for r in features} == {"cifar10h-features"}


def test_conventions_are_not_mixed():
    ours = table_rows([row("cifar10h", "ddu")])
    assert ours[0]["convention"] == "definition"
    with pytest.raises(InputError, match=r"cifar10h \(log loss\) lacks rows of the published"):
        beside_published(ours, [])
    with pytest.raises(InputError, match="must follow the convention published, got definition"):
        beside_published(ours, ours)
    with pytest.raises(InputError, match="follow different conventions"):
        table_rows([row(seed=0), row(seed=1, convention="published")])


def test_means_do_not_depend_on_the_order_of_seeds():
    values = [0.1, 0.7, 0.2, 0.9, 1e-9]
    one = table_rows([row(seed=s, aurec=v) for s, v in enumerate(values)])[0]
    other = table_rows([row(seed=s, aurec=v) for s, v in enumerate(reversed(values))])[0]
    assert one["aurec"] == other["aurec"] == statistics.fmean(values)
